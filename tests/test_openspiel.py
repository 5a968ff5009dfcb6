"""The games in OpenSpiel: its own consistency tests, and its algorithms against our exact analysis on the same game."""

from __future__ import annotations

import pickle
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

pytest.importorskip("pyspiel")
pytest.importorskip("scipy")

import pyspiel
from open_spiel.python import policy as policies
from open_spiel.python.algorithms import cfr, exploitability
from open_spiel.python.algorithms.get_all_states import get_all_states
from open_spiel.python.observation import make_observation

from smear_env import make_agent, observation_layout
from smear_env.interop.dealing import Dealing
from smear_env.interop.openspiel import AgentPolicy, SmearObserver
from smear_env.rules import FOUR_POINT, MINI, SCHMIER
from tests.exact_games import NO_STOCK, ONE_CARD, TWO_CARDS, tree_of
from training.exact import RegretMatching, Tree, of_agent, uniform
from training.exact import exploitability as our_exploitability
from training.exact.regrets import normalised

GAMES = pytest.mark.parametrize("name", ["smear_mini", "smear_four_point", "smear_schmier"])


class TreePolicy(policies.Policy):  # type: ignore[misc]  # OpenSpiel has no annotations
    """A strategy of ours for OpenSpiel, found again by what the seat observes."""

    def __init__(self, game: Any, tree: Tree, strategy: Any) -> None:
        super().__init__(game, [0, 1])
        self.chances: dict[bytes, dict[int, float]] = {}
        for row, observation in enumerate(tree.observation):
            own = np.flatnonzero(tree.information_set == row)
            self.chances[observation.tobytes()] = dict(
                zip(tree.action[own].tolist(), strategy[own].tolist(), strict=True)
            )

    def action_probabilities(self, state: Any, player_id: int | None = None) -> dict[int, float]:
        return self.chances[state.view(state.current_player())[0].tobytes()]


def load(options: dict[str, Any], dealer: int = 1) -> Any:
    return pyspiel.load_game("smear_mini", {**options, "dealer": dealer})


def strategies(tree: Tree) -> dict[str, Any]:
    generator = np.random.default_rng(11)
    return {
        "uniform": uniform(tree),
        "random": normalised(tree, generator.random(tree.sequences)),
        "pure": normalised(tree, np.floor(generator.random(tree.sequences) * 1.5)),
        "greedy": of_agent(tree, make_agent("greedy")),
    }


def compare(game: Any, tree: Tree, strategy: Any, policy: Any, *, fast: bool = True) -> None:
    ours = our_exploitability(tree, strategy)
    theirs = exploitability.nash_conv(game, policy, return_only_nash_conv=False)
    gains = [ours.gain_eldest, ours.gain_dealer]
    assert theirs.player_improvements.tolist() == pytest.approx(gains, abs=1e-9)
    assert theirs.nash_conv == pytest.approx(ours.nash_conv, abs=1e-9)
    if fast:
        assert exploitability.exploitability(game, policy) == pytest.approx(ours.mean, abs=1e-9)


@GAMES
def test_openspiel__its_own_consistency_test_passes(name: str) -> None:
    pyspiel.random_sim_test(pyspiel.load_game(name), num_sims=5, serialize=True, verbose=False)


@GAMES
def test_openspiel__game_and_state_survive_pickling(name: str) -> None:
    game = pyspiel.load_game(name)
    state = game.new_initial_state()
    while state.is_chance_node():
        state.apply_action(state.legal_actions()[0])
    state.apply_action(state.legal_actions()[0])
    assert str(pickle.loads(pickle.dumps(game))) == str(game)
    again = pickle.loads(pickle.dumps(state))
    assert (str(again), again.history()) == (str(state), state.history())


@pytest.mark.parametrize("options", ["stock_to_bidder=0", "all_pass=same_dealer,failed_bid=points,dealer=0"])
def test_openspiel__its_own_consistency_test_passes_with_options(options: str) -> None:
    game = pyspiel.load_game(f"smear_mini({options})")
    pyspiel.random_sim_test(game, num_sims=10, serialize=True, verbose=False)


@pytest.mark.parametrize(
    ("which", "options"),
    [(which, NO_STOCK) for which in ("uniform", "random", "pure", "greedy")] + [("random", ONE_CARD)],
)
def test_openspiel__exploitability_is_ours(which: str, options: dict[str, Any]) -> None:
    game, tree = load(options), tree_of(**options)
    strategy = strategies(tree)[which]
    compare(game, tree, strategy, TreePolicy(game, tree, strategy))


def test_openspiel__with_a_drawn_dealer_both_seats_gain_our_mean() -> None:
    game, tree = load(NO_STOCK, dealer=-1), tree_of(**NO_STOCK)
    strategy = strategies(tree)["random"]
    theirs = exploitability.nash_conv(game, TreePolicy(game, tree, strategy), return_only_nash_conv=False)
    mean = our_exploitability(tree, strategy).mean
    assert theirs.player_improvements.tolist() == pytest.approx([mean, mean], abs=1e-9)


def test_openspiel__cfr_plus_goes_as_ours_does() -> None:
    game, tree = load(NO_STOCK), tree_of(**NO_STOCK)
    theirs, ours = cfr.CFRPlusSolver(game), RegretMatching(tree)
    for _ in range(20):
        theirs.evaluate_and_update_policy()
    ours.run(20)
    average = theirs.average_policy()
    found = our_exploitability(tree, ours.average())
    assert exploitability.nash_conv(game, average) == pytest.approx(found.nash_conv, abs=1e-9)
    root = game.new_initial_state()
    values = policies_value(root, average)
    assert values == pytest.approx(found.value, abs=1e-9)


