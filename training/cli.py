"""Flags of `python -m training.ppo`: every field of the configuration, over the values of a TOML file."""

from __future__ import annotations

import argparse
import dataclasses
from dataclasses import dataclass
from pathlib import Path

import tyro

from smear_env import configs_folder
from training.config import TrainConfig, load_config

TOLD = "Train a policy by self-play PPO, evaluate it, and leave a checkpoint that loads as an opponent."


@dataclass(frozen=True)
class Files:
    """Which configuration to start from, and whether to go on with a run."""

    config: str = ""
    """TOML file with values for the fields below; without it, the committed one for --rules. Flags override it."""
    resume: bool = False
    """Go on with the run in --run-dir, with the configuration it was started with."""


def given_fields(arguments: list[str]) -> frozenset[str]:
    """Names of the configuration's fields that are among the flags."""
    flags = {word[2:].partition("=")[0].replace("-", "_") for word in arguments if word.startswith("--")}
    fields = {field.name for field in dataclasses.fields(TrainConfig)}
    return frozenset(fields & (flags | {flag.removeprefix("no_") for flag in flags}))


def parse(
    arguments: list[str], *, committed: str = "", prog: str = "python -m training.ppo", told: str = TOLD
) -> tuple[TrainConfig, bool]:
    """The configuration and whether to resume; ValueError for contradictions, SystemExit for unknown flags.

    committed: name of the configuration to begin with, that of the rules if empty. prog, told: for the help.
    """
    first = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    first.add_argument("--config", default="")
    first.add_argument("--rules", default="")
    known, _ = first.parse_known_args(arguments)
    path = (
        Path(known.config)
        if known.config
        else configs_folder() / f"{committed or known.rules or 'four_point'}.toml"
    )
    default = load_config(path) if known.config or path.is_file() else TrainConfig()

    def combined(
        files: tyro.conf.OmitArgPrefixes[Files] = Files(),
        run: tyro.conf.OmitArgPrefixes[TrainConfig] = default,
    ) -> tuple[TrainConfig, bool]:
        return run, files.resume

    return tyro.cli(combined, prog=prog, args=arguments, description=told)
