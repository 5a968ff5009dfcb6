"""Policies that travelled: ONNX files of `python -m training.export`, run by onnxruntime.

Order of suits, features, layers and mask are inside the file's graph, so that this agent only checks what it is given
and draws. What the file belongs to stands in its metadata, and is checked as a checkpoint's description is.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np

from smear_env._jit import announce_compilation
from smear_env._typing import Float32Array, Int8Array, Int64Array
from smear_env.agents.policy import METADATA, NO_MASK, CheckpointError, PolicyAgent, check_description
from smear_env.rules import preset_of
from smear_env.suits import suits_of

INPUTS, OUTPUTS = ("observation", "mask"), ("probabilities", "logits")


class OnnxPolicy(PolicyAgent):
    """A policy as an ONNX file; decides as the checkpoint that it was made of does.

    Args:
        path: of the file, ending in `.onnx`.
        sample: choose by the policy's probabilities; otherwise its most probable action.

    Raises ImportError without onnxruntime, CheckpointError naming file and field of what is no such policy.
    """

    def __init__(self, path: Path, *, sample: bool = False) -> None:
        try:
            self._content = path.read_bytes()
        except OSError as error:
            raise CheckpointError(f"{path}: not readable: {error}") from error
        self._session = _session(path, self._content)
        description = _read_metadata(path, self._session)
        # What decides is this file, whatever weights it was made of.
        decides = {"weights": path.name, "weights_sha256": hashlib.sha256(self._content).hexdigest()}
        self.folder, self.name, self.sample = path, path.stem, sample
        self.description = {**description, **decides}
        # Of the game's suits, only the widths of its vectors are needed here.
        self._suits = suits_of(preset_of(description["preset"]))
        self._generator = np.random.default_rng(0)
        _check_graph(path, self._session, self._suits.observation, self._suits.actions)

    @property
    def network(self) -> tuple[Any, Int64Array, Float32Array]:
        """Not here: CheckpointError says what to use instead."""
        raise CheckpointError(
            f"{self.folder}: the weights of an exported policy are for playing alone: "
            "search with the checkpoint that it was made of"
        )

    def act(self, observation: Int8Array, mask: Int8Array) -> int:
        """An action for one observation [d] and mask [n]."""
        if mask is None:
            raise ValueError(NO_MASK)
        return int(self.act_batch(np.asarray(observation)[None], np.asarray(mask)[None])[0])

    def logits(self, observations: Int8Array, masks: Int8Array) -> Float32Array:
        """A number for each action, [B, n] float32, minus infinity for what is not legal.

        observations, masks: [B, d] and [B, n] int8, checked.
        """
        announce_compilation()
        (logits,) = self._session.run(["logits"], dict(zip(INPUTS, (observations, masks), strict=True)))
        return logits

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_session"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._session = _session(self.folder, self._content)


def _session(path: Path, content: bytes) -> Any:
    """The graph, ready to run on one thread: agents play in many processes, and a pool in each would be in the way."""
    try:
        import onnxruntime
    except ModuleNotFoundError as error:
        if error.name != "onnxruntime":
            raise
        raise ImportError('policies as ONNX need onnxruntime: pip install "smear-env[export]"') from error
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3  # errors are raised; warnings are not for who plays
    try:
        return onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime's errors have no class in common but this
        raise CheckpointError(f"{path}: not readable as ONNX: {error}") from error


def _read_metadata(path: Path, session: Any) -> dict[str, Any]:
    """The checked description in a file's metadata."""
    found = session.get_modelmeta().custom_metadata_map
    if METADATA not in found:
        raise CheckpointError(
            f"{path}: its metadata lack {METADATA!r}: export the checkpoint with python -m training.export"
        )
    try:
        description = json.loads(found[METADATA])
    except (ValueError, RecursionError) as error:
        raise CheckpointError(f"{path}: metadata {METADATA!r} are not readable as JSON: {error}") from error
    return check_description(path, description)


def _check_graph(path: Path, session: Any, observation: int, actions: int) -> None:
    """CheckpointError unless the graph takes and gives arrays [B, ...] of a policy of that many entries and actions."""
    number, flags = "tensor(float)", "tensor(int8)"
    expected = [(INPUTS[0], observation, flags), (INPUTS[1], actions, flags)]
    expected += [(name, actions, number) for name in OUTPUTS]
    found = [
        (one.name, one.shape[-1] if one.shape else 0, one.type)
        for one in (*session.get_inputs(), *session.get_outputs())
    ]
    if found != expected:
        raise CheckpointError(f"{path}: the graph has {found}, expected {expected}")
