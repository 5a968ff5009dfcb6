"""Fit a value of hands after the draw: regression of what deals paid on hands, on seeds of their own."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import torch
from torch import nn

from smear_env import Rules, make_agent
from training.arrays import Float32Array, Int8Array
from training.evaluation.deals import Deals
from training.evaluation.players import draw_seed
from training.evaluation.plays import play
from training.progress import counted, steps
from training.variates.draws import read_draws
from training.variates.luck import replay
from training.variates.value import feature_count, features

CHUNK = 4096
BATCH = 1024
HIDDEN = (256, 128)


def played_deals(
    names: tuple[str, ...], rules: Rules, deals: int, seed: int
) -> tuple[Int8Array, Float32Array]:
    """Inputs [N, features] and what each team earned, the bidder's first [N, teams], of at least `deals` deals.

    Every ordered pair of the named agents plays an equal share of them.
    """
    pairs = [(one, other) for one in names for other in names]
    inputs: list[Int8Array] = []
    targets: list[Float32Array] = []
    done = number = 0
    source = Deals(seed)
    with steps(deals, "deals", "playing", slow=True) as progress:
        while done < deals:
            one, other = pairs[number % len(pairs)]
            # With three teams the second agent has two.
            lineup = [make_agent(one), *[make_agent(other)] * (rules.teams - 1)]
            for place, agent in enumerate(dict.fromkeys(lineup)):
                agent.reset(rules, -1, draw_seed("fit", seed, number, place))
            played = play(lineup, rules, source, number * CHUNK, CHUNK)
            env, shown = source.begin(rules, number * CHUNK, CHUNK, skip_forced=True)
            draws = read_draws(replay(env, shown, played.actions), rules)
            number += 1
            drew = np.flatnonzero(draws.drawn.any(axis=(1, 2)))
            draws = draws.of(drew)
            teams = (draws.bidder[:, None] + np.arange(rules.teams)) % rules.teams
            inputs.append(features(draws, draws.drawn[:, None], rules).astype(np.int8))
            targets.append(np.take_along_axis(played.points[drew], teams, axis=1).astype(np.float32))
            done += len(drew)
            progress.add(len(drew))
    return np.concatenate(inputs), np.concatenate(targets)


def fit_value(
    inputs: Int8Array, targets: Float32Array, rules: Rules, epochs: int, seed: int
) -> tuple[list[tuple[Float32Array, Float32Array]], float]:
    """Layers of the network and the share of variance that it explains in the last twentieth of the deals."""
    torch.manual_seed(seed)
    sizes = (feature_count(rules), *HIDDEN, rules.teams)
    linear = [nn.Linear(a, b) for a, b in pairwise(sizes)]
    network = nn.Sequential(*[part for layer in linear for part in (layer, nn.ReLU())][:-1])
    held = len(inputs) // 20
    x, y = torch.from_numpy(inputs), torch.from_numpy(targets)
    optimizer = torch.optim.Adam(network.parameters(), lr=2e-3)
    steps = epochs * ((len(x) - held) // BATCH)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 2e-3, total_steps=steps)
    for _ in counted(range(epochs), epochs, "epochs", "fitting", slow=True):
        order = torch.randperm(len(x) - held)
        for first in range(0, len(order) - BATCH + 1, BATCH):
            rows = order[first : first + BATCH]
            guess = network(x[rows].float())
            loss = (guess - guess.mean(dim=1, keepdim=True) - y[rows]).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
    with torch.no_grad():
        guess = network(x[-held:].float())
        rest = guess - guess.mean(dim=1, keepdim=True) - y[-held:]
    explained = 1 - float(rest.square().mean() / y[-held:].square().mean())
    layers = [(layer.weight.detach().numpy().T.copy(), layer.bias.detach().numpy()) for layer in linear]
    return layers, explained
