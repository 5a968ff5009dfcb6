"""Networks of the user's own: gradients by autograd, training, checkpoints, and play from them."""

from __future__ import annotations

import copy
import dataclasses
import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")

import torch
from torch import nn

from smear_env import (
    FOUR_POINT,
    POLICY_FILE,
    PRESETS,
    CheckpointError,
    Rules,
    SelfPlayVectorEnv,
    load_policy,
    make_agent,
    make_rules,
    register_agent,
    register_rules,
)
from tests.plugins import own
from tests.training_runs import tiny
from training.evaluation.deals import Deals
from training.evaluation.players import Player
from training.evaluation.run import _question
from training.exploit import _twin
from training.export import positions
from training.graph import PolicyGraph
from training.metrics import DealCounts
from training.network import load_network, make_network
from training.own_network import ByAutograd, NetworkShape, OwnPolicy, register_network
from training.peers import ALONE, Gradients
from training.stack import Stack
from training.trainer import Trainer

__all__ = ["own"]


def tower(inputs: int, width: int, outputs: int) -> nn.Module:
    return nn.Sequential(nn.Linear(inputs, width), nn.Tanh(), nn.Linear(width, outputs))


def small(shape: NetworkShape) -> tuple[nn.Module, nn.Module]:
    return (
        tower(shape.inputs, shape.hidden[0], shape.actions),
        tower(shape.critic_inputs, shape.critic_hidden[0], shape.teams),
    )


def trained(folder: Path, updates: int = 2, **changed: Any) -> Trainer:
    trainer = Trainer(tiny(folder, network="small", **changed))
    for _ in range(updates):
        trainer.iterate(DealCounts(trainer.config.rules, trainer.free))
    return trainer


def weights(trainer: Trainer) -> torch.Tensor:
    return torch.cat([parameter.detach().flatten() for parameter in trainer.network.parameters()])


def test_by_autograd__gradients_are_those_of_the_stack_that_has_them_written_out() -> None:
    torch.manual_seed(1)
    hidden, head, scale = nn.ModuleList([nn.Linear(6, 5)]), nn.Linear(5, 3), torch.linspace(0.5, 1, 6)
    vectors, slope = torch.randint(-3, 4, (7, 6), dtype=torch.int8), torch.randn(7, 3)
    found = []
    for part in (
        Stack(hidden, head, scale, low_precision=False),
        ByAutograd(nn.Sequential(hidden[0], nn.ReLU(), head), scale, low_precision=False),
    ):
        parameters = [*hidden.parameters(), *head.parameters()]
        for parameter in parameters:
            parameter.grad = torch.full_like(parameter, 99)  # what is left there from before
        with torch.no_grad():
            passed = part.forward(vectors)
            assert not passed.outputs.requires_grad
            part.backward(passed, slope)
        found.append([passed.outputs, *(parameter.grad.clone() for parameter in parameters)])
    for one, other in zip(*found, strict=True):
        torch.testing.assert_close(one, other)


def test_by_autograd__a_parameter_of_no_use_has_gradient_zero() -> None:
    module = tower(4, 3, 2)
    module.register_parameter("idle", nn.Parameter(torch.ones(2)))
    gradients = Gradients(ALONE, module)
    gradients.whole.fill_(0.5)
    module.idle.grad.fill_(99)
    part = ByAutograd(module, torch.ones(4), low_precision=False)
    part.backward(part.forward(torch.ones(3, 4, dtype=torch.int8)), torch.ones(3, 2))
    assert not module.idle.grad.any()
    assert module[0].weight.grad.any()


def test_own_network__learns_and_goes_on_bit_for_bit(own: Any, tmp_path: Path) -> None:
    register_network("small", small)
    through = trained(tmp_path / "through", 4)
    fresh = Trainer(tiny(tmp_path / "fresh", network="small"))
    assert not torch.equal(weights(through), weights(fresh))
    first = trained(tmp_path / "stopped", 2)
    first.save(tmp_path)
    second = Trainer(first.config)
    second.resume(tmp_path)
    for _ in range(2):
        second.iterate(DealCounts("four_point", second.free))
    assert torch.equal(weights(second), weights(through))


