"""Modules that SMEAR_PLUGINS names register rules, agents and rewards, which are found by name everywhere."""

from __future__ import annotations

import dataclasses
import importlib
import json
import os
import pickle
import subprocess
import sys
import textwrap
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import smear_env
from smear_env import FOUR_POINT, Rules, make_agent, make_rules, register_rules
from smear_env.agents.expert.book import load_book
from smear_env.plugins import add_plugins, load_plugins, plugin_names
from smear_env.single import SmearSingleEnv
from smear_env.transcript import check_match, record_match
from tests.plugins import EXAMPLES, ROOT, own

__all__ = ["own"]


def pocket(**changed: Any) -> Rules:
    fields = {"name": "pocket", "ranks": "9TJQKA", "hand_size": 5, "stock_to_bidder": 2, "target": 11}
    return dataclasses.replace(FOUR_POINT, **{**fields, **changed})


def command(*arguments: str, folder: Path, plugins: str = "") -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{folder}", "SMEAR_PLUGINS": plugins}
    return subprocess.run(
        [sys.executable, *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


def test_rules__of_another_name_are_played_once_they_are_registered(own: Any) -> None:
    rules = pocket()
    for use in (make_rules, smear_env.env, lambda it: smear_env.SelfPlayVectorEnv(2, it, seed=0)):
        with pytest.raises(ValueError, match=r"'pocket' is not a preset.*register_rules.*SMEAR_PLUGINS"):
            use(rules)
    assert register_rules(rules) is rules
    assert make_rules("pocket") == rules
    assert smear_env.SelfPlayVectorEnv(2, "pocket", seed=0).reset().mask.shape == (2, len(rules.action_names))


def test_rules__a_name_stands_for_one_game(own: Any) -> None:
    register_rules(pocket())
    register_rules(pocket())  # the same once more is nothing new
    with pytest.raises(ValueError, match="'pocket' is a preset already"):
        register_rules(pocket(target=12))
    with pytest.raises(ValueError, match="'four_point' is a preset already"):
        register_rules(dataclasses.replace(FOUR_POINT, target=12))


@pytest.mark.parametrize("name", ["", "Pocket", "two words", "../up", "2nd"])
def test_rules__a_name_that_no_file_should_have_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="name="):
        pocket(name=name)


def test_rules__options_are_told_against_the_preset_of_the_name(own: Any) -> None:
    register_rules(pocket())
    changed = make_rules("pocket", stock_to_bidder=1)
    assert changed.options() == {"stock_to_bidder": 1}
    assert smear_env.layout_hash(changed) == smear_env.layout_hash(make_rules("pocket"))
    layout = smear_env.observation_layout(changed)
    assert layout["hand"].size == 24
    assert layout["tricks_done"].largest == 5


@pytest.mark.parametrize("agent", ["random", "greedy", "expert", "ismcts-4"])
def test_rules__every_agent_plays_them_and_the_transcript_agrees(own: Any, agent: str) -> None:
    register_rules(pocket())
    match = record_match(make_rules("pocket"), seed=3, game=0, agents=agent, max_deals=2)
    assert match["rules"] == "pocket"
    check_match(json.loads(json.dumps(match)))
    assert any(len(deal["actions"]) > 20 for deal in match["deals"])


def test_expert__plays_a_game_without_tables_by_those_of_the_nearest(own: Any) -> None:
    register_rules(pocket())
    borrowed, known = (
        load_book(make_rules("pocket"))[0],
        load_book(make_rules("four_point", stock_to_bidder=2))[0],
    )
    for field in ("makes", "passed", "weights"):
        np.testing.assert_array_equal(borrowed[field], known[field])
    assert not np.array_equal(borrowed["stronger"], known["stronger"]), (
        "what follows from the deck is its own"
    )


def test_expert__refuses_a_game_unlike_all_that_have_tables(own: Any) -> None:
    joker = dataclasses.replace(
        smear_env.SCHMIER, name="no_bowers", bowers=False, max_bid=5, protect_scoring=False
    )
    register_rules(joker)
    with pytest.raises(ValueError, match=r"no tables for rules='no_bowers'.*bowers=False and 1 jokers"):
        load_book(joker)


def test_plugins__are_imported_when_a_name_is_not_known(own: Any) -> None:
    own.setenv("SMEAR_PLUGINS", "own_rules, own_reward")
    assert "own_rules" not in sys.modules
    assert make_rules("four_point").name == "four_point"
    assert "own_rules" not in sys.modules, "what is known asks for no plugin"
    assert make_rules("pocket").hand_size == 5
    assert smear_env.reward_named("careful")([1], np.array([3]) - 0, 0) is not None


def test_plugins__that_cannot_be_imported_are_named(own: Any) -> None:
    own.setenv("SMEAR_PLUGINS", "own_nothing")
    with pytest.raises(ValueError, match=r"plugin 'own_nothing' cannot be imported.*PYTHONPATH"):
        make_rules("pocket")


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        (
            "own_broken",
            "import smear_env\nprint(nothing)",
            "failed in line 2 while it was imported: NameError",
        ),
        ("own_unclear", "if True\n", "failed while it was imported: SyntaxError"),
        (
            "own_needing",
            "import surely_not_there",
            "failed in line 1 while .*No module named 'surely_not_there'$",
        ),
        (
            "own_clash",
            "import smear_env\nsmear_env.register_agent('greedy', list)",
            "failed in line 2 .*'greedy' is registered already: choose another name",
        ),
        ("own_fine.py", "", "name the module as `import` does"),
    ],
)
def test_plugin__that_fails_is_told_with_its_line(
    own: Any, tmp_path: Path, name: str, content: str, told: str
) -> None:
    (tmp_path / f"{name.removesuffix('.py')}.py").write_text(content)
    own.syspath_prepend(str(tmp_path))
    own.setenv("SMEAR_PLUGINS", name)
    with pytest.raises(ValueError, match=f"plugin '{name}' .*{told}"):
        make_rules("pocket")


