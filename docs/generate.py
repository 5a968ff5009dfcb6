"""Write the generated pages: docs/observation.md, configuration.md, leaderboard.md, compatibility.md, and a table in
docs/integrations.md.

python docs/generate.py            write them
python docs/generate.py --check    exit 1, naming each page that is out of date
"""

from __future__ import annotations

import ast
import json
import re
import sys
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from smear_env import PRESETS, Rules, layout_hash, observation_layout, state_layout
from training.leaderboard import leaderboard

ROOT = Path(__file__).resolve().parent.parent
NOTICE = "<!-- Written by docs/generate.py; do not edit. -->"

OBSERVATION_HEAD = f"""# Observations, state and actions

{NOTICE}

What `observe()`, `state()` and the action ids of each preset hold, as `smear_env.observation_layout`, `state_layout`
and `env.unwrapped.action_names` say it. A layout depends on the preset alone, never on its options, and belongs to
the environment's version, `smear_v0`.

Both are flat `int8` vectors: flags first, then numbers saturated to -100..100. `observation * observation_scale(rules)`
is about -1..1. The rows of a piece are `vector[piece.slice].reshape(piece.shape)`; `pieces(vector, layout)` gives all
of them by name, `decode(observation, rules)` the ordered history.

- In an **observation** seats and teams are counted clockwise from the seat that looks: row 0 is itself or its own
  team. What this seat cannot know is not in it.
- In the **state** they are absolute, and everything is in it.
- A piece of so many entries as there are cards is indexed by card id, which is the action id of the card; suits are in
  the order C D H S (`mini`: C S).
- `schmier` has room for three teams also when two play; slots of absent teams are 0."""

OPTIONS_HEAD = """## The `options` piece

The same entries in every preset, and last, where there are two jokers, those of `joker_order`: numbers as they are,
switches 0 or 1, choices one flag for each value. [The rules](rules.md#options) say what each means."""

CONFIGURATION_HEAD = f"""# Training configuration

{NOTICE}

Every field of `training.config.TrainConfig` is a key of the files in `configs/` and a flag of `python -m training.ppo`,
which explains them with `--help`. Flags go before the file, the file before the defaults. Unknown keys, values of a
wrong type and contradictions are refused."""