def test_own_network__keeps_past_selves_and_a_magnet_on_resume(own: Any, tmp_path: Path) -> None:
    register_network("small", small)
    changed = {"past_share": 0.5, "past_every": 1, "auction_by_chance": 0.0, "magnet": 0.1}
    through = trained(tmp_path / "through", 4, **changed)
    first = trained(tmp_path / "stopped", 2, **changed)
    assert len(first.past) == 2
    first.save(tmp_path)
    second = Trainer(first.config)
    second.resume(tmp_path)
    assert len(second.past) == 2
    for _ in range(2):
        second.iterate(DealCounts("four_point", second.free))
    assert torch.equal(weights(second), weights(through))


@pytest.mark.parametrize("features", [False, True])
@pytest.mark.parametrize("suits", ["ordered", "as_dealt"])
def test_own_policy__plays_what_the_network_says(
    own: Any, tmp_path: Path, suits: str, features: bool
) -> None:
    register_network("small", small)
    trainer = trained(tmp_path, suits=suits, features=features)
    trainer.save(tmp_path)
    agent = load_policy(tmp_path)
    assert isinstance(agent, OwnPolicy)
    agent.reset(FOUR_POINT, -1, 0)
    env = SelfPlayVectorEnv(32, "four_point", seed=4)
    shown = env.reset()
    for _ in range(20):
        seen = trainer.network.see(shown.observation, shown.mask)
        with torch.inference_mode():
            said = (
                trainer.network(torch.from_numpy(seen.observation), torch.from_numpy(seen.mask)).exp().numpy()
            )
        chances = agent.probabilities(shown.observation, shown.mask)
        # Suits are renamed, so that a row holds the same numbers in another order.
        np.testing.assert_allclose(np.sort(chances), np.sort(said), atol=1e-6)
        assert not chances[shown.mask == 0].any()
        actions = agent.act_batch(shown.observation, shown.mask)
        np.testing.assert_array_equal(actions, chances.argmax(axis=1))
        assert agent.act(shown.observation[0], shown.mask[0]) == actions[0]
        shown = env.step(actions)


@pytest.mark.parametrize("copier", [copy.deepcopy, lambda agent: pickle.loads(pickle.dumps(agent))])
def test_own_policy__copies_act_alike_and_apart(own: Any, tmp_path: Path, copier: Any) -> None:
    register_network("small", small)
    trained(tmp_path).save(tmp_path)
    agent, rows = load_policy(tmp_path, sample=True), positions(FOUR_POINT, games=8, steps=4)
    agent.reset(FOUR_POINT, -1, 5)
    other = copier(agent)
    for _ in range(3):
        np.testing.assert_array_equal(agent.act_batch(*rows), other.act_batch(*rows))


def test_own_policy__is_refused_where_nobody_registered_its_network(own: Any, tmp_path: Path) -> None:
    register_network("small", small)
    trained(tmp_path).save(tmp_path)
    described = tmp_path / "checkpoint" / POLICY_FILE
    content = json.loads(described.read_text())
    assert content["network"]["kind"] == "small"
    content["training"]["plugins"] = ["their_module"]
    content["network"]["kind"] = "theirs"
    described.write_text(json.dumps(content))
    told = (
        r"field 'network.kind' is 'theirs'.*register_network.*torch.*trained with SMEAR_PLUGINS=their_module"
    )
    for load in (load_policy, make_agent):
        with pytest.raises(ValueError, match=told):
            load(tmp_path)
    with pytest.raises(ValueError, match=r"network='theirs' must be one of mlp"):
        load_network(tmp_path / "checkpoint")


def test_checkpoint__of_a_game_that_nobody_registered_says_what_to_import(own: Any, tmp_path: Path) -> None:
    trainer = Trainer(tiny(tmp_path, rules="pocket", plugins=("own_rules",)))
    trainer.save(tmp_path)
    assert load_policy(tmp_path).description["preset"] == "pocket"
    PRESETS.pop("pocket")
    own.setenv("SMEAR_PLUGINS", "")
    told = r"field 'preset': rules='pocket' is not a preset.*trained with SMEAR_PLUGINS=own_rules"
    with pytest.raises(CheckpointError, match=told):
        load_policy(tmp_path)