def test_plugin__that_failed_is_imported_once_it_is_mended(own: Any, tmp_path: Path) -> None:
    plugin = tmp_path / "own_begun.py"
    content = (EXAMPLES / "own_agent.py").read_text()
    plugin.write_text(f"{content}\nraise RuntimeError('half way')\n")
    own.syspath_prepend(str(tmp_path))
    own.setenv("SMEAR_PLUGINS", "own_begun")
    own.setattr(sys, "dont_write_bytecode", True)  # two contents within a second would be taken for one
    with pytest.raises(ValueError, match="half way"):
        make_agent("nobody")
    plugin.write_text(content)
    importlib.invalidate_caches()
    assert type(make_agent("aces")).__module__ == "own_begun"
    load_plugins()
    assert "own_begun" in sys.modules, "what was registered before it failed is registered again"


def test_plugins__are_found_in_the_working_folder_by_any_command(own: Any, tmp_path: Path) -> None:
    (tmp_path / "own_here.py").write_text((EXAMPLES / "own_rules.py").read_text())
    own.chdir(tmp_path)
    # As in an installed command, which Python begins in its own folder.
    own.setattr(sys, "path", [folder for folder in sys.path if folder not in ("", str(tmp_path))])
    own.setenv("SMEAR_PLUGINS", "own_here")
    assert make_rules("pocket").hand_size == 5


def test_plugins__added_are_told_to_processes_started_later(own: Any) -> None:
    own.setenv("SMEAR_PLUGINS", "own_rules")
    add_plugins(["own_reward", "own_rules"])
    assert plugin_names() == ("own_rules", "own_reward")
    assert os.environ["SMEAR_PLUGINS"] == "own_rules,own_reward"
    assert "pocket" in smear_env.PRESETS


def test_plugin__that_is_the_program_itself_is_not_run_twice(tmp_path: Path) -> None:
    (tmp_path / "own_main.py").write_text(
        textwrap.dedent("""
            import smear_env
            print("imported")
            smear_env.register_agent("mine", smear_env.BaseAgent)
            if __name__ == "__main__":
                smear_env.add_plugins(["own_main"])
                print("mine" in smear_env.agent_names())
            """)
    )
    done = command("own_main.py", folder=tmp_path)
    assert done.stdout.split() == ["imported", "True"], done.stderr


def test_commands__know_the_rules_of_a_plugin(tmp_path: Path) -> None:
    plugin = tmp_path / "own_rules.py"
    plugin.write_text((EXAMPLES / "own_rules.py").read_text())
    record = (
        "-m",
        "smear_env.transcript",
        "record",
        "--rules",
        "pocket",
        "--matches",
        "1",
        "--out",
        "m.jsonl",
    )
    assert "pocket" in command(*record, folder=tmp_path, plugins="own_rules").stdout
    check = ("-m", "smear_env.transcript", "check", "m.jsonl")
    assert command(*check, folder=tmp_path, plugins="own_rules").returncode == 0
    told = command(*check, folder=tmp_path).stderr
    assert 'found "pocket"' in told
    assert "SMEAR_PLUGINS" in told


