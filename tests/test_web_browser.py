"""The web table in a real browser, headless Chromium: whole matches by clicking, phone and desk, light and dark.

What each step must hold besides: no sideways scrolling, nobody's plate under another's or under a card, nothing serious
that axe-core finds, no error on the console, no request to another host.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
pytest.importorskip("playwright")
pytest.importorskip("axe_playwright_python")

from axe_playwright_python import sync_playwright as axe
from playwright import sync_api

from benchmarks.web import Server
from smear_env.transcript import check_match, record_match

pytestmark = pytest.mark.integration

CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
FLAGS = [
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update"),
]
SIZES = {"phone": {"width": 390, "height": 844}, "desk": {"width": 1440, "height": 900}}

OVERLAPS = """() => {
  const boxes = (selector) => [...document.querySelectorAll(selector)].map((e) => e.getBoundingClientRect());
  const hits = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 2
    && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 2;
  const found = [];
  const plates = boxes('.felt .plate'), cards = boxes('.felt .laid .card');
  const bars = boxes('.scores, .board, .tools, .side .block');
  plates.forEach((a, i) => plates.slice(i + 1).forEach((b) => hits(a, b) && found.push('two plates')));
  plates.forEach((a) => cards.forEach((b) => hits(a, b) && found.push('plate and card')));
  bars.forEach((a, i) => bars.slice(i + 1).forEach((b) => hits(a, b) && found.push('blocks')));
  plates.concat(cards, bars).forEach((a) => (a.left < -1 || a.right > innerWidth + 1) && found.push('outside'));
  const names = boxes('.felt .name'), felt = boxes('.felt')[0];
  boxes('.felt .bubble').forEach((a) => {
    if (a.top < felt.top) found.push('a call cut off');
    names.forEach((b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 6
      && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 6 && found.push('a call over a name'));
  });
  const hand = boxes('.in-hand');
  hand.forEach((a, i) => {
    if (i && hand[i - 1].top === a.top && a.left - hand[i - 1].left < 24) found.push('narrow cards');
  });
  if (document.documentElement.scrollWidth > innerWidth) found.push('sideways scrolling');
  return found;
}"""


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    server = Server(tmp_path_factory.mktemp("web") / "tables.sqlite")
    yield f"http://127.0.0.1:{server.port}"
    server.kill()


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    if CHROMIUM is None:
        pytest.fail("no Chromium: install Debian's chromium, or name one in the variable CHROMIUM")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


class Visitor:
    """A browser window and all that went wrong in it."""

    def __init__(self, browser: Any, address: str, size: str, theme: str) -> None:
        context = browser.new_context(
            viewport=SIZES[size], color_scheme=theme, reduced_motion="reduce", accept_downloads=True
        )
        self.address, self.size = address, size
        self.faults: list[str] = []
        self.page = context.new_page()
        self.page.set_default_timeout(20_000)
        self.page.on("console", lambda m: m.type in ("error", "warning") and self.faults.append(m.text))
        self.page.on("pageerror", lambda error: self.faults.append(str(error)))
        self.page.on("request", lambda r: self.foreign(r.url))

    def foreign(self, url: str) -> None:
        if not url.replace("ws://", "http://").startswith((self.address, "blob:", "data:")):
            self.faults.append(f"request to {url}")

    def look(self, *, thoroughly: bool = False) -> None:
        assert self.page.evaluate(OVERLAPS) == []
        if thoroughly:
            found = axe.Axe().run(self.page).response["violations"]
            bad = [
                (one["id"], one["nodes"][0]["html"][:200])
                for one in found
                if one["impact"] in ("serious", "critical")
            ]
            assert bad == []

    def lay(self, game: str, target: str) -> None:
        page = self.page
        page.goto(self.address)
        page.fill("#your-name", "<b>Ada</b>")
        page.check(f"input[value={game}]")
        page.click("summary:has-text('Rules of the house')")
        page.select_option("#option-target", label=target)
        page.select_option("#speed", "instant")
        self.look(thoroughly=True)
        page.click("text=Sit down")
        page.wait_for_selector(".plate")

    def over(self) -> bool:
        return bool(self.page.locator("button:has-text('New table')").count())

    def step(self) -> str:
        """One click on what is asked for; says in which phase."""
        page = self.page
        wanted = ".overlay .primary, .call-button:not([aria-disabled=true]), .in-hand.legal"
        page.wait_for_selector(wanted)
        if page.locator(".overlay .primary").count():
            if not self.over():
                page.locator(".overlay .primary").click()
            return "result"
        phase = page.locator(".prompt").inner_text().split()[0].strip(":")
        calls = page.locator(".call-button:not([aria-disabled=true])")
        target = calls.first if calls.count() else page.locator(".in-hand.legal").first
        number = page.locator(".felt").get_attribute("data-number")
        target.click()
        page.wait_for_selector(f".felt:not([data-number='{number}'])")
        return phase


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("size", list(SIZES))
@pytest.mark.parametrize(("game", "target"), [("four_point", "7"), ("schmier", "11")])
def test_match__is_played_to_its_end_by_clicking(
    chromium: Any, address: str, tmp_path: Path, game: str, target: str, size: str, theme: str
) -> None:
    visitor = Visitor(chromium, address, size, theme)
    page = visitor.page
    visitor.lay(game, target)
    seen: dict[str, int] = {}
    reloaded = hinted = False
    for _ in range(1500):
        page.wait_for_selector(".overlay .primary, .call-button:not([aria-disabled=true]), .in-hand.legal")
        if (
            not hinted
            and page.locator(".in-hand.legal").count()
            and not page.locator(".overlay .primary").count()
        ):
            page.click("button:has-text('Hint')")
            page.wait_for_selector(".hint tbody tr")
            visitor.look(thoroughly=True)
            hinted = True
        phase = visitor.step()
        seen[phase] = seen.get(phase, 0) + 1
        visitor.look(thoroughly=seen[phase] == 1)
        if sum(seen.values()) == 12:
            before = page.locator(".scores").inner_text()
            page.reload()
            page.wait_for_selector(".plate")
            assert page.locator(".scores").inner_text() == before
            reloaded = True
        if phase == "result" and visitor.over():
            break
    assert visitor.over()
    assert reloaded
    assert hinted
    assert "<b>Ada</b>" not in page.locator(".scores").inner_html()
    page.click("text=Review my decisions")
    page.wait_for_selector(".review")
    visitor.look(thoroughly=True)
    page.click(".review .primary")
    page.click(".result button:has-text('Close')")
    with page.expect_download() as download:
        page.click("button:has-text('Transcript')")
    path = tmp_path / "match.jsonl"
    download.value.save_as(path)
    check_match(json.loads(path.read_text()))
    page.click("a:has-text('Replay')")
    page.set_input_files("#transcript-file", path)
    page.wait_for_selector("#slider")
    page.locator("#slider").focus()
    page.keyboard.press("End")
    visitor.look(thoroughly=True)
    assert page.locator(".open-hands li").count() == (4 if game == "four_point" else 6)
    assert visitor.faults == []


def test_two_people__see_each_other_but_not_each_others_cards(chromium: Any, address: str) -> None:
    host, guest = (Visitor(chromium, address, size, "light") for size in ("desk", "phone"))
    host.page.goto(address)
    host.page.fill("#your-name", "<i>Ada</i>")
    host.page.check("input[value=setback]")
    host.page.select_option("#seat-1", "human")
    host.page.select_option("#speed", "instant")
    host.page.click("text=Sit down")
    host.page.wait_for_selector(".links input")
    host.look(thoroughly=True)
    guest.page.goto(host.page.locator(".links input").first.input_value())
    guest.page.wait_for_selector(".plate:has-text('<i>Ada</i>')")
    host.page.wait_for_selector(".seat:not(.away):has-text('Guest 1')")
    hands = [
        visitor.page.locator(".in-hand").evaluate_all("all => all.map((e) => e.dataset.key)")
        for visitor in (host, guest)
    ]
    assert all(len(hand) == 6 for hand in hands)
    assert not set(hands[0]) & set(hands[1])
    turns = 0
    while turns < 6:
        for visitor in (host, guest):
            if visitor.page.locator(".call-button:not([aria-disabled=true]), .in-hand.legal").count():
                visitor.step()
                visitor.look()
                turns += 1
    guest.page.close()
    host.page.wait_for_selector(".seat.away:has-text('Guest 1')")
    assert host.faults == guest.faults == []


def test_lost_connection__is_told_and_goes_on_where_it_was(chromium: Any, tmp_path: Path) -> None:
    server = Server(tmp_path / "tables.sqlite")
    try:
        visitor = Visitor(chromium, f"http://127.0.0.1:{server.port}", "phone", "dark")
        visitor.lay("setback", "7")
        for _ in range(3):
            visitor.step()
        visitor.page.wait_for_selector(
            ".call-button:not([aria-disabled=true]), .in-hand.legal, .overlay .primary"
        )
        number = visitor.page.locator(".felt").get_attribute("data-number")
        server.kill()
        visitor.page.wait_for_selector(".banner:not([hidden])")
        visitor.look()
        server.start()
        visitor.page.wait_for_selector(".banner", state="hidden")
        assert visitor.page.locator(".felt").get_attribute("data-number") == number
        visitor.step()
    finally:
        server.kill()


def test_keyboard__plays_without_a_mouse(chromium: Any, address: str) -> None:
    visitor = Visitor(chromium, address, "desk", "light")
    page = visitor.page
    visitor.lay("racehorse", "7")
    for _ in range(8):
        page.wait_for_selector(".overlay .primary, .call-button:not([aria-disabled=true]), .in-hand.legal")
        if page.locator(".overlay .primary").count():
            page.keyboard.press("n")
            continue
        number = page.locator(".felt").get_attribute("data-number")
        if page.locator(".call-button").count():
            page.keyboard.press(
                "p"
                if page.locator(".call-button:not([aria-disabled=true])").first.inner_text() == "Pass"
                else "2"
            )
        else:
            while not page.evaluate("document.activeElement.classList.contains('legal')"):
                page.keyboard.press("ArrowRight")
            page.keyboard.press("Enter")
        page.wait_for_selector(f".felt:not([data-number='{number}'])")
    assert visitor.faults == []


def test_upload__that_is_wrong_is_explained_and_a_right_one_shown(
    chromium: Any, address: str, tmp_path: Path
) -> None:
    visitor = Visitor(chromium, address, "phone", "light")
    page = visitor.page
    page.goto(f"{address}/replay")
    (tmp_path / "wrong.jsonl").write_text('{"format": "<img src=x onerror=alert(1)>"}')
    page.set_input_files("#transcript-file", tmp_path / "wrong.jsonl")
    page.wait_for_selector(".problem:not(:empty)")
    assert "onerror" in page.locator(".problem").inner_text()
    assert [fault for fault in visitor.faults if "400" not in fault] == []
    visitor.faults.clear()
    match = record_match("schmier", 1, agents="expert", max_deals=2)
    (tmp_path / "right.jsonl").write_text(json.dumps(match) + "\n")
    page.set_input_files("#transcript-file", tmp_path / "right.jsonl")
    page.wait_for_selector("#slider")
    visitor.look(thoroughly=True)
    for _ in range(8):
        page.click("button[aria-label='One action on']")
        visitor.look()
    assert visitor.faults == []
