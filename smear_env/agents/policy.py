"""Trained policies as agents, on NumPy and safetensors alone: `load_policy(path_or_name)`.

A checkpoint is a folder with `policy.json`, which describes the policy and names the weights file beside it, and that
file in safetensors format. The description is checked before a weight is read; no pickle is ever loaded.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import warnings
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load as load_tensors

from smear_env._data import checkpoints_folder
from smear_env._jit import announce_compilation
from smear_env._typing import Float32Array, Int8Array, Int64Array
from smear_env.agents.decision import choose, decide, evaluate, flatten
from smear_env.features import feature_scale
from smear_env.layout import layout_hash, observation_scale
from smear_env.plugins import REMEDY, VARIABLE, is_again, load_plugins
from smear_env.rules import Rules, preset_of
from smear_env.suits import Bytes, suits_of

FORMAT = "smear-policy/1"
DESCRIPTION = "policy.json"
MLP = "mlp"
"""The kind of network that this module plays; descriptions without a kind: it."""
ONNX_ENDING, TORCH_ENDING = ".onnx", ".pt2"
METADATA = "smear_policy"
"""Key of an exported file's metadata under which the description stands, as JSON."""
SUIT_ORDERS = ("ordered", "as_dealt")
"""How a network sees suits: the trump or the own best suit first, or as they are; descriptions without it: ordered."""
NO_MASK = "no mask: a policy needs the mask of legal actions beside the observation"
NO_ACTION = "a row of the mask allows no action: ask only the seat to act"

_FIELDS: dict[str, type] = {
    "format": str,
    "preset": str,
    "options": dict,  # option -> list of the values trained on
    "layout": str,  # hash of the observation layout and actions
    "weights": str,  # file name beside the description
    "weights_sha256": str,
    "network": dict,  # {"hidden": [256, 256], "critic_hidden": [256, 256], "teams": 2, "suits": "ordered", ...}
    "training": dict,  # the training configuration
    "seed": int,
    "commit": str,
    "decisions": int,
    "evaluation": list,
}


class CheckpointError(ValueError):
    """A checkpoint that is missing, damaged or made for another layout; the message names file and field."""


def find_checkpoint(path_or_name: str | Path) -> Path:
    """The folder of a checkpoint: a path, or the name of one that ships with the package."""
    given = Path(path_or_name)
    if given.suffix == ONNX_ENDING:
        raise CheckpointError(
            f"{given} is an exported policy, which plays and no more: give the checkpoint that it was made of"
        )
    if given.suffix == TORCH_ENDING:
        raise CheckpointError(
            f"{given} is a program of torch, for torch.export.load: give the checkpoint, or export it as ONNX"
        )
    shipped = checkpoints_folder() / str(path_or_name)
    for folder in (given, given / "checkpoint", shipped):
        if (folder / DESCRIPTION).is_file():
            return folder
    names = sorted(path.parent.name for path in checkpoints_folder().glob(f"*/{DESCRIPTION}"))
    raise CheckpointError(
        f"no checkpoint {str(path_or_name)!r}: give a folder that holds {DESCRIPTION}, "
        f"or a shipped name ({', '.join(names) or 'none is shipped'})"
    )


def read_description(folder: Path) -> dict[str, Any]:
    """The checked `policy.json` of a checkpoint folder; CheckpointError names the file and the field."""
    path = folder / DESCRIPTION
    try:
        description = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise CheckpointError(f"{path}: not readable as JSON: {error}") from error
    return check_description(path, description)


def check_description(path: Path, description: Any) -> dict[str, Any]:
    """The description of a policy, if it is one; CheckpointError names the file it was read from and the field."""
    if not isinstance(description, dict):
        raise CheckpointError(f"{path}: holds no JSON object")
    for field, kind in _FIELDS.items():
        value = description.get(field)
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            raise CheckpointError(f"{path}: field {field!r} is {value!r}, expected {kind.__name__}")
    _check_values(path, description)
    return description


