"""The games themselves: one deal each, every chance event explicit.

Each option of the rules is a parameter; `dealer` is a seat, or -1 for one that chance draws. A game is one deal from
level scores, which ends where it is scored or passed out, and pays points per deal: own score change less the mean of
the other teams'. Chance is explicit, card by card with exact probabilities (`dealing.py`), in every game, so that
nothing has to be sampled, and a state is its history, which is how OpenSpiel serialises it.

Information states: the tensor is our observation, scaled; the string is told from the deal's actions instead, so that
the two check each other. Both have perfect recall and are seen from any seat at any moment.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
import pyspiel

from smear_env._jit import announce_compilation
from smear_env._typing import Float32Array, Int8Array
from smear_env.batch import REWARD_POINTS
from smear_env.engine.state import DISCARD, EXCHANGE, SEATS
from smear_env.interop.dealing import DRAWN, Dealing
from smear_env.layout import observation_layout, observation_scale, vector_size
from smear_env.match import PLAYED, act, begin, deal_reward, new_match, show, states
from smear_env.rules import PRESETS, Rules, make_rules, preset_of

PREFIX = "smear_"
PRIVATE = ("hand", "taken", "unseen", "discard_order")
"""Pieces of an observation that only their seat knows."""
_LEVEL = np.zeros(SEATS, np.int64)
_CHANCE, _TERMINAL = int(pyspiel.PlayerId.CHANCE), int(pyspiel.PlayerId.TERMINAL)


def _game_type(preset: Rules) -> Any:
    options = {field.name: getattr(preset, field.name) for field in dataclasses.fields(Rules)}
    del options["name"]
    return pyspiel.GameType(
        short_name=PREFIX + preset.name,
        long_name=f"Smear: {preset.name}, one deal",
        dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL,
        chance_mode=pyspiel.GameType.ChanceMode.EXPLICIT_STOCHASTIC,
        information=pyspiel.GameType.Information.IMPERFECT_INFORMATION,
        utility=pyspiel.GameType.Utility.ZERO_SUM,
        reward_model=pyspiel.GameType.RewardModel.TERMINAL,
        max_num_players=SEATS,
        min_num_players=2,
        provides_information_state_string=True,
        provides_information_state_tensor=True,
        provides_observation_string=True,
        provides_observation_tensor=True,
        parameter_specification={**options, "dealer": DRAWN},
    )


def _game_info(rules: Rules) -> Any:
    # Own gain at most all points of the deal while the others lose a bid, and the other way round.
    most = float(len(rules.point_names) + rules.max_bid)
    drawn = rules.stock_size if rules.dealer_takes_stock else rules.stock_to_bidder
    exchanges = (rules.players - 1) * (rules.exchange + 1)
    return pyspiel.GameInfo(
        num_distinct_actions=len(rules.action_names),
        max_chance_outcomes=max(len(rules.card_names), rules.players),
        num_players=rules.players,
        min_utility=-most,
        max_utility=most,
        utility_sum=0.0,
        max_game_length=rules.players * (1 + rules.hand_size)
        + rules.trump_named
        + drawn
        + (exchanges if rules.exchange else 0),
    )


class Setting:
    """What all states of a game share, worked out once: copies of a state share it too."""

    def __init__(self, rules: Rules, dealer: int) -> None:
        announce_compilation()
        self.rules = rules
        self.dealing = Dealing(rules, dealer)
        self.cards = rules.card_names
        self.actions = rules.action_names
        self.size = vector_size(observation_layout(rules))
        self.match = new_match(rules)
        states(self.match)["max_deals"] = states(self.match)["one_deal"] = 1

    def __deepcopy__(self, memo: object) -> Setting:
        return self


class SmearGame(pyspiel.Game):  # type: ignore[misc]  # pyspiel has no annotations
    """One deal of a preset; parameters are its options and `dealer`. ValueError where they contradict each other."""

    preset: ClassVar[Rules]
    game_type: ClassVar[Any]

    def __init__(self, params: dict[str, Any] | None = None) -> None:
        given = dict(params or {})
        dealer = given.pop("dealer", DRAWN)
        self.rules = make_rules(self.preset, **given)
        if not DRAWN <= dealer < self.rules.players:
            raise ValueError(
                f"dealer={dealer} is no seat 0..{self.rules.players - 1}, and not -1 for one drawn"
            )
        self.setting = Setting(self.rules, dealer)
        super().__init__(self.game_type, _game_info(self.rules), params or {})

    def new_initial_state(self) -> SmearState:
        """A deal of which no card is dealt."""
        return SmearState(self, self.setting)

    def make_py_observer(self, iig_obs_type: Any = None, params: Any = None) -> SmearObserver:
        """Of observations and information states alike: what a seat sees has perfect recall."""
        return SmearObserver(self.rules, iig_obs_type, params)


class SmearState(pyspiel.State):  # type: ignore[misc]  # as SmearGame
    """A deal at one moment. OpenSpiel copies all that it holds, so it holds little; bytes are never copied."""

    def __init__(self, game: SmearGame, setting: Setting) -> None:
        super().__init__(game)
        self.setting = setting
        self.events = b""
        """Chance events so far, as `Dealing` has them."""
        self.match: Any = None
        """Bytes of the match, once the cards are dealt."""
        self.turn = _CHANCE
        self.told = b""
        """Three bytes an action: seat, action, 1 where others do not see which card it was."""

    def current_player(self) -> int:
        """Seat to act, or OpenSpiel's number for chance or for the end."""
        return self.turn

    def is_terminal(self) -> bool:
        """Whether the deal is scored or passed out."""
        return self.turn == _TERMINAL

    def returns(self) -> list[float]:
        """Points of each seat's team; zeros before the end."""
        rules = self.setting.rules
        if not self.is_terminal():
            return [0.0] * rules.players
        by_team = deal_reward(self.match).tolist()
        return [by_team[seat % rules.teams] for seat in range(rules.players)]

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """(event, probability) of dealer or card that may come next."""
        return self.setting.dealing.outcomes(self.events)

    def view(self, seat: int) -> tuple[Int8Array, Int8Array]:
        """Observation [d] and mask [n] int8 of a seat; zeros before the cards are dealt."""
        observation = np.zeros(self.setting.size, np.int8)
        mask = np.zeros(len(self.setting.actions), np.int8)
        if self.match is not None:
            show(self.match, seat, observation, mask)
        return observation, mask

    def __str__(self) -> str:
        rules, dealing = self.setting.rules, self.setting.dealing
        hands = " | ".join(self._names(dealing.hand(self.events, seat)) for seat in range(rules.players))
        stock = self._names(dealing.order(self.events)[rules.players * rules.hand_size :])
        return f"{self._start()}{hands} | stock {stock}\n{self._story(None)}"

    def resample_from_infostate(self, player: int, sampler: Callable[[], float]) -> SmearState:
        """Another state that looks the same to the seat to act, which OpenSpiel's ISMCTS searches.

        `sampler` draws from 0 to 1. Raises ValueError for a player who is not to act.
        """
        return state_showing(self.get_game(), self.view(player)[0], int(sampler() * 2**53), player)

    def seen_by(self, seat: int) -> str:
        """All that a seat knows, in words: its hand, what it drew, and what was done in order."""
        hand = self._names(self.setting.dealing.hand(self.events, seat))
        drawn = ""
        if self.match is not None:
            taken = int(states(self.match)["taken"][0, seat])
            drawn = self._names([card for card in range(len(self.setting.cards)) if taken >> card & 1])
        return f"seat {seat}, {self._start()}hand {hand} | drawn {drawn}\n{self._story(seat)}"

    def _legal_actions(self, player: int) -> list[int]:
        if player != self.turn or self.match is None:
            return []
        return np.flatnonzero(self.view(player)[1]).tolist()

    def _apply_action(self, action: int) -> None:
        if self.match is None:
            self.events += bytes([action])
            if len(self.events) == self.setting.dealing.length:
                self._begin()
            return
        hidden = action < len(self.setting.cards) and states(self.match)["phase"][0] in (DISCARD, EXCHANGE)
        self.told += bytes([self.turn, action, hidden])
        self.turn, outcome = act(self.match, action, REWARD_POINTS)
        if outcome != PLAYED:
            self.turn = _TERMINAL

    def _action_to_string(self, player: int, action: int) -> str:
        if player != _CHANCE:
            return self.setting.actions[action]
        whom = self.setting.dealing.who(len(self.events))
        return f"{whom}: {action if whom == 'dealer' else self.setting.cards[action]}"

    def _begin(self) -> None:
        dealing = self.setting.dealing
        dealer = dealing.dealer_of(self.events)
        assert dealer is not None, "the dealer is drawn before the cards"
        self.match = self.setting.match.copy()
        self.turn = begin(
            self.match, np.uint64(0), 0, dealer, _LEVEL, np.array(dealing.order(self.events), np.int8)
        )

    def _names(self, cards: list[int]) -> str:
        return " ".join(self.setting.cards[card] for card in cards)

    def _start(self) -> str:
        dealer = self.setting.dealing.dealer_of(self.events)
        return "" if dealer is None else f"dealer {dealer}, "

    def _story(self, seat: int | None) -> str:
        """What was done, as a seat saw it; None sees all."""
        told = []
        for place in range(0, len(self.told), 3):
            who, action, hidden = self.told[place : place + 3]
            name = "?" if hidden and seat not in (None, who) else self.setting.actions[action]
            told.append(f"{who} {'throws ' if hidden else ''}{name}")
        return ", ".join(told)


