"""The search: minimax of the threshold over all legal plays, with null windows and a table of positions.

`search` answers whether own team, with a given lead in card points, gets at least what is asked, whatever the others
play. It returns a bound on the position's threshold (see `outcome`): at most the lead, then yes, and the threshold is
not above it; more than the lead, then no, and the threshold is not below it. Own team lowers the threshold, the others
raise it.
"""

from __future__ import annotations

import numpy as np

from smear_env._jit import inline_kernel, kernel
from smear_env._typing import RecordArray, as_int
from smear_env.cards import bit, drop_lowest, has, lowest
from smear_env.engine.deal import mix
from smear_env.solver.outcome import ALWAYS, NEVER, end_threshold, place
from smear_env.solver.position import captures, card_points

_NONE = np.uint64(0)
_ONE = np.uint64(1)
_SEAT = np.uint64(0xD1342543DE82EF95)
_GAP = np.uint64(0xAF251AF3B0F025B5)
_BYTE = np.uint64(255)
_LIMIT = 127
_NO_CARD = 64


@inline_kernel
def legal_cards(w: RecordArray, hand: np.uint64, on_table: int, led: int) -> np.uint64:
    """What may be played from a hand: see `engine.legal`; the first lead of a deal is never searched here."""
    if on_table == 0:
        return hand
    follow = hand & w.suit[led]
    if follow == _NONE:
        return hand
    if w.may_trump:
        return follow | (hand & w.suit[0])
    return follow


@inline_kernel
def beats(w: RecordArray, card: int, best: int, led: int) -> bool:
    """Whether a card takes the trick from the best so far: by its claim, if it is a trump or of the suit led."""
    return w.claim[card] < best and has(w.suit[0] | w.suit[led], card)


@inline_kernel
def clip(threshold: int) -> int:
    """A bound that fits a byte; beyond any lead, so that nothing is lost."""
    return max(-_LIMIT, min(_LIMIT, threshold))


@kernel
def search(
    w: RecordArray,
    cards: np.uint64,
    seat: int,
    on_table: int,
    led: int,
    best: int,
    holder: int,
    gained: int,
    caught: int,
    left: int,
    own: int,
    bidder: int,
    lead: int,
    gap: int,
    card: int,
) -> int:
    """A bound on the threshold of the position after a seat has played a card.

    The arguments before `card` are the fields of the position that change, as they are before it is played. cards: all
    that are held. own, bidder: captures taken by own team and, where it is another, by the bidder's. The function calls
    none but itself that calls it: Numba caches no other recursion.
    """
    w.nodes += 1
    led, best, holder = put_card(w, seat, on_table, led, best, holder, card)
    gained += w.points[card]
    caught += captures(w, bit(card))
    cards &= ~bit(card)
    on_table += 1
    seat += 1
    if seat == w.players:
        seat = as_int(0)
    change = as_int(0)
    first = as_int(_NO_CARD)
    key = _NONE
    if on_table == w.players:
        own, bidder, lead, left, gap, change = take_trick(
            w, holder, gained, caught, own, bidder, lead, left, gap
        )
        if cards == _NONE:
            return end_threshold(w, own, bidder, lead, gap) - change
        seat = holder
        on_table = as_int(0)
        gained = as_int(0)
        caught = as_int(0)
        key = position_key(w, cards, seat, left, own, bidder, lead, gap)
        known, found, first = known_bound(w, cards, seat, left, own, bidder, lead, gap, key)
        if known:
            return found - change
    mine = w.side[seat] == 0
    hand = w.hand[seat] & cards
    todo = legal_cards(w, hand, on_table, led)
    todo = distinct(w, todo, hand, cards, best if on_table > 0 else as_int(_NO_CARD))
    result = as_int(NEVER if mine else ALWAYS)
    chosen = first
    threats = cards_after(w, cards, seat, on_table)
    while todo != _NONE:
        trial = next_card(w, todo, first, mine, on_table, led, best, holder, gained, threats)
        first = as_int(_NO_CARD)
        todo &= ~bit(trial)
        found = search(
            w, cards, seat, on_table, led, best, holder, gained, caught, left, own, bidder, lead, gap, trial
        )
        if (found < result) if mine else (found > result):
            result = found
            chosen = trial
            if (result <= lead) == mine:
                break
    if on_table == 0:
        keep_bound(w, key, result + min(0, gap), result <= lead, chosen)
    return result - change


@inline_kernel
def put_card(
    w: RecordArray, seat: int, on_table: int, led: int, best: int, holder: int, card: int
) -> tuple[int, int, int]:
    """Suit led, best card and who played it, after a card."""
    if on_table == 0:
        return as_int(w.suit_of[card]), as_int(card), as_int(seat)
    if beats(w, card, best, led):
        return led, as_int(card), as_int(seat)
    return led, best, holder