@pytest.mark.parametrize("features", [False, True])
@pytest.mark.parametrize("suits", ["ordered", "as_dealt"])
def test_own_policy__travels_as_a_graph_of_the_same_probabilities(
    own: Any, tmp_path: Path, suits: str, features: bool
) -> None:
    register_network("small", small)
    trained(tmp_path, suits=suits, features=features, learning_rate=0.02).save(tmp_path)
    rows = positions(FOUR_POINT, games=32, steps=30)
    wanted = load_policy(tmp_path).probabilities(*rows)
    assert 0.3 < wanted.max(axis=1).mean() < 0.99
    found, _ = PolicyGraph.of_checkpoint(tmp_path / "checkpoint")(*map(torch.from_numpy, rows))
    np.testing.assert_allclose(found.numpy(), wanted, atol=1e-5)


def test_own_policy__cannot_be_searched_from(own: Any, tmp_path: Path) -> None:
    register_network("small", small)
    trained(tmp_path).save(tmp_path)
    searching = make_agent(f"{tmp_path}+search-4")
    with pytest.raises(ValueError, match="cannot be searched from: its network is of the kind 'small'"):
        searching.reset(FOUR_POINT, -1, 0)


def test_own_network__of_a_target_is_what_an_exploiter_begins_with(own: Any, tmp_path: Path) -> None:
    register_network("small", small)
    trained(tmp_path).save(tmp_path)
    twin = _twin(tiny(tmp_path / "exploiter", target=str(tmp_path)))
    assert twin.network == "small"
    Trainer(twin).iterate(DealCounts("four_point", np.ones(32, bool)))
    with pytest.raises(CheckpointError, match=r"is of .*'small'"):
        Trainer(tiny(tmp_path / "other", start=str(tmp_path)))


def test_player__an_own_agents_source_is_part_of_what_it_is(own: Any, tmp_path: Path) -> None:
    register_network("small", small)
    trained(tmp_path).save(tmp_path)
    (tmp_path / "own_player.py").write_text("import smear_env\nclass Mine(smear_env.BaseAgent):\n    pass\n")
    own.syspath_prepend(str(tmp_path))
    from own_player import Mine  # type: ignore[import-not-found]

    register_agent("mine", Mine)
    told = {name: Player(name).describe(make_agent(name)) for name in ("mine", "greedy", str(tmp_path))}
    assert "files_sha256" not in told["greedy"]
    assert told["mine"]["files_sha256"] != told[str(tmp_path)]["files_sha256"]
    assert told[str(tmp_path)]["weights_sha256"]


def test_evaluation__what_own_rules_are_is_part_of_what_is_asked(own: Any) -> None:
    def asked(rules: Rules) -> Any:
        return _question((), {}, rules, Deals(1), 16, matches=False)

    own.setenv("SMEAR_PLUGINS", "own_rules")
    before = make_rules("pocket")
    first = asked(before)
    del PRESETS["pocket"]
    assert asked(register_rules(dataclasses.replace(before, target=12))) != first
    assert "preset" not in asked(FOUR_POINT), "finished evaluations of our games are found again"


def shared(shape: NetworkShape) -> tuple[nn.Module, nn.Module]:
    one = nn.Linear(4, 4)
    return (
        nn.Sequential(nn.Linear(shape.inputs, 4), one, nn.Linear(4, shape.actions)),
        nn.Sequential(nn.Linear(shape.critic_inputs, 4), one, nn.Linear(4, shape.teams)),
    )


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (shared, "share 2 parameters"),
        (
            lambda s: (tower(s.inputs, 4, s.actions + 1), tower(s.critic_inputs, 4, s.teams)),
            r"the policy makes \(2, 37\)",
        ),
        (
            lambda s: (tower(s.inputs, 4, s.actions), tower(s.critic_inputs, 4, 1)),
            r"the critic makes \(2, 1\)",
        ),
        (lambda s: (tower(s.inputs, 4, s.actions).double(), tower(s.critic_inputs, 4, 2)), "must be float32"),
    ],
)
def test_own_network__that_is_unfit_is_refused_by_name(own: Any, make: Any, told: str) -> None:
    register_network("unfit", make)
    with pytest.raises(ValueError, match=f"network='unfit'.*{told}"):
        make_network("unfit", "four_point", (8,), (8,), 2)


def test_register_network__a_name_is_given_once(own: Any) -> None:
    register_network("small", small)
    register_network("small", small)  # as a cell of a notebook does that runs again
    for name in ("small", "mlp"):
        with pytest.raises(ValueError, match=f"network {name!r} is registered already"):
            register_network(name, shared)
