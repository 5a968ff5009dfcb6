"""SelfPlayVectorEnv: slots and games, resets within a step, forced moves, rewards, threads, bad arguments."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from smear_env.layout import observation_layout, pieces, state_layout
from smear_env.rules import PRESETS, make_rules
from smear_env.vector import SelfPlayVectorEnv, VectorStep

FULL = [name for name in PRESETS if name != "mini"]


def choose(mask: Any, rng: np.random.Generator) -> Any:
    """A legal action for each game, [N] int64."""
    return (rng.random(mask.shape) * mask).argmax(axis=1)


def copied(step: VectorStep) -> list[Any]:
    return [array.copy() for array in step]


def assert_same(one: Any, other: Any) -> None:
    for first, second in zip(one, other, strict=True):
        np.testing.assert_array_equal(first, second)


def score(env: SelfPlayVectorEnv, vector: Any) -> Any:
    """Scores in seat 0's full view, [..., teams]."""
    return pieces(vector, state_layout(env.rules))["scores"]


# ---------------------------------------------------------------- games and resets


@pytest.mark.parametrize("game", FULL)
def test_slots__play_every_nth_game(game: str) -> None:
    few = SelfPlayVectorEnv(3, game, seed=4, max_deals=1)
    many = SelfPlayVectorEnv(9, game, seed=4, max_deals=1)
    start = many.reset()
    views = {number: start.observation[number].copy() for number in range(9)}
    shown = few.reset()
    np.testing.assert_array_equal(shown.observation, start.observation[:3])
    number = [0, 1, 2]
    rng = np.random.default_rng(0)
    while min(number) < 6:
        shown = few.step(choose(shown.mask, rng))
        for slot in np.flatnonzero(shown.terminated | shown.truncated):
            number[slot] += 3
            if number[slot] in views:
                np.testing.assert_array_equal(shown.observation[slot], views[number[slot]])


@pytest.mark.parametrize("game", FULL)
def test_reset__without_seed_goes_on_with_the_next_games(game: str) -> None:
    env = SelfPlayVectorEnv(2, game, seed=4)
    env.reset()
    second = copied(env.reset())
    four = SelfPlayVectorEnv(4, game, seed=4).reset()
    np.testing.assert_array_equal(second[0], four.observation[2:])
    np.testing.assert_array_equal(env.reset(seed=4).observation, four.observation[:2])


@pytest.mark.parametrize("game", FULL)
def test_step__replaces_a_finished_game_and_keeps_its_end(game: str) -> None:
    env = SelfPlayVectorEnv(4, game, seed=1, episode="deal", reward="points", copy=True)
    shown = env.reset()
    rng = np.random.default_rng(1)
    ended = 0
    for _ in range(400):
        mover = shown.seat
        shown = env.step(choose(shown.mask, rng))
        over = shown.terminated
        assert not shown.truncated.any()
        np.testing.assert_array_equal(over, env.deal_ended)
        for slot in np.flatnonzero(over):
            ended += 1
            deal, final = env.deals[slot], env.final_state[slot]
            np.testing.assert_array_equal(score(env, final), deal.scores[: env.teams])
            view = pieces(env.final_observation[slot], observation_layout(env.rules))
            teams = (mover[slot] + np.arange(env.teams)) % env.teams
            np.testing.assert_array_equal(view["scores"], deal.scores[teams])
            assert view["phase"][-1] == 1
            assert not pieces(shown.observation[slot], observation_layout(env.rules))["scores"].any()
            change = deal.scores[: env.teams] - deal.scores_before[: env.teams]
            others = (change.sum() - change) / (env.teams - 1)
            np.testing.assert_allclose(shown.reward[slot], change - others)
        assert not shown.reward[~over].any()
        assert shown.mask.any(axis=1).all()
    assert ended > 20


