"""The games in RLCard, and players of either side on the other.

    import rlcard
    import smear_env.interop.rlcard
    env = rlcard.make("smear", {"rules": "schmier", "seed": 1})

`rules` is a preset's name or a `Rules`; a game is one deal, which pays points per deal. In a state, `obs` is the
observation scaled to about -1..1, `raw_obs` the same as it is, int8, which `smear_env.decode` tells in words; legal
actions are ids, raw ones the names of transcripts. `action_record` is what the seat saw: cards that others threw face
down are `?` in it. With `allow_step_back` a state can be gone back from, as RLCard's CFR agent asks.

`RLCardAgent` is a player of RLCard's as an agent here, `AgentForRLCard` an agent of ours as a player there;
`agents_at` makes one of these for each seat of a table.
"""

from __future__ import annotations

from collections import OrderedDict
from pathlib import Path
from typing import Any

import numpy as np
from rlcard.envs import Env
from rlcard.envs.registration import register, registry

from smear_env._jit import announce_compilation
from smear_env._typing import Float32Array, Int8Array, Int64Array
from smear_env.agents.base import Agent, BaseAgent, one_hot, refuse_empty
from smear_env.agents.registry import make_agent
from smear_env.batch import REWARD_POINTS
from smear_env.engine.state import DISCARD, EXCHANGE, SEATS
from smear_env.layout import observation_layout, observation_scale, vector_size
from smear_env.match import PLAYED, act, begin, deal_reward, new_match, show, states
from smear_env.rules import Rules, make_rules

NAME = "smear"
"""Of the game in `rlcard.make`."""
HIDDEN = "?"
_DRAWN = -1
_LEVEL = np.zeros(SEATS, np.int64)
_ANY_CARDS = np.empty(0, np.int8)


class SmearGame:
    """One deal with the methods that an RLCard environment asks of a game; actions are names."""

    def __init__(self, rules: Rules, *, allow_step_back: bool = False) -> None:
        announce_compilation()
        self.rules = rules
        self.allow_step_back = allow_step_back
        self.np_random: Any = np.random.default_rng(0)
        """RLCard puts the environment's generator here."""
        self._size = vector_size(observation_layout(rules))
        self._ids = {name: action for action, name in enumerate(rules.action_names)}
        self._match = new_match(rules)
        states(self._match)["max_deals"] = states(self._match)["one_deal"] = 1
        self._turn = 0
        self._over = False
        self._told: list[tuple[int, str, bool]] = []
        """(seat, action, whether others do not see which card it was)"""
        self._past: list[tuple[Any, int]] = []

    def init_game(self) -> tuple[dict[str, Any], int]:
        """Deal; what the first seat to act sees, and which it is."""
        seed = np.uint64(self.np_random.random() * 2**53)
        self._turn = begin(self._match, seed, 0, _DRAWN, _LEVEL, _ANY_CARDS)
        self._over = False
        self._told, self._past = [], []
        return self.get_state(self._turn), self._turn

    def step(self, action: str) -> tuple[dict[str, Any], int]:
        """Play an action; ValueError, with nothing changed, for one that is not legal. As `init_game`."""
        index = self._ids.get(action, -1)
        hidden = index < len(self.rules.card_names) and states(self._match)["phase"][0] in (DISCARD, EXCHANGE)
        if index < 0 or self._over or not self.view(self._turn)[1][index]:
            raise ValueError(f"action {action!r} is not legal for seat {self._turn}")
        if self.allow_step_back:
            self._past.append((self._match.copy(), self._turn))
        self._told.append((self._turn, action, bool(hidden)))
        turn, outcome = act(self._match, index, REWARD_POINTS)
        self._over = outcome != PLAYED
        # RLCard asks for the state of whoever is to act, also when nobody is.
        self._turn = self._turn if self._over else turn
        return self.get_state(self._turn), self._turn

    def step_back(self) -> bool:
        """Undo the last action; False if there is none."""
        if not self._past:
            return False
        self._match, self._turn = self._past.pop()
        self._told.pop()
        self._over = False
        return True

    def view(self, seat: int) -> tuple[Int8Array, Int8Array]:
        """Observation [d] and mask [n] int8 of a seat."""
        observation, mask = np.empty(self._size, np.int8), np.empty(len(self._ids), np.int8)
        show(self._match, seat, observation, mask)
        return observation, mask

    def get_state(self, player_id: int) -> dict[str, Any]:
        """What a seat sees: `observation`, `mask`, and `told`, (seat, action) in order."""
        observation, mask = self.view(player_id)
        told = [(seat, HIDDEN if hidden and seat != player_id else name) for seat, name, hidden in self._told]
        return {"observation": observation, "mask": mask, "told": told}

    def payoffs(self) -> Float32Array:
        """Points of each seat's team, [players]; zeros before the end."""
        by_team = deal_reward(self._match) if self._over else np.zeros(SEATS, np.float32)
        return by_team[np.arange(self.rules.players) % self.rules.teams].copy()

    def is_over(self) -> bool:
        """Whether the deal is scored or passed out."""
        return self._over

    def get_player_id(self) -> int:
        """The seat to act; after the end the one that acted last."""
        return self._turn

    def get_num_players(self) -> int:
        """How many seats there are."""
        return self.rules.players

    def get_num_actions(self) -> int:
        """How many actions there are."""
        return len(self._ids)


