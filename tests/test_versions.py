"""What docs/compatibility.md says was run as the table of combinations has it, down to the declared lower bounds."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
TABLE: dict[str, Any] = tomllib.loads((ROOT / ".ci" / "versions.toml").read_text(encoding="utf-8"))
RECORDED: dict[str, Any] = json.loads((ROOT / "benchmarks" / "versions.json").read_text(encoding="utf-8"))


def numbers(version: str) -> list[int]:
    """A version without the zeros at its end, which mean nothing."""
    found = [int(one) for one in version.split(".")]
    while found[-1] == 0:
        found.pop()
    return found


@pytest.mark.parametrize("name", TABLE)
def test_combination__passed_with_what_it_pins(name: str) -> None:
    result = RECORDED[name]
    assert "failed" not in result
    assert result["tests"] > 100
    assert result["versions"]["python"].startswith(f"{TABLE[name]['python']}.")
    for package, pinned in (pin.split("==") for pin in result["pins"]):
        assert numbers(result["versions"][package]) == numbers(pinned)
    if TABLE[name]["pins"] != "declared":
        assert result["pins"] == TABLE[name]["pins"]


def test_lowest__is_every_declared_bound() -> None:
    needed = [*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["render"]]
    for package, bound in (re.match(r"([\w-]+)>=([\d.]+)", one).groups() for one in needed):  # type: ignore[union-attr]
        assert numbers(RECORDED["lowest"]["versions"][package]) == numbers(bound), package


def test_table__has_every_python_that_the_project_names() -> None:
    said = {one.rpartition(" ")[2] for one in PROJECT["classifiers"] if re.search(r":: 3\.\d+$", one)}
    assert {one["python"] for one in TABLE.values()} == said
    for version in said:
        assert any(one["python"] == version and not one["pins"] for one in TABLE.values()), (
            f"newest on {version}"
        )
