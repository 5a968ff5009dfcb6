"""One seat against opponents as Gymnasium environments, single and vector.

The single environment is the vector one with one game, except that it leaves the next episode to `reset`. How the
other seats act stands in `smear_env.learner`.
"""

from __future__ import annotations

import copy
import operator
from collections.abc import Callable
from typing import Any, ClassVar

import gymnasium
import numpy as np
import pettingzoo
from gymnasium import spaces
from gymnasium.vector import VectorEnv
from gymnasium.vector.utils import batch_space

from smear_env._typing import BoolArray, Float64Array, Int8Array, Int64Array
from smear_env.errors import IllegalActionError
from smear_env.layout import observation_layout, vector_size
from smear_env.learner import AgentsLike, LearnerGames, LearnerStep, Seat
from smear_env.rewards import Reward
from smear_env.rules import Rules
from smear_env.vector import Episode, check_seed

ENV_ID = "smear_env/SmearSingle-v0"
AEC_ID = "smear_env/smear-v0"

_LOW, _HIGH = -100, 100
_AUTORESET = (
    {"autoreset_mode": gymnasium.vector.AutoresetMode.SAME_STEP}
    if hasattr(gymnasium.vector, "AutoresetMode")
    else {}
)
"""What `metadata` says of the end of an episode; Gymnasium 1.0 has no word for it."""


class LegalDiscrete(spaces.Discrete):
    """`Discrete(n)` whose `sample()` without a mask draws a legal action, since others are refused.

    It draws for the decision the environment is at. Seeded with `k` in the middle of an episode, it draws for the first
    decision after `reset(seed=k)` until the environment moves: so `gymnasium.utils.env_checker` proceeds.
    """

    def __init__(self, n: int, legal: Callable[[int | None], Int8Array]) -> None:
        super().__init__(n)
        self._legal = legal
        self.seeded: int | None = None

    def seed(self, seed: int | None = None) -> Any:
        """Seed the generator, as `Discrete` does."""
        self.seeded = seed
        return super().seed(seed)

    def sample(self, mask: Any = None, probability: Any = None) -> Any:
        """A legal action; by `mask` [n] int8 or, from Gymnasium 1.1 on, `probability` [n] float64 if one is given."""
        if mask is None and probability is None:
            mask = self._legal(self.seeded)
            if not mask.any():
                mask = None
        # Gymnasium 1.0 knows no probabilities.
        return super().sample(mask) if probability is None else super().sample(mask, probability)


