"""Self-play in TorchRL: its `PettingZooWrapper`, masked policy, GAE and PPO loss; all seats share one network.

    python examples/torchrl_ppo.py --rules schmier --steps 200000 --out runs/torchrl

Every seat observes at every moment, so that values run over all steps; the seat to act (`mask`) teaches the policy. In
half of the games the dealer has to bid when all before him have passed: otherwise all learn to pass, and never to play.
What was learnt is written as a checkpoint of ours, which plays without TorchRL and without torch.
"""

from __future__ import annotations

from pathlib import Path

import torch
import tyro
from tensordict import TensorDict
from tensordict.nn import TensorDictModule
from torch import nn
from torchrl.collectors import Collector
from torchrl.envs import MarlGroupMapType, PettingZooWrapper, SerialEnv
from torchrl.modules import MaskedCategorical, ProbabilisticActor, ValueOperator
from torchrl.objectives import ClipPPOLoss
from torchrl.objectives.value import GAE

import smear_env
from smear_env.interop.checkpoint import save_layers
from training.evaluate import compare, summarize

SEATS = "agents"
"""TorchRL's name for a group of all agents."""
GAMES = 16
FRAMES = 2048
"""Steps between two updates."""
EPOCHS, MINIBATCH = 4, 256


def make_game(rules: smear_env.Rules) -> PettingZooWrapper:
    """One table of TorchRL, an episode a deal."""
    game = smear_env.env(rules=rules, episode="deal", reward="points")
    return PettingZooWrapper(game, use_mask=True, group_map=MarlGroupMapType.ALL_IN_ONE_GROUP)


class Scaled(nn.Module):
    """Layers over the int8 observation, each entry scaled to about -1..1."""

    def __init__(self, rules: smear_env.Rules, outputs: int) -> None:
        super().__init__()
        scale = torch.tensor(smear_env.observation_scale(rules))
        self.register_buffer("scale", scale)
        self.layers = nn.Sequential(
            nn.Linear(len(scale), 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, outputs)
        )

    def forward(self, observation: torch.Tensor) -> torch.Tensor:
        """[..., d] to [..., outputs]."""
        return self.layers(observation * self.scale)


def networks(rules: smear_env.Rules) -> tuple[ProbabilisticActor, ValueOperator]:
    """Policy and critic, both of a seat's own view."""
    seen = (SEATS, "observation", "observation")
    logits = TensorDictModule(Scaled(rules, len(rules.action_names)), [seen], [(SEATS, "logits")])
    actor = ProbabilisticActor(
        logits,
        in_keys={"logits": (SEATS, "logits"), "mask": (SEATS, "action_mask")},
        out_keys=[(SEATS, "action")],
        distribution_class=MaskedCategorical,
        return_log_prob=True,
        log_prob_key=(SEATS, "sample_log_prob"),
    )
    critic = ValueOperator(Scaled(rules, 1), in_keys=[seen], out_keys=[(SEATS, "state_value")])
    return actor, critic


def train(rules: smear_env.Rules, steps: int, out: Path, seed: int = 1) -> Path:
    """Learn from so many steps of self-play, and write the policy as a checkpoint into `out`, which is returned."""
    torch.manual_seed(seed)
    forced = smear_env.make_rules(rules, all_pass="dealer_bids")
    games = SerialEnv(GAMES, [lambda: make_game(rules), lambda: make_game(forced)] * (GAMES // 2))
    games.set_seed(seed)
    actor, critic = networks(rules)
    value = (SEATS, "state_value")
    gae = GAE(gamma=1.0, lmbda=0.95, value_network=critic)
    gae.set_keys(
        reward=(SEATS, "reward"), done=(SEATS, "done"), terminated=(SEATS, "terminated"), value=value
    )
    loss = ClipPPOLoss(actor, critic, clip_epsilon=0.2, entropy_coeff=0.02, critic_coeff=0.5)
    loss.set_keys(action=(SEATS, "action"), sample_log_prob=(SEATS, "sample_log_prob"), value=value)
    optimizer = torch.optim.Adam(loss.parameters(), 1e-3)
    for batch in Collector(games, actor, frames_per_batch=FRAMES, total_frames=steps):
        gae(batch)
        seats = {SEATS: batch[SEATS], **{key: batch[key] for key in ("advantage", "value_target")}}
        acted = TensorDict(seats, batch[SEATS].shape)[batch[SEATS, "mask"]]
        for _ in range(EPOCHS):
            for rows in torch.randperm(len(acted)).split(MINIBATCH):
                losses = loss(acted[rows])
                optimizer.zero_grad()
                (losses["loss_objective"] + losses["loss_critic"] + losses["loss_entropy"]).backward()
                torch.nn.utils.clip_grad_norm_(loss.parameters(), 0.5)
                optimizer.step()
        print(f"entropy {losses['entropy'].item():.2f}, critic {losses['loss_critic'].item():.2f}")
    linear = [layer for layer in actor.module[0].module.layers if isinstance(layer, nn.Linear)]
    layers = [(one.weight.detach(), one.bias.detach()) for one in linear]
    return save_layers(out, [rules, forced], layers, decisions=steps, seed=seed)


def main(
    rules: str = "four_point", steps: int = 200_000, seed: int = 1, out: Path = Path("runs/torchrl")
) -> None:
    """Train, and play duplicate deals against `passer`."""
    game = smear_env.make_rules(rules)
    agent = smear_env.load_policy(train(game, steps, out, seed))
    result = summarize(compare(agent, smear_env.make_agent("passer"), game, pairs=500, seed=1), seed=1)
    print(f"ahead of passer by {result['points_per_deal']:+.2f} points per deal, 95 % {result['interval']}")


if __name__ == "__main__":
    tyro.cli(main)
