"""A training run from the command to the checkpoint that loads as an opponent."""

from __future__ import annotations

import contextlib
import dataclasses
import io
import re
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from smear_env import PRESETS, configs_folder, load_policy, make_agent, observation_layout

pytest.importorskip("torch")

import torch

import training.evaluate
from tests.training_runs import GAMES, ROOT, TINY, logged, quiet, start, tiny
from training.cli import given_fields
from training.config import TrainConfig
from training.metrics import DealCounts
from training.ppo import main, train
from training.trainer import Trainer

METRICS = re.compile(r"^\| `([\w/]+)` \|", re.MULTILINE)


# ------------------------------------------------------------------------------------------------ a whole run


@dataclass
class Run:
    """One finished run of the command, output piped."""

    preset: str
    folder: Path
    output: str


@pytest.fixture(scope="module", params=["four_point", "schmier"])
def run(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("run")
    (folder / "tiny.toml").write_text(TINY)
    arguments = ["--config", "tiny.toml", "--rules", request.param, "--run-dir", "made"]
    if request.param == "four_point":
        process = start(*arguments, folder=folder)
        output, _ = process.communicate(timeout=300)
        assert process.returncode == 0, output
    else:  # the same command without a process of its own, which takes seconds to start
        with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(io.StringIO()) as piped:
            patch.chdir(folder)
            patch.setattr(sys, "argv", ["ppo", *arguments])
            main()
        output = piped.getvalue()
    return Run(request.param, folder / "made", output)


def test_run__output_reads_well_when_piped(run: Run) -> None:
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f]", run.output), "no control characters but line ends"
    lines = run.output.splitlines()
    assert f"training {run.preset} in made: 0 of 3,072 decisions done" in run.output
    assert [line for line in lines if line.startswith("100%")], "progress is in plain lines"
    assert len(lines) < 60
    assert "Traceback" not in run.output
    assert "Warning" not in run.output


def test_run__ends_with_the_tables(run: Run) -> None:
    for baseline in ("random", "passer", "greedy"):
        assert re.search(rf"{baseline}\W+[+-]\d+\.\d{{3}}\W+\[[+-]\d+\.\d{{3}},", run.output), baseline
    for part in (
        "points per deal",
        "interval",
        "passed out",
        "bids made",
        "overbids",
        "share of hands that bid",
    ):
        assert part in re.sub(r"\s+", " ", run.output)


def test_run__checkpoint_loads_as_an_opponent(run: Run) -> None:
    agent = make_agent(str(run.folder / "checkpoint"))
    assert agent.description["preset"] == run.preset
    assert agent.description["decisions"] == 3072
    # The run's own folder serves as well.
    assert load_policy(run.folder).description == agent.description
    result = training.evaluate.evaluate(str(run.folder), "passer", PRESETS[run.preset], pairs=5)
    assert result["pairs"] == 5


def test_run__evaluation_stands_in_the_checkpoint(run: Run) -> None:
    results = load_policy(run.folder).description["evaluation"]
    assert [result["against"] for result in results] == ["random", "passer", "greedy"]
    for result in results:
        assert {"points_per_deal", "interval", "pairs", "seed", "commit", "options"} <= set(result)
        assert f"{result['points_per_deal']:+.3f}" in run.output


def test_run__leaves_no_pickle(run: Run) -> None:
    files = [path for path in run.folder.rglob("*") if path.is_file()]
    assert {path.suffix for path in files if path.parent.name != "tensorboard"} == {".json", ".safetensors"}


def test_run__logs_the_documented_metrics_and_no_other(run: Run) -> None:
    documented = METRICS.findall((ROOT / "docs" / "metrics.md").read_text(encoding="utf-8"))
    assert len(set(documented)) == len(documented) > 10
    names = logged(run.folder)
    patterns = {
        name: re.compile(re.sub(r"(?<=_)[SHB]\b|(?<=_)[SHB](?=/)", r"\\d+", name.replace("NAME", "[a-z-]+")))
        for name in documented
    }
    for name in names:
        assert any(pattern.fullmatch(name) for pattern in patterns.values()), f"{name} is not documented"
    for name, pattern in patterns.items():
        assert any(map(pattern.fullmatch, names)), f"{name} is documented but not logged"
    assert names["loss/value"] == [768, 1536, 2304, 3072]


