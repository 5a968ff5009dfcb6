"""A player of fixed thresholds, as published scripts for such games bid: a yardstick for `expert`.

The value of a suit is the chance that its highest card in hand is the highest in play, and its lowest the lowest,
each counted as 0 below 0.3; plus Game: 0.2 for each trump, 0.6 for the ten of trump, or 0.3 with two trumps or fewer,
0.2 for each side ace or king, 0.15 for each side queen or jack; plus the jack of trump times 0, 0.5, 0.75 or 1 with 0,
1, 2, 3 or more other trumps (in `schmier` each bower and the joker so). It bids the whole part of its best suit's value
when that is above the bids so far, leads trump from the top, gives points to a partner who is winning, and takes with
the cheapest winner. The thresholds are published ones; the code was written for this comparison.

    python -m benchmarks.threshold --agent expert --rules four_point --pairs 2000
"""

from __future__ import annotations

import argparse
from math import comb
from typing import Any

import numpy as np

from smear_env import Rules, make_agent, make_rules, observation_layout, pieces
from smear_env._typing import Int8Array, Int64Array
from smear_env.agents.base import BaseAgent, refuse_empty
from smear_env.engine.state import BID, DISCARD, EXCHANGE, NAME
from smear_env.engine.tables import compile_tables
from training.evaluate import compare, summarize
from training.progress import show_progress

LEAST_CHANCE = 0.3
TRUMP, TEN, TEN_OF_FEW, SIDE_HIGH, SIDE_MIDDLE = 0.2, 0.6, 0.3, 0.2, 0.15
FEW_TRUMPS = 2
CAPTURE_BY_TRUMPS = (0.0, 0.5, 0.75, 1.0)


