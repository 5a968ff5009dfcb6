"""The frozen value function: what each team can expect once the stock is drawn, all hands known.

A small network on hands alone, seats counted from the bidder and suits in one order, fitted on deals of its own
(`fit.py`). A value is two files: weights in safetensors, and JSON that says what it was fitted on and holds the
hash of the weights. An evaluation names that hash, and a file that differs from it is refused.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load as load_tensors
from safetensors.numpy import save as save_tensors

from smear_env import PRESETS, CheckpointError, Rules
from training.arrays import BoolArray, Float32Array, Float64Array, Int64Array
from training.files import write_atomically
from training.variates.draws import Draws

FORMAT = "smear-variates/1"
ROWS = 1 << 16
"""Hands that are evaluated at once."""
_MATE = {"C": "S", "S": "C", "D": "H", "H": "D"}


@dataclass(frozen=True)
class Value:
    """A network from features of the hands after a draw to points by team, the bidder's first."""

    rules: Rules
    layers: tuple[tuple[Float32Array, Float32Array], ...]  # weights [inputs, outputs] and biases [outputs]
    sha256: str
    """Hash of the weights file."""
    description: dict[str, Any]

    def of_draws(self, draws: Draws, drawn: BoolArray) -> Float64Array:
        """Points by absolute team [N, M, teams], own less the others' mean, of draws [N, M, seats, cards]."""
        deals, many = drawn.shape[:2]
        values = np.empty((deals, many, self.rules.teams))
        step = max(1, ROWS // many)
        for first in range(0, deals, step):
            part = slice(first, first + step)
            inputs = features(draws, drawn, self.rules, part)
            values[part] = self._by_bidder(inputs).reshape(-1, many, self.rules.teams)
        # The team `k` further on than the bidder's.
        teams = (np.arange(self.rules.teams) - draws.bidder[:, None]) % self.rules.teams
        return np.take_along_axis(values, np.broadcast_to(teams[:, None], values.shape), axis=2)

    def _by_bidder(self, inputs: Float32Array) -> Float32Array:
        hidden = inputs
        for number, (weights, bias) in enumerate(self.layers):
            hidden = hidden @ weights + bias
            if number < len(self.layers) - 1:
                np.maximum(hidden, 0, out=hidden)
        return hidden - hidden.mean(axis=1, keepdims=True)


def feature_count(rules: Rules) -> int:
    """How many entries `features` has."""
    return rules.players * (len(rules.card_names) + 1) + rules.max_bid - rules.min_bid + 1


def features(draws: Draws, drawn: BoolArray, rules: Rules, part: slice = slice(None)) -> Float32Array:
    """Inputs of the network for draws [N, M, seats, cards] of the deals in `part`, [n * M, features] float32.

    Hands after the draw by seat from the bidder on, suits in order, then the dealer's seat and the bid.
    """
    bidder, drawn = draws.bidder[part], drawn[part]
    deals, many, seats, cards = drawn.shape
    turned = (bidder[:, None] + np.arange(seats)) % seats
    rows = np.arange(deals)[:, None]
    kept = draws.kept[part][rows, turned]
    hands = kept[:, None] | drawn[rows, :, turned].transpose(0, 2, 1, 3)
    hands = hands.reshape(deals * many, seats, cards)
    order = _suit_order(hands[:, 0], np.repeat(draws.trump[part], many), rules)
    size = len(rules.ranks)
    columns = (order[:, :, None] * size + np.arange(size)).reshape(len(order), -1)
    if rules.joker:
        jokers = np.arange(columns.shape[1], cards)
        columns = np.concatenate([columns, np.tile(jokers, (len(order), 1))], axis=1)
    out = np.zeros((deals * many, feature_count(rules)), np.float32)
    out[:, : seats * cards] = np.take_along_axis(hands, columns[:, None], axis=2).reshape(len(hands), -1)
    every = np.arange(len(out))
    out[every, seats * cards + np.repeat((draws.dealer[part] - bidder) % seats, many)] = 1
    out[every, seats * (cards + 1) + np.repeat(draws.bid[part], many)] = 1
    return out


def _suit_order(hand: BoolArray, trump: Int64Array, rules: Rules) -> Int64Array:
    """Suits from the first to the last, [B, suits]: the named trump, its bower's suit, then by the bidder's hand."""
    suits, ranks = len(rules.suits), len(rules.ranks)
    held = hand[:, : suits * ranks].reshape(-1, suits, ranks)
    key = held.sum(axis=2) * (1 << ranks) + held @ (1 << np.arange(ranks))
    named = np.flatnonzero(trump >= 0)
    key[named, trump[named]] += 1 << 40
    if rules.bowers:
        mate = np.array([rules.suits.index(_MATE[suit]) for suit in rules.suits])
        key[named, mate[trump[named]]] += 1 << 39
    return np.argsort(-key, axis=1, kind="stable")


def save_value(
    stem: Path, layers: list[tuple[Float32Array, Float32Array]], description: dict[str, Any]
) -> str:
    """Write `stem.safetensors` and `stem.json`; returns the hash of the weights."""
    tensors = {
        f"{number}.{name}": np.ascontiguousarray(tensor, np.float16)
        for number, layer in enumerate(layers)
        for name, tensor in zip(("weight", "bias"), layer, strict=True)
    }
    content = save_tensors(tensors)
    digest = hashlib.sha256(content).hexdigest()
    write_atomically(stem.with_suffix(".safetensors"), content)
    described = {"format": FORMAT, **description, "layers": len(layers), "weights_sha256": digest}
    write_atomically(stem.with_suffix(".json"), json.dumps(described, indent=1).encode())
    return digest


def _tensor(tensors: dict[str, Any], layer: int, name: str) -> Float32Array:
    return np.asarray(tensors[f"{layer}.{name}"], np.float32)


def load_value(stem: Path, rules: Rules) -> Value:
    """The value that `save_value` wrote, for `rules`; CheckpointError names the file and what is wrong with it."""
    path, weights = stem.with_suffix(".json"), stem.with_suffix(".safetensors")
    try:
        description = json.loads(path.read_text(encoding="utf-8"))
        content = weights.read_bytes()
    except (OSError, ValueError) as error:
        raise CheckpointError(f"{path}: no control variates: {error}") from error
    if not isinstance(description, dict) or description.get("format") != FORMAT:
        raise CheckpointError(f"{path}: field 'format' is not {FORMAT!r}")
    digest = hashlib.sha256(content).hexdigest()
    if digest != description.get("weights_sha256"):
        raise CheckpointError(
            f"{weights}: differs from field 'weights_sha256' of {path.name}: control variates are frozen, fit others "
            "under another name"
        )
    if description.get("preset") != rules.name or rules.teams != PRESETS[rules.name].teams:
        raise CheckpointError(
            f"{path}: field 'preset' is {description.get('preset')!r}, which does not fit rules={rules.name!r} with "
            f"teams={rules.teams}"
        )
    try:
        tensors = load_tensors(content)
        layers = tuple(
            (_tensor(tensors, k, "weight"), _tensor(tensors, k, "bias")) for k in range(description["layers"])
        )
    except (SafetensorError, KeyError, TypeError) as error:
        raise CheckpointError(f"{weights}: not readable: {error!r}") from error
    widths = [feature_count(rules), *(bias.shape[-1] if bias.ndim == 1 else -1 for _, bias in layers)]
    if (
        not layers
        or widths[-1] != rules.teams
        or [weight.shape for weight, _ in layers] != list(pairwise(widths))
    ):
        raise CheckpointError(f"{weights}: shapes do not fit rules={rules.name!r}")
    return Value(rules, layers, digest, description)
