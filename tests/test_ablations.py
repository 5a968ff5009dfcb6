"""`python -m benchmarks.ablations`: one setting changed at a time, several seeds, nothing done twice."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")
pytest.importorskip("scipy")

from benchmarks import ablations
from training.config import as_plain

# A run of two updates, judged by next to nothing.
SMALL = {"decisions": 140_000, "pairs": 20, "matches": 4}


@pytest.mark.parametrize("game", ablations.ABLATIONS)
def test_change__differs_from_the_configuration_in_what_it_names_alone(game: str) -> None:
    options = ablations.Options(game)
    configured = as_plain(ablations.config_of(options, ablations.AS_CONFIGURED, 1))
    folders = set()
    for name, change in ablations.ABLATIONS[game].items():
        config = as_plain(ablations.config_of(options, name, 1))
        differing = {key for key in config if config[key] != configured[key]} - {"run_dir", "total_decisions"}
        unchanged = {key for key in change if config.get(key) == configured.get(key)}
        assert differing == set(change) - {"decisions"} - unchanged, name
        assert differing or name == ablations.AS_CONFIGURED
        folders.add(config["run_dir"])
    assert len(folders) == len(ablations.ABLATIONS[game])


def test_mean_over_seeds__has_students_interval() -> None:
    found = ablations.mean_over_seeds([0.1, 0.2, 0.3])
    # t of two degrees of freedom is 4.3027; the standard error is 0.1 / sqrt 3.
    assert found["mean"] == pytest.approx(0.2)
    assert found["interval"] == pytest.approx([0.2 - 0.24841, 0.2 + 0.24841], abs=1e-4)
    assert ablations.mean_over_seeds([0.1])["interval"] is None


@pytest.mark.slow
def test_runs__are_gone_on_with_and_not_repeated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given = ablations.Options(
        "four_point", only=("as configured", "2x128, equal time"), seeds=(0, 1), runs=tmp_path, **SMALL
    )
    options = dataclasses.replace(given, fixed="four_point")
    true_train, trained = ablations.train, []

    def stopped(config: Any, *, resume: bool = False) -> None:
        """The second run is stopped by hand after its first update."""
        trained.append((Path(config.run_dir).name, resume))
        true_train(dataclasses.replace(config, stop_after=1 if len(trained) == 2 else 0), resume=resume)

    monkeypatch.setattr(ablations, "train", stopped)
    assert len(list(ablations.run(options))) == 1
    rows = list(ablations.run(options))
    assert [(name, seed) for name, seed, *_ in rows] == [
        (name, seed) for seed in (0, 1) for name in given.only
    ]
    other = "four_point-2x128_equal_time"
    assert trained == [
        ("four_point-as_configured-0", False),
        (f"{other}-0", False),
        (f"{other}-0", True),
        ("four_point-as_configured-1", False),
        (f"{other}-1", False),
    ]
    result = ablations.summary(options, rows)
    changes = result["changes"]
    assert list(changes) == list(given.only)
    assert changes["2x128, equal time"]["seeds"] == [0, 1]
    assert len(changes["2x128, equal time"]["expert"]["seeds"]) == 2

    def judged_again(*_: Any, **__: Any) -> None:
        pytest.fail("what was judged is judged again")

    monkeypatch.setattr(ablations, "evaluate", judged_again)
    assert len(list(ablations.run(options))) == 4
