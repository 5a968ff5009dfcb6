"""Policies for other programs: `python -m training.export CHECKPOINT` writes one as ONNX, or as a program of torch.

The graph takes observation and mask as the environment gives them; order of suits, features, scale and mask are inside
it (`training/graph.py`). It is compared with `load_policy` before it is written. docs/export.md
"""

from __future__ import annotations

import io
import json
import logging
import shutil
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

import numpy as np
import torch
from torch.export import Dim, ExportedProgram

from smear_env import (
    ONNX_METADATA,
    POLICY_FILE,
    PRESETS,
    Rules,
    SelfPlayVectorEnv,
    find_checkpoint,
    load_policy,
    make_agent,
    read_policy,
)
from training.arrays import Float32Array, Int8Array
from training.evaluation.players import telling_name
from training.faults import told
from training.files import write_atomically
from training.graph import PolicyGraph
from training.progress import show_progress, waiting

Format = Literal["onnx", "torch-export"]
ENDINGS: dict[Format, str] = {"onnx": ".onnx", "torch-export": ".pt2"}
DESCRIBED = f"{ONNX_METADATA}.json"
"""File of a torch program's archive that describes the policy."""
INPUTS, OUTPUTS = ["observation", "mask"], ["probabilities", "logits"]
OPSET = 18
"""Version of ONNX's operators: old enough for runtimes in use, and the one that torch's exporter is written for."""
TOLERANCE = 1e-5
"""Probabilities that differ more from those of `load_policy` are a fault, and nothing is written."""

Run = Callable[[Int8Array, Int8Array], Float32Array]
"""Probabilities of an exported policy, from observations and masks."""


def exported_program(folder: Path) -> ExportedProgram:
    """The policy of a checkpoint folder as torch's exported program, for any number of rows."""
    graph = PolicyGraph.of_checkpoint(folder)
    rules = PRESETS[read_policy(folder)["preset"]]
    # More rows than one: torch would take a single one for all that may come.
    rows = positions(rules, games=2, steps=1)
    batch = {0: Dim("batch")}
    program = torch.export.export(
        graph, tuple(map(torch.from_numpy, rows)), dynamic_shapes=dict.fromkeys(INPUTS, batch)
    )
    for node in program.graph.nodes:
        node.meta.pop("stack_trace", None)  # where the sources lie here is nobody's concern
    return program


def as_torch(folder: Path) -> bytes:
    """The content of a `.pt2` file: `torch.export.load` gives the program, and the description as an extra file."""
    file = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch's own, on how its archive groups constants
        described = json.dumps(described_policy(folder))
        torch.export.save(exported_program(folder), file, extra_files={DESCRIBED: described})
    return file.getvalue()


def as_onnx(folder: Path) -> bytes:
    """The content of an `.onnx` file, the description in its metadata; ImportError without the exporter."""
    said = logging.getLogger("torch.onnx")
    level = said.level
    try:
        said.setLevel(logging.ERROR)  # it misses torchvision, which has no part in this
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the exporter's own code
            made = torch.onnx.export(
                exported_program(folder),
                input_names=INPUTS,
                output_names=OUTPUTS,
                dynamic_shapes={name: {0: "batch"} for name in INPUTS},
                opset_version=OPSET,
                dynamo=True,
                verbose=False,
            )
    except ModuleNotFoundError as error:
        if error.name not in ("onnx", "onnxscript"):
            raise
        raise ImportError(
            f'export to ONNX needs {error.name}: pip install "smear-env[train,export]"'
        ) from error
    finally:
        said.setLevel(level)
    assert made is not None, "with dynamo=True there is a program"
    model = made.model_proto
    description = described_policy(folder)
    shown = {name: description[name] for name in ("preset", "layout", "options", "decisions", "action_names")}
    for key, value in {ONNX_METADATA: description, **shown}.items():
        entry = model.metadata_props.add()
        entry.key, entry.value = key, value if isinstance(value, str) else json.dumps(value)
    return model.SerializeToString()


def described_policy(folder: Path) -> dict[str, Any]:
    """The checkpoint's description, and the names of the actions for programs without this package."""
    description = read_policy(folder)
    return description | {"action_names": list(PRESETS[description["preset"]].action_names)}