class SmearSingleEnv(gymnasium.Env[Int8Array, "int | np.integer[Any]"]):
    """One seat of a match or deal against agents, for single-agent learners.

    Observations are flat int8 [d] as `observation_layout(rules)` names them, actions the ids of `action_names`. Legal
    actions are in `info["action_mask"]`, int8 [n], and `action_masks()`; another raises `IllegalActionError`, nothing
    changed. After the end of an episode the mask is all 0. `info["seat"]` is the learner's seat.

    `reset(seed=k)` plays game 0 of the seed, further resets games 1, 2 ...: cards, drawn seats and what the agents draw
    depend on the seed and the learner's actions alone.

    Args:
        rules: a preset name or a `Rules`.
        opponents: agents of the other teams: a name, a checkpoint's folder, an agent, a callable that makes one, or a
            list of these, one for each of their seats clockwise from the learner. Each seat has its own copy.
        partner: likewise for the learner's team.
        seat: the learner's seat, or "drawn" anew for every episode.
        episode: "match", or "deal" for an episode of one deal, passed out or scored.
        reward: "match", "points" or a callable, as in `SelfPlayVectorEnv`, for the learner's team.
        max_deals: a match is truncated after so many deals, those passed out included.
        render_mode: "ansi" for text, "rgb_array" for uint8 [height, width, 3]; only the learner's hand is open.

    Raises `ValueError` naming an argument that is wrong.
    """

    metadata: ClassVar[dict[str, Any]] = {  # type: ignore[misc]
        "render_modes": ["ansi", "rgb_array"],
        "render_fps": 1,
    }

    def __init__(
        self,
        rules: str | Rules = "four_point",
        *,
        opponents: AgentsLike = "greedy",
        partner: AgentsLike = "greedy",
        seat: Seat = "drawn",
        episode: Episode = "match",
        reward: Reward = "match",
        max_deals: int = 100,
        render_mode: str | None = None,
    ) -> None:
        if render_mode is not None and render_mode not in self.metadata["render_modes"]:
            known = ", ".join(self.metadata["render_modes"])
            raise ValueError(f"render_mode={render_mode!r} must be None or one of {known}")
        self._games = LearnerGames(1, rules, opponents, partner, seat, episode, reward, max_deals)
        self._games.keep_end = render_mode is not None
        self.rules = self._games.rules
        self.action_names = list(self.rules.action_names)
        self.render_mode = render_mode
        size = vector_size(observation_layout(self.rules))
        self.observation_space = spaces.Box(_LOW, _HIGH, (size,), np.int8)
        self._sampler = LegalDiscrete(len(self.action_names), self._legal)
        self.action_space = self._sampler
        self._shown: LearnerStep | None = None
        self._live = False
        self._first = True

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Int8Array, dict[str, Any]]:
        """Play game 0 of `seed`, or else the next game, up to the learner's first decision; `options` must be empty."""
        _refuse_options(options)
        super().reset(seed=None if seed is None else check_seed(seed))
        # A game that has ended has already been followed by the next.
        if seed is not None or self._shown is None or self._live:
            self._shown = self._games.reset(seed)
        self._live = self._first = True
        self._sampler.seeded = None
        return self._shown.observation[0], self._info(self._shown.mask[0], self._shown.seat[0])

    def step(self, action: int | np.integer[Any]) -> tuple[Int8Array, float, bool, bool, dict[str, Any]]:
        """Apply the learner's action and play on to his next decision or the end of the episode.

        Raises `IllegalActionError` naming seat, action and legal set, with nothing changed, and `RuntimeError` unless
        an episode is going on.
        """
        if not self._live:
            raise RuntimeError("no episode is going on: call reset()")
        shown = self._games.step(np.array([_action_id(action)]))
        self._shown = shown
        self._first = False
        self._sampler.seeded = None
        reward, terminated, truncated = (
            float(shown.reward[0]),
            bool(shown.terminated[0]),
            bool(shown.truncated[0]),
        )
        if terminated or truncated:
            self._live = False
            info = self._info(self.action_masks(), shown.final_seat[0])
            return shown.final_observation[0], reward, terminated, truncated, info
        return shown.observation[0], reward, False, False, self._info(shown.mask[0], shown.seat[0])

    def action_masks(self) -> Int8Array:
        """Legal actions of the learner, a fresh [n] int8; all 0 while no episode is going on."""
        if not self._live or self._shown is None:
            return np.zeros(len(self.action_names), np.int8)
        return self._shown.mask[0].copy()

    def render(self) -> Any:
        """The table as the learner sees it: text, or uint8 [height, width, 3]; `RuntimeError` before `reset`."""
        if self.render_mode is None:
            gymnasium.logger.warn("render() needs a render_mode: 'ansi' or 'rgb_array'")
            return None
        if self._shown is None:
            raise RuntimeError("call reset() before render()")
        from smear_env.render import to_image, to_text
        from smear_env.table_view import table_view

        # The table itself already shows the next episode when one has ended.
        seat = self._shown.seat if self._live else self._shown.final_seat
        view = table_view(self.rules, self._games.table if self._live else self._games.end, int(seat[0]))
        return to_image(view) if self.render_mode == "rgb_array" else to_text(view)

    def _legal(self, seeded: int | None) -> Int8Array:
        """What `action_space` samples from."""
        if seeded is None or self._first or not self._live:
            return self.action_masks()
        return copy.deepcopy(self._games).reset(seeded).mask[0]

    @staticmethod
    def _info(mask: Int8Array, seat: Any) -> dict[str, Any]:
        return {"action_mask": mask.copy(), "seat": int(seat)}