class SmearObserver:
    """Writes a seat's observation, scaled to about -1..1, and its pieces by name, as OpenSpiel's observers do.

    Without public information the pieces in PRIVATE alone are left, without private information all others.
    """

    def __init__(self, rules: Rules, iig_obs_type: Any, params: Any) -> None:
        if params:
            raise ValueError(f"params={params}: observers of these games take none")
        kind = iig_obs_type or pyspiel.IIGObservationType(perfect_recall=True)
        if kind.private_info == pyspiel.PrivateInfoType.ALL_PLAYERS:
            raise ValueError(
                "iig_obs_type: the private information of all players is in no seat's observation; ask for "
                "SINGLE_PLAYER"
            )
        own = kind.private_info == pyspiel.PrivateInfoType.SINGLE_PLAYER
        kept = [
            piece
            for name, piece in observation_layout(rules).items()
            if (own if name in PRIVATE else kind.public_info)
        ]
        self._told = own and kind.public_info
        self._columns = np.concatenate(
            [np.arange(piece.start, piece.start + piece.size) for piece in kept] or [np.zeros(0, np.int64)]
        )
        self._scale = observation_scale(rules)[self._columns]
        self.tensor: Float32Array = np.zeros(len(self._columns), np.float32)
        self.dict: dict[str, Float32Array] = {}
        start = 0
        for piece in kept:
            self.dict[piece.name] = self.tensor[start : start + piece.size].reshape(piece.shape)
            start += piece.size

    def set_from(self, state: SmearState, player: int) -> None:
        """Write what a seat sees."""
        self.tensor[:] = state.view(player)[0][self._columns] * self._scale

    def string_from(self, state: SmearState, player: int) -> str:
        """What a seat knows in words, where all of it is asked for; else the entries that are not 0, by piece."""
        if self._told:
            return state.seen_by(player)
        self.set_from(state, player)
        return " ".join(f"{name}:{np.flatnonzero(piece).tolist()}" for name, piece in self.dict.items())


