"""PPO in one file, after the manner of CleanRL: masks, self-play, all seats one network; nothing hidden elsewhere.

    python examples/cleanrl_ppo.py --rules schmier --total-decisions 5000000

`SelfPlayVectorEnv` shows N games at once, each at the decision of some seat. Every seat is learnt from. What sets this
apart from the usual single-agent loop stands in `advantages`: the next state of a seat is its own next decision, and
what is paid while the others act belongs to its action before. The policy is written as a checkpoint of ours, and
compared with `passer` on duplicate deals.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
import tyro
from torch import Tensor, nn
from torch.distributions import Categorical

import smear_env
from smear_env.interop.checkpoint import save_layers
from smear_env.interop.ordered import OrderedView


@dataclass
class Args:
    """PPO in self-play."""

    rules: str = "four_point"
    """preset"""
    total_decisions: int = 1_000_000
    """decisions to learn from"""
    games: int = 64
    """games at once, N"""
    steps: int = 32
    """steps of an iteration, T: T x N decisions"""
    learning_rate: float = 1e-3
    """of Adam, falling to 0"""
    gae_lambda: float = 0.95
    """of the advantages; there is no discount, since a deal has an end"""
    minibatch: int = 256
    """decisions of a gradient step"""
    epochs: int = 4
    """times that each decision is learnt from"""
    clip: float = 0.2
    """of the probability ratio"""
    entropy: float = 0.05
    """weight of the entropy"""
    value: float = 0.5
    """weight of the critic's loss"""
    max_norm: float = 0.5
    """of the gradient"""
    hidden: int = 128
    """width of both hidden layers"""
    seed: int = 1
    """of deals and of torch"""
    out: Path = Path("runs/cleanrl")
    """folder of the checkpoint"""


def layer(inputs: int, outputs: int, gain: float = 2**0.5) -> nn.Linear:
    """A linear layer with orthogonal weights and no bias at first."""
    linear = nn.Linear(inputs, outputs)
    nn.init.orthogonal_(linear.weight, gain)
    nn.init.zeros_(linear.bias)
    return linear


class Agent(nn.Module):
    """Actor and critic, each of what one seat sees: [B, inputs] float32, about -1..1."""

    def __init__(self, inputs: int, actions: int, hidden: int) -> None:
        super().__init__()
        self.actor = nn.Sequential(
            *(
                layer(inputs, hidden),
                nn.ReLU(),
                layer(hidden, hidden),
                nn.ReLU(),
                layer(hidden, actions, 0.01),
            )
        )
        self.critic = nn.Sequential(
            *(layer(inputs, hidden), nn.ReLU(), layer(hidden, hidden), nn.ReLU(), layer(hidden, 1, 0.1))
        )

    def policy(self, observation: Tensor, mask: Tensor) -> Categorical:
        """The distribution over legal actions; mask [B, n] is 0 for all others."""
        # A large finite number: with minus infinity the entropy is 0 times infinity.
        return Categorical(logits=self.actor(observation).masked_fill(mask == 0, -1e9))

    def points(self, observation: Tensor) -> Tensor:
        """Points per deal that the seat can expect, [B]."""
        return self.critic(observation).squeeze(-1)


@dataclass
class Batch:
    """T steps of N games; n actions."""

    observation: Tensor  # [T, N, inputs] float32, as the view shows it
    mask: Tensor  # [T, N, n] int8
    action: Tensor  # [T, N] int64
    log_prob: Tensor  # [T, N] of the action when it was taken
    value: Tensor  # [T, N] expected by the seat that acted
    seat: np.ndarray  # [T, N] that acted
    reward: np.ndarray  # [T, N, teams] paid by the step
    ended: np.ndarray  # [T, N] bool, the deal ended with the step


def make_games(args: Args) -> smear_env.SelfPlayVectorEnv:
    """N games of single deals, paid in points per deal.

    In half of them the dealer may not pass when all others have: else a beginner, whose bids fail, learns to pass and
    never plays a card.
    """
    preset = smear_env.make_rules(args.rules)
    rules = [preset, smear_env.make_rules(args.rules, all_pass="dealer_bids")]
    return smear_env.SelfPlayVectorEnv(
        *(args.games, [rules[game % 2] for game in range(args.games)]),
        seed=args.seed,
        episode="deal",
        reward="points",
        skip_forced=True,
        copy=True,
    )


def play(agent: Agent, env: Any, shown: Any, steps: int, view: OrderedView) -> tuple[Batch, Any]:
    """Let the agent play all seats for T steps; what happened, and what the games show now.

    The view shows positions with suits in order, so that what is learnt of one suit is known of all, and names the
    actions chosen among them back.
    """
    rows = []
    for _ in range(steps):
        seen = view.see(shown.observation, shown.mask)
        observation, mask = torch.from_numpy(seen.inputs), torch.from_numpy(seen.mask)
        with torch.no_grad():
            policy = agent.policy(observation, mask)
            action = policy.sample()
            row = (observation, mask, action, policy.log_prob(action), agent.points(observation))
        seat = shown.seat
        shown = env.step(view.actions(action, seen.order))
        rows.append((*row, seat, shown.reward, shown.terminated | shown.truncated))
    *tensors, seat, reward, ended = zip(*rows, strict=True)
    return Batch(*map(torch.stack, tensors), np.stack(seat), np.stack(reward), np.stack(ended)), shown