def positions(rules: Rules, games: int = 64, steps: int = 40) -> tuple[Int8Array, Int8Array]:
    """Observations and masks of random play, [games * steps, d] and [games * steps, n] int8."""
    env = SelfPlayVectorEnv(games, rules, seed=5)
    agent = make_agent("random")
    agent.reset(rules, -1, 1)
    shown, kept = env.reset(), []
    for _ in range(steps):
        kept.append((shown.observation.copy(), shown.mask.copy()))
        shown = env.step(agent.act_batch(shown.observation, shown.mask))
    observation, mask = (np.concatenate(part) for part in zip(*kept, strict=True))
    return observation, mask


def run_torch(content: bytes) -> Run:
    """The program in the content of a `.pt2` file."""
    module = torch.export.load(io.BytesIO(content)).module()

    def run(observation: Int8Array, mask: Int8Array) -> Float32Array:
        return module(torch.from_numpy(observation), torch.from_numpy(mask))[0].numpy()

    return run


def run_onnx(content: bytes) -> Run:
    """The graph in the content of an `.onnx` file; ImportError without onnxruntime."""
    try:
        import onnxruntime
    except ModuleNotFoundError as error:
        raise ImportError(
            'the check of an ONNX file needs onnxruntime: pip install "smear-env[export]"'
        ) from error
    session = onnxruntime.InferenceSession(content, providers=["CPUExecutionProvider"])

    def run(observation: Int8Array, mask: Int8Array) -> Float32Array:
        return session.run(OUTPUTS[:1], {"observation": observation, "mask": mask})[0]

    return run


def largest_difference(run: Run, folder: Path) -> float:
    """The largest difference of a probability from that of `load_policy`, over positions of random play."""
    policy = load_policy(folder)
    rows = positions(PRESETS[policy.description["preset"]])
    return float(np.abs(run(*rows) - policy.probabilities(*rows)).max())


def export(checkpoint: str | Path, format: Format, out: Path | None = None) -> tuple[Path, float]:  # noqa: A002 - the flag's name
    """Write a checkpoint's policy in a format; returns the file and its largest difference from `load_policy`.

    `out` is NAME.onnx or NAME.pt2 in the working folder if None. Raises CheckpointError for what is no checkpoint,
    ValueError for a file of another ending, RuntimeError where the graph gives other probabilities, and torch's own
    errors, which are RuntimeErrors, for a network of the user's own that it cannot follow.
    """
    folder = find_checkpoint(checkpoint)
    # Resolved, since `.` has no name of its own.
    path = Path(f"{telling_name(folder.resolve())}{ENDINGS[format]}") if out is None else out
    if path.suffix != ENDINGS[format]:
        raise ValueError(f"out={str(path)!r} must end with {ENDINGS[format]} for format={format!r}")
    with _as_it_is(folder) as kept:
        content, run = (as_onnx(kept), run_onnx) if format == "onnx" else (as_torch(kept), run_torch)
        difference = largest_difference(run(content), kept)
    if not difference <= TOLERANCE:
        raise RuntimeError(
            f"{path} is not written: its probabilities differ by {difference:.1e} from those of {folder}"
        )
    write_atomically(path, content)
    return path, difference


@contextmanager
def _as_it_is(folder: Path) -> Iterator[Path]:
    """A copy of a checkpoint as it is now, checked: a run that goes on puts others in its place meanwhile."""
    description = load_policy(folder).description
    with TemporaryDirectory() as kept:
        shutil.copy(folder / description["weights"], kept)
        (Path(kept) / POLICY_FILE).write_text(json.dumps(description), encoding="utf-8")
        yield Path(kept)


@dataclass(frozen=True)
class ExportOptions:
    """Write a trained policy as one graph from observation and mask to probabilities."""

    checkpoint: str
    """Checkpoint's folder, a run's folder, or shipped name."""
    format: Format = "onnx"
    """onnx, for onnxruntime and others; or torch-export, a program that torch.export.load reads."""
    out: Path | None = None
    """File to write, ending in .onnx or .pt2; by default NAME.onnx or NAME.pt2 here."""


def main() -> None:
    """`python -m training.export`."""
    import tyro

    given = tyro.cli(
        ExportOptions, prog="python -m training.export", config=(tyro.conf.PositionalRequiredArgs,)
    )
    show_progress()
    try:
        with waiting(f"exporting {given.checkpoint}"):
            path, difference = export(given.checkpoint, given.format, given.out)
    except (ValueError, OSError, ImportError, RuntimeError) as error:
        sys.exit(told(error))
    print(
        f"{path}: {path.stat().st_size:,} bytes; probabilities as load_policy gives them, within {difference:.1e}"
    )


if __name__ == "__main__":
    main()
