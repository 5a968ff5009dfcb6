"""SelfPlayVectorEnv: N games at once, each waiting for the decision of whichever seat is to act."""

from __future__ import annotations

import os
import secrets
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Literal, NamedTuple

import numpy as np

from smear_env import batch
from smear_env._jit import announce_compilation
from smear_env._typing import BoolArray, Float32Array, Int8Array, Int64Array, RecordArray
from smear_env.deals import check_deals
from smear_env.engine.deal import DRAWN
from smear_env.engine.state import new_states
from smear_env.engine.tables import compile_tables
from smear_env.errors import IllegalActionError
from smear_env.layout import layout_hash, observation_layout, offsets, state_layout, vector_size
from smear_env.rewards import Reward, RewardFunction, call_reward, reward_mode, reward_named
from smear_env.rules import MAX_SEATS, Rules, make_rules

Episode = Literal["match", "deal"]

HEAD_START = 512
"""Games that the calling thread steps beyond its share: about as many as it can while another thread is woken."""
LEAST_SHARE = 512
"""Fewer games are not worth another thread."""


class VectorStep(NamedTuple):
    """What every game shows after `reset` or `step`; N games."""

    observation: Int8Array
    """[N, d] int8, the view of the seat to act."""
    mask: Int8Array
    """[N, n] int8, its legal actions."""
    seat: Int64Array
    """[N] int64, the seat to act."""
    reward: Float32Array
    """[N, teams] float32, earned since the action before, by team."""
    terminated: BoolArray
    """[N] bool, the episode ended with this action; the row already shows the next one."""
    truncated: BoolArray
    """[N] bool, the match was cut off at `max_deals`; likewise."""


