"""The configuration: TOML, flags, and what is refused, each error naming the field and the value."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path
from typing import Any

import pytest

from smear_env import PRESETS, configs_folder

pytest.importorskip("torch")

from training.cli import parse
from training.config import TrainConfig, as_plain, config_from, game_rules, load_config, parse_options

FIELDS = [field.name for field in dataclasses.fields(TrainConfig)]
SMALL: dict[str, Any] = {"games": 12, "steps": 2, "minibatch": 4}


def flag(field: str) -> str:
    return "--" + field.replace("_", "-")


@pytest.mark.parametrize("path", sorted(configs_folder().glob("*.toml")), ids=lambda path: path.stem)
def test_committed_config__loads(path: Path) -> None:
    config = load_config(path)
    assert config.rules in PRESETS
    assert config.total_decisions >= config.batch


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("rules", "whist"),
        *((name, 0) for name in ("total_decisions", "games", "steps", "minibatch", "epochs", "threads")),
        *((name, -1) for name in ("seed", "evaluate_pairs", "stop_after")),
        *(
            (name, -0.1)
            for name in (
                "entropy",
                "bid_entropy",
                "final_entropy",
                "value_weight",
                "dealer_must_bid",
                "auction_by_chance",
                "gae_lambda",
            )
        ),
        *((name, 1.1) for name in ("dealer_must_bid", "auction_by_chance", "gae_lambda", "final_rate")),
        *((name, 0.0) for name in ("learning_rate", "clip", "max_gradient_norm", "checkpoint_minutes")),
        *(
            (name, float("nan"))
            for name in (
                "entropy",
                "bid_entropy",
                "auction_by_chance",
                "value_weight",
                "learning_rate",
                "gae_lambda",
                "clip",
            )
        ),
        ("learning_rate", float("inf")),
        ("seed", 2**63),
        ("hidden", ()),
        ("hidden", (64, 0)),
        ("critic_hidden", ()),
        ("critic_hidden", (64, 0)),
        ("critic_hidden", (-64,)),
        ("precision", "float16"),
        ("suits", "random"),
        ("critic_view", "own"),
        ("magnet", -1.0),
        ("past_share", 1.5),
        ("past_kept", 0),
        ("device", "abacus"),
        ("options", ("stock_to_bidder",)),
        ("options", ("stock_to_bidder=",)),
        ("options", ("stock_to_bidder=2.5",)),
        ("options", ("may_trump=maybe",)),
        ("options", ("colour=red",)),
        ("options", ("name=schmier",)),
        ("options", ("ending=never",)),
        ("options", ("stock_to_bidder=9",)),
        ("options", ("stock_to_bidder=2", "stock_to_bidder=3")),
        ("options", ("min_bid=3",)),
    ],
)
def test_config__value_without_meaning_is_refused_by_name(field: str, value: Any) -> None:
    named = value[0].partition("=")[0] if field == "options" else field
    with pytest.raises(ValueError, match=re.escape(named)):
        TrainConfig(**{field: value})


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"games": 4, "steps": 2, "minibatch": 9}, ["minibatch=9", "games=4", "steps=2"]),
        ({"options": ("all_pass=next_dealer",)}, ["all_pass", "dealer_must_bid=0.5"]),
        ({"rules": "schmier", "options": ("teams=2,3",)}, ["teams", "2, 3", "mixed"]),
        ({"options": ("dealer_takes_stock=true",)}, ["stock_to_bidder=3", "dealer_takes_stock=True"]),
    ],
)
def test_config__values_that_contradict_are_named(changed: dict[str, Any], named: list[str]) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011  the names are asserted below
        TrainConfig(**changed)
    assert all(part in str(caught.value) for part in named), caught.value


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("gmaes = 3", "'gmaes'"),
        ("games = 'many'", "games='many'"),
        ("games = 3.5", "games=3.5"),
        ("games = true", "games=True"),
        ("draw_scores = 1", "draw_scores=1"),
        ("clip = 'wide'", "clip='wide'"),
        ("clip = false", "clip=False"),
        ("hidden = 64", "hidden=64"),
        ("hidden = [64.0]", "hidden="),
        ("critic_hidden = 64", "critic_hidden=64"),
        ("critic_hidden = [true]", "critic_hidden="),
        ("auction_by_chance = true", "auction_by_chance=True"),
        ("baselines = 'greedy'", "baselines='greedy'"),
        ("[table]\ngames = 3", "'table'"),
        ("games = ", "TOML"),
        ("games = 3\ngames = 4", "TOML"),
        ("games = 0", "games=0"),
    ],
)
def test_toml__fault_is_named_with_the_file(tmp_path: Path, text: str, named: str) -> None:
    path = tmp_path / "bad.toml"
    path.write_text(text)
    with pytest.raises(ValueError, match=re.escape(named)) as caught:
        load_config(path)
    assert str(path) in str(caught.value)


def test_toml__that_is_missing_or_no_text_is_named(tmp_path: Path) -> None:
    (tmp_path / "bytes.toml").write_bytes(b"\xff\xfe\0")
    for name in ("absent.toml", "bytes.toml"):
        with pytest.raises(ValueError, match=name):
            load_config(tmp_path / name)


def test_toml__whole_number_serves_as_a_number(tmp_path: Path) -> None:
    (tmp_path / "one.toml").write_text("max_gradient_norm = 1\nhidden = [8, 8]")
    config = load_config(tmp_path / "one.toml")
    assert config.max_gradient_norm == 1.0
    assert isinstance(config.max_gradient_norm, float)
    assert config.hidden == (8, 8)


def test_config__survives_json() -> None:
    config = TrainConfig(rules="schmier", options=("teams=2",), hidden=(8, 8), critic_hidden=(4,), **SMALL)
    assert config_from(as_plain(config), "here") == config


@pytest.mark.parametrize("preset", PRESETS)
def test_games__share_in_which_the_dealer_must_bid(preset: str) -> None:
    rules = game_rules(TrainConfig(rules=preset, dealer_must_bid=0.25, **SMALL))
    assert len(rules) == 12
    if PRESETS[preset].all_pass != "dealer_bids":  # where he must always
        assert [one.all_pass == "dealer_bids" for one in rules].count(True) == 3


def test_games__options_are_spread_evenly() -> None:
    options = ("stock_to_bidder=0,2,3", "may_trump=true,false")
    rules = game_rules(TrainConfig(options=options, **SMALL))
    played = [(one.stock_to_bidder, one.may_trump, one.all_pass) for one in rules]
    # Six variants, each once with either reading of `all_pass`.
    assert len(set(played)) == 12


def test_parse_options__takes_one_value_each() -> None:
    assert parse_options("four_point", ("stock_to_bidder=2", "may_trump=False", "ending=cap")) == {
        "stock_to_bidder": 2,
        "may_trump": False,
        "ending": "cap",
    }
    with pytest.raises(ValueError, match="stock_to_bidder is given 2 values"):
        parse_options("four_point", ("stock_to_bidder=2,3",))
    with pytest.raises(ValueError, match="whist"):
        parse_options("whist", ())


# ------------------------------------------------------------------------------------------------ flags


def test_flags__override_the_file_and_the_file_the_defaults(tmp_path: Path) -> None:
    path = tmp_path / "run.toml"
    path.write_text('games = 64\nsteps = 8\nminibatch = 32\nseed = 5\nbaselines = ["greedy"]')
    config, resume = parse(
        [
            "--config",
            str(path),
            "--seed",
            "6",
            "--no-draw-scores",
            "--hidden",
            "8",
            "4",
            "--critic-hidden",
            "6",
        ]
    )
    assert (config.games, config.seed, config.draw_scores, config.hidden) == (64, 6, False, (8, 4))
    assert config.critic_hidden == (6,)
    assert config.baselines == ("greedy",)
    assert config.clip == TrainConfig().clip
    assert not resume


def test_flags__without_a_file_take_the_committed_config_of_the_rules() -> None:
    for preset in ("four_point", "schmier", "mini"):
        path = configs_folder() / f"{preset}.toml"
        expected = load_config(path) if path.is_file() else TrainConfig(rules=preset)
        assert parse(["--rules", preset, "--resume"]) == (expected, True)


def test_help__explains_every_field(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    with pytest.raises(SystemExit) as ended:
        parse(["--help"])
    assert ended.value.code == 0
    text = " ".join(re.sub(r"[│╭╮╰╯─]", " ", capsys.readouterr().out).split())
    source = Path(__import__("training.config").config.__file__).read_text()
    for name in FIELDS:
        explained = re.search(rf'^    {name}: .*\n    """(.*?)"""', source, re.MULTILINE)
        assert explained, f"{name} has no docstring"
        assert flag(name) in text
        assert re.sub(r"\W+", " ", explained[1]).strip() in re.sub(r"\W+", " ", text), name
    for name in ("--config", "--resume"):
        assert name in text


@pytest.mark.parametrize(
    ("given", "named"),
    [
        (["--gmaes", "3"], "--gmaes"),
        (["--games", "many"], "--games"),
        (["--games", "0"], "games=0"),
        (["--rules", "whist"], "whist"),
        (["--seed"], "--seed"),
        (["--minibatch", "999999999"], "minibatch=999999999"),
    ],
)
def test_flags__fault_is_named_without_a_traceback(
    capsys: pytest.CaptureFixture[str], given: list[str], named: str
) -> None:
    with pytest.raises(SystemExit) as ended:
        parse(given)
    assert ended.value.code not in (0, None)
    said = capsys.readouterr()
    assert named in said.out + said.err
    assert "Traceback" not in said.out + said.err
