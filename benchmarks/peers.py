"""Other libraries' card and board games, driven as their documentation does and by their quickest path.

Peers are imported where they are made, in a process of their own, and one that is missing is reported as such. They
have no annotations that a type checker could use: `import_module` gives modules whose names are `Any`.
"""

from __future__ import annotations

import random
import tempfile
from contextlib import redirect_stderr
from functools import partial
from importlib import import_module
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.contestants import Contestant, Measure
from benchmarks.loops import aec_games, repeated

SPIEL, PLAIN, BUFFER = "OpenSpiel", "information_state_tensor", "make_observation"
ZOO, ENV, RAW_ENV = "PettingZoo", "AEC env()", "AEC raw_env()"
RLCARD, RLCARD_WAY = "RLCard", "env.step"
PGX, PGX_BATCH = "Pgx", 1024
PGX_WAY = f"jit scan, batch {PGX_BATCH}"
COLVER, COLVER_STEP, COLVER_DEALS = "colver", "Env.step", "whole deals"
PUFFER, PUFFER_BATCH = "PufferLib", 1024

_COLVER_SAMPLE = 3000
"""Random deals whose decisions are counted; the mean is known to about 0.2 %."""
_COLVER_DEALS = 200
"""Deals in one call of its rollout."""


def contestants() -> list[Contestant]:
    """Every peer, installed or not."""
    return [
        *(
            Contestant(SPIEL, game, (way,), partial(make, game), "open_spiel")
            for game in ("euchre", "spades")
            for way, make in ((PLAIN, spiel_plain), (BUFFER, spiel_buffer))
        ),
        *(
            Contestant(ZOO, game, (way,), partial(zoo, game, constructor), "pettingzoo")
            for game in ("connect_four_v3", "tictactoe_v3", "texas_holdem_v4")
            for way, constructor in ((ENV, "env"), (RAW_ENV, "raw_env"))
        ),
        Contestant(RLCARD, "bridge", (RLCARD_WAY,), partial(rlcard_game, "bridge"), "rlcard"),
        Contestant(PGX, "bridge_bidding", (PGX_WAY,), pgx_bidding, "pgx"),
        Contestant(COLVER, "belote", (COLVER_STEP,), colver_steps, "colver"),
        Contestant(COLVER, "belote", (COLVER_DEALS,), colver_deals, "colver"),
        Contestant(
            PUFFER,
            "tripletriad",
            (f"step, batch {PUFFER_BATCH}",),
            puffer,
            "pufferlib",
            remark="no mask; version 3.0.0 did 8.3 M/s on one core of a shared EPYC",
        ),
    ]


def zoo(game: str, constructor: str) -> Measure:
    """A classic environment of PettingZoo, `env` or `raw_env` with its defaults."""
    return aec_games(getattr(import_module(f"pettingzoo.classic.{game}"), constructor)())


def spiel_plain(name: str) -> Measure:
    """OpenSpiel by the calls of its Python API, a fresh tensor at each; the observation's if a game has no other."""
    game = import_module("pyspiel").load_game(name)
    tensor = "observation_tensor"
    if game.get_type().provides_information_state_tensor:
        tensor = "information_state_tensor"

    def observe(state: Any) -> None:
        np.asarray(getattr(state, tensor)(state.current_player()), np.float32)

    return _spiel_games(game, observe)


def spiel_buffer(name: str) -> Measure:
    """OpenSpiel with its observations written into one buffer: its quickest path from Python."""
    spiel = import_module("pyspiel")
    game = spiel.load_game(name)
    kind = spiel.IIGObservationType(perfect_recall=not game.get_type().provides_observation_tensor)
    observation = import_module("open_spiel.python.observation").make_observation(game, kind)
    return _spiel_games(game, lambda state: observation.set_from(state, state.current_player()))


def _spiel_games(game: Any, observe: Any) -> Measure:
    choices = random.Random(0)

    def play() -> int:
        decisions = 0
        state = game.new_initial_state()
        while not state.is_terminal():
            if state.is_chance_node():
                outcomes, chances = zip(*state.chance_outcomes(), strict=True)
                state.apply_action(choices.choices(outcomes, chances)[0])
                continue
            observe(state)
            np.asarray(state.legal_actions_mask(), np.bool_)
            state.apply_action(choices.choice(state.legal_actions()))
            decisions += 1
        return decisions

    return repeated(play)