def advantages(batch: Batch, seat_now: np.ndarray, value_now: np.ndarray, players: int, lam: float) -> Any:
    """Generalised advantages of turns [T, N] float32, and which of them are known [T, N] bool.

    Backwards through time, each game keeps for each of its seats what follows: the value of the seat's next decision,
    its advantage, and what has been paid until then. The rollout ends in the middle of deals, where only the seat to
    act now (`seat_now`, `value_now` [N]) has a next decision; the last action of any other is not learnt from.
    """
    steps, games = batch.seat.shape
    row = np.arange(games)
    team = np.arange(players) % batch.reward.shape[2]
    value, follows, paid = (np.zeros((games, players), np.float32) for _ in range(3))
    known = np.zeros((games, players), bool)
    known[row, seat_now], value[row, seat_now] = True, value_now
    result, learn = np.zeros((steps, games), np.float32), np.zeros((steps, games), bool)
    expected = batch.value.numpy()
    for t in reversed(range(steps)):
        seat, ended = batch.seat[t], batch.ended[t]
        for ahead in (value, follows, paid):
            ahead[ended] = 0.0  # nothing of the next deal belongs to this one
        known[ended] = True
        paid += batch.reward[t][:, team]
        delta = paid[row, seat] + value[row, seat] - expected[t]
        learn[t] = known[row, seat]
        # What is not known is no surprise either: nothing of it reaches the turns before.
        result[t] = np.where(learn[t], delta + lam * follows[row, seat], 0.0)
        value[row, seat], follows[row, seat], paid[row, seat] = expected[t], result[t], 0.0
        known[row, seat] = True
    return result, learn


def update(
    agent: Agent, optimizer: torch.optim.Adam, batch: Batch, advantage: Any, learn: Any, args: Args
) -> float:
    """Epochs of minibatches; the mean entropy."""
    chosen = torch.from_numpy(np.flatnonzero(learn))
    observation, mask, action, old, value = (
        one.flatten(0, 1)[chosen]
        for one in (batch.observation, batch.mask, batch.action, batch.log_prob, batch.value)
    )
    gain = torch.from_numpy(advantage.ravel())[chosen]
    target = gain + value
    entropies = []
    for _ in range(args.epochs):
        for part in torch.randperm(len(chosen)).split(args.minibatch):
            policy = agent.policy(observation[part], mask[part])
            ratio = (policy.log_prob(action[part]) - old[part]).exp()
            norm = (gain[part] - gain[part].mean()) / (gain[part].std() + 1e-8)
            actor_loss = -torch.min(ratio * norm, ratio.clamp(1 - args.clip, 1 + args.clip) * norm).mean()
            critic_loss = 0.5 * (agent.points(observation[part]) - target[part]).square().mean()
            entropy = policy.entropy().mean()
            loss = actor_loss + args.value * critic_loss - args.entropy * entropy
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(agent.parameters(), args.max_norm)
            optimizer.step()
            entropies.append(entropy.item())
    return float(np.mean(entropies))


def train(args: Args) -> Path:
    """Train and write the checkpoint; its folder."""
    torch.manual_seed(args.seed)
    env = make_games(args)
    view = OrderedView(env.rules)
    agent = Agent(len(view.scale), env.num_actions, args.hidden)
    optimizer = torch.optim.Adam(agent.parameters(), eps=1e-5)
    shown, began = env.reset(), time.monotonic()
    per_iteration = args.games * args.steps
    iterations = max(1, args.total_decisions // per_iteration)
    for iteration in range(iterations):
        optimizer.param_groups[0]["lr"] = args.learning_rate * (1 - iteration / iterations)
        batch, shown = play(agent, env, shown, args.steps, view)
        with torch.no_grad():
            now = view.see(shown.observation, shown.mask).inputs
            value_now = agent.points(torch.from_numpy(now)).numpy()
        advantage, learn = advantages(batch, shown.seat, value_now, env.rules.players, args.gae_lambda)
        entropy = update(agent, optimizer, batch, advantage, learn, args)
        if iteration % 20 == 0 or iteration == iterations - 1:
            done = (iteration + 1) * per_iteration
            speed = done / (time.monotonic() - began)
            print(f"{done} decisions, {speed:.0f}/s, entropy {entropy:.2f}", flush=True)
    layers = [(one.weight.detach(), one.bias.detach()) for one in agent.actor if isinstance(one, nn.Linear)]
    rules = [env.rules, smear_env.make_rules(args.rules, all_pass="dealer_bids")]
    described = {"library": "examples/cleanrl_ppo.py"}
    decisions = iterations * per_iteration
    return save_layers(args.out, rules, layers, decisions=decisions, seed=args.seed, training=described)


def main() -> None:
    """Train, and compare with `passer` on duplicate deals."""
    args = tyro.cli(Args)
    policy = smear_env.load_policy(train(args))
    from training.evaluate import compare, summarize

    rules = smear_env.make_rules(args.rules)
    result = summarize(compare(policy, smear_env.make_agent("passer"), rules, 1000, 1), 1)
    low, high = result["interval"]
    print(f"{result['points_per_deal']:+.2f} [{low:+.2f}, {high:+.2f}] points per deal against passer")


if __name__ == "__main__":
    main()
