"""Best responses the slow way: all worlds that a seat cannot tell apart are carried along together.

A seat's view is told from the deal's actions, not from what any environment shows. Two seats, one deal from level
scores.
"""

from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from tests.reference.cards import deck
from tests.reference.game import Match
from tests.reference.options import Options

Policy = Callable[["Node"], dict[str, float]]


@dataclass
class Node:
    """A deal at one moment, and how it came there."""

    match: Match
    dealt: list[list[str]]
    story: list[tuple[int, str, bool]]
    """(seat, action, whether only the seat knows the card)"""

    @property
    def over(self) -> bool:
        return self.match.turn is None

    @property
    def payoff(self) -> int:
        """Points to seat 0, own score change less the other's; 0 for a deal passed out."""
        delta = self.match.results[-1].get("delta", [0, 0])
        return delta[0] - delta[1]

    def view(self, seat: int) -> tuple[Any, ...]:
        """All that a seat knows."""
        story = tuple((who, "?" if own and who != seat else name) for who, name, own in self.story)
        return (seat, tuple(sorted(self.dealt[seat])), tuple(sorted(self.match.taken[seat])), story)

    def after(self, name: str) -> "Node":
        """The deal with one more action."""
        match = deepcopy(self.match)
        seat, phase = match.turn, match.phase
        assert seat is not None
        match.act(name)
        return Node(match, self.dealt, [*self.story, (seat, name, phase == "discard")])


def all_deals(options: Options) -> Iterator[tuple[list[list[str]], list[str]]]:
    """Every deal of two hands that differs to anybody where only the bidder draws from the stock."""
    cards = deck(options)
    for first in combinations(cards, options.hand_size):
        rest = [card for card in cards if card not in first]
        for second in combinations(rest, options.hand_size):
            left = [card for card in rest if card not in second]
            for top in combinations(left, options.stock_to_bidder):
                yield [list(first), list(second)], [*top, *(card for card in left if card not in top)]


def roots(options: Options, dealer: int = 1) -> list[Node]:
    """All deals, equally likely."""
    nodes = []
    for hands, stock in all_deals(options):
        match = Match(options, dealer)
        match.deal(hands, stock)
        nodes.append(Node(match, hands, []))
    return nodes


def uniform(node: Node) -> dict[str, float]:
    """Every legal action alike."""
    legal = node.match.legal()
    return dict.fromkeys(legal, 1 / len(legal))


def value(nodes: list[Node], policies: tuple[Policy, Policy]) -> float:
    """Points per deal to seat 0 where each seat plays its policy."""

    def worth(node: Node) -> float:
        if node.over:
            return node.payoff
        assert node.match.turn is not None
        chances = policies[node.match.turn](node)
        return sum(chance * worth(node.after(name)) for name, chance in chances.items() if chance)

    return sum(map(worth, nodes)) / len(nodes)


def best_value(nodes: list[Node], seat: int, other: Policy) -> float:
    """Points per deal that a seat makes at best against the other's policy."""

    def best(worlds: list[tuple[Node, float]]) -> float:
        total = 0.0
        alike: dict[Any, list[tuple[Node, float]]] = {}
        while worlds:
            node, weight = worlds.pop()
            if node.over:
                total += weight * node.payoff * (1 - 2 * seat)
            elif node.match.turn == seat:
                alike.setdefault(node.view(seat), []).append((node, weight))
            else:
                worlds += [(node.after(name), weight * chance) for name, chance in other(node).items()]
        for group in alike.values():
            choices = group[0][0].match.legal()
            total += max(best([(node.after(name), weight) for node, weight in group]) for name in choices)
        return total

    return best([(node, 1 / len(nodes)) for node in nodes])
