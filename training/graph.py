"""A policy as one graph of tensor operations, from an observation as the environment gives it to probabilities.

What kernels do before and after the network (`smear_env.order_suits` with features, `original_columns`) is done here a
second time with comparisons, gathers and products of matrices, so that whoever runs the graph needs nothing of this
package. Entries are small whole numbers, exact in the types used; tests compare both, entry by entry.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Self, cast

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from smear_env import (
    MLP,
    PRESETS,
    Rules,
    feature_layout,
    feature_scale,
    observation_layout,
    observation_scale,
    portable_tables,
    read_policy,
    read_weights,
)
from training.arrays import Float32Array
from training.network import Network, network_from

MASKED = -1e9
"""Logit of an action that is not legal, for the softmax; finite, so that a row without a legal action gives no NaN."""

# Of two suits the trump comes first, then the one of more own cards, of higher own cards, of higher unseen cards.
_TRUMP_SHIFT, _COUNT_SHIFT, _HAND_SHIFT = 50, 40, 20
# Above all of these: which suit came first, and its mate.
_FIRST, _SECOND = 1 << 55, 1 << 54


class _Named(nn.Module):
    """Constants by name, which travel inside the graph."""

    def hold(self, name: str, values: object, kind: torch.dtype = torch.int64) -> None:
        self.register_buffer(name, torch.tensor(np.ascontiguousarray(values), dtype=kind), persistent=False)


class SuitOrder(_Named):
    """The order of suits of observations: for each suit its place, and vectors with their suits in it."""

    flag_weight: Tensor
    mate: Tensor
    entry: Tensor
    entry_suit: Tensor
    entry_distance: Tensor
    action: Tensor
    action_suit: Tensor
    action_distance: Tensor

    def __init__(self, rules: Rules) -> None:
        super().__init__()
        tables, layout = portable_tables(rules), observation_layout(rules)
        self.suits, self.ranks = len(rules.suits), len(rules.ranks)
        self.starts = {name: layout[name].start for name in ("hand", "unseen", "trump")}
        self.has_mates = len(tables.mate) > 0
        self.hold("flag_weight", 1 << np.arange(self.ranks))
        if self.has_mates:
            self.hold("mate", tables.mate)
        self.hold("entry", np.arange(len(tables.entry_suit)))
        self.hold("action", np.arange(len(tables.action_suit)))
        for name in ("entry_suit", "entry_distance", "action_suit", "action_distance"):
            self.hold(name, getattr(tables, name))

    def places(self, observation: Tensor) -> Tensor:
        """The place of each suit, [B, suits] int64, by observations [B, d] int8."""
        held, unseen = (self._cards(observation, name) for name in ("hand", "unseen"))
        start = self.starts["trump"]
        trump = observation[:, start : start + self.suits].long()
        key = (trump << _TRUMP_SHIFT) + (held.sum(dim=2) << _COUNT_SHIFT)
        key = key + ((held * self.flag_weight).sum(dim=2) << _HAND_SHIFT)
        key = key + (unseen * self.flag_weight).sum(dim=2)
        places = _rank(key)
        if self.has_mates:
            first = places == 0
            # The mate of the first, by a sum over suits of which one counts.
            mate = (first * self.mate).sum(dim=1, keepdim=True)
            second = torch.arange(self.suits, device=key.device) == mate
            places = _rank(key + first * _FIRST + second * _SECOND)
        return places

    def _cards(self, observation: Tensor, name: str) -> Tensor:
        """Flags of a piece of cards by suit, without jokers, [B, suits, ranks] int64."""
        start = self.starts[name]
        return (
            observation[:, start : start + self.suits * self.ranks]
            .long()
            .unflatten(1, (self.suits, self.ranks))
        )

    def in_order(self, observation: Tensor, places: Tensor) -> Tensor:
        """Observations [B, d] with their suits in order."""
        suits = torch.arange(self.suits, device=places.device)
        # The suit that stands in each place: places are a permutation, and this its inverse.
        order = ((places.unsqueeze(1) == suits.unsqueeze(1)) * suits).sum(dim=2)
        moved = order.index_select(1, self.entry_suit) - self.entry_suit
        return observation.gather(1, self.entry + moved * self.entry_distance)

    def as_dealt(self, values: Tensor, places: Tensor) -> Tensor:
        """Values of actions [B, n] with suits in order, as columns of the positions as they were."""
        moved = places.index_select(1, self.action_suit) - self.action_suit
        return values.gather(1, self.action + moved * self.action_distance)


def _rank(key: Tensor) -> Tensor:
    """The place of each entry of [B, k] among its row's, the largest first, [B, k] int64; of equals the first."""
    earlier = torch.ones(key.shape[1], key.shape[1], device=key.device).tril(-1) > 0
    mine, others = key.unsqueeze(2), key.unsqueeze(1)
    return ((others > mine) | ((others == mine) & earlier)).long().sum(dim=2)


