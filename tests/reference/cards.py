"""Cards and their order: which are trump, which beats which, what each counts for Game.

Trump, high first: A K Q J T 9 ... ; with bowers A K Q Right Left T 9 ... 2, then the jokers, one `JK` or
two, big `BJ` and little `LJ`, of which the one played first or second wins, or the big one.
Right Bower: the jack of trump. Left Bower: the other jack of the same colour, a trump in every
respect. Side suits: the plain order, the suit of trump's colour without its jack when bowers count.
"""

from tests.reference.options import Options

JOKERS = ("LJ", "BJ", "JK")
SAME_COLOUR = {"C": "S", "S": "C", "D": "H", "H": "D"}
CARD_POINTS = {"A": 4, "K": 3, "Q": 2, "J": 1, "T": 10}


def deck(options: Options) -> list[str]:
    """Every card of the game."""
    cards = [rank + suit for suit in options.suits for rank in options.ranks]
    return cards + jokers(options)


def jokers(options: Options) -> list[str]:
    """The jokers in the deck, lowest first."""
    if options.second_joker:
        return ["LJ", "BJ"]
    return ["JK"] if options.joker else []


def card_points(card: str) -> int:
    """What the card counts for Game."""
    return 1 if card in JOKERS else CARD_POINTS.get(card[0], 0)


def left_bower(options: Options, trump: str) -> str | None:
    """The other jack of trump's colour, where bowers count and the deck has it."""
    suit = SAME_COLOUR[trump]
    return "J" + suit if options.bowers and suit in options.suits else None


def trump_order(options: Options, trump: str) -> list[str]:
    """Every trump, lowest first."""
    order = jokers(options)
    for rank in options.ranks:
        left = left_bower(options, trump)
        if rank == "J" and left is not None:
            order.append(left)
        order.append(rank + trump)
    return order


def suit_of(options: Options, card: str, trump: str | None) -> str:
    """The suit the card belongs to: the bowers and the jokers belong to trump, or before it is known to no suit."""
    if card in JOKERS:
        return trump or ""
    if trump is not None and card == left_bower(options, trump):
        return trump
    return card[1]


def is_trump(options: Options, card: str, trump: str | None) -> bool:
    """Whether the card is a trump."""
    return trump is not None and suit_of(options, card, trump) == trump


def scoring_trumps(options: Options, trump: str) -> list[str]:
    """The trumps that earn a point: ace, lowest, jack or bowers, jokers, the big one first."""
    left = left_bower(options, trump)
    jacks = ["J" + trump] if left is None else ["J" + trump, left]
    return ["A" + trump, options.ranks[0] + trump, *jacks, *reversed(jokers(options))]


def trick_winner(options: Options, trick: list[tuple[int, str]], trump: str | None) -> int:
    """The seat that takes the trick: by the highest trump, or else the highest of the suit led."""
    trumps = [(seat, card) for seat, card in trick if is_trump(options, card, trump)]
    if trumps and trump is not None:
        order = trump_order(options, trump)
        winner, best = max(trumps, key=lambda played: order.index(played[1]))
        if best in JOKERS and options.joker_order != "big":
            # No other trump was played, so that all these are jokers, in the order in which they were played.
            return trumps[0][0] if options.joker_order == "first" else trumps[-1][0]
        return winner
    led = trick[0][1][1]
    followed = [(seat, card) for seat, card in trick if card[1] == led]
    return max(followed, key=lambda played: options.ranks.index(played[1][0]))[0]