@inline_kernel
def take_trick(
    w: RecordArray,
    holder: int,
    gained: int,
    caught: int,
    own: int,
    bidder: int,
    lead: int,
    left: int,
    gap: int,
) -> tuple[int, int, int, int, int, int]:
    """The fields of the position after a trick; last what it changes own team's lead by, and so its threshold."""
    side = as_int(w.side[holder])
    change = as_int(0)
    if side == 0:
        own += caught
        change = gained
    elif side == 1:
        change = -gained
        gap += gained
        if not w.own_bids:
            bidder += caught
    else:
        gap -= gained
    return own, bidder, lead + change, left - gained, gap, change


@inline_kernel
def known_bound(
    w: RecordArray,
    cards: np.uint64,
    seat: int,
    left: int,
    own: int,
    bidder: int,
    lead: int,
    gap: int,
    key: np.uint64,
) -> tuple[bool, int, int]:
    """Whether a bound that answers is known without search, the bound, and else the card to try first."""
    no_card = as_int(_NO_CARD)
    hand = w.hand[seat] & cards
    if hand & (hand - _ONE) == _NONE:
        return True, last_trick(w, cards, seat, left, own, bidder, lead, gap), no_card
    # Bounds and the table count the lead over the better of two other teams.
    behind = min(as_int(0), gap)
    lead += behind
    lower, upper = bounds(w, cards, left, own, bidder)
    if upper <= lead:
        return True, upper - behind, no_card
    if lower > lead:
        return True, lower - behind, no_card
    slot = 2 * as_int(key >> np.uint64(64 - w.table_bits))
    if w.table[slot] != key:
        return False, as_int(0), no_card
    data = w.table[slot + 1]
    upper = as_int(data & _BYTE) - 128
    lower = as_int((data >> np.uint64(8)) & _BYTE) - 128
    if upper <= lead:
        return True, upper - behind, no_card
    if lower > lead:
        return True, lower - behind, no_card
    return False, as_int(0), as_int((data >> np.uint64(16)) & _BYTE)


@inline_kernel
def keep_bound(w: RecordArray, key: np.uint64, bound: int, is_upper: bool, chosen: int) -> None:
    """Write a bound into the table, beside the other one of the same position."""
    slot = 2 * as_int(key >> np.uint64(64 - w.table_bits))
    upper = np.uint64(_LIMIT + 128)
    lower = np.uint64(128 - _LIMIT)
    if w.table[slot] == key:
        upper = w.table[slot + 1] & _BYTE
        lower = (w.table[slot + 1] >> np.uint64(8)) & _BYTE
    if is_upper:
        upper = np.uint64(clip(bound) + 128)
    else:
        lower = np.uint64(clip(bound) + 128)
    w.table[slot] = key
    w.table[slot + 1] = upper | lower << np.uint64(8) | np.uint64(chosen) << np.uint64(16)


@inline_kernel
def bounds(w: RecordArray, cards: np.uint64, left: int, own: int, bidder: int) -> tuple[int, int]:
    """Bounds on the threshold at a trick's beginning, in terms of the lead over the best other team.

    Trumps of one side above all of the other's take the tricks they are played to, so their points are won.
    """
    trumps = cards & w.suit[0]
    ours = trumps & w.own_cards
    theirs = trumps & ~w.own_cards
    opened = captures(w, cards)
    # With none on a side, subtracting one from its empty set makes every card a sure one.
    our_sure = ours & ((theirs & (~theirs + _ONE)) - _ONE) & ~w.tied
    their_sure = theirs & ((ours & (~ours + _ONE)) - _ONE) & ~w.tied
    taken = captures(w, our_sure)
    upper = w.upper[place(own + taken, bidder, opened - taken)] + left - 2 * card_points(w, our_sure)
    given = captures(w, their_sure)
    lost = card_points(w, their_sure)
    if w.teams == 2:
        theirs_taken = 0 if w.own_bids else given
        lower = w.lower[place(own, bidder + theirs_taken, opened - given)] - left + 2 * lost
    else:
        lower = w.lower[place(own, bidder, opened)] - left + lost
    return as_int(lower), as_int(upper)


@inline_kernel
def last_trick(
    w: RecordArray,
    cards: np.uint64,
    seat: int,
    left: int,
    own: int,
    bidder: int,
    lead: int,
    gap: int,
) -> int:
    """The threshold of a position in which each seat holds one card."""
    trumps = cards & w.suit[0]
    best = lowest(trumps)
    if trumps == _NONE:
        best = lowest(cards & w.suit[w.suit_of[lowest(w.hand[seat] & cards)]])
    if bit(best) == w.tied and has(trumps, best + 1):
        best = winning_joker(w, cards, seat, best)
    holder = as_int(0)
    while not has(w.hand[holder], best):
        holder += 1
    own, bidder, lead, left, gap, change = take_trick(
        w, holder, left, captures(w, cards), own, bidder, lead, left, gap
    )
    return end_threshold(w, own, bidder, lead, gap) - change