@pytest.mark.parametrize("game", FULL)
def test_match_reward__at_the_end_and_sums_to_zero(game: str) -> None:
    env = SelfPlayVectorEnv(16, game, seed=3, start_scores="drawn", max_deals=40)
    shown = env.reset()
    rng = np.random.default_rng(2)
    won = 0
    for _ in range(1_500):
        shown = env.step(choose(shown.mask, rng))
        np.testing.assert_allclose(shown.reward.sum(axis=1), 0, atol=1e-6)
        assert not shown.reward[~shown.terminated].any()
        for slot in np.flatnonzero(shown.terminated):
            winner = env.deals[slot].winner
            expected = np.full(env.teams, -1 / (env.teams - 1))
            expected[winner] = 1
            np.testing.assert_allclose(shown.reward[slot], expected)
            won += 1
    assert won > 5


@pytest.mark.parametrize("game", FULL)
def test_match__is_truncated_at_max_deals(game: str) -> None:
    env = SelfPlayVectorEnv(4, game, seed=1, max_deals=2, start_scores=[-200] * make_rules(game).teams)
    shown = env.reset()
    rng = np.random.default_rng(3)
    deals = np.zeros(4, int)
    cut = 0
    for _ in range(600):
        shown = env.step(choose(shown.mask, rng))
        deals += env.deal_ended
        np.testing.assert_array_equal(shown.truncated, deals == 2)
        assert not shown.terminated.any()
        assert not shown.reward.any()
        cut += int(shown.truncated.sum())
        deals[shown.truncated] = 0
    assert cut > 5


def test_callable_reward__is_paid_for_each_deal() -> None:
    calls: list[tuple[list[int], list[int], int]] = []

    def paid(before: Any, after: Any, dealer: int) -> list[float]:
        calls.append((before.tolist(), after.tolist(), dealer))
        return [0.25, 0.75]

    env = SelfPlayVectorEnv(3, seed=1, reward=paid, max_deals=5)
    shown = env.reset()
    rng = np.random.default_rng(4)
    for _ in range(300):
        shown = env.step(choose(shown.mask, rng))
        np.testing.assert_allclose(
            shown.reward, env.deal_ended[:, None] * np.array([[0.25, 0.75]], np.float32)
        )
        for slot in np.flatnonzero(env.deal_ended):
            deal = env.deals[slot]
            before, after, dealer = calls.pop(0)
            assert (before, after) == (deal.scores_before[:2].tolist(), deal.scores[:2].tolist())
            assert dealer == deal.dealer
    assert not calls


def test_callable_reward__must_give_one_value_a_team() -> None:
    env = SelfPlayVectorEnv(
        1, "schmier", seed=1, reward=lambda before, after, dealer: [0.0, 0.0], episode="deal"
    )
    env.reset()
    for _ in range(5):
        env.step([env.rules.action_names.index("pass")])
    with pytest.raises(ValueError, match="3 teams"):
        env.step([env.rules.action_names.index("pass")])


# ---------------------------------------------------------------- copies


@pytest.mark.parametrize("game", FULL)
def test_copy__arrays_handed_out_are_never_written_again(game: str) -> None:
    env = SelfPlayVectorEnv(5, game, seed=2, max_deals=1, copy=True)
    kept: list[tuple[list[Any], list[Any]]] = []
    shown = env.reset()
    rng = np.random.default_rng(6)
    for _ in range(120):
        handed = [*shown, env.final_observation, env.final_state, env.deal_ended, env.deals, env.state()]
        kept.append((handed, [array.copy() for array in handed]))
        shown = env.step(choose(shown.mask, rng))
    for handed, copies in kept:
        assert_same(handed, copies)


# ---------------------------------------------------------------- forced moves


