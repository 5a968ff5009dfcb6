"""Tutors: policies that a learner imitates before it goes its own way."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")

import torch

from tests.training_runs import GAMES, tiny
from training.metrics import DealCounts
from training.network import Network
from training.trainer import Trainer
from training.tutors import AT_ONCE, Tutors


def checkpoint(folder: Path, **changed: Any) -> str:
    """A checkpoint that has hardly learnt anything."""
    trainer = Trainer(tiny(folder, **changed))
    trainer.iterate(DealCounts(trainer.config.rules, trainer.free))
    trainer.save(folder)
    return str(folder)


@GAMES
def test_tutors__say_the_mean_of_their_logits(preset: str) -> None:
    torch.manual_seed(0)
    networks = [Network(preset, (8,), (8,), 2), Network(preset, (4, 4), (8,), 2)]
    seen = torch.randint(0, 3, (AT_ONCE + 5, len(networks[0].scale)), dtype=torch.int8)
    found = Tutors(networks).logits(seen)
    expected = (networks[0].logits(seen) + networks[1].logits(seen)) / 2
    np.testing.assert_allclose(found, expected.detach(), atol=1e-6)


def test_trainer__imitates_its_tutors_first_and_then_no_more(tmp_path: Path) -> None:
    tutors = (checkpoint(tmp_path / "one"), checkpoint(tmp_path / "other", seed=1))
    trainer = Trainer(tiny(tmp_path / "run", tutors=tutors, tutors_until=0.75, auction_by_chance=0.0))
    found = [trainer.iterate(DealCounts("four_point", trainer.free)) for _ in range(4)]
    assert [one["schedule/tutors"] for one in found] == pytest.approx([1, 2 / 3, 1 / 3, 0])
    assert min(one["policy/tutors_kl"] for one in found[:3]) > 0
    assert found[3]["policy/tutors_kl"] == 0


@GAMES
def test_trainer__comes_to_play_as_its_tutors_do(preset: str, tmp_path: Path) -> None:
    sharp = Trainer(tiny(tmp_path, rules=preset))
    with torch.no_grad():
        sharp.network.policy.weight.mul_(1000)
    sharp.save(tmp_path / "sharp")
    config = tiny(
        tmp_path / "run",
        rules=preset,
        tutors=(str(tmp_path / "sharp"),),
        tutors_until=1.0,
        hidden=(32,),
        total_decisions=512 * 60,
        auction_by_chance=0.0,
        learning_rate=5e-3,
        teacher_softness=1.0,
    )
    trainer = Trainer(config)
    distances = [trainer.iterate(DealCounts(preset, trainer.free))["policy/tutors_kl"] for _ in range(30)]
    assert np.mean(distances[-3:]) < 0.7 * distances[0]


def test_tutor__of_another_game_is_refused(tmp_path: Path) -> None:
    other = checkpoint(tmp_path / "other", rules="schmier")
    with pytest.raises(ValueError, match=r"tutors=.*other.* plays schmier .*, this run four_point"):
        Trainer(tiny(tmp_path / "run", tutors=(other,)))


def test_resume__goes_on_with_the_tutors(tmp_path: Path) -> None:
    config = tiny(tmp_path / "run", tutors=(checkpoint(tmp_path / "one"),), auction_by_chance=0.0)
    on = Trainer(config)
    on.iterate(DealCounts(config.rules, on.free))
    on.save(config.folder)
    off = Trainer(config)
    off.resume(config.folder)
    for trainer in (on, off):
        trainer.iterate(DealCounts(config.rules, trainer.free))
    for one, other in zip(on.network.parameters(), off.network.parameters(), strict=True):
        assert torch.equal(one, other)
