"""Networks of other libraries as checkpoints of ours, which play, are evaluated and serve as opponents by their path.

What a library has learnt is a stack of layers; `save_layers` writes their weights as `load_policy` reads them, so that
nothing of the library is needed afterwards: no torch, no Ray. The network must be of the kind that plays here: linear
layers with ReLU between them, from an observation to a number for each action, of which illegal ones are left out of
one softmax.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import save as save_tensors

from smear_env._typing import Float32Array
from smear_env.agents.policy import DESCRIPTION, FORMAT
from smear_env.features import feature_scale
from smear_env.layout import layout_hash, observation_scale
from smear_env.rules import Rules, make_rules

Layer = tuple[Any, Any]
"""Weight [outputs, inputs] and bias [outputs], anything that NumPy takes."""


def save_layers(
    folder: str | Path,
    rules: str | Rules | Sequence[str | Rules],
    layers: Sequence[Layer],
    *,
    scaled: bool = True,
    decisions: int = 0,
    seed: int = 0,
    training: Mapping[str, Any] | None = None,
) -> Path:
    """Write a stack of layers as a checkpoint that `load_policy` plays; the folder.

    Args:
        folder: made if it is not there; a checkpoint that is there is replaced.
        rules: what was trained on, one or several of one preset; other options than these will warn.
        layers: from observation to actions, at least two. On the way they are ReLU, at the end there is nothing. By
            how many inputs the first takes, it is known what they are: the observation, or what
            `smear_env.interop.ordered` shows, with suits in order and features.
        scaled: the network took inputs about -1..1, as both of `smear_env.interop.scaled` and `ordered` give them;
            otherwise as they are in int8.
        decisions: that were learnt from, for who reads the description.
        seed: of the run, likewise.
        training: how it was trained, likewise: plain JSON.

    Raises ValueError naming a layer that does not fit.
    """
    folder = Path(folder)
    games = [make_rules(one) for one in ([rules] if isinstance(rules, str | Rules) else rules)]
    game = games[0]
    if any(layout_hash(one) != layout_hash(game) for one in games):
        raise ValueError(
            f"rules of {', '.join(one.name for one in games)} have different observations or actions"
        )
    arrays = [_layer(index, layer) for index, layer in enumerate(layers)]
    scale = np.concatenate([observation_scale(game), feature_scale(game)])
    ordered = bool(arrays) and arrays[0][0].shape[1] == len(scale)
    scale = scale if ordered else observation_scale(game)
    _check_widths(arrays, len(scale), len(game.action_names))
    if not scaled:
        arrays[0] = ((arrays[0][0] / scale).astype(np.float32), arrays[0][1])
    names = [*(f"trunk.{index}" for index in range(len(arrays) - 1)), "policy"]
    tensors: dict[str, Float32Array] = {}
    for name, (weight, bias) in zip(names, arrays, strict=True):
        tensors |= {
            f"{name}.weight": np.ascontiguousarray(weight),
            f"{name}.bias": np.ascontiguousarray(bias),
        }
    content = save_tensors(tensors)
    digest = hashlib.sha256(content).hexdigest()
    weights = f"policy-{decisions}-{digest[:8]}.safetensors"
    options = {
        field.name: sorted({getattr(one, field.name) for one in games})
        for field in dataclasses.fields(game)
        if field.name != "name"
    }
    description = {
        "format": FORMAT,
        "preset": game.name,
        "options": options,
        "layout": layout_hash(game),
        "weights": weights,
        "weights_sha256": digest,
        "network": {
            "hidden": [len(bias) for _, bias in arrays[:-1]],
            "teams": game.teams,
            "suits": "ordered" if ordered else "as_dealt",
            "features": ordered,
        },
        "training": dict(training or {}),
        "seed": seed,
        "commit": "unknown",
        "decisions": decisions,
        "evaluation": [],
    }
    folder.mkdir(parents=True, exist_ok=True)
    # The description names the weights, so it comes last: a kill leaves the checkpoint of before.
    _write(folder / weights, content)
    _write(folder / DESCRIPTION, json.dumps(description, indent=1, sort_keys=True).encode())
    for old in folder.glob("policy-*.safetensors"):
        if old.name != weights:
            old.unlink()
    return folder


def _layer(index: int, layer: Layer) -> tuple[Float32Array, Float32Array]:
    weight, bias = (np.asarray(part, np.float32) for part in layer)
    if weight.ndim != 2 or bias.shape != weight.shape[:1]:
        raise ValueError(
            f"layers[{index}]: weight of shape {weight.shape} and bias of {bias.shape}, expected [outputs, inputs] "
            "and [outputs]"
        )
    if not (np.isfinite(weight).all() and np.isfinite(bias).all()):
        raise ValueError(f"layers[{index}] holds numbers that are not finite: the training has failed")
    return weight, bias


def _check_widths(arrays: Sequence[tuple[Float32Array, Float32Array]], inputs: int, actions: int) -> None:
    if len(arrays) < 2:
        raise ValueError(f"{len(arrays)} layers: a policy has a hidden layer at least, so give two or more")
    takes = [weight.shape[1] for weight, _ in arrays]
    gives = [weight.shape[0] for weight, _ in arrays]
    for index, (found, expected) in enumerate(zip(takes, [inputs, *gives], strict=False)):
        if found != expected:
            raise ValueError(f"layers[{index}] takes {found} inputs, but {expected} come to it")
    if gives[-1] != actions:
        raise ValueError(
            f"layers[{len(arrays) - 1}] gives {gives[-1]} numbers, but there are {actions} actions"
        )


def _write(path: Path, content: bytes) -> None:
    partial = path.with_name(f".{path.name}.part")
    partial.write_bytes(content)
    partial.replace(path)


__all__ = ["Layer", "save_layers"]