def _register(preset: Rules) -> None:
    game_type = _game_type(preset)
    # A class for each: OpenSpiel lets go of what it registers after Python has ended, which only classes outlive.
    made = type(f"{preset.name}_game", (SmearGame,), {"preset": preset, "game_type": game_type})
    # Pickle finds a class again as an attribute of its module.
    globals()[made.__name__] = made
    pyspiel.register_game(game_type, made)


for _preset in PRESETS.values():
    _register(_preset)


def game_of(rules: Rules, dealer: int = DRAWN) -> SmearGame:
    """The game of these rules, registered here first if they are the user's own; `dealer` as in `SmearGame`."""
    name = PREFIX + rules.name
    if name not in pyspiel.registered_names():
        _register(preset_of(rules.name))
    game: SmearGame = pyspiel.load_game(name, {**rules.options(), "dealer": dealer})
    return game


def state_showing(game: SmearGame, observation: Int8Array, seed: int, seat: int | None = None) -> SmearState:
    """A state drawn from all that show the seat to act this observation [d] int8, each history equally likely.

    `seat` is the one that looks; without it seat 0, or the one that it is if the game's dealer is given. Hidden cards
    are drawn (`agents/search/worlds.py`): whoever is given the state knows no more than the observation says.
    Raises ValueError for the view of a seat that is not to act.
    """
    from smear_env.agents.search.worlds import NO_ACTION, sample_worlds

    rules, dealing = game.rules, game.setting.dealing
    world = sample_worlds(observation, rules, 1, seed)
    dealer = int(world.states["dealer"][0])
    if seat is None:
        seat = 0 if dealing.dealer == DRAWN else (dealing.dealer - dealer) % rules.players
    events = dealing.events(world.orders[0].tolist(), first_seat=seat, dealer=(seat + dealer) % rules.players)
    state = game.new_initial_state()
    for action in (*events, *world.actions[0].tolist()):
        if action == NO_ACTION:
            break
        state.apply_action(action)
    return state


__all__ = ["SmearGame", "SmearObserver", "SmearState", "game_of", "state_showing"]
