"""Ray RLlib: the environment by its checks and by ours, self-play on a cluster that loses a node, its checkpoints."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("ray.rllib")

import ray
import torch
from ray.cluster_utils import Cluster
from ray.rllib.core.columns import Columns
from ray.rllib.env.multi_agent_episode import MultiAgentEpisode
from ray.rllib.utils.pre_checks.env import check_multiagent_environments

import smear_env
from smear_env.interop.rllib import SmearMultiAgentEnv, module_spec, save_policy
from tests.integrations.helpers import BOTH, ROOT, Record, beats_passer, example, run_snippet

pytestmark = pytest.mark.integration

ITERATIONS, KILL_AFTER = 30, 6


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Iterator[Cluster]:
    """Two nodes on this machine, with room for one env runner each."""
    # A program goes to the other processes by value; here the example is a module, which they must find by its name.
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join((str(ROOT), str(ROOT / "examples"))))
    made = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    made.add_node(num_cpus=1)
    ray.init(address=made.address)
    try:
        yield made
    finally:
        ray.shutdown()
        made.shutdown()


def alive() -> int:
    return sum(node["Alive"] for node in ray.nodes())


def test_self_play__survives_a_node_and_beats_passer(
    cluster: Cluster, tmp_path: Path, record_property: Record
) -> None:
    """The worker node is killed in the middle of training, which goes on; what comes out has learnt to play."""
    module = example("rllib_self_play")
    config = module.make_config("four_point", runners=2, batch=2048)
    healthy, decisions = [], []

    def watch(algorithm: Any, result: dict[str, Any]) -> None:
        if algorithm.iteration == KILL_AFTER:
            assert alive() == 2
            (worker,) = cluster.worker_nodes
            cluster.remove_node(worker, allow_graceful=False)
        healthy.append(algorithm.env_runner_group.num_healthy_remote_workers())
        decisions.append(int(result["num_env_steps_sampled_lifetime"]))

    folder = module.train(config, ITERATIONS, tmp_path, report_every=10, watch=watch)
    assert alive() == 1
    assert healthy[: KILL_AFTER - 1] == [2] * (KILL_AFTER - 1)
    assert set(healthy[KILL_AFTER + 1 :]) == {1}
    assert len(decisions) == ITERATIONS
    assert all(np.diff(decisions) > 0)
    policy = smear_env.load_policy(folder)
    beats_passer(record_property, "self-play with a league, one of two nodes killed", policy, "four_point")

    again = save_policy(tmp_path / "again", tmp_path / "rllib", config.env_config["rules"])
    view = smear_env.SelfPlayVectorEnv(64, "four_point", seed=9).reset()
    other = smear_env.load_policy(again)
    for one in (policy, other):
        one.reset(smear_env.FOUR_POINT, -1, 1)
    seen = (view.observation, view.mask)
    np.testing.assert_array_equal(other.probabilities(*seen), policy.probabilities(*seen))


@pytest.fixture
def one_process() -> Iterator[None]:
    ray.init(num_cpus=1, include_dashboard=False)
    yield
    ray.shutdown()


@pytest.mark.usefixtures("one_process")
def test_league__holds_what_main_was_and_goes_on_from_a_checkpoint(tmp_path: Path) -> None:
    module = example("rllib_self_play")
    config = module.make_config("schmier", runners=0, games=4, batch=512)
    seen: list[dict[str, Any]] = []

    def weights(algorithm: Any) -> dict[str, Any]:
        return {
            name: algorithm.get_module(name).get_state()["pi.net.mlp.0.weight"]
            for name in ("main", *module.PAST)
        }

    def watch(algorithm: Any, _: dict[str, Any]) -> None:
        seen.append(weights(algorithm))

    module.League.every = 2
    module.train(config, 2, tmp_path, watch=watch)
    first, second = seen
    # All begin as equals; main has moved since, and the second iteration's main takes the place of one of them.
    same = [np.array_equal(first["past_0"], first[name]) for name in ("main", "past_1", "past_2")]
    assert same == [False, True, True]
    assert np.array_equal(second["past_1"], second["main"])
    assert np.array_equal(second["past_0"], first["past_0"])
    module.train(config, 3, tmp_path, watch=watch)
    assert len(seen) == 3
    assert np.array_equal(seen[2]["past_1"], second["main"])
    assert not np.array_equal(seen[2]["main"], second["main"])

    policy = smear_env.load_policy(tmp_path / "policy")
    policy.reset(smear_env.SCHMIER, -1, 1)
    assert policy.description["decisions"] > 512
    assert policy.description["options"]["all_pass"] == ["dealer_bids", "same_dealer"]


def test_checkpoint_of_ours__has_the_modules_probabilities(tmp_path: Path) -> None:
    for rules in ("four_point", "schmier"):
        env = SmearMultiAgentEnv({"rules": rules})
        spec = module_spec((32, 16))
        spec.observation_space, spec.action_space = (
            env.get_observation_space("seat_0"),
            env.get_action_space("seat_0"),
        )
        module = spec.build()
        policy = smear_env.load_policy(save_policy(tmp_path / rules, module, rules))
        policy.reset(env.rules, -1, 1)
        view = smear_env.SelfPlayVectorEnv(64, rules, seed=5).reset()
        seen = env.view.see(view.observation, view.mask)
        batch = {
            "observations": torch.from_numpy(seen.inputs),
            "action_mask": torch.from_numpy(seen.mask.astype(np.float32)),
        }
        with torch.no_grad():
            logits = module.forward_inference({Columns.OBS: batch})[Columns.ACTION_DIST_INPUTS]
        theirs = smear_env.original_columns(torch.softmax(logits, -1).numpy(), seen.order, env.rules)
        np.testing.assert_allclose(policy.probabilities(view.observation, view.mask), theirs, atol=1e-5)


def test_module_of_another_kind__is_refused(tmp_path: Path) -> None:
    spec = module_spec((16,))
    env = SmearMultiAgentEnv({"rules": "mini"})
    spec.observation_space, spec.action_space = (
        env.get_observation_space("seat_0"),
        env.get_action_space("seat_0"),
    )
    spec.model_config.fcnet_activation = "tanh"
    with pytest.raises(ValueError, match="Tanh"):
        save_policy(tmp_path, spec.build(), "mini")


@pytest.mark.parametrize("rules", ["four_point", "schmier", "mini"])
def test_env__passes_the_check_of_rllib(rules: str) -> None:
    for seed in range(20):
        env = SmearMultiAgentEnv({"rules": rules})
        for space in env.action_spaces.values():
            space.seed(seed)
        check_multiagent_environments(env)


@pytest.mark.parametrize("rules", ["four_point", "schmier", "mini"])
def test_episode__pays_every_seat_what_the_deal_gave_its_team(rules: str) -> None:
    """In RLlib's own record each seat has episodes of its own, whose returns are the points of its team."""
    rng = np.random.default_rng(3)
    env = SmearMultiAgentEnv({"rules": rules})
    for deal in range(30):
        shown, _ = env.reset(seed=deal)
        episode = MultiAgentEpisode(
            observation_space=env.observation_spaces, action_space=env.action_spaces, observations=[shown]
        )
        while not episode.is_done:
            (seat,) = shown
            legal = np.flatnonzero(shown[seat]["action_mask"])
            assert len(legal) > 1
            action = {seat: int(rng.choice(legal))}
            shown, rewards, terminated, truncated, _ = env.step(action)
            episode.add_env_step(shown, action, rewards, terminateds=terminated, truncateds=truncated)
        delta = env.games[0].deal_result()
        due = [0.0] * env.rules.teams
        if delta is not None:
            points = delta["delta"]
            due = [own - (sum(points) - own) / (env.rules.teams - 1) for own in points]
        for seat, one in episode.agent_episodes.items():
            assert one.is_done
            assert one.get_return() == pytest.approx(due[int(seat[-1]) % env.rules.teams])