def _check_values(path: Path, description: dict[str, Any]) -> None:
    if description["format"] != FORMAT:
        raise CheckpointError(
            f"{path}: field 'format' is {description['format']!r}; this version reads {FORMAT!r}"
        )
    try:
        preset = preset_of(description["preset"])
    except ValueError as error:
        raise CheckpointError(f"{path}: field 'preset': {error}{_plugins_of(description)}") from error
    expected = layout_hash(preset)
    if description["layout"] != expected:
        raise CheckpointError(
            f"{path}: field 'layout' is {description['layout']!r}, this version's observation is {expected!r}: "
            "train the policy again, or install the version of smear-env it was trained with"
        )
    if Path(description["weights"]).name != description["weights"]:
        raise CheckpointError(
            f"{path}: field 'weights' is {description['weights']!r}, expected a plain file name"
        )
    hidden, teams = description["network"].get("hidden"), description["network"].get("teams")
    if (
        not isinstance(hidden, list)
        or not hidden
        or not all(type(width) is int and width > 0 for width in hidden)
    ):
        raise CheckpointError(
            f"{path}: field 'network.hidden' is {hidden!r}, expected a list of positive widths"
        )
    if type(teams) is not int or teams < 2:
        raise CheckpointError(
            f"{path}: field 'network.teams' is {teams!r}, expected an integer of at least 2"
        )
    features = description["network"].get("features", False)
    if not isinstance(features, bool):
        raise CheckpointError(f"{path}: field 'network.features' is {features!r}, expected true or false")
    suits = description["network"].get("suits", "ordered")
    if suits not in SUIT_ORDERS:
        raise CheckpointError(
            f"{path}: field 'network.suits' is {suits!r}, expected one of {', '.join(SUIT_ORDERS)}"
        )
    for option, values in description["options"].items():
        if option not in _RULE_FIELDS or not isinstance(values, list) or not values:
            raise CheckpointError(
                f"{path}: field 'options.{option}' is {values!r}, expected a list for a rule option"
            )
    for option in _LATER_OPTIONS:
        description["options"].setdefault(option, [getattr(preset, option)])
    missing = sorted(_RULE_FIELDS - set(description["options"]))
    if missing:
        raise CheckpointError(f"{path}: field 'options' lacks {', '.join(missing)}")


def read_weights(folder: Path, description: dict[str, Any]) -> dict[str, Float32Array]:
    """The checked weights of a checkpoint by name, float32; CheckpointError names the file and the tensor."""
    path = folder / description["weights"]
    try:
        content = path.read_bytes()
    except (OSError, ValueError) as error:  # ValueError: a name that no file can have
        raise CheckpointError(f"{path}, field 'weights' of {DESCRIPTION}: not readable: {error}") from error
    try:
        tensors = load_tensors(content)
    except (
        SafetensorError,
        KeyError,
        TypeError,
        ValueError,
    ) as error:  # the others: a dtype that NumPy lacks
        raise CheckpointError(f"{path}: not readable as safetensors: {error}") from error
    if hashlib.sha256(content).hexdigest() != description["weights_sha256"]:
        raise CheckpointError(
            f"{path}: differs from field 'weights_sha256' of {DESCRIPTION}: the file is damaged"
        )
    for name, shape in weight_shapes(description).items():
        tensor = tensors.get(name)
        if tensor is None or tensor.shape != shape or tensor.dtype != np.float32:
            found = "missing" if tensor is None else f"{tensor.dtype} {tensor.shape}"
            raise CheckpointError(f"{path}: tensor {name!r} is {found}, expected float32 {shape}")
        if not np.all(np.isfinite(tensor)):
            raise CheckpointError(f"{path}: tensor {name!r} holds numbers that are not finite")
    return tensors


def weight_shapes(description: dict[str, Any]) -> dict[str, tuple[int, ...]]:
    """Name and shape of every tensor that playing needs; a checkpoint may hold others, as a critic's.

    Of a network of the user's own none is known.
    """
    if kind_of(description) != MLP:
        return {}
    rules = preset_of(description["preset"])
    widths = [len(_scale(description)), *description["network"]["hidden"]]
    shapes: dict[str, tuple[int, ...]] = {}
    for index, (inputs, outputs) in enumerate(pairwise(widths)):
        shapes[f"trunk.{index}.weight"] = (outputs, inputs)
        shapes[f"trunk.{index}.bias"] = (outputs,)
    shapes["policy.weight"] = (len(rules.action_names), widths[-1])
    shapes["policy.bias"] = (len(rules.action_names),)
    return shapes


