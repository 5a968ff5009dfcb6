"""N games in which a learner has one seat and agents have the others, over `SelfPlayVectorEnv`.

The other seats act inside `reset` and `step`, batched: each seat, counted from the learner's, has an agent of its own
that decides for all games at once. They play on until the learner is to act, so his reward adds up over their turns,
and they finish the deal after his last card.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from smear_env._jit import kernel
from smear_env._typing import BoolArray, Float64Array, Int8Array, Int64Array, RecordArray
from smear_env.agents.base import ANY_SEAT, Agent, chosen_by
from smear_env.agents.registry import AgentLike, make_agent
from smear_env.engine.deal import draw_below, stream
from smear_env.engine.step import step
from smear_env.engine.tables import compile_tables
from smear_env.rewards import Reward
from smear_env.rules import Rules, make_rules
from smear_env.vector import Episode, SelfPlayVectorEnv, VectorStep, check_seed, is_integer

Seat = int | Literal["drawn"]
AgentsLike = AgentLike | Sequence[AgentLike]
"""One for every seat of a side, or a list with one for each, clockwise from the learner."""

_SEAT_COUNTER = -2
"""In place of a deal's number: the stream that draws the learner's seat."""


class LearnerStep(NamedTuple):
    """What every game shows when the learner is to act in it; N games, fresh arrays."""

    observation: Int8Array
    """[N, d] int8, the learner's view."""
    mask: Int8Array
    """[N, n] int8, his legal actions."""
    seat: Int64Array
    """[N] int64, his seat."""
    reward: Float64Array
    """[N] float64, what his team earned since his action before."""
    terminated: BoolArray
    """[N] bool, the episode ended; the row already shows the next one."""
    truncated: BoolArray
    """[N] bool, it was cut off at `max_deals`; likewise."""
    final_observation: Int8Array
    """[N, d] int8, where the episode ended its end as the learner sees it."""
    final_seat: Int64Array
    """[N] int64, where the episode ended the learner's seat in it."""