class SelfPlayVectorEnv:
    """N games of one preset in lockstep; each `step` takes one action for the seat to act in each game.

    A finished game is replaced in the same step: the row shows the next game, and `final_observation`, `final_state`
    and `deals` hold the end of the finished one. Slot `i` plays games `i, i + N, i + 2N, ...` of the seed, and deal `k`
    of a game depends on (seed, game, k) alone, so neither threads nor other games change anything.

    Arrays in a `VectorStep` and the attributes below are **reused by the next call** unless `copy=True`.

    Args:
        num_games: N.
        rules: a preset name, a `Rules`, or one of these for each game, all of one preset and layout.
        seed: of the deals; drawn at random if None. `reset(seed=...)` replaces it.
        episode: "match", or "deal" for episodes of one deal, passed out or scored.
        reward: "match" (1 to the winner of a match, -1/(teams-1) to others), "points" (each deal's own
            score change less the mean of the others'), or a callable on scores before, after and the dealer, or
            its registered name.
        max_deals: a match is truncated after so many deals, those passed out included.
        skip_forced: decisions with one legal action are stepped through, their rewards added.
        start_scores: "zero", "drawn" (uniform from minus half the target to one below it), or [teams] or [N, teams].
        dealers: "drawn", or the first dealer's seat, one or [N].
        first_game: game number of slot 0; slot `i` begins with game `first_game + i`.
        game_stride: how much later a slot's next game is; `num_games` if None. With both, several processes play
            parts of one larger env: process `r` of `k` has `first_game=r * num_games`, `game_stride=k * num_games`.
        threads: the games are spread over so many threads where each has `LEAST_SHARE` of them; the results do not
            depend on it.
        copy: hand out fresh arrays.

    Attributes:
        final_observation: [N, d] int8, valid in rows just ended: seen by the seat that acted last (or `viewers`).
        final_state: [N, s] int8, likewise.
        deal_ended: [N] bool, this step finished a deal.
        deals: [N] record array (`smear_env.batch.DEAL_DTYPE`), the last finished deal of each slot: bid, bidder,
            made, points, delta, scores, winner.
    """

    def __init__(
        self,
        num_games: int,
        rules: str | Rules | Sequence[str | Rules] = "four_point",
        *,
        seed: int | None = None,
        episode: Episode = "match",
        reward: Reward = "match",
        max_deals: int = 100,
        skip_forced: bool = False,
        start_scores: Literal["zero", "drawn"] | Sequence[Any] | Int64Array = "zero",
        dealers: Literal["drawn"] | int | Sequence[int] | Int64Array = "drawn",
        first_game: int = 0,
        game_stride: int | None = None,
        threads: int = 1,
        copy: bool = False,
    ) -> None:
        stride = num_games if game_stride is None else game_stride
        for name, value, least in (
            *(("num_games", num_games, 1), ("max_deals", max_deals, 1), ("threads", threads, 1)),
            *(("first_game", first_game, 0), ("game_stride", stride, 1)),
        ):
            if not is_integer(value) or not least <= value < 2**31:
                raise ValueError(f"{name}={value!r} must be a whole number from {least} on, below 2**31")
        if episode not in ("match", "deal"):
            raise ValueError(f"episode={episode!r} must be 'match' or 'deal'")
        per_game, distinct = _rules_by_game(rules, num_games)
        self.rules = distinct[0]
        """The rules of the first game; layouts and actions are the same in all."""
        self.num_games = num_games
        self.num_actions = len(self.rules.action_names)
        self.teams = max(one.teams for one in distinct)
        self._reward = reward_named(reward)
        self._mode = reward_mode(self._reward)
        self._skip_forced = skip_forced
        self._threads = threads
        self._pool: tuple[int, ThreadPoolExecutor] | None = None
        self._copy = copy
        self._tables = np.concatenate([compile_tables(one) for one in distinct]).view(np.recarray)
        self._team_counts = np.array([one.teams for one in distinct])
        self._setups = np.recarray(num_games, dtype=batch.SETUP_DTYPE)
        self._setups.view(np.uint8)[:] = 0
        self._setups.rules = per_game
        self._setups.viewer = batch.LAST_MOVER
        self._setups.max_deals = max_deals
        self._setups.one_deal = episode == "deal"
        self._setups.stride = stride
        self._first_game = first_game
        self._set_dealers(dealers)
        self._set_scores(start_scores)
        self._view = batch.View(
            _plain(np.concatenate([offsets(one) for one in distinct])),
            _plain(np.concatenate([offsets(one, full=True) for one in distinct])),
        )
        self._deck = len(self.rules.card_names)
        self._states = new_states(num_games)
        self._seed = check_seed(seed)
        self._games: Int64Array | None = None
        self._out = self._new_buffers()

    @property
    def final_observation(self) -> Int8Array:
        """[N, d] int8, the last view of the episodes that have just ended."""
        return self._hand_out(self._out.final_observation)

    @property
    def final_state(self) -> Int8Array:
        """[N, s] int8, the full information at their end."""
        return self._hand_out(self._out.final_state)

    @property
    def deal_ended(self) -> BoolArray:
        """[N] bool, whether this step finished a deal."""
        return self._hand_out(self._out.deal_ended)

    @property
    def deals(self) -> RecordArray:
        """[N] record array, the last finished deal of each slot."""
        return self._hand_out(self._out.deals).view(np.recarray)

    def reset(self, *, seed: int | None = None, deals: tuple[Any, Any] | None = None) -> VectorStep:
        """Start a new game in every slot: game `i` of a given seed, or else the slot's next game.

        `deals`, orders [N, cards] and dealers [N] of integers, replaces the first deal of each game: `hand_size` card
        ids for each seat in turn, then the stock from its top. Later deals and games are the seed's. Raises
        ValueError, with nothing changed, for an order that does not hold every card once and for no such dealer.
        """
        given = None if deals is None else check_deals(deals, self.rules, self.num_games)
        if seed is not None or self._games is None:
            self._seed = check_seed(seed) if seed is not None else self._seed
            self._games = self._first_game + np.arange(self.num_games, dtype=np.int64)
        else:
            self._games = self._states.game + self._setups.stride
        announce_compilation()
        self._states.seed = np.uint64(self._seed)
        self._states.game = self._games
        self._run(np.full(self.num_games, batch.RESTART))
        if given is not None:
            orders, self._states.dealer = given
            batch.set_deals(*self._games_as_arrays(), orders)
            self._run(np.full(self.num_games, batch.SHOW))
        return self._result()

    def step(self, actions: Any) -> VectorStep:
        """Apply actions [N] (integers), one for the seat to act in each game.

        Raises `IllegalActionError` naming game, seat, action and legal set, with nothing changed in any game.
        """
        return self._advance(actions, hold=False)

    def step_some(self, actions: Any) -> VectorStep:
        """As `step`, but a game whose action is -1 waits: it shows what it showed, with reward 0."""
        return self._advance(actions, hold=True)

    def state(self, *, relative: bool = False) -> Int8Array:
        """Full information of every game, [N, s] int8 as `state_layout(rules)` describes; a fresh array.

        Seats and teams are absolute, or (`relative`) counted from the seat to act, as observations count them.
        """
        full = np.empty((self.num_games, vector_size(state_layout(self.rules))), np.int8)
        batch.write_states(*self._games_as_arrays(), self._view, relative, full)
        return full

    def snapshot(self) -> dict[str, Any]:
        """Everything that `restore` needs in another process, plain arrays: [N, bytes] uint8 and [1] uint64."""
        return {
            "states": self._states.view(np.uint8).reshape(self.num_games, -1).copy(),
            "seed": np.array([self._seed], np.uint64),
        }

    def restore(self, snapshot: dict[str, Any]) -> VectorStep:
        """Go on where `snapshot` was taken, in an env of the same arguments; returns what the games show.

        Rewards and flags of the step before are not kept. Raises ValueError if the games do not fit.
        """
        shape = (self.num_games, self._states.dtype.itemsize)
        if snapshot["states"].shape != shape:
            raise ValueError(f"snapshot of shape {snapshot['states'].shape}, this env holds {shape}")
        self._states.view(np.uint8).reshape(shape)[:] = snapshot["states"]
        self._seed = int(snapshot["seed"][0])
        self._games = self._states.game.copy()
        announce_compilation()
        self._run(np.full(self.num_games, batch.SHOW))
        return self._result()

    def set_viewers(self, seats: Any) -> None:
        """See final observations from these seats, [N] or one; -1 is the seat that acted last; else ValueError."""
        given = _integers("seats", seats)
        if given.shape not in ((), (self.num_games,)) or np.any((given < -1) | (given >= self.rules.players)):
            raise ValueError(
                f"seats={seats!r} must be -1..{self.rules.players - 1}, one or one for each game"
            )
        self._setups.viewer = given

    def _advance(self, actions: Any, *, hold: bool) -> VectorStep:
        if self._games is None:
            raise RuntimeError("call reset() before step()")
        chosen = np.ascontiguousarray(_integers("actions", actions), dtype=np.int64)
        if chosen.shape != (self.num_games,):
            raise ValueError(
                f"actions of shape {chosen.shape}, expected ({self.num_games},): one for each game"
            )
        offender = batch.first_illegal(self._deck, self._out.legal, chosen, hold)
        if offender >= 0:
            names = self.rules.action_names
            legal = [names[a] for a in np.flatnonzero(self._out.mask[offender])]
            raise IllegalActionError(
                f"game {offender}, seat {self._out.seat[offender]}: action {chosen[offender]} is not legal; "
                f"legal: {' '.join(legal)}"
            )
        self._run(chosen)
        if callable(self._reward):
            self._pay(self._reward)
        return self._result()

    def _pay(self, reward: RewardFunction) -> None:
        for i in np.flatnonzero(self._out.deal_ended):
            deal = self.deals[i]
            teams = int(self._team_counts[self._setups.rules[i]])
            self._out.reward[i, :teams] += call_reward(
                reward, deal.scores_before, deal.scores, deal.dealer, teams
            )

    def _result(self) -> VectorStep:
        out = self._out
        arrays = (out.observation, out.mask, out.seat, out.reward, out.terminated, out.truncated)
        return VectorStep(*map(self._hand_out, arrays))

    def _hand_out(self, array: Any) -> Any:
        return array.copy() if self._copy else array

    def _run(self, actions: Int64Array) -> None:
        """Step every slot, the slots in ranges on the threads."""
        shared = (
            *self._games_as_arrays(),
            *(actions, self._mode, self._skip_forced, self._view, self._out),
        )
        share = max(0, self.num_games - HEAD_START) // self._threads
        if self._threads == 1 or share < LEAST_SHARE:
            batch.step_games(*shared, 0, self.num_games)
            return
        pool = self._workers()
        own = self.num_games - share * (self._threads - 1)
        others = [
            pool.submit(batch.step_games, *shared, start, start + share)
            for start in range(own, self.num_games, share)
        ]
        batch.step_games(*shared, 0, own)
        for other in others:
            other.result()

    def _games_as_arrays(self) -> tuple[Any, Any, Any]:
        return _plain(self._tables), _plain(self._setups), _plain(self._states)

    def _workers(self) -> ThreadPoolExecutor:
        """Threads of this process: a fork copies the pool and not its threads."""
        if self._pool is None or self._pool[0] != os.getpid():
            self._pool = (os.getpid(), ThreadPoolExecutor(self._threads - 1, "smear_env"))
        return self._pool[1]

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_pool": None}

    def _new_buffers(self) -> batch.Buffers:
        n = self.num_games
        d, s = vector_size(observation_layout(self.rules)), vector_size(state_layout(self.rules))
        return batch.Buffers(
            observation=np.zeros((n, d), np.int8),
            mask=np.zeros((n, self.num_actions), np.int8),
            legal=np.zeros((n, 2), np.uint64),
            seat=np.zeros(n, np.int64),
            reward=np.zeros((n, self.teams), np.float32),
            terminated=np.zeros(n, np.bool_),
            truncated=np.zeros(n, np.bool_),
            final_observation=np.zeros((n, d), np.int8),
            final_state=np.zeros((n, s), np.int8),
            deal_ended=np.zeros(n, np.bool_),
            deals=np.zeros(n, np.dtype((np.record, batch.DEAL_DTYPE))),
        )

    def _set_dealers(self, dealers: Any) -> None:
        if isinstance(dealers, str):
            if dealers != "drawn":
                raise ValueError(f"dealers={dealers!r} must be 'drawn' or seats")
            self._setups.dealer = DRAWN
            return
        seats = _integers("dealers", dealers)
        if seats.shape not in ((), (self.num_games,)) or np.any((seats < 0) | (seats >= self.rules.players)):
            raise ValueError(
                f"dealers={dealers!r} must be one seat 0..{self.rules.players - 1}, or one for each game"
            )
        self._setups.dealer = seats

    def _set_scores(self, scores: Any) -> None:
        if isinstance(scores, str):
            if scores not in ("zero", "drawn"):
                raise ValueError(f"start_scores={scores!r} must be 'zero', 'drawn' or scores by team")
            self._setups.draw_scores = scores == "drawn"
            return
        given = _integers("start_scores", scores)
        if given.shape not in ((self.teams,), (self.num_games, self.teams)):
            raise ValueError(f"start_scores of shape {given.shape}, expected [teams] or [games, teams]")
        target = int(self._tables.target.min())
        if np.any(given >= target) or np.any(given < -10_000):
            raise ValueError(f"start_scores={scores!r} must lie below target={target} and above -10000")
        self._setups.scores[:, : self.teams] = given