def _scale(description: dict[str, Any]) -> Float32Array:
    """Factor for each input of the policy."""
    rules = preset_of(description["preset"])
    scales = [observation_scale(rules)]
    if description["network"].get("features", False):
        scales.append(feature_scale(rules))
    return np.concatenate(scales)


class PolicyAgent:
    """A trained network as an agent: suits in order, a stack of ReLU layers and one masked softmax over all actions.

    Args:
        folder: the checkpoint.
        sample: choose by the policy's probabilities; otherwise its most probable action.
    """

    def __init__(self, folder: Path, *, sample: bool = False) -> None:
        self.folder = folder
        self.description = read_description(folder)
        self.name = folder.name
        self.sample = sample
        network = self.description["network"]
        self._suits = suits_of(
            preset_of(self.description["preset"]),
            ordered=network.get("suits", "ordered") == "ordered",
            features=network.get("features", False),
        )
        self._generator = np.random.default_rng(0)
        self.read(read_weights(folder, self.description))

    def read(self, weights: dict[str, Float32Array]) -> None:
        """Take the weights of the checkpoint, by name."""
        depth = len(self.description["network"]["hidden"])
        layers = [
            (weights[f"{name}.weight"].T, weights[f"{name}.bias"])
            for name in (*(f"trunk.{index}" for index in range(depth)), "policy")
        ]
        # The scale goes into the first layer, so that observations are never multiplied.
        layers[0] = (layers[0][0] * _scale(self.description)[:, None], layers[0][1])
        self._widths, self._weights = flatten(layers)

    @property
    def network(self) -> tuple[Bytes, Int64Array, Float32Array]:
        """Suits, widths and weights, as the kernels of `agents/decision.py` take them."""
        return self._suits.table, self._widths, self._weights

    def reset(self, rules: Rules, seat: int, seed: int) -> None:
        """Begin a game; warns of an option outside the range trained on, ValueError for another game."""
        preset = self.description["preset"]
        if layout_hash(rules) != self.description["layout"]:
            raise ValueError(
                f"policy {self.name!r} plays {preset} with that preset's layout and actions, not {rules.name} as given"
            )
        if not -1 <= seat < rules.players:
            raise ValueError(f"seat={seat} is outside -1..{rules.players - 1}")
        for option, values in self.description["options"].items():
            if getattr(rules, option) not in values:
                warnings.warn(
                    f"policy {self.name!r} was not trained on {option}={getattr(rules, option)!r}, only on {values}",
                    stacklevel=2,
                )
        self._generator = np.random.default_rng([seed, seat + 1])

    def probabilities(self, observations: Int8Array, masks: Int8Array) -> Float32Array:
        """Probability of each action, [B, d] and [B, n] int8 to [B, n] float32; 0 where the mask is 0.

        Raises ValueError for a missing mask, arrays of another shape, and a row without a legal action.
        """
        logits = self.logits(*self._checked(observations, masks))
        top = logits.max(axis=-1, keepdims=True)
        if not np.all(np.isfinite(top)):
            raise ValueError(NO_ACTION)
        weights: Float32Array = np.exp(logits - top)
        weights /= weights.sum(axis=-1, keepdims=True)
        return weights

    def act_batch(self, observations: Int8Array, masks: Int8Array) -> Int64Array:
        """An action for each row, [B] int64."""
        logits = self.logits(*self._checked(observations, masks))
        actions = np.empty(len(logits), np.int64)
        choose(logits, self._draws(logits.shape), actions)
        if np.any(actions < 0):
            raise ValueError(NO_ACTION)
        return actions

    def act(self, observation: Int8Array, mask: Int8Array) -> int:
        """An action for one observation [d] and mask [n]."""
        if mask is None:
            raise ValueError(NO_MASK)
        if not (_is_plain(observation, self._suits.observation) and _is_plain(mask, self._suits.actions)):
            observations, masks = self._checked(np.asarray(observation)[None], np.asarray(mask)[None])
            observation, mask = observations[0], masks[0]
        announce_compilation()
        draws = self._draws(mask.shape)
        action = decide(self._suits.table, observation, mask, self._widths, self._weights, draws)
        if action < 0:
            raise ValueError(NO_ACTION)
        return int(action)

    def logits(self, observations: Int8Array, masks: Int8Array) -> Float32Array:
        """A number for each action, [B, n] float32, minus infinity for what is not legal.

        observations, masks: [B, d] and [B, n] int8, checked.
        """
        logits = np.empty(masks.shape, np.float32)
        announce_compilation()
        evaluate(self._suits.table, observations, masks, self._widths, self._weights, logits)
        return logits

    def _draws(self, shape: tuple[int, ...]) -> Float32Array:
        """What `choose` draws actions by, of width 0 for the most probable ones."""
        if self.sample:
            return self._generator.standard_exponential(shape, np.float32)
        return np.empty((*shape[:-1], 0), np.float32)

    def _checked(self, observations: Any, masks: Any) -> tuple[Int8Array, Int8Array]:
        if masks is None:
            raise ValueError(NO_MASK)
        seen = np.ascontiguousarray(observations, np.int8)
        if not seen.flags.writeable:
            seen = seen.copy()  # for arrays that only may be read, kernels would be compiled once more
        legal = np.ascontiguousarray(np.asarray(masks) != 0, np.int8)
        d, n = self._suits.observation, self._suits.actions
        if seen.ndim != 2 or seen.shape[1] != d:
            raise ValueError(f"observations of shape {seen.shape}, expected [B, {d}]")
        if legal.shape != (len(seen), n):
            raise ValueError(f"masks of shape {legal.shape}, expected [{len(seen)}, {n}]")
        return seen, legal