@pytest.mark.parametrize("reward", ["points", "match"])
@pytest.mark.parametrize("game", FULL)
def test_skip_forced__shows_the_other_decisions_and_all_rewards(game: str, reward: Any) -> None:
    # The same actions at the same decisions, one game at a time: all that differs is what is skipped.
    settings: dict[str, Any] = {"seed": 6, "reward": reward, "max_deals": 4, "start_scores": "drawn"}
    skipping = SelfPlayVectorEnv(1, game, skip_forced=True, **settings)
    plain = SelfPlayVectorEnv(1, game, **settings)
    short, full = skipping.reset(), plain.reset()
    rng = np.random.default_rng(7)
    for _ in range(700):
        assert short.mask.sum() > 1
        np.testing.assert_array_equal(short.observation, full.observation)
        np.testing.assert_array_equal(short.mask, full.mask)
        action = choose(short.mask, rng)
        short = skipping.step(action)
        full = plain.step(action)
        total, ended, cut = full.reward.copy(), bool(full.terminated[0]), bool(full.truncated[0])
        finished = bool(plain.deal_ended[0])
        while full.mask.sum() == 1:
            assert not ended
            assert not cut
            full = plain.step(choose(full.mask, rng))
            total += full.reward
            finished |= bool(plain.deal_ended[0])
            ended, cut = bool(full.terminated[0]), bool(full.truncated[0])
        np.testing.assert_allclose(short.reward, total)
        assert (ended, cut, finished) == (short.terminated[0], short.truncated[0], skipping.deal_ended[0])
        if ended or cut:
            np.testing.assert_array_equal(skipping.final_state, plain.final_state)


# ---------------------------------------------------------------- rules, scores and dealers by game