def policies_value(state: Any, policy: Any) -> float:
    if state.is_terminal():
        return state.returns()[0]
    chances = (
        state.chance_outcomes() if state.is_chance_node() else policy.action_probabilities(state).items()
    )
    return sum(chance * policies_value(state.child(action), policy) for action, chance in chances)


@pytest.mark.slow
def test_openspiel__exploitability_is_ours_with_two_cards_and_a_stock() -> None:
    game, tree = load(TWO_CARDS), tree_of(**TWO_CARDS)
    for strategy in strategies(tree).values():
        compare(game, tree, strategy, TreePolicy(game, tree, strategy), fast=False)


@pytest.mark.slow
@pytest.mark.parametrize("agent", ["greedy", "expert"])
def test_openspiel__exploitability_of_agents_on_mini_is_ours(agent: str) -> None:
    game, tree = load({}), tree_of()
    compare(game, tree, of_agent(tree, make_agent(agent)), AgentPolicy(game, make_agent(agent)), fast=False)


def test_openspiel__information_states_are_observations_and_tell_apart_what_these_do() -> None:
    game = load(ONE_CARD)
    observer = make_observation(game, pyspiel.IIGObservationType(perfect_recall=True))
    by_string: dict[str, set[bytes]] = {}
    by_tensor: dict[bytes, set[str]] = {}
    for state in get_all_states(game, include_terminals=False, include_chance_states=False).values():
        string, seat = state.information_state_string(), state.current_player()
        observer.set_from(state, seat)
        assert np.array_equal(observer.tensor, np.float32(state.information_state_tensor()))
        by_string.setdefault(string, set()).add(observer.tensor.tobytes())
        by_tensor.setdefault(observer.tensor.tobytes(), set()).add(string)
    assert len(by_string) > 300
    assert all(len(tensors) == 1 for tensors in by_string.values())
    assert all(len(strings) == 1 for strings in by_tensor.values())


def test_openspiel__a_seat_sees_nothing_of_the_others_cards_and_discards() -> None:
    game = pyspiel.load_game("smear_mini(dealer=1)")
    names = MINI.action_names
    state = game.new_initial_state()
    for card in ("7C", "JC", "TC", "AC", "7S"):
        state.apply_action(names.index(card))
    for name in ("2", "pass", "7S"):
        state.apply_action(names.index(name))
    assert state.information_state_string(0).startswith("seat 0, dealer 1, hand 7C JC | drawn 7S")
    assert state.information_state_string(0).endswith("0 2, 1 pass, 0 throws 7S")
    assert state.information_state_string(1).startswith("seat 1, dealer 1, hand TC AC | drawn \n")
    assert state.information_state_string(1).endswith("0 2, 1 pass, 0 throws ?")


def test_openspiel__a_copy_goes_its_own_way() -> None:
    state = pyspiel.load_game("smear_four_point").new_initial_state()
    while state.is_chance_node():
        state.apply_action(state.legal_actions()[0])
    before, copy = state.information_state_string(0), state.clone()
    copy.apply_action(copy.legal_actions()[-1])
    assert state.information_state_string(0) == before != copy.information_state_string(0)
    assert str(state) != str(copy)


def test_observer__public_information_lacks_hands_and_private_information_has_them_alone() -> None:
    kinds = {
        "public": pyspiel.IIGObservationType(True, True, pyspiel.PrivateInfoType.NONE),
        "private": pyspiel.IIGObservationType(False, True, pyspiel.PrivateInfoType.SINGLE_PLAYER),
    }
    pieces = {name: set(SmearObserver(MINI, kind, None).dict) for name, kind in kinds.items()}
    assert pieces["private"] == {"hand", "taken", "unseen", "discard_order"}
    assert pieces["public"] == set(observation_layout(MINI)) - pieces["private"]
    with pytest.raises(ValueError, match="SINGLE_PLAYER"):
        SmearObserver(MINI, pyspiel.IIGObservationType(True, True, pyspiel.PrivateInfoType.ALL_PLAYERS), None)


@pytest.mark.parametrize("rules", [MINI, FOUR_POINT, SCHMIER], ids=lambda rules: rules.name)
def test_dealing__chances_add_up_to_one_and_every_card_lies_somewhere(rules: Any) -> None:
    dealing, generator = Dealing(rules), np.random.default_rng(5)
    events: list[int] = []
    while len(events) < dealing.length:
        outcomes = dealing.outcomes(events)
        assert sum(chance for _, chance in outcomes) == pytest.approx(1, abs=1e-12)
        assert min(chance for _, chance in outcomes) > 0
        events.append(int(generator.choice([event for event, _ in outcomes])))
    assert sorted(dealing.order(events)) == list(range(len(rules.card_names)))
    for seat in range(rules.players):
        assert len(dealing.hand(events, seat)) == rules.hand_size
        assert dealing.hand(events, seat) == sorted(dealing.hand(events, seat))


def test_dealing__every_deal_of_mini_is_equally_likely() -> None:
    dealing = Dealing(MINI, dealer=1)
    deals = [((), 1.0)]
    for _ in range(dealing.length):
        deals = [((*d, c), p * q) for d, p in deals for c, q in dealing.outcomes(d)]
    assert len(deals) == len({d for d, _ in deals}) == 1680
    assert np.allclose([p for _, p in deals], 1 / 1680, rtol=1e-12, atol=0)


def test_game__a_dealer_that_is_no_seat_is_refused() -> None:
    with pytest.raises(ValueError, match="dealer=2"):
        load({}, dealer=2)


def test_registering__is_asked_for_by_name_and_ends_without_an_abort() -> None:
    code = (
        "import sys, smear_env; assert 'pyspiel' not in sys.modules; "
        "import pyspiel, smear_env.interop.openspiel; pyspiel.load_game('smear_mini')"
    )
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True)
    assert (done.returncode, done.stderr) == (0, b"")
