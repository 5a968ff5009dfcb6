"""The processes of one run: `torchrun` starts several, each with games of its own; alone there is one.

Whatever is summed here is exact for any number of processes: one process that plays all the games learns the same.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

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
    sent: deque[Tensor] = field(default_factory=lambda: deque(maxlen=8), repr=False)
    """The last tensors exchanged. Gloo's threads let go of theirs late, and must not be the last to hold one when the
    interpreter is about to end."""

    @property
    def is_first(self) -> bool:
        """Whether this process reports, saves and evaluates."""
        return self.rank == 0

    def sum(self, tensor: Tensor) -> Tensor:
        """The sum over all processes; the tensor itself where there is one."""
        if self.size == 1:
            return tensor
        total = tensor.detach().to(self.device, copy=True)
        self.sent.append(total)
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
        self.sent.extend((own, *parts))
        dist.all_gather(parts, own)
        return torch.cat(parts).to(tensor.device)

    def own(self, tensor: Tensor) -> Tensor:
        """This process's part of what `gather` put together."""
        return tensor.chunk(self.size)[self.rank]

    def sum_gradients(self, network: nn.Module) -> None:
        """Replace each gradient by its sum over all processes, in one exchange."""
        if self.size == 1:
            return
        gradients = [part.grad for part in network.parameters() if part.grad is not None]
        total = self.sum(torch.cat([gradient.flatten() for gradient in gradients]))
        for gradient, part in zip(gradients, total.split([one.numel() for one in gradients]), strict=True):
            gradient.copy_(part.view_as(gradient))


ALONE = Peers()


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
    dist.init_process_group("nccl" if on_gpu else "gloo")
    peers = Peers(dist.get_rank(), dist.get_world_size(), device)
    try:
        yield peers, device
        dist.barrier()
    finally:
        dist.destroy_process_group()