def test_rules__one_for_each_game() -> None:
    rules = [
        make_rules("four_point", stock_to_bidder=i % 4, all_pass=("same_dealer", "dealer_bids")[i // 4])
        for i in range(8)
    ]
    env = SelfPlayVectorEnv(8, rules, seed=3, max_deals=2)
    alone = [SelfPlayVectorEnv(8, one, seed=3, max_deals=2) for one in rules]
    shown = env.reset()
    others = [single.reset() for single in alone]
    rng = np.random.default_rng(8)
    for _ in range(250):
        actions = choose(shown.mask, rng)
        for slot in range(8):
            np.testing.assert_array_equal(shown.observation[slot], others[slot].observation[slot])
            np.testing.assert_array_equal(shown.mask[slot], others[slot].mask[slot])
        shown = env.step(actions)
        # In an env of one rule set only its slot matters; the other games hold.
        others = [
            single.step_some(np.where(np.arange(8) == slot, actions, -1)) for slot, single in enumerate(alone)
        ]


def test_rules__teams_may_differ() -> None:
    env = SelfPlayVectorEnv(
        2, [make_rules("schmier", teams=2), make_rules("schmier")], seed=1, episode="deal", reward="points"
    )
    shown = env.reset()
    rng = np.random.default_rng(9)
    for _ in range(300):
        shown = env.step(choose(shown.mask, rng))
        assert shown.reward.shape == (2, 3)
        assert shown.reward[0, 2] == 0
        np.testing.assert_allclose(shown.reward.sum(axis=1), 0, atol=1e-5)


def test_start__scores_and_dealers_given() -> None:
    scores = np.array([[0, -3], [14, 2], [-20, 5]])
    env = SelfPlayVectorEnv(3, seed=1, start_scores=scores, dealers=[2, 0, 3])
    shown = env.reset()
    np.testing.assert_array_equal(score(env, env.state()), scores)
    np.testing.assert_array_equal(shown.seat, [3, 1, 0])
    np.testing.assert_array_equal(SelfPlayVectorEnv(3, seed=1, dealers=1).reset().seat, [2, 2, 2])
    same = SelfPlayVectorEnv(3, seed=1, start_scores=[4, 5])
    same.reset()
    np.testing.assert_array_equal(score(same, same.state()), [[4, 5]] * 3)


@pytest.mark.parametrize("game", FULL)
def test_start__scores_and_dealers_drawn(game: str) -> None:
    env = SelfPlayVectorEnv(400, game, seed=1, start_scores="drawn")
    shown = env.reset()
    target = env.rules.target
    scores = score(env, env.state())
    assert scores.min() == -(target // 2)
    assert scores.max() == target - 1
    assert (np.bincount(shown.seat, minlength=env.rules.players) > 400 / env.rules.players / 2).all()
    zero = SelfPlayVectorEnv(5, game, seed=1)
    zero.reset()
    assert not score(zero, zero.state()).any()


def test_start__the_next_game_of_a_slot_starts_likewise() -> None:
    env = SelfPlayVectorEnv(2, seed=1, start_scores=[3, 4], dealers=2, episode="deal")
    shown = env.reset()
    rng = np.random.default_rng(0)
    for _ in range(100):
        shown = env.step(choose(shown.mask, rng))
        for slot in np.flatnonzero(shown.terminated):
            assert score(env, env.state())[slot].tolist() == [3, 4]
            assert shown.seat[slot] == 3


# ---------------------------------------------------------------- states from the seat to act

BY_SEAT = {
    *("hand", "taken", "discarded", "trick", "played", "bids", "voids"),
    *("bidder", "dealer", "turn", "leader", "exchanged"),
}
BY_TEAM = {"captured", "card_points", "scores", "to_target"}


@pytest.mark.parametrize(
    ("game", "options"), [("four_point", {}), ("schmier", {}), ("schmier", {"teams": 2}), ("mini", {})]
)
def test_state__relative_is_the_absolute_one_turned_to_the_seat_to_act(
    game: str, options: dict[str, Any]
) -> None:
    rules = make_rules(game, **options)
    env = SelfPlayVectorEnv(
        12, rules, seed=3, start_scores="drawn", episode="deal" if game == "mini" else "match"
    )
    layout = state_layout(rules)
    shown = env.reset()
    rng = np.random.default_rng(6)
    met: dict[str, set[int]] = {name: set() for name in layout}
    for _ in range(150):
        whole = env.state()
        absolute, relative = pieces(whole, layout), pieces(env.state(relative=True), layout)
        np.testing.assert_array_equal(env.state(relative=False), whole)
        for game_number, seat in enumerate(shown.seat):
            for name in layout:
                expected = absolute[name][game_number].copy()
                if name in BY_SEAT:
                    expected = np.roll(expected, -seat, axis=0)
                elif name in BY_TEAM:  # slots of absent teams stay where they are
                    expected[: rules.teams] = np.roll(expected[: rules.teams], -(seat % rules.teams), axis=0)
                np.testing.assert_array_equal(relative[name][game_number], expected, err_msg=name)
                met[name] |= {int(seat)} if expected.any() else set()
        np.testing.assert_array_equal(relative["turn"].argmax(axis=1), 0)
        shown = env.step(choose(shown.mask, rng))
    for name in BY_SEAT | BY_TEAM:
        # What the preset knows at all was seen from every seat.
        assert len(met[name]) in {0, rules.players}, name
    assert {name for name in BY_SEAT if not met[name]} <= {"discarded", "exchanged", "taken"}


@pytest.mark.parametrize("game", ["four_point", "schmier"])
def test_first_game__parts_of_an_env_play_what_the_whole_plays(game: str) -> None:
    settings: dict[str, Any] = {"seed": 11, "episode": "deal", "start_scores": "drawn"}
    whole = SelfPlayVectorEnv(6, game, **settings)
    parts = [SelfPlayVectorEnv(3, game, **settings, first_game=f, game_stride=6) for f in (0, 3)]
    rng = np.random.default_rng(2)
    shown, pieces_shown = whole.reset(), [part.reset() for part in parts]
    ends = 0
    for step in range(200):
        for name in shown._fields:
            together = np.concatenate([getattr(one, name) for one in pieces_shown])
            np.testing.assert_array_equal(together, getattr(shown, name), err_msg=name)
        np.testing.assert_array_equal(np.concatenate([part.state() for part in parts]), whole.state())
        if step == 150:
            shown, pieces_shown = whole.reset(), [part.reset() for part in parts]
            continue
        actions = choose(shown.mask, rng)
        pieces_shown = [part.step(actions[3 * i : 3 * i + 3]) for i, part in enumerate(parts)]
        shown = whole.step(actions)
        ends += int(shown.terminated.sum())
    assert ends > 6, "slots have gone on to their next games"


@pytest.mark.parametrize(("name", "value"), [("first_game", -1), ("game_stride", 0), ("game_stride", 1.5)])
def test_first_game__bad_values_are_named(name: str, value: Any) -> None:
    with pytest.raises(ValueError, match=f"{name}={value}"):
        SelfPlayVectorEnv(2, **{name: value})
