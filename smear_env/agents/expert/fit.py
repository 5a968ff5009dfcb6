"""Fit expert by its own play: the tables of the auction and the weights of the rules of play.

    python -m smear_env.agents.expert.fit --rules four_point
    python -m smear_env.agents.expert.fit --rules four_point --options

In each round expert plays deals against itself. At decisions drawn at random every choice is played out to the end of
the deal, on the true cards, by expert in all seats. The weights are moved so that the card of the highest worth is the
one that scored most on average, and the tables take the means of what bids and passes led to. The first round starts
from a few weights set by hand. With `--options` the tables of other options are fitted, from those of the preset on and
with its weights, so that nothing changes for the preset. The same seed gives the same files.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np

from smear_env._jit import kernel
from smear_env._typing import Float32Array, Float64Array, Int64Array
from smear_env.agents.expert import book as books
from smear_env.agents.expert import selfplay
from smear_env.agents.expert.features import NAMES
from smear_env.agents.seen import kernel_tables
from smear_env.layout import observation_layout, vector_size
from smear_env.rules import Rules, make_rules

GAMES_A_ROUND = {
    "four_point": 80_000,
    "schmier": 30_000,
    "mini": 20_000,
    "six_point": 40_000,
    "setback": 30_000,
    "racehorse": 30_000,
}
OPTION_ROUNDS = 3
OPTION_GAMES = {"four_point": 40_000, "schmier": 20_000, "mini": 20_000}
"""Games a round for the tables of other options."""
KEEP = 0.3
"""Share of the decisions that are played out."""
STEPS = 250
RATE = 0.03
SHRINK = 1e-4
"""Weight of the squares of the weights."""
CELL_PRIOR = 30.0
"""A cell's mean counts as if it had been seen so often at what its parts predict."""
VALUE_PRIOR = 40.0


class Fitter:
    """A book being fitted for one set of rules."""

    def __init__(self, rules: Rules, seed: int) -> None:
        self.rules = rules
        self.seed = seed
        self.tables, self.starts = kernel_tables(rules)
        self.book = books.blank_book(rules)
        first_tables(self.book[0], rules)
        self.bench = selfplay.new_bench(vector_size(observation_layout(rules)), len(rules.action_names))

    def gather(
        self, games: int, number: int, keep_cards: float = KEEP
    ) -> tuple[selfplay.Choices, selfplay.Calls]:
        """Self-play of round `number`, every choice of some decisions played out; of cards a share `keep_cards`."""
        rows, cells = (games * 12, games * 60) if keep_cards else (64, 128)
        choices = selfplay.Choices(
            np.zeros(rows + 1, np.int64),
            np.zeros(rows, np.int64),
            np.zeros((cells, books.FEATURES), np.float32),
            np.zeros(cells, np.float32),
        )
        room = games * 8 if keep_cards else games * 16
        calls = selfplay.Calls(
            np.zeros((room, 6), np.int64),
            np.zeros(room, np.int64),
            np.zeros(room, np.float32),
            np.zeros(room, np.int64),
            np.zeros(room, np.float32),
            np.zeros(room, np.int64),
        )
        seed = np.uint64((self.seed * 1_000_003 + number * 7919) % 2**63)
        written, called = selfplay.gather(
            self.tables, self.starts, self.book, self.bench, seed, games, KEEP, keep_cards, choices, calls
        )
        end = choices.start[written]
        return (
            selfplay.Choices(
                choices.start[: written + 1],
                choices.context[:written],
                choices.features[:end],
                choices.value[:end],
            ),
            selfplay.Calls._make(part[:called] for part in calls),
        )

    def against(self, other: Any, style: int, games: int, seed: int) -> tuple[float, float]:
        """Points per deal against another book (or greedy, as a style) on duplicate deals, and the standard error."""
        points = np.zeros((games, self.rules.teams))
        both = np.concatenate([self.book, self.book if other is None else other])
        selfplay.duel(
            self.tables,
            self.starts,
            both,
            np.array([books.PLAIN, style]),
            self.bench,
            np.uint64(seed),
            games,
            points,
        )
        sets = points.mean(axis=1)
        return float(sets.mean()), float(sets.std() / np.sqrt(games))


