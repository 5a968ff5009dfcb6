"""Checkpoints: a policy that loads as an opponent, and apart from it what a run needs to go on.

A file is written under a temporary name and renamed; a description names its weights file, and is renamed last. So a
kill at any moment leaves the last complete checkpoint loadable.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import fields
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load as load_tensors
from safetensors.torch import save as save_tensors
from torch import Tensor

from smear_env import MLP, POLICY_FILE, POLICY_FORMAT, PRESETS, CheckpointError, Rules, layout_hash
from training.config import TrainConfig, as_plain, game_rules
from training.files import commit, write_atomically
from training.network import Network

RESUME = "resume.json"
RESUME_FORMAT = "smear-resume/2"


def save_policy(
    folder: Path, network: Network, config: TrainConfig, decisions: int, evaluation: list[dict[str, Any]]
) -> None:
    """Write a policy into a checkpoint folder, in place of the one before."""
    weights = {name: tensor.detach().cpu().contiguous() for name, tensor in network.state_dict().items()}
    content = save_tensors(weights)
    name = _file_name("policy", decisions, content)
    description = {
        "format": POLICY_FORMAT,
        "preset": config.rules,
        "options": option_range(game_rules(config)),
        "layout": layout_hash(PRESETS[config.rules]),
        "weights": name,
        "weights_sha256": hashlib.sha256(content).hexdigest(),
        "network": {
            "hidden": list(config.hidden),
            "critic_hidden": list(config.critic_hidden),
            "teams": network.teams,
            "suits": network.suits,
            "features": network.features,
            "critic_view": network.critic_view,
            **({} if network.kind == MLP else {"kind": network.kind}),
        },
        "training": as_plain(config),
        "seed": config.seed,
        "commit": commit(),
        "decisions": decisions,
        "evaluation": evaluation,
    }
    _replace(folder, name, content, POLICY_FILE, description)


def option_range(rules: list[Rules]) -> dict[str, list[Any]]:
    """Each rule option with the values that occur in the games."""
    names = [field.name for field in fields(Rules) if field.name != "name"]
    return {name: sorted({getattr(one, name) for one in rules}) for name in names}


def save_resume(folder: Path, tensors: dict[str, Tensor], description: dict[str, Any]) -> None:
    """Write all that a run needs to go on: named tensors and plain values."""
    content = save_tensors({key: tensor.detach().cpu().contiguous() for key, tensor in tensors.items()})
    name = _file_name("resume", description["updates"], content)
    described = {
        **description,
        "format": RESUME_FORMAT,
        "tensors": name,
        "tensors_sha256": hashlib.sha256(content).hexdigest(),
    }
    _replace(folder, name, content, RESUME, described)


def load_resume(folder: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """What `save_resume` wrote; CheckpointError names the file and the field."""
    path = folder / RESUME
    try:
        description = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise CheckpointError(f"{path}: nothing to resume: {error}") from error
    if not isinstance(description, dict) or description.get("format") != RESUME_FORMAT:
        raise CheckpointError(f"{path}: field 'format' is not {RESUME_FORMAT!r}")
    for field, kind in (("tensors", str), ("tensors_sha256", str), ("updates", int), ("config", dict)):
        if not isinstance(description.get(field), kind):
            raise CheckpointError(
                f"{path}: field {field!r} is {description.get(field)!r}, expected {kind.__name__}"
            )
    tensors = folder / Path(description["tensors"]).name
    try:
        content = tensors.read_bytes()
        loaded = load_tensors(content)
    except (OSError, ValueError, SafetensorError) as error:
        raise CheckpointError(
            f"{tensors}, field 'tensors' of {RESUME}: not readable as safetensors: {error}"
        ) from error
    if hashlib.sha256(content).hexdigest() != description["tensors_sha256"]:
        raise CheckpointError(
            f"{tensors}: differs from field 'tensors_sha256' of {RESUME}: the file is damaged"
        )
    return loaded, description


def _file_name(stem: str, number: int, content: bytes) -> str:
    # Other content never goes under the name that the description before it points to.
    return f"{stem}-{number}-{hashlib.sha256(content).hexdigest()[:8]}.safetensors"


def _replace(
    folder: Path, name: str, content: bytes, description_name: str, description: dict[str, Any]
) -> None:
    write_atomically(folder / name, content)
    text = json.dumps(description, indent=1, sort_keys=True)
    write_atomically(folder / description_name, text.encode())
    stem = name.split("-", maxsplit=1)[0]
    for old in (
        *folder.glob(f"{stem}-*.safetensors"),
        *folder.glob(f".{stem}*"),
    ):  # and what a kill left half written
        if old.name != name:
            old.unlink(missing_ok=True)
