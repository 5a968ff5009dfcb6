"""The table as fixed-width text."""

from __future__ import annotations

from smear_env.render.view import PHASES, SUITS, TableView, title

__all__ = ["to_text"]

CELL = 28
CARDS_IN_LINE = 8

# Rows of the round table: left, middle and right seat, None where nobody sits. The middle of the
# inner rows is the table itself.
ROUND: dict[int, tuple[tuple[int | None, int | None, int | None], ...]] = {
    2: ((None, 1, None), (None, None, None), (None, 0, None)),
    3: ((1, None, 2), (None, None, None), (None, 0, None)),
    4: ((None, 2, None), (1, None, 3), (None, 0, None)),
    5: ((2, None, 3), (1, None, 4), (None, 0, None)),
    6: ((None, 3, None), (2, None, 4), (1, None, 5), (None, 0, None)),
}


def to_text(view: TableView) -> str:
    """The table in ASCII, seats where they sit: seat 0 at the bottom, clockwise, `>` at the seat to act."""
    lines = [f"{title(view.game)} - deal {view.deal} - {PHASES[view.phase]} - to {view.target}"]
    lines += _scores(view)
    lines.append(_contract(view))
    lines.append("")
    rows = ROUND[view.players]
    middle = _middle(view)
    # With six seats the table lies beside two rows of seats: half of it stands beside each.
    inner = len(rows) - 2
    half = -(-len(middle) // inner)
    for index, (left, centre, right) in enumerate(rows):
        block = _seat(view, centre)
        if 0 < index <= inner:
            block = middle[(index - 1) * half : index * half]
        lines += _beside(_seat(view, left), block, _seat(view, right))
        if index < inner or index == len(rows) - 2:
            lines.append("")
    if view.last_trick:
        cards = "  ".join(f"{seat}:{card}" for seat, card in view.last_trick)
        taker = "" if view.last_winner is None else f"  taken by seat {view.last_winner}"
        lines += ["", f"Last trick  {cards}{taker}"]
    if view.phase == "over":
        lines += ["", f"*** {view.outcome()} ***"]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _scores(view: TableView) -> list[str]:
    lines = ["team  score  tricks  card points  seats"]
    for team in range(view.teams):
        seats = " ".join(str(seat) for seat in range(team, view.players, view.teams))
        tricks, points = view.tricks_won[team], view.card_points[team]
        lines.append(f"{team:>4}  {view.scores[team]:>5}  {tricks:>6}  {points:>11}  {seats}")
    return lines


def _contract(view: TableView) -> str:
    bid = "no bid yet" if view.bidder is None else f"bid {view.bid} by seat {view.bidder}"
    trump = "trump not known" if view.trump is None else f"trump {SUITS[view.trump]}"
    return f"{bid}, {trump}, {view.stock} in the stock"


def _seat(view: TableView, seat: int | None) -> list[str]:
    if seat is None:
        return []
    mark = ">" if seat == view.turn else " "
    dealer = " dealer" if seat == view.dealer else ""
    lines = [f"{mark} Seat {seat} team {seat % view.teams}{dealer}"]
    hand = view.hands[seat]
    if isinstance(hand, int):
        lines.append(f"  ({hand} card{'' if hand == 1 else 's'})")
    else:
        starts = range(0, max(len(hand), 1), CARDS_IN_LINE)
        lines += ["  " + (" ".join(hand[start : start + CARDS_IN_LINE]) or "(no cards)") for start in starts]
    notes = []
    spoken = view.spoken(seat)
    if spoken is not None:
        notes.append(spoken if spoken == "pass" else f"bid {spoken}")
    if view.exchanged[seat]:
        notes.append(f"drew {view.exchanged[seat]}")
    if notes:
        lines.append("  " + ", ".join(notes))
    return lines


def _middle(view: TableView) -> list[str]:
    played = dict(view.trick)
    led = view.trick[0][0] if view.trick else None

    def spot(seat: int | None) -> str:
        if seat is None:
            return ""
        return played.get(seat, "--") + ("*" if seat == led else "")

    lines = []
    for left, centre, right in ROUND[view.players]:
        lines.append(f"{spot(left):^9}{spot(centre):^7}{spot(right):^9}")
    lines.append("(* led)" if led is not None else "")
    return lines


def _beside(left: list[str], middle: list[str], right: list[str]) -> list[str]:
    height = max(len(left), len(middle), len(right))
    columns = [block + [""] * (height - len(block)) for block in (left, middle, right)]
    return ["".join(f"{cell:<{CELL}}" for cell in row) for row in zip(*columns, strict=True)]