def _plain(records: RecordArray) -> Any:
    """The same memory as a plain array: Numba takes ten times as long to recognise a record array."""
    return records.view(np.ndarray)


def _integers(name: str, values: Any) -> Any:
    """The values as an integer array; ValueError names an argument of another kind, since 2.7 is no action or seat."""
    array = np.asarray(values)
    if array.dtype.kind not in "iu":
        raise ValueError(f"{name}={values!r} must be integers")
    return array


def is_integer(value: object) -> bool:
    """Whether a value is an integer of Python or NumPy, and no bool."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def check_seed(seed: int | None) -> int:
    """A seed in 0..2**64-1, drawn from the operating system if None; ValueError otherwise."""
    if seed is None:
        return secrets.randbits(64)
    if not is_integer(seed) or not 0 <= seed < 2**64:
        raise ValueError(f"seed={seed!r} must be an integer in 0..2**64-1")
    return int(seed)


def _rules_by_game(
    rules: str | Rules | Sequence[str | Rules], num_games: int
) -> tuple[Int64Array, list[Rules]]:
    """Row of the distinct rules for each game, and the distinct rules."""
    if isinstance(rules, str | Rules):
        return np.zeros(num_games, np.int64), [make_rules(rules)]
    if len(rules) != num_games:
        raise ValueError(f"{len(rules)} rules for {num_games} games: give one, or one for each game")
    distinct = list(dict.fromkeys(map(make_rules, rules)))
    odd = [one for one in distinct if layout_hash(one) != layout_hash(distinct[0])]
    if odd:
        raise ValueError(f"rules of {distinct[0].name} and {odd[0]} have different observations or actions")
    row = {one: index for index, one in enumerate(distinct)}
    return np.array([row[make_rules(one)] for one in rules], np.int64), distinct


__all__ = ["MAX_SEATS", "Episode", "SelfPlayVectorEnv", "VectorStep"]