def test_run__is_refused_a_folder_in_use(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    before = sorted(path.name for path in run.folder.rglob("*"))
    monkeypatch.setattr(sys, "argv", ["ppo", "--run-dir", str(run.folder), "--threads", "1"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert re.match(rf"error: run_dir='{run.folder}' holds a run: .*--resume", str(ended.value.code))
    assert before == sorted(path.name for path in run.folder.rglob("*"))


def test_run__resumed_at_its_end_reports_again(run: Run) -> None:
    console = quiet()
    results = train(TrainConfig(run_dir=str(run.folder)), resume=True, console=console)
    assert results == load_policy(run.folder).description["evaluation"]
    assert "points per deal" in console.file.getvalue()


# ------------------------------------------------------------------------------------------------ refusing


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["--config", "absent.toml"], "absent.toml"),
        (["--config", "unknown.toml"], "'gmaes'"),
        (["--config", "typed.toml"], "games='many'"),
        (["--config", "contradicts.toml"], "minibatch=99"),
        (["--baselines", "nobody"], "'nobody'"),
        (["--device", "cuda"], "device='cuda'"),
        (["--resume", "--run-dir", "nowhere"], "nowhere"),
        (["--run-dir", "unknown.toml"], "unknown.toml"),
    ],
)
def test_command__names_what_is_wrong_before_it_trains(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, arguments: list[str], named: str
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    (tmp_path / "unknown.toml").write_text("gmaes = 3")
    (tmp_path / "typed.toml").write_text("games = 'many'")
    (tmp_path / "contradicts.toml").write_text("games = 4\nsteps = 2\nminibatch = 99")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(Trainer, "iterate", lambda *_: pytest.fail("it trains"))
    small = (
        []
        if "--config" in arguments
        else ["--games", "8", "--steps", "2", "--minibatch", "8", "--threads", "1"]
    )
    monkeypatch.setattr(sys, "argv", ["ppo", *small, *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    assert str(ended.value.code).startswith("error: ")
    assert named in str(ended.value.code)


def test_command__fault_in_a_flag_has_no_traceback(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["ppo", "--games", "0"])
    with pytest.raises(SystemExit):
        main()
    said = capfd.readouterr()
    assert "games=0" in said.out + said.err
    assert "Traceback" not in said.out + said.err
    assert not list(tmp_path.iterdir())


# ------------------------------------------------------------------------------------------------ what it trains


@pytest.mark.parametrize("folder", ["plain", "[odd] names"])
def test_train__any_folder_and_brackets_in_it(tmp_path: Path, folder: str) -> None:
    console = quiet()
    train(
        tiny(tmp_path / folder, total_decisions=512, evaluate_pairs=2, baselines=("passer",)), console=console
    )
    assert folder in re.sub(r"\s+", " ", console.file.getvalue())


@GAMES
def test_trainer__plays_the_rules_of_the_configuration(preset: str, tmp_path: Path) -> None:
    trainer = Trainer(tiny(tmp_path, rules=preset, dealer_must_bid=0.25))
    assert trainer.env.rules.name == preset
    assert trainer.network.teams == trainer.env.teams == PRESETS[preset].teams
    # In mini the dealer must always bid, so that all its games are counted.
    assert trainer.free.sum() == (32 if preset == "mini" else 24)
    assert len({one.all_pass for one in trainer.rules}) == (1 if preset == "mini" else 2)


def test_trainer__two_teams_of_three(tmp_path: Path) -> None:
    train(tiny(tmp_path, rules="schmier", options=("teams=2",), total_decisions=512), console=quiet())
    assert load_policy(tmp_path).description["network"]["teams"] == 2


@GAMES
def test_trainer__draws_the_calls_of_the_first_share_of_the_run_alone(preset: str, tmp_path: Path) -> None:
    trainer = Trainer(tiny(tmp_path, rules=preset, auction_by_chance=0.5))
    layout = observation_layout(PRESETS[preset])
    drawn = []
    for _ in range(4):
        trainer.iterate(DealCounts(preset, trainer.free))
        calls = trainer.rollout.observation[..., layout["phase"].start] == 1
        assert calls.any()
        by_chance = trainer.rollout.by_chance
        drawn.append(by_chance.any())
        np.testing.assert_array_equal(by_chance, calls & drawn[-1])
    assert drawn == [True, True, False, False]


def test_trainer__critic_has_widths_of_its_own_and_trains(tmp_path: Path) -> None:
    trainer = Trainer(tiny(tmp_path, hidden=(16,), critic_hidden=(12, 10)))
    network = trainer.network
    assert [layer.out_features for layer in network.trunk] == [16]
    assert [layer.out_features for layer in network.critic_trunk] == [12, 10]
    before = {name: part.detach().clone() for name, part in network.named_parameters()}
    trainer.iterate(DealCounts("four_point", trainer.free))
    for name, part in network.named_parameters():
        assert not torch.equal(part, before[name]), name


def test_schedules__fall_as_described(tmp_path: Path) -> None:
    trainer = Trainer(
        tiny(tmp_path, total_decisions=100 * 512, entropy=0.05, bid_entropy=0.21, final_entropy=0.01)
    )
    seen = {}
    for updates in (0, 50, 75, 100):
        trainer.updates = updates
        seen[updates] = trainer.settings()
    assert [seen[u].entropy for u in (0, 50, 75, 100)] == pytest.approx([0.05, 0.05, 0.05, 0.01])
    assert [seen[u].bid_entropy for u in (0, 50, 100)] == pytest.approx([0.21, 0.11, 0.01])
    assert [seen[u].learning_rate for u in (0, 50, 100)] == pytest.approx([1e-3, 5.1e-4, 2e-5])


def test_trainer__threads_change_nothing_in_the_games(tmp_path: Path) -> None:
    one, two = (Trainer(tiny(tmp_path, threads=threads)) for threads in (1, 2))
    torch.set_num_threads(1)  # sums of torch may differ with its threads
    for trainer in (one, two):
        trainer.iterate(DealCounts("four_point", trainer.free))
    np.testing.assert_array_equal(one.rollout.observation, two.rollout.observation)
    np.testing.assert_array_equal(one.rollout.reward, two.rollout.reward)


@pytest.mark.integration
def test_train__watches_its_strength_on_the_way(tmp_path: Path) -> None:
    config = tiny(tmp_path, watch_every=2, watch_pairs=4, baselines=("passer",), evaluate_pairs=0)
    train(config, console=quiet())
    names = logged(tmp_path)
    for name in ("strength/passer", "strength/passer_low", "strength/passer_high"):
        assert names[name] == [1024, 2048]


def test_smoke_config__runs(tmp_path: Path) -> None:
    process = start(
        "--config",
        str(configs_folder() / "smoke.toml"),
        "--threads",
        "1",
        "--run-dir",
        "made",
        folder=tmp_path,
    )
    output, _ = process.communicate(timeout=300)
    assert process.returncode == 0, output
    assert (
        dataclasses.asdict(TrainConfig()).keys()
        == load_policy(tmp_path / "made").description["training"].keys()
    )


def test_given_fields__are_the_flags_that_name_a_field() -> None:
    words = ["--seed", "3", "--no-draw-scores", "--learning-rate=0.1", "--config", "x.toml", "--resume"]
    assert given_fields(words) == {"seed", "draw_scores", "learning_rate"}


def test_baseline__of_another_game_is_refused_before_training(tmp_path: Path) -> None:
    train(tiny(tmp_path / "four"), console=quiet())
    config = tiny(
        tmp_path / "six",
        rules="schmier",
        evaluate_pairs=4,
        baselines=(str(tmp_path / "four" / "checkpoint"),),
    )
    with pytest.raises(ValueError, match="not schmier"):
        train(config, console=quiet())
    assert not (tmp_path / "six" / "resume").exists()