class SmearSingleVectorEnv(VectorEnv[Int8Array, Int64Array, Any]):
    """N copies of `SmearSingleEnv` in lockstep, with the same arguments; episodes follow each other within a step.

    Where an episode has ended, `info["final_obs"]` and `info["final_info"]` hold its end, as
    `AutoresetMode.SAME_STEP` of Gymnasium has it. Slot `i` plays games `i, i + N, ...` of the seed.
    """

    metadata: ClassVar[dict[str, Any]] = {  # type: ignore[misc]
        "render_modes": [],
        **_AUTORESET,
    }

    def __init__(
        self,
        num_envs: int = 1,
        rules: str | Rules = "four_point",
        *,
        opponents: AgentsLike = "greedy",
        partner: AgentsLike = "greedy",
        seat: Seat = "drawn",
        episode: Episode = "match",
        reward: Reward = "match",
        max_deals: int = 100,
    ) -> None:
        self.num_envs = num_envs
        self._games = LearnerGames(num_envs, rules, opponents, partner, seat, episode, reward, max_deals)
        self.rules = self._games.rules
        self.action_names = list(self.rules.action_names)
        size = vector_size(observation_layout(self.rules))
        self.single_observation_space = spaces.Box(_LOW, _HIGH, (size,), np.int8)
        self.single_action_space = spaces.Discrete(len(self.action_names))
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._shown: LearnerStep | None = None

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Int8Array, dict[str, Any]]:
        """Play game `i` of `seed` in slot `i`, or else each slot's next game, up to the learner's first decision.

        Observations [N, d] int8 and `info` with `action_mask` [N, n] int8 and `seat` [N]; `options` must be empty.
        """
        _refuse_options(options)
        super().reset(seed=None if seed is None else check_seed(seed))
        self._shown = self._games.reset(seed)
        return self._shown.observation, self._infos(self._shown)

    def step(
        self, actions: Int64Array
    ) -> tuple[Int8Array, Float64Array, BoolArray, BoolArray, dict[str, Any]]:
        """Apply the learner's actions [N]: observations [N, d], rewards [N] float64, two flags [N], info.

        Raises `IllegalActionError` naming game, seat, action and legal set, with nothing changed in any game.
        """
        self._shown = shown = self._games.step(actions)
        infos = self._infos(shown)
        ended = shown.terminated | shown.truncated
        if ended.any():
            final_obs = np.full(self.num_envs, None, object)
            for i in np.flatnonzero(ended):
                final_obs[i] = shown.final_observation[i]
            final_info = {
                "action_mask": np.zeros_like(shown.mask),
                "_action_mask": ended.copy(),
                "seat": shown.final_seat,
                "_seat": ended.copy(),
            }
            infos |= {"final_obs": final_obs, "_final_obs": ended.copy()}
            infos |= {"final_info": final_info, "_final_info": ended.copy()}
        return shown.observation, shown.reward, shown.terminated, shown.truncated, infos

    def action_masks(self) -> Int8Array:
        """Legal actions of the learner, a fresh [N, n] int8; `RuntimeError` before `reset`."""
        if self._shown is None:
            raise RuntimeError("call reset() before action_masks()")
        return self._shown.mask.copy()

    def _infos(self, shown: LearnerStep) -> dict[str, Any]:
        every = np.ones(self.num_envs, np.bool_)
        return {
            "action_mask": shown.mask.copy(),
            "_action_mask": every,
            "seat": shown.seat.copy(),
            "_seat": every.copy(),
        }


def register() -> None:
    """Make the environments known by name; again does nothing.

    `smear_env/SmearSingle-v0` to Gymnasium, single and vector, and `smear_env/smear-v0` to PettingZoo where that has a
    registry.
    """
    if ENV_ID not in gymnasium.registry:
        gymnasium.register(
            ENV_ID,
            entry_point="smear_env.single:SmearSingleEnv",
            vector_entry_point="smear_env.single:SmearSingleVectorEnv",
        )
    registry = getattr(pettingzoo, "aec_registry", None)
    if registry is not None and AEC_ID not in registry:
        pettingzoo.register("aec", AEC_ID, entry_point="smear_env.aec:env")


def _action_id(action: Any) -> int:
    """An action as an integer; IllegalActionError if it is none."""
    if isinstance(action, np.ndarray) and action.ndim == 0:
        action = action.item()
    try:
        return operator.index(action)
    except TypeError as error:
        raise IllegalActionError(f"action {action!r} is no integer") from error


def _refuse_options(options: dict[str, Any] | None) -> None:
    if options:
        raise ValueError(f"reset options {', '.join(map(repr, options))}: none are known here")


__all__ = [
    "ENV_ID",
    "AgentsLike",
    "SmearSingleEnv",
    "SmearSingleVectorEnv",
    "register",
]