def _is_plain(array: Any, size: int) -> bool:
    """Whether it is just what the kernel takes: [size] int8, contiguous and writeable."""
    return (
        type(array) is np.ndarray and array.shape == (size,) and array.dtype == np.int8 and array.flags.carray
    )


PolicyLoader = Callable[..., PolicyAgent]
"""Makes an agent of a checkpoint's folder and the keyword `sample`."""
_LOADERS: dict[str, PolicyLoader] = {}


def register_policy(kind: str, loader: PolicyLoader) -> None:
    """Let `loader` play checkpoints whose network is of this kind; ValueError if another does (`plugins.is_again`)."""
    if kind == MLP or (kind in _LOADERS and not is_again(_LOADERS[kind], loader)):
        raise ValueError(f"network {kind!r} is registered already: choose another name")
    _LOADERS[kind] = loader


def kind_of(description: dict[str, Any]) -> str:
    """The kind of network of a checkpoint."""
    return str(description["network"].get("kind", MLP))


def _plugins_of(description: dict[str, Any]) -> str:
    """What to add to a message about a name that is not known: the modules that the run had."""
    modules = description["training"].get("plugins") or []
    return f"; it was trained with {VARIABLE}={','.join(map(str, modules))}" if modules else ""


def load_policy(path_or_name: str | Path, *, sample: bool = False) -> PolicyAgent:
    """A trained policy as an agent, from a checkpoint folder or by the name of one that ships.

    It needs no torch, unless the network is one of the user's own (`register_policy`). The path of a file that
    `python -m training.export` wrote, ending in `.onnx`, is taken as well and needs onnxruntime (ImportError without).
    Raises CheckpointError (a ValueError) naming file and field where the checkpoint is missing, damaged or made for
    another observation layout, or its game or network is one that nobody here has registered.
    """
    if Path(path_or_name).suffix == ONNX_ENDING:
        from smear_env.agents.onnx_policy import OnnxPolicy

        return OnnxPolicy(Path(path_or_name), sample=sample)
    folder = find_checkpoint(path_or_name)
    description = read_description(folder)
    kind = kind_of(description)
    if kind == MLP:
        return PolicyAgent(folder, sample=sample)
    if kind not in _LOADERS:
        load_plugins()
    if kind not in _LOADERS:
        raise CheckpointError(
            f"{folder / DESCRIPTION}: field 'network.kind' is {kind!r}, a network that nobody here has registered "
            f"(`training.own_network.register_network`, which needs torch); {REMEDY}{_plugins_of(description)}"
        )
    return _LOADERS[kind](folder, sample=sample)


_LATER_OPTIONS = ("second_joker", "joker_order")
"""Options that checkpoints written before there were any do not name: those were trained on their preset's."""
_RULE_FIELDS = frozenset(field.name for field in dataclasses.fields(Rules) if field.name != "name")