def rlcard_game(name: str) -> Measure:
    """RLCard, with a mask made of the legal actions that it gives as a dict."""
    env = import_module("rlcard").make(name, config={"seed": 0})
    choices = random.Random(0)

    def play() -> int:
        decisions = 0
        shown, _ = env.reset()
        while not env.is_over():
            legal = list(shown["legal_actions"])
            mask = np.zeros(env.num_actions, np.bool_)
            mask[legal] = True
            shown, _ = env.step(choices.choice(legal))
            decisions += 1
        return decisions

    return repeated(play)


def pgx_bidding(steps: int = 16) -> Measure:
    """Pgx's bridge auction: `steps` steps of a batch inside one compiled scan, games restarting within it."""
    jax = import_module("jax")
    numpy = import_module("jax.numpy")
    bidding = import_module("pgx.bridge_bidding")
    with tempfile.TemporaryDirectory() as folder, redirect_stderr(StringIO()):  # it says what it reads
        env = bidding.BridgeBidding(str(_double_dummy_table(Path(folder))))
    advance = jax.vmap(import_module("pgx.experimental").auto_reset(env.step, env.init))

    def one_step(carried: Any, key: Any) -> Any:
        state, total = carried
        choice, restart = jax.random.split(key)
        legal = numpy.where(state.legal_action_mask, 0.0, -1e9)
        actions = jax.random.categorical(choice, legal, axis=-1)
        state = advance(state, actions, jax.random.split(restart, PGX_BATCH))
        # Summed, so that the compiler does not leave the observation out.
        return (state, total + state.observation.astype(numpy.float32).sum()), None

    @jax.jit  # type: ignore[untyped-decorator]  # `import_module` gives no types
    def scan(state: Any, key: Any) -> Any:
        keys = jax.random.split(key, steps)
        return jax.lax.scan(one_step, (state, numpy.float32(0)), keys)[0]

    key = jax.random.PRNGKey(0)
    state = jax.jit(jax.vmap(env.init))(jax.random.split(key, PGX_BATCH))

    def play() -> int:
        nonlocal state, key
        key, used = jax.random.split(key)
        state, total = scan(state, used)
        total.block_until_ready()
        return PGX_BATCH * steps

    play()
    return repeated(play)


def _double_dummy_table(folder: Path) -> Path:
    """A stand-in for the table of results that Pgx would fetch: 10,000 random deals with random results.

    [2, deals, 4] int32: a key for each suit, 13 digits to base 4 that say who holds each card, and the results.
    """
    generator = np.random.default_rng(0)
    deals = 10_000
    holders = generator.permuted(np.tile(np.repeat(np.arange(4), 13), (deals, 1)), axis=1)
    keys = holders.reshape(deals, 4, 13) @ 4 ** np.arange(12, -1, -1)
    results = generator.integers(0, 2**20, (deals, 4))
    path = folder / "results.npy"
    np.save(path, np.stack([keys, results]).astype(np.int32))
    return path


def colver_steps() -> Measure:
    """Belote in Rust, a decision at a time, with its observation as an array and its mask."""
    env = import_module("colver").Env()
    choices = random.Random(0)

    def play() -> int:
        decisions, done = 0, False
        observation, legal = env.reset()
        while not done:
            np.asarray(observation, np.float32)
            env.legal_action_mask()
            observation, _, done, legal = env.step(choices.choice(legal))
            decisions += 1
        return decisions

    return repeated(play)


def colver_deals() -> Measure:
    """Belote in Rust, whole deals without observation, at the mean number of decisions of a random deal.

    Its rollout plays the same cards again and again: one dealing is timed for `_COLVER_DEALS` deals.
    """
    env = import_module("colver").Env()
    choices = random.Random(0)

    def decisions() -> int:
        made, done = 0, False
        _, legal = env.reset()
        while not done:
            _, _, done, legal = env.step(choices.choice(legal))
            made += 1
        return made

    mean = sum(decisions() for _ in range(_COLVER_SAMPLE)) / _COLVER_SAMPLE

    def play() -> int:
        env.reset()
        env.rollout(_COLVER_DEALS)
        return round(_COLVER_DEALS * mean)

    return repeated(play)


def puffer() -> Measure:
    """A card game of PufferLib in C; it knows no mask, so actions are random and some illegal."""
    module = import_module("pufferlib.ocean.tripletriad.tripletriad")
    env = module.TripleTriad(num_envs=PUFFER_BATCH)
    env.reset(seed=0)
    count = env.single_action_space.n
    actions = np.random.default_rng(0).integers(0, count, (256, env.num_agents))
    turn = 0

    def play() -> int:
        nonlocal turn
        env.step(actions[turn % len(actions)])
        turn += 1
        return int(env.num_agents)

    return repeated(play)