class SmearEnv(Env):  # type: ignore[misc]  # RLCard has no annotations
    """RLCard's environment of these games; made by `rlcard.make("smear", config)`."""

    def __init__(self, config: dict[str, Any]) -> None:
        self.name = NAME
        self.rules = make_rules(config.get("rules", "four_point"))
        self.game = SmearGame(self.rules)
        self._scale = observation_scale(self.rules)
        super().__init__(config)
        self.state_shape = [[len(self._scale)] for _ in range(self.num_players)]
        self.action_shape = [None] * self.num_players

    def get_payoffs(self) -> Float32Array:
        """Points of each seat's team, [players]."""
        return self.game.payoffs()

    def _extract_state(self, state: dict[str, Any]) -> dict[str, Any]:
        return rlcard_state(state["observation"], state["mask"], self.rules, self._scale, state["told"])

    def _decode_action(self, action_id: int) -> str:
        return self.rules.action_names[action_id]

    def _get_legal_actions(self) -> list[int]:
        return np.flatnonzero(self.game.view(self.game.get_player_id())[1]).tolist()


def rlcard_state(
    observation: Int8Array, mask: Int8Array, rules: Rules, scale: Float32Array, told: list[tuple[int, str]]
) -> dict[str, Any]:
    """A state as RLCard's agents read it, of an observation [d] and a mask [n]."""
    legal = np.flatnonzero(mask).tolist()
    return {
        "obs": observation * scale,
        "legal_actions": OrderedDict.fromkeys(legal),
        "raw_obs": observation,
        "raw_legal_actions": [rules.action_names[action] for action in legal],
        "action_record": told,
    }


class RLCardAgent(BaseAgent):
    """A player with RLCard's `eval_step`, as an agent here.

    It is asked one decision at a time, with an empty `action_record`: the observation holds what was done.
    """

    def __init__(self, player: Any) -> None:
        super().__init__()
        self._player = player

    def act_batch(self, observations: Int8Array, masks: Int8Array) -> Int64Array:
        """Legal actions [B] int64; ValueError if the player's is none. See `Agent`."""
        return self._asked(observations, masks)[0]

    def probabilities(self, observations: Int8Array, masks: Int8Array) -> Float32Array:
        """What the player says under `probs`, or else its action for sure, [B, n] float32; see `Agent`."""
        return self._asked(observations, masks)[1]

    def _asked(self, observations: Int8Array, masks: Int8Array) -> tuple[Int64Array, Float32Array]:
        seen, legal = self.checked(observations, masks)
        refuse_empty(legal)
        names = self.rules.action_names
        scale = observation_scale(self.rules)
        actions = np.zeros(len(seen), np.int64)
        said: list[dict[str, float]] = []
        for row in range(len(seen)):
            state = rlcard_state(seen[row], legal[row], self.rules, scale, [])
            action, info = self._player.eval_step(state)
            actions[row] = names.index(action) if getattr(self._player, "use_raw", False) else action
            if not legal[row, actions[row]]:
                raise ValueError(
                    f"the player chose {action!r}, legal are {', '.join(state['raw_legal_actions'])}"
                )
            said.append(info.get("probs") or {})
        chances = one_hot(actions, legal.shape[1])
        for row, probs in enumerate(said):
            if probs:
                given = np.array([probs.get(name, 0.0) for name in names], np.float32) * legal[row]
                chances[row] = given / given.sum()
        return actions, chances


class AgentForRLCard:
    """An agent of ours with RLCard's `step` and `eval_step`; each seat needs one of its own."""

    use_raw = False
    """Actions are ids."""

    def __init__(self, agent: Agent, rules: str | Rules, *, seat: int = -1, seed: int = 0) -> None:
        self._rules = make_rules(rules)
        self._agent = agent
        agent.reset(self._rules, seat, seed)

    def step(self, state: dict[str, Any]) -> int:
        """The agent's action."""
        return self._agent.act(*self._view(state))

    def eval_step(self, state: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        """The agent's action, and `probs` by the names of the legal actions."""
        observation, mask = self._view(state)
        chances = self._agent.probabilities(observation[None], mask[None])[0]
        legal = state["legal_actions"]
        probs = {self._rules.action_names[action]: float(chances[action]) for action in legal}
        return self._agent.act(observation, mask), {"probs": probs}

    def _view(self, state: dict[str, Any]) -> tuple[Int8Array, Int8Array]:
        mask = np.zeros(len(self._rules.action_names), np.int8)
        mask[list(state["legal_actions"])] = 1
        return state["raw_obs"], mask


def agents_at(env: SmearEnv, agent: str | Path = "four_point", *, seed: int = 0) -> list[AgentForRLCard]:
    """An agent of ours, by name or by its checkpoint's folder, for each seat of a table, in the seats' order.

    What those draw that draw depends on `seed` and the seat.
    """
    return [
        AgentForRLCard(make_agent(agent), env.rules, seat=seat, seed=seed + seat)
        for seat in range(env.num_players)
    ]


if NAME not in registry.env_specs:
    register(NAME, "smear_env.interop.rlcard:SmearEnv")

__all__ = ["AgentForRLCard", "RLCardAgent", "SmearEnv", "SmearGame", "agents_at", "rlcard_state"]
