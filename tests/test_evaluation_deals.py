"""The fixed deals: what is committed is what the command makes, and nothing else is taken for it."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from smear_env import deals_folder, make_rules

pytest.importorskip("scipy")

from benchmarks.deals.__main__ import SETS, main, shuffled
from training.evaluation.deals import Deals, add_column, load_deals


@pytest.mark.parametrize("name", SETS)
def test_committed_deals__are_whole_decks_for_every_dealer(name: str) -> None:
    rules, deals = make_rules(name), load_deals(name)
    assert len(deals.orders) == SETS[name][0] == {"four_point": 10_000, "schmier": 2_000, "mini": 500}[name]
    np.testing.assert_array_equal(
        np.sort(deals.orders, axis=1), np.tile(np.arange(len(rules.card_names)), (len(deals.orders), 1))
    )
    counts = np.bincount(deals.dealers, minlength=rules.players) / len(deals.dealers)
    np.testing.assert_allclose(counts, 1 / rules.players, atol=0.05)
    assert len(np.unique(deals.orders, axis=0)) == len(deals.orders) or name == "mini"


@pytest.mark.parametrize("name", ["four_point", "schmier"])
def test_committed_deals__have_every_card_everywhere_alike(name: str) -> None:
    orders = load_deals(name).orders
    cards = orders.shape[1]
    places = np.array([np.bincount(orders[:, place], minlength=cards) for place in range(cards)])
    expected = len(orders) / cards
    chi_square = ((places - expected) ** 2 / expected).sum()
    freedom = (cards - 1) ** 2
    assert abs(chi_square - freedom) < 5 * np.sqrt(2 * freedom)


def test_make__writes_what_is_committed(tmp_path: Path) -> None:
    main(["make", "--folder", str(tmp_path)])
    for name in SETS:
        assert (tmp_path / f"{name}.npy").read_bytes() == (deals_folder() / f"{name}.npy").read_bytes()
        written, committed = (
            json.loads((f / f"{name}.json").read_text()) for f in (tmp_path, deals_folder())
        )
        # Columns are added to what is committed.
        assert written == committed | {"columns": {}}


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    for path in deals_folder().glob("mini*"):
        shutil.copy(path, tmp_path)
    return tmp_path


def test_deals__changed_by_one_bit_are_refused_by_file_and_hash(copied: Path) -> None:
    content = bytearray((copied / "mini.npy").read_bytes())
    content[-1] ^= 1
    (copied / "mini.npy").write_bytes(content)
    committed = json.loads((copied / "mini.json").read_text())["sha256"]
    with pytest.raises(
        ValueError, match=rf"mini\.npy: its sha256 is [0-9a-f]+, and {committed} was committed"
    ):
        Deals(1, str(copied / "mini.json")).check(make_rules("mini"), 5)


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (lambda folder: (folder / "mini.npy").unlink(), r"mini\.npy: not readable"),
        (
            lambda folder: (folder / "mini.json").write_text("{}"),
            r"mini\.json: no description of deals: .*format",
        ),
        (lambda folder: (folder / "mini.json").write_text("no"), r"mini\.json: no description of deals"),
        (lambda folder: (folder / "mini.json").unlink(), r"there is no .*mini\.json"),
    ],
)
def test_deals__missing_or_undescribed_are_refused(copied: Path, change: object, named: str) -> None:
    change(copied)
    with pytest.raises(ValueError, match=named):
        load_deals(str(copied / "mini.json"))


def test_column__is_added_with_a_hash_and_leaves_the_deals_alone(copied: Path) -> None:
    before = load_deals(str(copied / "mini.json"))
    load_deals.cache_clear()
    add_column(copied, "mini", "par", np.arange(500, dtype=np.int16), meaning="numbers", command="none")
    after = load_deals(str(copied / "mini.json"))
    assert after.sha256 == before.sha256
    assert after.columns["par"].tolist() == list(range(500))
    (copied / "mini.par.npy").write_bytes(b"other")
    load_deals.cache_clear()
    with pytest.raises(ValueError, match=r"mini\.par\.npy: its sha256"):
        load_deals(str(copied / "mini.json"))
    with pytest.raises(ValueError, match=r"column 'short'"):
        add_column(copied, "mini", "short", np.zeros(3), meaning="", command="")


def test_deals__of_no_array_or_no_text_are_refused_by_file(copied: Path) -> None:
    described = json.loads((copied / "mini.json").read_text())
    for content in (b"", b"no array"):
        (copied / "mini.npy").write_bytes(content)
        described["sha256"] = hashlib.sha256(content).hexdigest()
        (copied / "mini.json").write_text(json.dumps(described))
        load_deals.cache_clear()
        with pytest.raises(ValueError, match=r"mini\.npy: no array"):
            load_deals(str(copied / "mini.json"))
    (copied / "mini.json").write_bytes(b"\xff\xfe")
    with pytest.raises(ValueError, match=r"mini\.json: no description"):
        load_deals(str(copied / "mini.json"))


def test_orders__are_all_equally_likely() -> None:
    # Of three-card prefixes of mini's eight cards, all 336 appear, in frequencies that chance allows.
    orders = shuffled("mini", 20_000, 7)[:, 1:4].astype(int)
    counts = np.unique(orders @ [64, 8, 1], return_counts=True)[1]
    assert len(counts) == 8 * 7 * 6
    expected = 20_000 / 336
    assert ((counts - expected) ** 2 / expected).sum() < 335 + 5 * np.sqrt(2 * 335)


def test_fixed_deals__are_what_an_env_begins_with() -> None:
    rules = make_rules("schmier")
    env, _ = Deals(1, "schmier").begin(rules, 10, 4)
    other, _ = Deals(2, "schmier").begin(rules, 12, 2)
    np.testing.assert_array_equal(env.state()[2:], other.state())