class LearnerGames:
    """N games in which the learner has one seat and agents have the others.

    Slot `i` plays games `i, i + N, ...` of the seed; a drawn seat depends on (seed, game) alone.
    Raises `ValueError` naming an argument that is wrong.
    """

    def __init__(
        self,
        num_games: int,
        rules: str | Rules,
        opponents: AgentsLike,
        partner: AgentsLike,
        seat: Seat,
        episode: Episode,
        reward: Reward,
        max_deals: int,
    ) -> None:
        self.rules = make_rules(rules)
        players, teams = self.rules.players, self.rules.teams
        if seat != "drawn" and not (is_integer(seat) and 0 <= int(seat) < players):
            raise ValueError(f"seat={seat!r} must be 'drawn' or a seat 0..{players - 1}")
        partners = [place for place in range(1, players) if place % teams == 0]
        others = [place for place in range(1, players) if place % teams != 0]
        self._agents: dict[int, Agent] = {
            **_seat_agents("opponents", opponents, others),
            **_seat_agents("partner", partner, partners),
        }
        """By place: seats counted from the learner's."""
        self._seat = seat
        self._games = SelfPlayVectorEnv(
            num_games, self.rules, seed=0, episode=episode, reward=reward, max_deals=max_deals
        )
        self._seed: int | None = None
        self._numbers = np.arange(num_games, dtype=np.int64)
        self._seats = np.zeros(num_games, np.int64)
        self.keep_end = False
        """Keep what the table of game 0 was at the end of its last episode, in `end`."""
        self.end: RecordArray = None

    @property
    def table(self) -> RecordArray:
        """The state of game 0."""
        return self._games._states[0]

    @property
    def mask(self) -> Int8Array:
        """Legal actions of whoever is to act, [N, n] int8, reused."""
        return self._games._out.mask

    def reset(self, seed: int | None) -> LearnerStep:
        """Start game `i` of a given seed in slot `i`, or else each slot's next game."""
        if seed is not None or self._seed is None:
            self._seed = check_seed(seed)
            self._numbers = np.arange(len(self._numbers), dtype=np.int64)
            result = self._games.reset(seed=self._seed)
            for place, agent in self._agents.items():
                at = ANY_SEAT if self._seat == "drawn" else (int(self._seat) + place) % self.rules.players
                agent.reset(self.rules, at, _agent_seed(self._seed, place))
        else:
            self._numbers = self._numbers + len(self._numbers)
            result = self._games.reset()
        self._take_seats()
        return self._play_on(result)

    def step(self, actions: Any) -> LearnerStep:
        """Apply the learner's actions [N] and play on; `IllegalActionError` with nothing changed in any game."""
        if self._seed is None:
            raise RuntimeError("call reset() before step()")
        return self._play_on(self._apply(actions))

    def _play_on(self, result: VectorStep) -> LearnerStep:
        """Let the agents act until the learner is to act in every game."""
        size = len(self._numbers)
        rows = np.arange(size)
        rewards = np.zeros(size, np.float64)
        terminated = np.zeros(size, np.bool_)
        truncated = np.zeros(size, np.bool_)
        final_observation = np.zeros_like(result.observation)
        final_seat = self._seats.copy()
        while True:
            rewards += result.reward[rows, self._seats % self.rules.teams]
            ended = np.flatnonzero(result.terminated | result.truncated)
            if len(ended):
                # In the episode that follows, the learner acts before any reward is paid.
                terminated[ended] = result.terminated[ended]
                truncated[ended] = result.truncated[ended]
                final_observation[ended] = self._games.final_observation[ended]
                self._numbers[ended] += size
                self._take_seats()
            places = (result.seat - self._seats) % self.rules.players
            if not places.any():
                break
            result = self._apply(self._decide(result, places), some=True)
        return LearnerStep(
            observation=result.observation.copy(),
            mask=result.mask.copy(),
            seat=self._seats.copy(),
            reward=rewards,
            terminated=terminated,
            truncated=truncated,
            final_observation=final_observation,
            final_seat=final_seat,
        )

    def _decide(self, result: VectorStep, places: Int64Array) -> Int64Array:
        """An action for each game in which an agent is to act, -1 where the learner is."""
        actions = np.full(len(places), -1, np.int64)
        for place, agent in self._agents.items():
            asked = np.flatnonzero(places == place)
            if len(asked):
                masks = result.mask[asked]
                given = np.asarray(agent.act_batch(result.observation[asked], masks))
                # What else is illegal the games refuse.
                if given.shape != asked.shape or given.dtype.kind not in "iu" or given.min() < 0:
                    given = chosen_by(agent, given, masks)
                actions[asked] = given
        return actions

    def _apply(self, actions: Any, *, some: bool = False) -> VectorStep:
        before = self.table.copy() if self.keep_end else None
        result = self._games.step_some(actions) if some else self._games.step(actions)
        if before is not None and (result.terminated[0] or result.truncated[0]):
            end = np.recarray(1, dtype=before.dtype)
            end[0] = before
            step(compile_tables(self.rules)[0], end[0], int(np.asarray(actions)[0]))
            self.end = end[0]
        return result

    def _take_seats(self) -> None:
        """Seat the learner in every game, as it is given or drawn, and see final observations from there."""
        if self._seat == "drawn":
            assert self._seed is not None
            draw_seats(np.uint64(self._seed), self._numbers, self.rules.players, self._seats)
        else:
            self._seats[:] = int(self._seat)
        self._games.set_viewers(self._seats)


@kernel
def draw_seats(seed: np.uint64, games: Int64Array, players: int, seats: Int64Array) -> None:
    """The learner's seat in each of `games` [N], into `seats` [N]."""
    for i in range(len(games)):
        _, seats[i] = draw_below(stream(seed, games[i], _SEAT_COUNTER), players)


def _seat_agents(what: str, given: AgentsLike, places: list[int]) -> dict[int, Agent]:
    """An agent of its own for each place, from one for all or a list; ValueError if the list is too long or short."""
    if isinstance(given, Sequence) and not isinstance(given, str):
        if len(given) != len(places):
            raise ValueError(f"{what} has {len(given)} agents, but {len(places)} seats are theirs")
        # One instance given twice, or given to several environments, must not share its generator.
        return {place: _own_agent(one) for place, one in zip(places, given, strict=True)}
    if not places:
        return {}
    if callable(given) and not isinstance(given, Agent):
        return {place: _own_agent(given) for place in places}
    first = make_agent(given)
    return {place: copy.deepcopy(first) for place in places}


def _own_agent(given: AgentLike) -> Agent:
    made = make_agent(given)
    return copy.deepcopy(made) if made is given else made


def _agent_seed(seed: int, place: int) -> int:
    return int(np.random.SeedSequence([seed, place]).generate_state(1, np.uint64)[0])