def test_rules__in_a_process_that_knows_them_not_are_refused_with_the_remedy(own: Any) -> None:
    stored = pickle.dumps(register_rules(pocket()))
    del smear_env.PRESETS["pocket"]
    with pytest.raises(ValueError, match="SMEAR_PLUGINS"):
        smear_env.SelfPlayVectorEnv(1, pickle.loads(stored), seed=0)
    own.setenv("SMEAR_PLUGINS", "own_rules")
    assert smear_env.SelfPlayVectorEnv(1, pickle.loads(stored), seed=0).rules.name == "pocket"


def test_reward__of_a_name_is_paid_by_every_environment(own: Any) -> None:
    paid: list[Any] = []

    def noted(before: Any, after: Any, dealer: int) -> Any:
        paid.append((before.tolist(), after.tolist(), dealer))
        return [7.0, -3.0]

    smear_env.register_reward("noted", noted)
    games = smear_env.SelfPlayVectorEnv(8, "four_point", seed=1, episode="deal", reward="noted")
    env = smear_env.raw_env("four_point", episode="deal", reward="noted")
    agent = make_agent("greedy")
    agent.reset(FOUR_POINT, -1, 0)
    shown, ended = games.reset(), np.zeros(8, bool)
    while not ended.any():
        shown = games.step(agent.act_batch(shown.observation, shown.mask))
        ended = shown.terminated
    np.testing.assert_array_equal(shown.reward[ended], [[7, -3]] * ended.sum())
    env.reset(seed=1)
    while not env.terminations[env.agent_selection]:
        seen = env.observe(env.agent_selection)
        env.step(agent.act(seen["observation"], seen["action_mask"]))
    assert [env.rewards[f"seat_{seat}"] for seat in range(4)] == [7, -3, 7, -3]
    assert len(paid) == ended.sum() + 1


def test_reward__a_name_is_given_once_and_an_unknown_one_told(own: Any) -> None:
    smear_env.register_reward("once", lambda before, after, dealer: [0, 0])  # of which none is another anew
    for name in ("once", "points", "match"):
        with pytest.raises(ValueError, match=f"{name!r} is registered already"):
            smear_env.register_reward(name, lambda before, after, dealer: [0, 0])
    with pytest.raises(ValueError, match=r"reward='twice' must be one of 'match', 'points', 'once'"):
        smear_env.raw_env(reward="twice")


class Odd(smear_env.BaseAgent):
    """Gives what it is told to."""

    given: Any = -1

    def act_batch(self, observations: Any, masks: Any) -> Any:
        return np.array([self.given] * len(masks))


ODD = pytest.mark.parametrize(
    ("given", "told"),
    [
        (-1, r"agent 'Odd' chose action -1 in row 0, where \[.*\] are legal"),
        (999, "999"),
        (3.7, "agent 'Odd' gave actions of shape .* and type float64, expected .* integers"),
        ([[1, 2]], "agent 'Odd' gave actions of shape"),
    ],
)


@ODD
def test_agent__that_gives_no_action_is_named_by_the_gymnasium_shell(own: Any, given: Any, told: str) -> None:
    own.setattr(Odd, "given", given)
    env = SmearSingleEnv("four_point", seat=3, opponents=Odd, partner=Odd)
    with pytest.raises(ValueError, match=told):
        env.reset(seed=1)


@ODD
def test_agent__that_gives_no_action_is_named_by_an_evaluation(own: Any, given: Any, told: str) -> None:
    pytest.importorskip("scipy")
    from training.evaluate import evaluate

    own.setattr(Odd, "given", given)
    smear_env.register_agent("odd", Odd)
    with pytest.raises(ValueError, match=told):
        evaluate("odd", "passer", FOUR_POINT, pairs=2)


class Twice(smear_env.BaseAgent):
    """Registered by a name."""


def test_agent__written_anew_takes_the_place_of_the_one_before(own: Any) -> None:
    smear_env.register_agent("twice", Twice)
    anew = type("Twice", (smear_env.BaseAgent,), {"__module__": __name__})  # a cell of a notebook, run again
    smear_env.register_agent("twice", anew)
    assert type(make_agent("twice")) is anew
    for other in (type("Thrice", (Twice,), {}), partial(Twice)):
        with pytest.raises(ValueError, match="agent 'twice' is registered already: choose another name"):
            smear_env.register_agent("twice", other)


def test_agent__not_known_is_told_how_to_be(own: Any) -> None:
    with pytest.raises(ValueError, match=r"'aces' is no registered agent.*SMEAR_PLUGINS"):
        make_agent("aces")