COMPATIBILITY_HEAD = f"""# Compatibility

{NOTICE}

What was tested together, with the quick half of the tests of environments and policies. Each row is an environment of
its own, in which pip installed the package beside these versions, and every warning was an error, at the import and in
the tests. `.ci/versions` runs all rows or those it is given; `--record` keeps what came out in
`benchmarks/versions.json`, which this page is made from. CI runs two files of these tests under the first and the last
row. The first is the lower bounds that `pyproject.toml` declares."""


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A Markdown table."""
    lines = [list(head)]
    lines += [["---"] * len(lines[0])]
    lines += [[cell.replace("|", "\\|").replace("\n", " ") for cell in row] for row in rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def piece_table(layout: Mapping[str, Any]) -> str:
    """One line for each piece of a vector."""
    rows = []
    for piece in layout.values():
        shape = " x ".join(map(str, piece.shape))
        span = f"{piece.slice.start}:{piece.slice.stop}"
        values = "0 or 1" if piece.largest == 1 and piece.name != "options" else "numbers"
        meaning = (
            "every rule option, [listed below](#the-options-piece)"
            if piece.name == "options"
            else piece.meaning
        )
        rows.append((f"`{piece.name}`", f"`{span}`", shape, values, meaning))
    return table(("piece", "slice", "shape", "values", "meaning"), rows)


def length(layout: Mapping[str, Any]) -> int:
    """Entries of the vector that a layout describes."""
    return max(piece.slice.stop for piece in layout.values())


def size_line(rules: Rules) -> str:
    """Cards, seats, actions and hash of a preset."""
    cards, actions = len(rules.card_names), len(rules.action_names)
    return f"{cards} cards, {rules.players} seats, {actions} actions; layout hash `{layout_hash(rules)}`."


def option_lines(rules: Rules) -> str:
    """The entries of the `options` piece by index."""
    names = observation_layout(rules)["options"].meaning.partition(": ")[2].split(", ")
    return table(("index", "entry"), ((str(i), f"`{name}`") for i, name in enumerate(names)))


def action_table(rules: Rules) -> str:
    """Action ids in runs: cards by suit, jokers, pass, bids, naming trump."""
    names = rules.action_names
    rows = []
    for suit in rules.suits:
        ids = [i for i, name in enumerate(names) if len(name) == 2 and name[1] == suit]
        rows.append(
            (
                f"{ids[0]} to {ids[-1]}",
                f"`{names[ids[0]]}` to `{names[ids[-1]]}`",
                "play, discard or exchange",
            )
        )
    for joker in rules.joker_names:
        which = {"LJ": "the little joker", "BJ": "the big joker"}.get(joker, "the joker")
        rows.append((str(names.index(joker)), f"`{joker}`", f"{which}, likewise"))
    rows.append((str(names.index("pass")), "`pass`", "bid nothing; stop exchanging"))
    low, high = names.index(str(rules.min_bid)), names.index(str(rules.max_bid))
    rows.append((f"{low} to {high}", f"`{names[low]}` to `{names[high]}`", "bid so many points"))
    if rules.trump_named:
        first = names.index(f"trump:{rules.suits[0]}")
        rows.append((f"{first} to {len(names) - 1}", f"`{names[first]}` to `{names[-1]}`", "name trump"))
    return table(("id", "name", "meaning"), rows)


def observation_page() -> str:
    """docs/observation.md."""
    parts = [OBSERVATION_HEAD]
    for name, rules in PRESETS.items():
        view, full = observation_layout(rules), state_layout(rules)
        parts += [
            f"## `{name}`",
            size_line(rules),
            f"### Actions of `{name}`",
            action_table(rules).rstrip(),
            f"### Observation of `{name}`: {length(view)} entries",
            piece_table(view).rstrip(),
            f"### State of `{name}`: {length(full)} entries",
            piece_table(full).rstrip(),
        ]
    parts += [
        OPTIONS_HEAD,
        option_lines(PRESETS["six_point"]).rstrip(),
    ]
    return "\n\n".join(parts) + "\n"


def dataclass_fields(source: str, name: str) -> list[tuple[str, str, str, str]]:
    """(name, type, default, docstring) of each field of a dataclass, read from its source."""
    tree = ast.parse(source)
    body = next(node.body for node in tree.body if isinstance(node, ast.ClassDef) and node.name == name)
    fields = []
    for node, after in zip(body, [*body[1:], None], strict=True):
        if not isinstance(node, ast.AnnAssign) or not isinstance(node.target, ast.Name):
            continue
        doc = after.value if isinstance(after, ast.Expr) else None
        if not isinstance(doc, ast.Constant) or not isinstance(doc.value, str):
            raise ValueError(f"{name}.{node.target.id} has no docstring under it")
        default = ast.unparse(node.value) if node.value else "required"
        fields.append((node.target.id, ast.unparse(node.annotation), default, " ".join(doc.value.split())))
    return fields


def configuration_page() -> str:
    """docs/configuration.md."""
    fields = dataclass_fields((ROOT / "training" / "config.py").read_text(encoding="utf-8"), "TrainConfig")
    files = {
        path.stem: tomllib.loads(path.read_text(encoding="utf-8"))
        for path in sorted(ROOT.glob("configs/*.toml"))
    }
    rows = [
        (f"`{name}`", f"`--{name.replace('_', '-')}`", f"`{kind}`", f"`{default}`", doc)
        for name, kind, default, doc in fields
    ]
    parts = [
        CONFIGURATION_HEAD,
        table(("key", "flag", "type", "default", "meaning"), rows).rstrip(),
    ]
    if files:
        changed = [name for name, *_ in fields if any(name in values for values in files.values())]
        parts += [
            "## The committed files",
            "What each sets apart from the defaults; the reasons stand in the files.",
            table(
                ("key", *(f"`{name}.toml`" for name in files)),
                (
                    (f"`{key}`", *(f"`{values[key]}`" if key in values else "" for values in files.values()))
                    for key in changed
                ),
            ).rstrip(),
        ]
    return "\n\n".join(parts) + "\n"


def leaderboard_page() -> str:
    """docs/leaderboard.md."""
    return leaderboard(ROOT / "benchmarks" / "results")


def compatibility_page() -> str:
    """docs/compatibility.md."""
    packages = {"numpy": "NumPy", "numba": "Numba", "gymnasium": "Gymnasium", "pettingzoo": "PettingZoo"}
    rows = []
    results = json.loads((ROOT / "benchmarks" / "versions.json").read_text(encoding="utf-8"))
    for name, one in results.items():
        found = one.get("versions", {"python": one["python"]})
        outcome = one.get("failed") or f"{one['tests']} tests passed"
        cells = (found.get(package, "") for package in packages)
        rows.append((f"`{name}`", found["python"], *cells, outcome, one["date"]))
    return f"{COMPATIBILITY_HEAD}\n\n{table(('row', 'Python', *packages.values(), 'result', 'on'), rows)}"


def library_row(name: str, entry: Mapping[str, Any]) -> tuple[str, ...]:
    """One integration: what examples/integrations.toml says of it, and what came out when it was last recorded."""
    if "not_built" in entry:
        return (entry["library"], "", "", "", "", "", "", f"not tested: {entry['not_built']}", "")
    path = ROOT / "benchmarks" / "integrations" / f"{name}.json"
    found = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    # Another version may be pinned by now: then the result is no longer of what is asked for.
    pinned = {
        name.partition("[")[0]: version
        for name, _, version in (
            one.partition("==") for one in (*entry["requirements"], *entry.get("without_dependencies", []))
        )
    }
    versions = found.get("versions", {})
    stale = found and any(
        version.partition("+")[0] not in versions.get(name, "") for name, version in pinned.items()
    )
    result = found.get("result", "not run yet") + (" (with other versions)" if stale else "")
    margins = [
        f"{one['rules']}: {one['points_per_deal']:+.2f} [{one['interval'][0]:+.2f}, {one['interval'][1]:+.2f}]"
        for one in found.get("margins", [])
        if one["against"] == "passer"
    ]
    example = entry.get("example", "")
    return (
        entry["library"],
        ", ".join(f"{name} {version}" for name, version in versions.items()),
        ", ".join(entry["kind"]),
        entry["mask"],
        entry["self_play"] or "no",
        f"[{example}](../examples/{example})" if example else "[snippet](#snippets)",
        f"[{Path(entry['test']).name}](../{entry['test']})",
        f"{result} {found.get('date', '')}".strip(),
        "<br>".join(margins),
    )


def integrations_page() -> str:
    """docs/integrations.md as it is, with the table of what was tested written anew."""
    tables = tomllib.loads((ROOT / "examples" / "integrations.toml").read_text(encoding="utf-8"))
    head = (
        "library",
        "versions",
        "kind",
        "mask",
        "self-play",
        "example",
        "test",
        "result",
        "ahead of passer",
    )
    matrix = table(head, (library_row(name, entry) for name, entry in tables.items()))
    page = (ROOT / "docs" / "integrations.md").read_text(encoding="utf-8")
    between = re.compile(
        r"(?<=<!-- matrix: written by docs/generate.py; do not edit. -->\n).*?(?=<!-- end)", re.DOTALL
    )
    return between.sub(lambda _: f"\n{matrix}\n", page, count=1)


PAGES = {
    "docs/observation.md": observation_page,
    "docs/configuration.md": configuration_page,
    "docs/leaderboard.md": leaderboard_page,
    "docs/compatibility.md": compatibility_page,
    "docs/integrations.md": integrations_page,
}


def main(arguments: list[str]) -> int:
    """Write the pages, or compare them with what would be written."""
    if arguments not in ([], ["--check"]):
        print(__doc__, file=sys.stderr)
        return 2
    stale = []
    for name, page in PAGES.items():
        path, text = ROOT / name, page()
        if path.exists() and path.read_text(encoding="utf-8") == text:
            continue
        stale.append(name)
        if not arguments:
            path.write_text(text, encoding="utf-8")
    if arguments and stale:
        print(f"out of date: {', '.join(stale)}; run python docs/generate.py", file=sys.stderr)
        return 1
    print(
        f"{'up to date' if arguments else 'written'}: {', '.join(PAGES if arguments else stale) or 'nothing'}"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