class Features(_Named):
    """The features of observations (`smear_env.feature_layout`)."""

    suit_of: Tensor
    strength: Tensor
    claim: Tensor
    points: Tensor
    rivals: Tensor
    members: Tensor

    def __init__(self, rules: Rules) -> None:
        super().__init__()
        tables = portable_tables(rules)
        self.layout = {name: piece.slice for name, piece in observation_layout(rules).items()}
        self.names = list(feature_layout(rules))
        self.players, self.suits, self.cards = rules.players, len(rules.suits), len(rules.card_names)
        suit, strength = tables.suit_of, tables.strength
        for name in ("suit_of", "strength", "claim"):
            self.hold(name, getattr(tables, name))
        self.hold("points", tables.card_points)
        same = (suit[:, :, None] == suit[:, None, :]) & (suit[:, :, None] >= 0)
        above, below = (
            same & compare(strength[:, None, :], strength[:, :, None]) for compare in (np.greater, np.less)
        )
        # Sums over unseen cards under every trump at once: one product of matrices, of which a row is taken.
        self.hold("rivals", np.stack([above, below]).reshape(-1, self.cards).T, torch.float32)
        members = suit[:, None, :] == np.arange(self.suits)[None, :, None]
        self.hold("members", members.reshape(-1, self.cards).T, torch.float32)

    def forward(self, observation: Tensor) -> Tensor:
        """[B, d] int8, their suits in order if the network sees them so, to [B, f] int8."""
        at = {
            name: observation[:, self.layout[name]].long()
            for name in ("hand", "unseen", "trick", "voids", "leader")
        }
        trump = _last_flag(observation[:, self.layout["trump"]].long())
        row = torch.where(trump < 0, self.suits, trump)
        suit, strength, claim = (
            table.index_select(0, row) for table in (self.suit_of, self.strength, self.claim)
        )
        card = _last_flag(at["trick"].unflatten(1, (self.players, self.cards)))
        found = self._trick(
            card, _last_flag(at["leader"]).clamp(min=0), trump, suit=suit, strength=strength, claim=claim
        )
        found |= self._unseen(at["unseen"], at["voids"], row)
        follows = (suit == _at(suit, found["best"]).unsqueeze(1)) | (suit == trump.unsqueeze(1))
        over = follows & (claim > _at(strength, found["best"]).unsqueeze(1))
        leads = (found["best"] < 0).unsqueeze(1)
        found["takes"] = at["hand"] * (leads | over)
        above, below = found["rivals"].unbind(1)
        found["above"], found["below"] = above * at["hand"], below * at["hand"]
        return torch.cat([found[name] for name in self.names], dim=1).to(torch.int8)

    def _trick(
        self,
        card: Tensor,
        leader: Tensor,
        trump: Tensor,
        *,
        suit: Tensor,
        strength: Tensor,
        claim: Tensor,
    ) -> dict[str, Tensor]:
        """What lies on the table: the card [B, seats] of each seat, -1 none, in turn from the leader [B]."""
        best, taker, led = (torch.full_like(leader, -1) for _ in range(3))
        lying = torch.zeros_like(leader)
        for turn in range(self.players):
            seat = (leader + turn) % self.players
            one = _at(card, seat)
            lies, follows = one >= 0, _at(suit, one)
            led = torch.where(lies & (lying == 0), follows, led)
            counts = (follows == trump) | ((best >= 0) & (follows == _at(suit, best)))
            takes = (best < 0) | (counts & (_at(claim, one) > _at(strength, best)))
            best = torch.where(lies & takes, one, best)
            taker = torch.where(lies & takes, seat, taker)
            lying = lying + lies
        worth = torch.where(card >= 0, self.points[card.clamp(min=0)], 0)
        return {
            "best": best,
            "taker": _flags(taker, self.players),
            "lying": _flags(lying.clamp(max=self.players - 1), self.players),
            "trick_points": worth.sum(dim=1, keepdim=True),
            "led": _flags(led, self.suits),
        }

    def _unseen(self, unseen: Tensor, voids: Tensor, row: Tensor) -> dict[str, Tensor]:
        """What is unseen: beside each card, of each suit, and who may hold it; row [B]: of the tables by trump."""
        seen = unseen.to(torch.float32)
        trumps = self.suits + 1
        of_row = _flags(row, trumps)
        rivals = (seen @ self.rivals).long().unflatten(1, (2, trumps, self.cards))
        left = (seen @ self.members).long().unflatten(1, (trumps, self.suits))
        left = (left * of_row.unsqueeze(2)).sum(dim=1)
        others = (left > 0).unsqueeze(1) & (voids.unflatten(1, (self.players, self.suits)) == 0)[:, 1:]
        # Of itself a seat knows what it holds.
        may_hold = functional.pad(others.long().flatten(1), (self.suits, 0))
        return {
            "rivals": (rivals * of_row[:, None, :, None]).sum(dim=2),
            "left": left,
            "may_hold": may_hold,
            "points_left": (unseen * self.points).sum(dim=1, keepdim=True),
        }