def test_env__differs_between_runners_and_not_between_runs() -> None:
    from ray.rllib.env.env_context import EnvContext

    first, again, other = (
        SmearMultiAgentEnv(EnvContext({"rules": "four_point"}, worker_index=runner)) for runner in (1, 1, 2)
    )
    shown = [str(env.reset(seed=4)[0]) for env in (first, again, other)]
    assert shown[0] == shown[1] != shown[2]


def test_several_rules__are_taken_in_turn() -> None:
    strict = smear_env.make_rules("four_point", all_pass="dealer_bids")
    env = SmearMultiAgentEnv({"rules": ["four_point", strict]})
    ends = []
    for _ in range(6):
        shown, _ = env.reset(seed=None)
        passes = 0
        while passes < 4 and len(shown) == 1:
            (seat,) = shown
            may_pass = shown[seat]["action_mask"][env.rules.action_names.index("pass")]
            if not may_pass:
                break
            shown, *_ = env.step({seat: env.rules.action_names.index("pass")})
            passes += 1
        ends.append(passes)
    assert ends == [4, 3, 4, 3, 4, 3]


@BOTH
@pytest.mark.usefixtures("one_process")
def test_snippet__runs(rules: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    algorithm = run_snippet("rllib", rules)["algorithm"]
    algorithm.stop()
    assert smear_env.load_policy("runs/rllib").description["preset"] == rules
