"""Ray RLlib's PPO in self-play with a league: the path for who outgrows one machine.

    python examples/rllib_self_play.py --runners 2 --iterations 200                         on this machine
    python examples/rllib_self_play.py --address auto --runners 64 --iterations 2000        on the cluster it is run in

One policy, `main`, learns from every seat it has. In half of the deals it has all of them; in the others one team is
played by one of the frozen `past_0`, `past_1`, ...: what `main` was some iterations ago. Env runners may come and go:
one that fails is replaced as soon as there is room, and training goes on with the others. What was learnt is written as
a checkpoint of ours, and RLlib's own beside it, by which the same command goes on.
"""

from __future__ import annotations

import argparse
import functools
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ray
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.callbacks.callbacks import RLlibCallback
from ray.rllib.core.rl_module.multi_rl_module import MultiRLModuleSpec

import smear_env
from smear_env.interop.rllib import SmearMultiAgentEnv, module_spec, save_policy

MAIN, PAST = "main", ("past_0", "past_1", "past_2")


def module_of(agent: str, episode: Any, *, teams: int, **_: Any) -> str:
    """Who plays a seat: `main`, or in half of the deals for one team a past self. A function of the episode's id."""
    drawn = zlib.crc32(str(episode.id_).encode())
    league, team, past = drawn % 2, drawn // 2 % teams, drawn // 64 % len(PAST)
    return PAST[past] if league and int(agent.removeprefix("seat_")) % teams == team else MAIN


class League(RLlibCallback):
    """Keep past selves: all are `main` as it begins; from then on, the oldest becomes what `main` is now."""

    every = 5
    """Iterations between two."""

    def on_algorithm_init(self, *, algorithm: Any, **_: Any) -> None:
        """Begin with equals."""
        self._copy(algorithm, PAST)

    def on_train_result(self, *, algorithm: Any, result: dict[str, Any], **_: Any) -> None:
        """Take a snapshot every so often."""
        turn, rest = divmod(algorithm.iteration, self.every)
        if rest == 0:
            self._copy(algorithm, [PAST[turn % len(PAST)]])
        result["snapshots"] = turn

    def _copy(self, algorithm: Any, names: Any) -> None:
        copies = dict.fromkeys(names, algorithm.get_module(MAIN).get_state())
        algorithm.learner_group.set_state({"learner": {"rl_module": copies}})
        # Env runners take weights from the learner only with a newer number, which comes with the next update, and then
        # only those of `main`. Weights without a number they take at once.
        algorithm.env_runner_group.foreach_env_runner(lambda runner: runner.set_state({"rl_module": copies}))


def make_config(
    rules: str, *, runners: int = 2, games: int = 16, batch: int = 2048, learners: int = 0, seed: int = 1
) -> PPOConfig:
    """PPO with one policy that learns and a league that does not.

    In half of the deals the dealer may not pass when all others have: else a beginner, whose bids fail, learns to pass
    and never plays a card.
    """
    preset = smear_env.make_rules(rules)
    both = [preset, smear_env.make_rules(rules, all_pass="dealer_bids")]
    modules = {name: module_spec((128, 128)) for name in (MAIN, *PAST)}
    return (
        PPOConfig()
        .environment(SmearMultiAgentEnv, env_config={"rules": both})
        .env_runners(num_env_runners=runners, num_envs_per_env_runner=games, rollout_fragment_length="auto")
        .learners(num_learners=learners)
        .multi_agent(
            policies=set(modules),
            policy_mapping_fn=functools.partial(module_of, teams=preset.teams),
            policies_to_train=[MAIN],
        )
        .rl_module(rl_module_spec=MultiRLModuleSpec(rl_module_specs=modules))
        .training(
            lr=1e-3,
            gamma=1.0,
            lambda_=0.95,
            train_batch_size_per_learner=batch,
            minibatch_size=256,
            num_epochs=4,
            clip_param=0.2,
            entropy_coeff=0.05,
            use_kl_loss=False,
            grad_clip=0.5,
        )
        .callbacks(League)
        .fault_tolerance(restart_failed_env_runners=True, env_runner_health_probe_timeout_s=10)
        .debugging(seed=seed, log_level="ERROR")
    )


def train(
    config: PPOConfig,
    iterations: int,
    folder: str | Path,
    *,
    report_every: int = 10,
    watch: Callable[[Any, dict[str, Any]], None] | None = None,
) -> Path:
    """Train, or go on where `folder` says; the folder of the checkpoint of ours.

    `watch` is called with the algorithm and RLlib's result after each iteration.
    """
    folder = Path(folder).resolve()
    algorithm = config.build_algo()
    if (folder / "rllib").is_dir():
        algorithm.restore_from_path(str(folder / "rllib"))
    rules = config.env_config["rules"]
    try:
        while algorithm.iteration < iterations:
            result = algorithm.train()
            if watch:
                watch(algorithm, result)
            if algorithm.iteration % report_every == 0 or algorithm.iteration == iterations:
                algorithm.save_to_path(str(folder / "rllib"))
                played = int(result["num_env_steps_sampled_lifetime"])
                save_policy(folder / "policy", algorithm.get_module(MAIN), rules, decisions=played)
                print(
                    f"{algorithm.iteration} iterations, {played} decisions, {result['snapshots']} snapshots"
                )
    finally:
        algorithm.stop()
    return folder / "policy"


def main() -> None:
    """Train here or on a cluster, and compare with `passer` on duplicate deals."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rules", default="four_point", help="preset")
    parser.add_argument("--iterations", type=int, default=50)
    parser.add_argument("--runners", type=int, default=2, help="processes that play, a core each")
    parser.add_argument("--games", type=int, default=16, help="games in each")
    parser.add_argument("--batch", type=int, default=2048, help="decisions of an iteration")
    parser.add_argument("--learners", type=int, default=0, help="processes that learn; 0 for this one")
    parser.add_argument("--address", default=None, help="of a cluster, auto for the one this runs in")
    parser.add_argument("--out", type=Path, default=Path("runs/rllib"))
    given = parser.parse_args()
    ray.init(address=given.address)
    made = make_config(
        given.rules, runners=given.runners, games=given.games, batch=given.batch, learners=given.learners
    )
    policy = smear_env.load_policy(train(made, given.iterations, given.out))
    from training.evaluate import compare, summarize

    rules = smear_env.make_rules(given.rules)
    result = summarize(compare(policy, smear_env.make_agent("passer"), rules, 1000, 1), 1)
    low, high = result["interval"]
    print(f"{result['points_per_deal']:+.2f} [{low:+.2f}, {high:+.2f}] points per deal against passer")


if __name__ == "__main__":
    main()