def _last_flag(flags: Tensor) -> Tensor:
    """Number of the last entry of [..., k] that is set, -1 if none is."""
    numbers = torch.arange(1, flags.shape[-1] + 1, device=flags.device)
    return ((flags != 0) * numbers).amax(dim=-1) - 1


def _at(values: Tensor, column: Tensor) -> Tensor:
    """The entry [B] of values [B, k] in each row's column [B]; in the first where that is negative."""
    return values.gather(1, column.clamp(min=0).unsqueeze(1)).squeeze(1)


def _flags(number: Tensor, count: int) -> Tensor:
    """[B] whole numbers as flags [B, count] int64; none where a number is negative."""
    return (number.unsqueeze(1) == torch.arange(count, device=number.device)).long()


class PolicyGraph(nn.Module):
    """A policy from what the environment shows to what it would do.

    Args:
        rules: of the preset.
        body: the network, from its inputs [B, inputs] float32, scaled to about -1..1, to logits [B, n].
        ordered: the network sees suits in order.
        features: it takes features beside the observation.
    """

    scale: Tensor

    def __init__(
        self,
        rules: Rules,
        body: nn.Module,
        *,
        ordered: bool = True,
        features: bool = False,
    ) -> None:
        super().__init__()
        self.order = SuitOrder(rules) if ordered else None
        self.features = Features(rules) if features else None
        scale = np.concatenate([observation_scale(rules), *([feature_scale(rules)] if features else [])])
        self.register_buffer("scale", torch.tensor(scale), persistent=False)
        self.body = body
        self.requires_grad_(requires_grad=False)

    @classmethod
    def of_checkpoint(cls, folder: Path) -> Self:
        """The policy of a checkpoint folder; CheckpointError names file and field of a damaged one.

        That of a network of the user's own is the module that its function makes (`training.own_network`).
        """
        description = read_policy(folder)
        network, weights = description["network"], read_weights(folder, description)
        kind = network.get("kind", MLP)
        depth = len(network["hidden"])
        body = _layers(weights, depth) if kind == MLP else _own(network_from(folder, description, weights))
        return cls(
            PRESETS[description["preset"]],
            body,
            ordered=network.get("suits", "ordered") == "ordered",
            features=network.get("features", False),
        ).eval()

    def forward(self, observation: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Probabilities and logits, [B, n] float32, of observations [B, d] int8 and masks [B, n] int8 as shown.

        Where the mask is 0, a probability is 0 and a logit minus infinity. A row without a legal action has no
        probability at all.
        """
        seen, places = observation, None
        if self.order is not None:
            places = self.order.places(observation)
            seen = self.order.in_order(observation, places)
        if self.features is not None:
            seen = torch.cat([seen, self.features(seen)], dim=1)
        x = self.body(seen.to(torch.float32) * self.scale)
        if self.order is not None and places is not None:
            x = self.order.as_dealt(x, places)
        legal = mask != 0
        chances = torch.softmax(x.masked_fill(~legal, MASKED), dim=1) * legal
        return chances, x.masked_fill(~legal, -torch.inf)


def _own(network: Network) -> nn.Module:
    """The policy of a network of the user's own."""
    return cast("nn.Module", network.actor)


class _InDouble(nn.Module):
    """Layers in double precision between float32 inputs and outputs.

    The logits of a policy that is sure of itself are hundreds, of which float32 keeps five digits: two ways to add them
    up then differ by more than 1e-5 in a probability. With one of them exact, what is left is the kernels' rounding.
    """

    def __init__(self, layers: nn.Module) -> None:
        super().__init__()
        self.layers = layers.double()

    def forward(self, inputs: Tensor) -> Tensor:
        """[B, inputs] to [B, n]."""
        return cast("Tensor", self.layers(inputs.double())).to(torch.float32)


def _layers(weights: Mapping[str, Float32Array], hidden: int) -> nn.Module:
    """A checkpoint's stack of so many hidden ReLU layers and its last one."""
    parts: list[nn.Module] = []
    for name in (*(f"trunk.{index}" for index in range(hidden)), "policy"):
        weight, bias = (torch.from_numpy(weights[f"{name}.{part}"]) for part in ("weight", "bias"))
        layer = nn.Linear(weight.shape[1], weight.shape[0])
        layer.load_state_dict({"weight": weight, "bias": bias})
        parts += [layer, nn.ReLU()]
    return _InDouble(nn.Sequential(*parts[:-1]))
