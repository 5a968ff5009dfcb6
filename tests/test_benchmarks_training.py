"""The benchmarks of training and memory: what they compare is alike, and they run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytest.importorskip("torch")

from benchmarks import memory, training
from benchmarks.contestants import row_name
from smear_env import configs_folder
from training.config import load_config


@pytest.mark.parametrize("recipe", training.RECIPES, ids=lambda recipe: recipe.name)
def test_recipe__is_the_same_work_for_both_trainers(recipe: training.Recipe) -> None:
    config = training.committed_config(**training.recipe_fields(recipe))
    assert config.batch == recipe.environments * recipe.steps
    assert (config.minibatch, config.epochs) == (recipe.minibatch, recipe.epochs)
    assert config.hidden == config.critic_hidden == (256, 256)
    assert config.batch % config.minibatch == 0, "no decision is left out of an epoch"


def test_committed_configuration__leaves_no_decision_out_of_an_epoch() -> None:
    for rules in training.GAMES:
        config = load_config(configs_folder() / f"{rules}.toml")
        assert config.batch % config.minibatch == 0, "the torch limit counts whole minibatches"


def test_promises__are_about_rows_that_are_measured() -> None:
    rows = {row for one in training.contestants() for row in one.rows}
    for promise in training.promises():
        assert {promise.above, promise.below} <= rows
    assert row_name(training.WHO, "schmier", training.LIMIT) in rows


def test_options__that_make_no_sense_are_named() -> None:
    with pytest.raises(ValueError, match="repetitions=0"):
        training.Options(repetitions=0)
    with pytest.raises(ValueError, match="seconds=-1"):
        training.Options(seconds=-1)


@pytest.mark.parametrize("rules", memory.GAMES)
def test_env_growth__is_below_two_thousand_bytes_a_game(rules: str) -> None:
    assert memory.env_growth(rules, 30_000) < 30_000 * 2000


@pytest.mark.slow
def test_training__prints_its_rows_and_ratios(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "training.json"
    training.main(
        ["--repetitions", "1", "--seconds", "0.01", "--only", "four_point: trainer", "--json", str(path)]
    )
    rows = {row["row"]: row for row in json.loads(path.read_text())["rows"]}
    assert "torch limit" not in "".join(rows)
    for row in rows.values():
        assert row["median"] > 100, row
    assert "2 processes" in capsys.readouterr().out
