"""The games as a PettingZoo AEC environment: `env` and `raw_env`.

One match is row 0 of a one-row record array, stepped by the same kernels as `SelfPlayVectorEnv`, so one seed and one
sequence of actions show the same observations, masks and rewards in both.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import numpy as np
from gymnasium import logger, spaces
from pettingzoo import AECEnv

from smear_env import table_view
from smear_env._jit import announce_compilation
from smear_env._typing import Int8Array, RecordArray
from smear_env.engine.state import OVER
from smear_env.errors import IllegalActionError
from smear_env.layout import observation_layout, state_layout, vector_size
from smear_env.match import (
    CUT_OFF,
    PLAYED,
    REFUSED,
    act,
    begin,
    deal_reward,
    new_match,
    record,
    show,
    show_all,
)
from smear_env.render import TableView, to_image, to_text
from smear_env.rewards import Reward, call_reward, reward_mode, reward_named
from smear_env.rules import Rules, make_rules
from smear_env.start import read_start
from smear_env.turns import Observation, OrderedEnv, Turns
from smear_env.vector import Episode, check_seed, is_integer

Illegal = Literal["terminate", "raise"]

RENDER_MODES = ("human", "ansi", "rgb_array")
_LOW, _HIGH = -100, 100
_INT8 = np.dtype(np.int8)
"""Making an array takes half the time with this as with `np.int8`."""


class SmearEnv(AECEnv[str, Observation, "int | None"]):  # type: ignore[misc]
    """One match, or one deal, as a PettingZoo `AECEnv`; usually made by `env`, which adds a check of call order.

    Agents are `seat_0`, `seat_1`, ... A seat may act several times in a row. `observe(agent)` is a fresh
    `{"observation": int8 [d], "action_mask": int8 [n]}` for every seat at every moment after the first `reset`, also
    after the end; only the mask of the seat to act has ones. An action is the id of one of `action_names`.

    Args:
        rules: a preset name or a `Rules`.
        episode: "match", or "deal" for an episode of one deal, passed out or scored.
        reward: "match" (1 to the seats of the winner of a match, -1/(teams-1) to others), "points" (each deal's own
            score change less the mean of the others'), or a callable on scores before, after and the dealer that
            returns one value for each team, or its registered name.
        max_deals: a match is truncated after so many deals, those passed out included.
        illegal: what an illegal action does. "terminate" ends the episode: -1 to every seat of the offender's
            team, 1/(teams-1) to the others. "raise" raises `IllegalActionError`, nothing changed.
        render_mode: "human" prints the table, "ansi" returns it as text, "rgb_array" as uint8 [height, width, 3].

    Raises `ValueError` naming an argument that is wrong.
    """

    metadata: ClassVar[dict[str, Any]] = {
        "name": "smear_v0",
        "render_modes": list(RENDER_MODES),
        "render_fps": 1,
        "is_parallelizable": False,
    }

    def __init__(
        self,
        rules: str | Rules = "four_point",
        *,
        episode: Episode = "match",
        reward: Reward = "match",
        max_deals: int = 100,
        illegal: Illegal = "terminate",
        render_mode: str | None = None,
    ) -> None:
        super().__init__()
        if episode not in ("match", "deal"):
            raise ValueError(f"episode={episode!r} must be 'match' or 'deal'")
        if not is_integer(max_deals) or not 1 <= max_deals < 2**31:
            raise ValueError(f"max_deals={max_deals!r} must be a whole number from 1 on, below 2**31")
        if illegal not in ("terminate", "raise"):
            raise ValueError(f"illegal={illegal!r} must be 'terminate' or 'raise'")
        if render_mode is not None and render_mode not in RENDER_MODES:
            raise ValueError(f"render_mode={render_mode!r} must be None or one of {', '.join(RENDER_MODES)}")
        self.rules = make_rules(rules)
        """The rules played by."""
        self.action_names: list[str] = list(self.rules.action_names)
        """Transcript name of each action id."""
        self.render_mode = render_mode
        self.possible_agents = [f"seat_{seat}" for seat in range(self.rules.players)]
        self.agents: list[str] = []
        self._seat_of = {agent: seat for seat, agent in enumerate(self.possible_agents)}
        self._reward = reward_named(reward)
        self._mode = reward_mode(self._reward)
        self._illegal = illegal
        self._make_spaces()
        self._match = new_match(self.rules)
        self._record.max_deals = max_deals
        self._record.one_deal = episode == "deal"
        self._seed: int | None = None
        self._next_game = 0
        self._started = False
        self._live = False  # some seat is to act
        self._paid = False  # `rewards` holds something other than zeros

    def _make_spaces(self) -> None:
        self._size = vector_size(observation_layout(self.rules))
        self._num_actions = len(self.action_names)
        # Every agent has spaces of its own, so that seeding one does not move another.
        self.observation_spaces = {
            # By keywords, since Gymnasium 1.0 sorts what is given as a dictionary, ordered or not.
            agent: spaces.Dict(
                observation=spaces.Box(_LOW, _HIGH, (self._size,), np.int8),
                action_mask=spaces.Box(0, 1, (self._num_actions,), np.int8),
            )
            for agent in self.possible_agents
        }
        self.action_spaces = {agent: spaces.Discrete(self._num_actions) for agent in self.possible_agents}
        self.state_space = spaces.Box(_LOW, _HIGH, (vector_size(state_layout(self.rules)),), np.int8)

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """`Dict` of `observation` and `action_mask`, in this order; the same object at each call."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """`Discrete(n)`; the same object at each call."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: Mapping[str, Any] | None = None) -> None:
        """Start a match: game 0 of a given seed, otherwise the next game of the seed before (at first, one drawn).

        Game `g` is game `g` of a `SelfPlayVectorEnv` with this seed.

        Args:
            seed: in 0..2**64-1.
            options: any of `deal`, the first deal as in a transcript (`{"dealer": 3, "hands": ["AS 9S ...", ...],
                "stock": "TD 7C ..."}`; what follows it is dealt from the seed); `scores`, by team, below the target;
                `dealer`, the first dealer's seat; `game`, the number of the game.

        Raises `ValueError` naming what is wrong, with nothing changed.
        """
        start = read_start(options, self.rules)
        if seed is not None or self._seed is None:
            self._seed, self._next_game = check_seed(seed), 0
        game = self._next_game if start.game is None else start.game
        announce_compilation()
        order = np.empty(0, np.int8) if start.order is None else start.order
        turn = begin(self._match, np.uint64(self._seed), game, start.dealer, start.scores, order)
        self._next_game = game + 1
        self._started = self._live = True
        self._paid = False
        self._skip_agent_selection = None
        self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self.agent_selection = self.possible_agents[turn]

    def step(self, action: int | None) -> None:
        """Apply the action id of `agent_selection`; None, and nothing else, for a seat whose episode has ended.

        Raises `IllegalActionError` with `illegal="raise"`, `RuntimeError` before `reset` and when no agent is left.
        """
        if not self._live:
            self._step_ended(action)
            return
        index = action if type(action) is int else _action_id(action)
        turn, outcome = -1, REFUSED
        if 0 <= index < self._num_actions:
            turn, outcome = act(self._match, index, self._mode)
        if outcome == REFUSED and self._illegal == "raise":
            raise IllegalActionError(self._complaint(action))
        if self._paid:
            self._clear_rewards()
            self._paid = False
        self._cumulative_rewards[self.agent_selection] = 0.0
        # A reward callable may raise: the turn has passed, or the episode ended, all the same.
        if turn >= 0:
            self.agent_selection = self.possible_agents[turn]
            if outcome != PLAYED:
                self._pay_deal()
            return
        try:
            if outcome == REFUSED:
                self._forfeit(action)
            else:
                self._pay_deal()
        finally:
            self._end(truncated=outcome == CUT_OFF)

    def observe(self, agent: str) -> Observation:
        """What a seat sees: fresh arrays `observation` [d] int8 and `action_mask` [n] int8.

        Raises `RuntimeError` before `reset`, `ValueError` naming an unknown agent.
        """
        seat = self._seat_of.get(agent, -1)
        if seat < 0 or not self._started:
            self._check_started("observe()")
            raise ValueError(f"agent {agent!r} is not one of {', '.join(self.possible_agents)}")
        observation = np.empty(self._size, _INT8)
        mask = np.empty(self._num_actions, _INT8)
        show(self._match, seat, observation, mask)
        return {"observation": observation, "action_mask": mask}

    def agent_iter(self, max_iter: int = 2**63) -> Turns:
        """The seat to act, over and over, until no agent is left; call `step` in each round."""
        return Turns(self, max_iter)

    def state(self) -> Int8Array:
        """The full information, a fresh [s] int8 as `state_layout(rules)` describes; `RuntimeError` before `reset`."""
        self._check_started("state()")
        out = np.empty(self.state_space.shape, np.int8)
        show_all(self._match, out)
        return out

    def render(self) -> Any:
        """The table with every hand open, by `render_mode`: printed, text, or uint8 [height, width, 3].

        Raises `RuntimeError` before `reset`, `ImportError` for a picture without Pillow.
        """
        if self.render_mode is None:
            logger.warn(
                "render() needs a render_mode: make the environment with one of " + ", ".join(RENDER_MODES)
            )
            return None
        view = self.table_view()
        if self.render_mode == "rgb_array":
            return to_image(view)
        text = to_text(view)
        if self.render_mode == "ansi":
            return text
        print(text)
        return None

    def close(self) -> None:
        """Nothing is held open."""

    def table_view(self, viewer: int | None = None) -> TableView:
        """The table at this moment, with every hand open, or only that of the seat `viewer`."""
        self._check_started("table_view()")
        return table_view.table_view(self.rules, self._record, viewer)

    @property
    def scores(self) -> list[int]:
        """Match scores by team."""
        return [int(score) for score in self._record.scores[: self.rules.teams]]

    @property
    def winner(self) -> int | None:
        """The team that has won the match, None while there is none."""
        winner = int(self._record.winner)
        return winner if self._started and winner >= 0 else None

    @property
    def match_id(self) -> tuple[int, int]:
        """(seed, game): `reset(seed=seed, options={"game": game})` deals this match again."""
        self._check_started("match_id")
        return int(self._record.seed), int(self._record.game)

    def deal_result(self) -> dict[str, Any] | None:
        """The last finished deal of the match in transcript form with its dealer; None before the first."""
        self._check_started("deal_result()")
        return table_view.deal_result(self.rules, self._record)

    @property
    def _record(self) -> RecordArray:
        """The match as a record that writes through."""
        return record(self._match)

    def _pay_deal(self) -> None:
        """Give each seat what the finished deal is worth to its team."""
        if callable(self._reward):
            s = self._record
            paid = call_reward(self._reward, s.last_scores, s.scores, s.last_dealer, self.rules.teams)
            self._pay(paid.tolist())
        else:
            self._pay(deal_reward(self._match).tolist()[: self.rules.teams])

    def _pay(self, by_team: list[float]) -> None:
        if any(by_team):
            for agent, seat in self._seat_of.items():
                self.rewards[agent] = by_team[seat % self.rules.teams]
            self._accumulate_rewards()
            self._paid = True

    def _forfeit(self, action: object) -> None:
        """End the episode at an illegal action; the table stays as it was, with no seat to act."""
        offender = self._seat_of[self.agent_selection] % self.rules.teams
        self.infos[self.agent_selection]["illegal_action"] = self._complaint(action)
        self._record.phase = OVER
        self._record.turn = -1
        share = 1.0 / (self.rules.teams - 1)
        self._pay([-1.0 if team == offender else share for team in range(self.rules.teams)])

    def _end(self, *, truncated: bool) -> None:
        self._live = False
        ended = self.truncations if truncated else self.terminations
        for agent in ended:
            ended[agent] = True
        self._deads_step_first()

    def _step_ended(self, action: object) -> None:
        if not self.agents:
            self._check_started("step()")
            raise RuntimeError("the episode is over and no agent is left: call reset()")
        self._was_dead_step(action)

    def _check_started(self, what: str) -> None:
        if not self._started:
            raise RuntimeError(f"call reset() before {what}")

    def _complaint(self, action: object) -> str:
        index = _action_id(action)
        known = f" ({self.action_names[index]})" if 0 <= index < self._num_actions else ""
        mask = self.observe(self.agent_selection)["action_mask"]
        legal = " ".join(self.action_names[index] for index in np.flatnonzero(mask))
        return f"{self.agent_selection}: action {action!r}{known} is not legal; legal: {legal}"


def _action_id(action: object) -> int:
    """An action as an integer, -1 if it is none."""
    try:
        return -1 if isinstance(action, bool) else operator.index(action)  # type: ignore[arg-type]
    except TypeError:
        return -1


raw_env = SmearEnv
"""The environment without wrappers."""


def env(
    rules: str | Rules = "four_point",
    *,
    episode: Episode = "match",
    reward: Reward = "match",
    max_deals: int = 100,
    illegal: Illegal = "terminate",
    render_mode: str | None = None,
) -> OrderedEnv:
    """The environment as `SmearEnv` describes it, which checks that `reset` comes first; `unwrapped` is the `SmearEnv`.

    PettingZoo's other usual wrappers stay away: one gives the partner of who acts illegally no penalty, the other
    forbids what `illegal` decides.
    """
    return OrderedEnv(
        SmearEnv(
            rules,
            episode=episode,
            reward=reward,
            max_deals=max_deals,
            illegal=illegal,
            render_mode=render_mode,
        )
    )


__all__ = ["Illegal", "Observation", "SmearEnv", "env", "raw_env"]