class ThresholdAgent(BaseAgent):
    """Bids by fixed thresholds; without chance."""

    def reset(self, rules: Rules, seat: int, seed: int) -> None:
        """Begin a game; see `BaseAgent`."""
        super().reset(rules, seat, seed)
        self._tables = compile_tables(rules)[0]
        self._layout = observation_layout(rules)

    def act_batch(self, observations: Int8Array, masks: Int8Array) -> Int64Array:
        """Legal actions [B] int64; see `Agent`."""
        seen, legal = self.checked(observations, masks)
        refuse_empty(legal)
        return np.array([self._decide(*row) for row in zip(seen, legal, strict=True)], np.int64)

    def _decide(self, row: Int8Array, mask: Int8Array) -> int:
        legal = np.flatnonzero(mask)
        if len(legal) == 1:
            return int(legal[0])
        seen = pieces(row, self._layout)
        hand = [int(card) for card in np.flatnonzero(seen["hand"])]
        phase = int(seen["phase"].argmax())
        if phase == BID:
            return self._bid(hand, legal)
        trump = int(seen["trump"].argmax()) if seen["trump"].any() else self._best_suit(hand)[0]
        if phase == NAME:
            return int(legal[0]) + trump
        cards = [int(card) for card in legal if card < self._tables.cards]
        if phase in (EXCHANGE, DISCARD):
            return self._throw(cards, trump, int(legal[-1]))
        return self._play(seen, cards, trump)

    def suit_value(self, hand: list[int], suit: int) -> float:
        """Points to expect with `suit` as trump."""
        t = self._tables
        trumps = [card for card in hand if t.suit_of[suit, card] == suit]
        if not trumps:
            return 0.0
        names = self.rules.card_names
        strength = [int(t.strength[suit, card]) for card in trumps]
        every = [int(t.strength[suit, c]) for c in range(t.cards) if t.suit_of[suit, c] == suit]
        # A joker is a trump below the lowest, and never Low.
        plain = [int(t.strength[suit, card]) for card in trumps if t.suit_of[-1, card] >= 0]
        low = min(plain, default=max(every))
        first = int(t.strength[suit, t.low_card[suit]])
        value = self._none_in_play(sum(one > max(strength) for one in every), len(hand))
        if plain:
            value += self._none_in_play(sum(first <= one < low for one in every), len(hand))
        value += TRUMP * len(trumps)
        if any(t.card_points[card] == 10 for card in trumps):
            value += TEN if len(trumps) > FEW_TRUMPS else TEN_OF_FEW
        for card in set(hand) - set(trumps):
            value += {"A": SIDE_HIGH, "K": SIDE_HIGH, "Q": SIDE_MIDDLE, "J": SIDE_MIDDLE}.get(
                names[card][0], 0
            )
        captures = set(t.capture[suit].tolist()) & set(trumps)
        return value + len(captures) * CAPTURE_BY_TRUMPS[min(len(trumps) - 1, 3)]

    def _none_in_play(self, cards: int, held: int) -> float:
        """Chance that none of so many unseen cards is in another hand, 0 below the least that counts."""
        rules = self.rules
        unseen = len(rules.card_names) - held
        others = unseen if rules.dealer_takes_stock else (rules.players - 1) * rules.hand_size
        chance = comb(unseen - cards, others) / comb(unseen, others) if cards <= unseen - others else 0.0
        return chance if chance >= LEAST_CHANCE else 0.0

    def _best_suit(self, hand: list[int]) -> tuple[int, float]:
        values = [self.suit_value(hand, suit) for suit in range(self._tables.suits)]
        best = int(np.argmax(values))
        return best, values[best]

    def _bid(self, hand: list[int], legal: Int64Array) -> int:
        t = self._tables
        bid = int(t.cards) + 1 + int(self._best_suit(hand)[1]) - int(t.min_bid)
        bid = min(bid, int(t.cards) + 1 + int(t.max_bid) - int(t.min_bid))
        return bid if bid in legal and bid > t.cards else int(legal[0])

    def _throw(self, cards: list[int], trump: int, stop: int) -> int:
        """The lowest card that is no trump; in the exchange no ace or king."""
        t = self._tables
        order = sorted(cards, key=lambda card: int(t.strength[trump, card]))
        others = [card for card in order if t.suit_of[trump, card] != trump]
        if stop >= t.cards:
            others = [card for card in others if self.rules.card_names[card][0] not in "AK"]
            return others[0] if others else stop
        return (others or order)[0]

    def _play(self, seen: dict[str, Any], cards: list[int], trump: int) -> int:
        t = self._tables
        strength = {card: int(t.strength[trump, card]) for card in range(t.cards)}
        leader = int(seen["leader"].argmax())
        if leader == 0:
            # Trumps are stronger than all other cards.
            return max(cards, key=lambda card: strength[card])
        table = [int(seen["trick"][seat].argmax()) for seat in range(leader, t.players)]
        led = int(t.suit_of[trump, table[0]])
        counting = [card for card in table if t.suit_of[trump, card] in (led, trump)]
        best = max(counting, key=lambda card: strength[card])
        if (leader + table.index(best)) % t.teams == 0:
            return max(cards, key=lambda card: (int(t.card_points[card]), -strength[card]))
        winners = [c for c in cards if t.suit_of[trump, c] in (led, trump) and strength[c] > strength[best]]
        if winners:
            return min(winners, key=lambda card: strength[card])
        return min(cards, key=lambda card: (int(t.card_points[card]), strength[card]))


def main() -> None:
    """`python -m benchmarks.threshold`."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.threshold", description=__doc__)
    parser.add_argument("--agent", default="expert", help="registered name or checkpoint")
    parser.add_argument("--rules", default="four_point", help="preset")
    parser.add_argument("--pairs", type=int, default=2000, help="sets of duplicate deals")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    rules = make_rules(given.rules)
    show_progress()
    played = compare(make_agent(given.agent), ThresholdAgent(), rules, given.pairs, given.seed)
    result = summarize(played, given.seed)
    low, high = result["interval"]
    print(
        f"{given.agent} against the threshold player ({rules.name}): {result['points_per_deal']:+.3f} points per deal "
        f"[{low:+.3f}, {high:+.3f}] over {given.pairs} sets of duplicate deals"
    )


if __name__ == "__main__":
    main()