@inline_kernel
def winning_joker(w: RecordArray, cards: np.uint64, seat: int, joker: int) -> int:
    """Which of two equal jokers, `joker` the one with the lower number, wins a trick that `seat` leads."""
    while w.hand[seat] & cards & (bit(joker) | bit(joker + 1)) == _NONE:
        seat += 1
        if seat == w.players:
            seat = as_int(0)
    lower_is_first = has(w.hand[seat], joker)
    first_wins = w.claim[joker] > joker
    return joker if lower_is_first == first_wins else joker + 1


@inline_kernel
def position_key(
    w: RecordArray,
    cards: np.uint64,
    seat: int,
    left: int,
    own: int,
    bidder: int,
    lead: int,
    gap: int,
) -> np.uint64:
    """Name of a position at a trick's beginning, with what the question can still hang on."""
    key = w.salt + w.shapes[place(own, bidder, captures(w, cards))] + np.uint64(seat) * _SEAT
    if w.teams != 2:
        key += np.uint64(max(-left - 1, min(left + 1, gap)) + 512) * _GAP
    if w.exact:
        key ^= mix(np.uint64(lead + min(0, gap) + 512))
    return mix(mix(key) + cards)


@inline_kernel
def distinct(w: RecordArray, todo: np.uint64, hand: np.uint64, cards: np.uint64, best: int) -> np.uint64:
    """Leave out cards that are worth the same as another: next to it in strength, with the same points."""
    others = cards & ~hand
    if best < _NO_CARD:
        others |= bit(best)
    keep = todo
    rest = todo
    before = as_int(_NO_CARD)
    seen = _NONE
    while rest != _NONE:
        card = lowest(rest)
        rest = drop_lowest(rest)
        between = (bit(card) - _ONE) & ~(bit(before) - _ONE) if before < _NO_CARD else ~_NONE
        if before == _NO_CARD or w.suit_of[card] != w.suit_of[before] or others & between != _NONE:
            seen = _NONE
        before = card
        if has(w.capture, card):
            continue
        points = bit(w.points[card])
        if seen & points != _NONE:
            keep &= ~bit(card)
        seen |= points
    return keep


@inline_kernel
def cards_after(w: RecordArray, cards: np.uint64, seat: int, on_table: int) -> np.uint64:
    """Cards of the other side's seats that play after this one to the trick."""
    found = _NONE
    mine = w.side[seat] == 0
    after = seat
    for _ in range(on_table + 1, w.players):
        after += 1
        if after == w.players:
            after = as_int(0)
        if (w.side[after] == 0) != mine:
            found |= w.hand[after]
    return found & cards


@inline_kernel
def next_card(
    w: RecordArray,
    todo: np.uint64,
    first: int,
    mine: bool,
    on_table: int,
    led: int,
    best: int,
    holder: int,
    gained: int,
    threats: np.uint64,
) -> int:
    """The most promising of the cards to try: the order changes how long the search takes, never what it finds."""
    if first < _NO_CARD and has(todo, first):
        return first
    chosen = lowest(todo)
    rest = drop_lowest(todo)
    if rest == _NONE:
        return chosen
    ours = on_table > 0 and (w.side[holder] == 0) == mine
    highest = promise(w, chosen, on_table, led, best, ours, gained, threats)
    while rest != _NONE:
        card = lowest(rest)
        rest = drop_lowest(rest)
        found = promise(w, card, on_table, led, best, ours, gained, threats)
        if found > highest:
            highest = found
            chosen = card
    return chosen


@inline_kernel
def promise(
    w: RecordArray, card: int, on_table: int, led: int, best: int, ours: bool, gained: int, threats: np.uint64
) -> int:
    """How promising a card is: sure winners first, then points to a partner's winner, then cheap cards."""
    points = as_int(w.points[card]) + (8 if has(w.capture, card) else 0)
    suit = as_int(w.suit_of[card])
    stronger = threats & w.suit[suit] & (bit(card) - _ONE)
    if on_table == 0:
        if stronger == _NONE and (suit == 0 or threats & w.suit[0] == _NONE):
            return 100 + points
        if suit == 0:
            return 20 - 4 * points
        return 10 - 4 * points + (6 if stronger == _NONE else 0)
    wins = beats(w, card, best, led)
    if wins:
        safe = stronger == _NONE and (suit == 0 or threats & w.suit[0] == _NONE)
        if safe:
            return 100 + points if not ours else 60 + points
        return 10 - 2 * points + (0 if ours else gained)
    if ours:
        held = threats & w.suit[w.suit_of[best]] & (bit(best) - _ONE) == _NONE and (
            w.suit_of[best] == 0 or threats & w.suit[0] == _NONE
        )
        return 80 + points if held else 8 - points
    return -4 * points