def first_tables(b: Any, rules: Rules) -> None:
    """Where fitting begins: a rough guess of what hands make, and a few weights set by hand."""
    worth = np.array([0.9, 0.5, 0.45, 0.4, 0.3, 0.8, 0.4])
    cells = np.arange(books.CELLS)
    points = np.full(books.CELLS, 0.3)
    for place, value in enumerate(worth):
        points += value * ((cells >> place) & 1)
    points += 0.3 * ((cells >> books.KEYS) % books.OTHER_TRUMPS)
    points += 0.2 * ((cells >> books.KEYS) // books.OTHER_TRUMPS)
    made = np.arange(1, books.MAX_MADE + 1)
    chance = 1 / (1 + np.exp(-1.5 * (points[:, None] - made + 0.5)))
    chance[:, made > len(rules.point_names)] = 0
    b["makes"][:] = chance
    b["others"][:] = np.maximum(0, len(rules.point_names) - 1 - np.arange(books.MAX_MADE + 1)) / (
        rules.teams - 1
    )
    b["passed"][:] = -0.5
    for row, context in enumerate(books.CONTEXTS):
        for feature, value in _FIRST_WEIGHTS.items():
            if feature in NAMES[context]:
                b["weights"][row, NAMES[context].index(feature)] = value


_FIRST_WEIGHTS = {
    "wins own points": 1.0,
    "risks points": -0.5,
    "wins table points": 1.0,
    "wins scoring card": 2.0,
    "risks scoring card": -1.0,
    "wins table scoring card": 2.0,
    "draws trumps": 0.5,
    "trump": -0.2,
    "trump rank": -0.3,
    "side rank": -0.1,
    "takes from partner": -0.2,
    "any": 1.0,
    "rank": -1.0,
    "top": -1.0,
}


@kernel
def slope(
    start: Int64Array,
    context: Int64Array,
    features: Float32Array,
    value: Float32Array,
    weights: Float64Array,
    gradient: Float64Array,
) -> float:
    """Mean value of choices drawn by exp(worth), and its gradient by the weights [contexts, features], not divided."""
    total = 0.0
    gradient[:] = 0
    chance = np.empty(64)
    for i in range(len(context)):
        first, last = start[i], start[i + 1]
        row = weights[context[i]]
        highest = -1e9
        for k in range(first, last):
            worth = 0.0
            for j in range(features.shape[1]):
                worth += row[j] * features[k, j]
            chance[k - first] = worth
            highest = max(highest, worth)
        whole = 0.0
        for k in range(last - first):
            chance[k] = np.exp(chance[k] - highest)
            whole += chance[k]
        mean = 0.0
        plain = 0.0
        for k in range(last - first):
            chance[k] /= whole
            mean += chance[k] * value[first + k]
            plain += value[first + k]
        total += mean - plain / (last - first)
        for k in range(last - first):
            push = chance[k] * (value[first + k] - mean)
            for j in range(features.shape[1]):
                gradient[context[i], j] += push * features[first + k, j]
    return total


def fit_weights(
    weights: Float64Array, parts: list[selfplay.Choices], steps: int
) -> tuple[Float64Array, float]:
    """Weights under which the choices drawn by exp(worth) are worth most, from `weights` on, and what they gain."""
    w = weights.astype(np.float64)
    first = np.zeros_like(w)
    second = np.zeros_like(w)
    gradient = np.zeros_like(w)
    seen = np.zeros(len(books.CONTEXTS))
    for part in parts:
        seen += np.bincount(part.context, minlength=len(books.CONTEXTS))
    seen = np.maximum(seen, 1)[:, None]
    gain = 0.0
    for step in range(1, steps + 1):
        total = np.zeros_like(w)
        gain = 0.0
        for part in parts:
            gain += slope(part.start, part.context, part.features, part.value, w, gradient)
            total += gradient
        total = total / seen - SHRINK * w
        first = 0.9 * first + 0.1 * total
        second = 0.99 * second + 0.01 * total**2
        rate = RATE * min(1.0, 2 * (1 - step / (steps + 1)))
        w += rate * 3 * (first / (1 - 0.9**step)) / (np.sqrt(second / (1 - 0.99**step)) + 1e-4)
    return w, gain / seen.sum()


def fit_tables(b: Any, parts: list[selfplay.Calls]) -> None:
    """Write the tables of the auction into a book's row, from calls played out."""
    calls = selfplay.Calls._make(np.concatenate(columns) for columns in zip(*parts, strict=True))
    left, holder, level, grade, role, cell = calls.place.T
    stood = calls.own >= 0
    for one in range(2):
        chosen = stood & (role == one)
        if chosen.any():
            b["makes"][one] = fit_cells(cell[chosen], calls.own[chosen])
    later = stood & (calls.stock >= 0)
    if later.any():
        b["makes"][books.SEEN_STOCK] = fit_cells(calls.stock[later], calls.own[later])
    for made in range(books.MAX_MADE + 1):
        chosen = stood & (calls.own == made)
        if chosen.sum() > 20:
            b["others"][made] = calls.others[chosen].mean()
    passed = calls.call == 0
    fit_values(b["passed"], (left[passed], holder[passed], level[passed]), grade[passed], calls.value[passed])
    bids = calls.call > 0
    b["outbid"][:] = 0
    raised = bids & ~stood
    for seat in range(b["outbid"].shape[0]):
        for bid in range(b["outbid"].shape[1]):
            here = bids & (left == seat) & (calls.call == bid)
            if here.any():
                b["outbid"][seat, bid] = (here & raised).sum() / (here.sum() + 2)
    fit_values(b["raised"], (left[raised], calls.call[raised]), grade[raised], calls.value[raised])


def fit_shift(b: Any, parts: list[selfplay.Calls], rules: Rules) -> None:
    """Write what bids that stood were worth beyond their cells, by place in the auction."""
    calls = selfplay.Calls._make(np.concatenate(columns) for columns in zip(*parts, strict=True))
    left, holder, _, _, role, cell = calls.place.T
    stood = calls.own >= 0
    made = np.arange(books.MAX_MADE + 1)
    makes = b["makes"]
    at_least = np.concatenate(
        [np.ones((*makes.shape[:2], 1)), makes, np.zeros((*makes.shape[:2], 1))], axis=2
    )
    exactly = np.maximum(0, at_least[..., :-1] - at_least[..., 1:])
    b["shift"][:] = 0
    for bid in range(rules.min_bid, rules.max_bid + 1):
        failed = -made if rules.failed_bid == "points" else np.full(len(made), -bid)
        value = exactly @ (np.where(made >= bid, made, failed) - b["others"])
        level = bid - rules.min_bid + 1
        for seat in range(b["shift"].shape[0]):
            for who in range(books.HOLDERS):
                here = stood & (left == seat) & (holder == who) & (calls.call == level)
                if here.any():
                    beyond = calls.value[here] - value[role[here], cell[here]]
                    b["shift"][seat, who, level] = beyond.sum() / (here.sum() + VALUE_PRIOR)


def fit_cells(cell: Int64Array, own: Int64Array) -> Float32Array:
    """Chances [cells, points] to make 1, 2 ... or more: means of each cell, drawn towards what its parts predict."""
    count = np.bincount(cell, minlength=books.CELLS).astype(np.float64)
    parts = cell_parts()
    result = np.zeros((books.CELLS, books.MAX_MADE), np.float32)
    for made in range(1, books.MAX_MADE + 1):
        total = np.bincount(cell, weights=own >= made, minlength=books.CELLS)
        mean = total / np.maximum(count, 1)
        system = parts.T @ (parts * count[:, None]) + 0.3 * np.eye(parts.shape[1])
        answer = np.linalg.solve(system, parts.T @ (mean * count))
        predicted = np.clip(parts @ answer, 0, 1)
        result[:, made - 1] = (total + CELL_PRIOR * predicted) / (count + CELL_PRIOR)
    return np.minimum.accumulate(result, axis=1)


def cell_parts() -> Float64Array:
    """What cells are told by, and pairs of it, [cells, parts]."""
    cells = np.arange(books.CELLS)
    rest = cells >> books.KEYS
    columns = [((cells >> place) & 1).astype(np.float64) for place in range(books.KEYS)]
    columns += [
        (rest % books.OTHER_TRUMPS).astype(np.float64),
        (rest // books.OTHER_TRUMPS).astype(np.float64),
    ]
    length = sum(columns[: books.KEYS + 1])
    columns += [np.minimum(length, 3), np.minimum(length, 4)]
    pairs = [a * b for i, a in enumerate(columns) for b in columns[i:]]
    return np.stack([np.ones(books.CELLS), *columns, *pairs], axis=1)


def fit_values(table: Any, place: tuple[Int64Array, ...], grade: Int64Array, value: Float32Array) -> None:
    """Write mean values by place and grade: a line through a place's grades, corrected where a grade has many."""
    for index in np.ndindex(*table.shape[:-1]):
        here = np.ones(len(grade), bool)
        for part, wanted in zip(place, index, strict=True):
            here &= part == wanted
        if not here.any():
            continue
        g, v = grade[here].astype(np.float64), value[here].astype(np.float64)
        count = np.bincount(g.astype(np.int64), minlength=books.GRADES)
        total = np.bincount(g.astype(np.int64), weights=v, minlength=books.GRADES)
        basis = np.stack([np.ones(books.GRADES), np.arange(books.GRADES) / 10], axis=1)
        system = basis.T @ (basis * count[:, None]) + np.diag([0.1, 20.0])
        line = basis @ np.linalg.solve(system, basis.T @ total)
        table[index] = (total + VALUE_PRIOR * line) / (count + VALUE_PRIOR)


def fit(fitters: list[Fitter], rounds: int, games: int, quiet: bool = False) -> None:
    """Fit the books of rules that share their weights, in place."""
    choices: list[list[selfplay.Choices]] = []
    calls: list[list[selfplay.Calls]] = [[] for _ in fitters]
    for number in range(rounds):
        began = time.perf_counter()
        some = []
        for fitter, said in zip(fitters, calls, strict=True):
            played, called = fitter.gather(games, number)
            some.append(played)
            said.append(called)
            if number == 1:
                # The first round's calls were made by guesses.
                del said[0]
            fit_tables(fitter.book[0], said)
            fit_shift(fitter.book[0], said, fitter.rules)
        choices = [*choices, some][-3:]
        weights = fitters[0].book["weights"][0]
        moved, gain = fit_weights(weights, [part for parts in choices for part in parts], STEPS)
        for fitter in fitters:
            fitter.book["weights"][0] = moved
        if not quiet:
            report(fitters, number, rounds, gain, time.perf_counter() - began)


def fit_bids(fitter: Fitter, rounds: int, games: int, quiet: bool = False) -> None:
    """Fit the tables of one set of rules in place, the weights left as they are, from the nearest of the stocks' on."""
    began = time.perf_counter()
    nearest = books.nearest_options(fitter.rules, books.fitted_stocks(fitter.rules.name))
    first = books.book_from(fitter.rules, nearest)
    fitter.book = first.copy()
    said: list[selfplay.Calls] = []
    for number in range(rounds):
        said.append(fitter.gather(games, number, 0.0)[1])
        if number == 1:
            # The first round's calls were made by the tables of other rules.
            del said[0]
        fit_tables(fitter.book[0], said)
        fit_shift(fitter.book[0], said, fitter.rules)
    if not quiet:
        mean, error = fitter.against(first, books.PLAIN, 10_000, 99)
        print(f"ahead of the tables it began with {mean:+.3f} +- {error:.3f}")
        report([fitter], rounds - 1, rounds, 0.0, time.perf_counter() - began)


def report(fitters: list[Fitter], number: int, rounds: int, gain: float, seconds: float) -> None:
    """Say how far a round of so many has come, and what time is left."""
    ahead = []
    for fitter in fitters:
        mean, error = fitter.against(None, selfplay.GREEDY, 10_000, 99)
        ahead.append(f"{books.table_name(fitter.rules)} {mean:+.3f} +- {error:.3f}")
    print(
        f"round {number}: a choice gains {gain:.3f}; ahead of greedy {', '.join(ahead)}; {seconds:.0f} s, about "
        f"{seconds / (number + 1) * (rounds - number - 1):.0f} s left",
        flush=True,
    )


def main() -> None:
    """`python -m smear_env.agents.expert.fit`."""
    parser = argparse.ArgumentParser(prog="python -m smear_env.agents.expert.fit", description=__doc__)
    parser.add_argument("--rules", default="four_point", choices=list(books.STOCKS), help="preset")
    parser.add_argument("--rounds", type=int, default=5, help="of the preset's tables")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--options", action="store_true", help="only the tables of other options, with the weights there are"
    )
    given = parser.parse_args()
    games = GAMES_A_ROUND[given.rules]
    if given.options:
        for options in books.OPTION_TABLES[given.rules]:
            fitter = Fitter(make_rules(given.rules, **options), given.seed)
            fit_bids(fitter, OPTION_ROUNDS, OPTION_GAMES[given.rules])
            books.save_tables(books.table_name(fitter.rules), fitter.book[0])
        return
    stocks = books.STOCKS[given.rules]
    fitters = [Fitter(make_rules(given.rules, stock_to_bidder=stock), given.seed) for stock in stocks]
    fit(fitters, given.rounds, games // len(stocks))
    for fitter in fitters:
        books.save_tables(books.table_name(fitter.rules), fitter.book[0])
    books.save_weights(given.rules, fitters[0].book["weights"][0])


if __name__ == "__main__":
    main()
