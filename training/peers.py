"""The processes of one run: `torchrun` starts several, each with games of its own; alone there is one.

Whatever is summed here is exact for any number of processes: one process that plays all the games learns the same.
"""

from __future__ import annotations

import importlib
import os
import platform
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
import torch.distributed as dist
from torch import Tensor, nn


@dataclass(frozen=True)
class Peers:
    """This process among those of the run."""

    rank: int = 0
    size: int = 1
    device: str = "cpu"
    """Of the tensors that are exchanged: gloo moves those on the CPU, nccl those on a GPU."""

    @property
    def is_first(self) -> bool:
        """Whether this process reports, saves and evaluates."""
        return self.rank == 0

    def sum(self, tensor: Tensor) -> Tensor:
        """The sum over all processes; the tensor itself where there is one."""
        if self.size == 1:
            return tensor
        total = tensor.detach().to(self.device, copy=True)
        dist.all_reduce(total)
        return total.to(tensor.device)

    def any(self, flag: bool) -> bool:
        """Whether the flag is set in any process."""
        return bool(self.sum(torch.tensor(int(flag))))

    def gather(self, tensor: Tensor) -> Tensor:
        """The tensors of all processes, one behind the other in the order of their ranks, in every process."""
        if self.size == 1:
            return tensor
        parts = [torch.empty_like(tensor, device=self.device) for _ in range(self.size)]
        own = tensor.to(self.device)
        dist.all_gather(parts, own)
        return torch.cat(parts).to(tensor.device)

    def own(self, tensor: Tensor) -> Tensor:
        """This process's part of what `gather` put together."""
        return tensor.chunk(self.size)[self.rank]

    def wait(self) -> None:
        """Until every process has come here."""
        self.sum(torch.zeros(1))

    def same_memory(self, size: int) -> Tensor | None:
        """[size] float32 that all processes see, or None where they are on several machines or on GPUs."""
        if self.device != "cpu" or os.environ.get("LOCAL_WORLD_SIZE") != str(self.size):
            return None
        made: list[str | None] = [None]
        if self.is_first:
            handle, made[0] = tempfile.mkstemp(prefix="smear-gradients-", dir=_memory_folder())
            os.truncate(handle, size * torch.float32.itemsize)
            os.close(handle)
        dist.broadcast_object_list(made)
        (path,) = made
        assert path is not None
        memory = torch.from_file(path, shared=True, size=size)
        self.wait()
        if self.is_first:
            Path(path).unlink()  # the memory stays for those that have it open
        return memory


def _memory_folder() -> str | None:
    """Where files are memory and nothing else, if there is such a place."""
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # noqa: S108 no name is guessed in it


ALONE = Peers()

X86 = platform.machine().lower() in ("x86_64", "amd64")
LINE = 16
"""Numbers of four bytes that lie so far apart are in different lines of a processor's cache."""
PATIENCE = 600.0
"""Seconds after which a process waits for another no more."""


class Meeting:
    """Where the processes of one machine wait for each other, in memory that all see: a microsecond, not a third of a
    millisecond as over sockets.

    Each process counts its meetings where the others read it. That needs a processor that shows what is written before
    the count to whoever has read the count; x86 does.
    """

    def __init__(self, peers: Peers, memory: Tensor) -> None:
        self._counts = memory.view(torch.int32).numpy().reshape(peers.size, LINE)[:, 0]
        self._rank = peers.rank

    def wait(self) -> None:
        """Until every process has come here; RuntimeError naming those that do not."""
        meeting = self._counts[self._rank] + 1
        self._counts[self._rank] = meeting
        came, looked = time.monotonic(), 0
        while self._counts.min() < meeting:
            looked += 1
            if looked % 1000 == 0:
                time.sleep(0)  # processes may be more than cores
                if time.monotonic() - came > PATIENCE:
                    late = np.flatnonzero(self._counts < meeting).tolist()
                    raise RuntimeError(f"ranks {late} stopped answering: go on with --resume")


class Gradients:
    """A network's parameters as one, and their gradients, summed over all processes.

    Each process writes its gradients where all see them, and adds up those of all, in the order of the ranks. Two
    places are used in turn: who is ahead waits for the others once a step, and never writes where one still reads.
    Over sockets the same takes several times as long, and is left for processes on several machines.

    Attributes:
        whole: [size] all parameters, which are views of it, so that one pass steps them all.
    """

    def __init__(self, peers: Peers, network: nn.Module) -> None:
        self.peers = peers
        self._parameters = list(network.parameters())
        self._turn = 0
        self.whole = nn.utils.parameters_to_vector(self._parameters).detach()
        for parameter, part in zip(self._parameters, self._views(self.whole), strict=True):
            parameter.data = part
        self._total = torch.zeros_like(self.whole)
        size = len(self.whole)
        memory = peers.same_memory(2 * peers.size * size) if peers.size > 1 else None
        self._places = None if memory is None else memory.view(2, peers.size, size)
        counts = peers.same_memory(peers.size * LINE) if memory is not None and X86 else None
        self._meet = peers.wait if counts is None else Meeting(peers, counts).wait
        self._own = (
            [] if self._places is None else [self._views(part) for part in self._places[:, peers.rank]]
        )
        self._summed = self._views(self._total)
        self._point_to(self._summed)

    def begin(self) -> None:
        """Make every parameter's `grad` the place to write its gradient of the next minibatch."""
        if self._places is None:  # there is one place
            return
        self._turn = 1 - self._turn
        self._point_to(self._own[self._turn])

    def add_up(self) -> Tensor:
        """Make every gradient its sum over all processes; returns them as one tensor, which they are views of."""
        if self._places is None:
            if self.peers.size > 1:
                self._total.copy_(self.peers.sum(self._total))
            return self._total
        self._meet()
        first, second, *others = self._places[self._turn]
        torch.add(first, second, out=self._total)
        for place in others:
            self._total += place
        self._point_to(self._summed)
        return self._total

    def _views(self, whole: Tensor) -> list[Tensor]:
        """One tensor's part for each parameter, in its shape."""
        parts = whole.split([part.numel() for part in self._parameters])
        return [part.view_as(parameter) for parameter, part in zip(self._parameters, parts, strict=True)]

    def _point_to(self, views: list[Tensor]) -> None:
        for parameter, view in zip(self._parameters, views, strict=True):
            parameter.grad = view


@contextmanager
def joined(device: str) -> Iterator[tuple[Peers, str]]:
    """The peers of this process, and its own device: of `cuda` each process of a machine takes another.

    `torchrun` tells each process its rank in the environment; without it a process is alone.
    """
    if int(os.environ.get("WORLD_SIZE", "1")) == 1:
        yield ALONE, device
        return
    on_gpu = device.partition(":")[0] == "cuda"
    if device == "cuda":
        device = f"cuda:{os.environ.get('LOCAL_RANK', '0')}"
    if on_gpu:
        torch.cuda.set_device(device)
    # This module keeps the group that it finds at its import, which Adam would bring about: then the group's threads
    # outlive it, and one that outlives the interpreter aborts the process.
    importlib.import_module("torch.distributed.nn")
    dist.init_process_group("nccl" if on_gpu else "gloo")
    peers = Peers(dist.get_rank(), dist.get_world_size(), device)
    try:
        yield peers, device
    finally:
        dist.destroy_process_group()
