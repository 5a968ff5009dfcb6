// A seat at a table: what the server says is shown, what the person does is sent. The server decides everything.
import { actionText, cardText, face, suitSign, SUITS } from "./cards.js";
import { announce, h, keep, put } from "./dom.js";
import { Felt } from "./felt.js";
import { call, keepTable, Line, myTables } from "./net.js";
import { auction, hintSheet, lastTrick, resultSheet, reviewSheet, scoreBoard, scoreSheet, tally, tell } from "./panels.js";

const SPEEDS = [["slow", "Slow"], ["normal", "Normal"], ["fast", "Fast"], ["instant", "At once"]];

/** Show a table; returns what to do on leaving. */
export function showTable(main, name, token, go) {
  const table = new TablePage(main, name, token, go);
  return () => table.leave();
}

class TablePage {
  constructor(main, name, token, go) {
    Object.assign(this, { main, name, token, go, view: null, facts: null, hint: null, seen: 0, sheet: null });
    this.build();
    this.keys = (event) => this.key(event);
    document.addEventListener("keydown", this.keys);
    this.line = new Line(name, token, (message) => this.hear(message), (state) => this.state(state));
  }

  leave() {
    document.removeEventListener("keydown", this.keys);
    this.line.close();
  }

  build() {
    this.felt = new Felt();
    this.banner = h("p", { class: "banner", role: "status", hidden: true });
    this.prompt = h("p", { class: "prompt", "aria-live": "polite" });
    this.calls = h("div", { class: "calls", role: "group", "aria-label": "What you can say" });
    this.hand = h("div", { class: "hand", role: "group", "aria-label": "Your hand" });
    this.why = h("p", { class: "why", role: "status" });
    this.hintButton = h("button", { type: "button", onclick: () => this.ask() }, "Hint");
    this.undoButton = h("button", { type: "button", onclick: () => this.undo() }, "Take back");
    this.resultButton = h("button", { type: "button", onclick: () => this.openResult(this.view?.result) }, "Last deal");
    this.speed = h("select", { "aria-label": "How fast agents play", onchange: () => this.say({ type: "speed", value: this.speed.value }) },
      SPEEDS.map(([value, label]) => h("option", { value }, label)));
    this.scores = h("section", { class: "scores", "aria-label": "Score" });
    this.side = h("aside", { class: "side", "aria-label": "About this deal" });
    this.overlay = h("div", { class: "overlay", hidden: true });
    this.tools = h("div", { class: "tools" }, this.hintButton, this.undoButton, this.resultButton);
    this.area = h("div", { class: "area" }, this.felt.element);
    put(this.main,
      h("h1", { class: "hidden-text" }, "Table"), this.banner, this.scores,
      h("div", { class: "board" }, this.area,
        h("section", { class: "mine", "aria-label": "You" }, h("div", { class: "ask" }, this.prompt, this.calls), this.hand, this.why),
        this.overlay),
      this.tools, this.side);
    this.main.className = "table";
  }

  state(state) {
    this.banner.hidden = state === "open";
    this.connected = state === "open";
    if (state === "lost") this.banner.textContent = "The connection is lost. Trying again …";
    if (state === "refused") put(this.banner, "This link opens no seat. ", h("a", { href: "/", "data-route": true }, "Back to the tables"));
    if (this.view) this.render();
  }

  say(message) {
    this.line.say(message);
  }

  hear(message) {
    const { type } = message;
    if (type === "facts") this.start(message);
    else if (type === "view") this.look(message);
    else if (type === "hint") this.showHint(message);
    else if (type === "review" || type === "summary") this.showAbout(message);
    else if (type === "error") this.refuse(message);
  }

  start(facts) {
    this.facts = facts;
    document.title = `${facts.title} – Smear`;
  }

  look(view) {
    const before = this.view;
    this.facts.viewer = view.seat;
    this.view = view;
    if (!before) this.remember();
    if (this.hint && this.hint.number !== view.number) this.hint = null;
    if (!before || before.number !== view.number) {
      this.why.textContent = "";
      this.sent = false;
      for (const sentence of tell(this.facts, before, view)) announce(sentence);
    }
    if (view.fresh || view.over) {
      if (view.result && this.shown !== view.result.number + (view.over ? "over" : "")) {
        this.shown = view.result.number + (view.over ? "over" : "");
        this.openResult();
      }
    } else {
      // A move taken back may end the deal a second time.
      this.shown = null;
      if (this.sheet === "result" && before?.fresh) this.closeSheet();
    }
    this.render();
  }

  remember() {
    const kept = myTables().find((one) => one.table === this.name);
    const own = { seat: this.view.seat, token: this.token, name: this.facts.seats[this.view.seat].name };
    const seats = [own, ...(kept?.seats ?? []).filter((one) => one.seat !== own.seat)];
    keepTable({ table: this.name, title: this.facts.title, when: kept?.when ?? Date.now(), seats, mine: own.seat });
  }

  render() {
    const { facts, view } = this;
    const shown = (view.fresh || view.over) && view.result ? { ...view, ...ended(view) } : view;
    this.felt.show(facts, shown, view.seat);
    this.felt.element.dataset.number = view.number;
    scoreBoard(this.scores, facts, view);
    this.renderCalls();
    this.renderHand();
    this.renderSide(shown);
    this.hintButton.hidden = !view.hints;
    this.hintButton.disabled = !view.legal.length || view.fresh || !view.hints;
    this.undoButton.hidden = !facts.practice;
    this.undoButton.disabled = !view.undo;
    this.resultButton.disabled = !view.result;
    this.speed.value = view.speed;
  }

  renderCalls() {
    const { view, facts } = this;
    const mine = view.legal.length > 0 && !view.fresh;
    this.prompt.textContent = this.promptText();
    this.prompt.classList.toggle("mine-now", mine);
    const buttons = [];
    if (mine && view.phase === "bid") {
      buttons.push(["pass", "Pass"], ...facts.bids.map((bid) => [String(bid), String(bid)]));
    } else if (mine && view.phase === "name") {
      buttons.push(...[..."SHCD"].filter((suit) => facts.suits.includes(suit)).map((suit) => [`trump:${suit}`, suit]));
    } else if (mine && view.phase === "exchange" && view.legal.includes("pass")) {
      buttons.push(["pass", view.thrown.length ? "Done" : "Keep all"]);
    }
    keep(this.calls, buttons, ([action, text]) => action + text, ([action, text]) => this.callButton(action, text), (button, [action]) => {
      const legal = view.legal.includes(action);
      button.setAttribute("aria-disabled", String(!legal));
      button.classList.toggle("advised", this.hint?.rows[0]?.action === action);
    });
  }

  callButton(action, text) {
    const sign = action.startsWith("trump:") ? [suitSign(text), h("span", {}, SUITS[text])] : [text];
    const label = action.startsWith("trump:") ? `Name ${SUITS[text]} as trump` : action === "pass" ? text : `Bid ${text}`;
    return h("button", { type: "button", class: "call-button", "aria-label": label, onclick: () => this.choose(action) }, sign);
  }

  promptText() {
    const { view, facts } = this;
    if (!this.connected) return "";
    if (view.over) return view.winner === null ? "The match was cut off." : `Team ${"ABCDEF"[view.winner]} wins the match.`;
    if (view.fresh) return "The deal is over.";
    if (view.waiting.length && view.turn !== view.seat) return "The others still look at the result …";
    const who = facts.seats[view.turn]?.name;
    if (view.turn !== view.seat) return { bid: `${who} considers a bid …`, play: `${who} plays …`, name: `${who} names trump …`, exchange: `${who} exchanges …`, discard: `${who} discards …` }[view.phase] ?? "";
    const more = view.hand.length - facts.hand_size;
    return {
      bid: view.bid ? `Your bid: above ${view.bid}, or pass` : "Your bid",
      name: "Name trump",
      exchange: `Exchange up to ${facts.exchange}: tap cards to throw`,
      discard: `Discard ${more} ${more === 1 ? "card" : "cards"}${view.taken.length ? " (dots: drawn)" : ""}`,
      play: view.trick.length ? "Your card" : view.trump ? "You lead" : "You lead: its suit is trump",
    }[view.phase];
  }

  renderHand() {
    const { view } = this;
    const cards = view.fresh ? [] : view.hand;
    const narrow = matchMedia("(max-width: 720px)").matches;
    const most = narrow ? (cards.length > 9 ? 8 : 9) : 14;
    const rows = Math.max(1, Math.ceil(cards.length / most));
    const size = Math.ceil(cards.length / rows);
    const lists = Array.from({ length: rows }, (_, row) => cards.slice(row * size, (row + 1) * size));
    keep(this.hand, lists.map((list, row) => ({ list, row })), ({ row }) => row, () => h("div", { class: "row" }), (element, { list }) => {
      element.style.setProperty("--cards", String(Math.max(list.length, 1)));
      keep(element, list, (card) => card, (card) => this.cardButton(card), (button, card) => this.markCard(button, card));
    });
  }

  cardButton(card) {
    return h("button", { type: "button", class: "card in-hand", onclick: () => this.choose(card), onfocus: () => this.explain(card), onmouseenter: () => this.explain(card) }, face(card));
  }

  markCard(button, card) {
    const { view } = this;
    const mine = view.legal.length > 0 && ["play", "discard", "exchange"].includes(view.phase);
    const legal = view.legal.includes(card);
    button.classList.toggle("legal", mine && legal);
    button.classList.toggle("illegal", mine && !legal);
    button.classList.toggle("drawn", view.taken.includes(card) && view.phase === "discard");
    button.classList.toggle("advised", mine && this.hint?.rows[0]?.action === card);
    button.setAttribute("aria-disabled", String(!(mine && legal)));
    const verb = { discard: "discard", exchange: "throw" }[view.phase] ?? "play";
    button.setAttribute("aria-label", `${cardText(card)}${mine ? (legal ? `, ${verb}` : `, not allowed: ${view.refusals[card] ?? ""}`) : ""}`);
  }

  renderSide(shown) {
    const { facts, view } = this;
    const links = (myTables().find((one) => one.table === this.name)?.seats ?? []).filter((one) => one.seat !== view.seat);
    put(this.side,
      this.hint ? hintSheet(this.hint, (action) => this.choose(action)) : null,
      tally(facts, shown),
      h("div", { class: "pair" }, auction(facts, shown), lastTrick(facts, shown)),
      scoreSheet(facts, view, (deal) => this.say({ type: "summary", deal })),
      links.length ? this.invitations(links) : null,
      h("section", { class: "block table-tools" }, h("h2", {}, "Table"),
        h("p", {}, h("label", {}, "Agents play ", this.speed)),
        h("p", { class: "buttons" },
          h("button", { type: "button", disabled: !view.sheet.length, onclick: () => this.download() }, "Transcript"),
          h("button", { type: "button", disabled: !view.sheet.length, onclick: () => this.replay() }, "Replay")),
        h("p", { class: "quiet keys" }, "Keys: arrows and Enter for cards, numbers and P for bids, H hint, U take back, N next deal.")),
    );
  }

  invitations(links) {
    const list = links.map(({ seat, token, name }) => {
      const url = new URL(`/table/${encodeURIComponent(this.name)}#${token}`, location.href).href;
      const copy = h("button", { type: "button", "aria-label": `Copy the link for ${name}`, onclick: async () => {
        await navigator.clipboard?.writeText(url).catch(() => {});
        copy.textContent = "Copied";
      } }, "Copy");
      return h("li", {}, h("label", { for: `link-${seat}` }, name), h("input", { id: `link-${seat}`, readOnly: true, value: url, onfocus: (event) => event.target.select() }), copy);
    });
    return h("section", { class: "block links" }, h("h2", {}, "Seat links"), h("p", { class: "quiet" }, "Whoever opens a link sits in that seat."), h("ul", {}, list));
  }

  explain(card) {
    const { view } = this;
    if (view?.legal.length && !view.legal.includes(card)) this.why.textContent = view.refusals[card] ?? "";
    else this.why.textContent = "";
  }

  choose(action) {
    const { view } = this;
    if (!this.connected || this.sent) return;
    if (view.legal.includes(action) && !view.fresh) {
      this.sent = true;
      this.say({ type: "act", number: view.number, action });
    } else this.why.textContent = view.refusals[action] ?? (view.legal.length ? "Not now." : "It is not your turn.");
  }

  refuse({ code, message }) {
    this.sent = false;
    this.waiting = false;
    if (code !== "stale") this.why.textContent = message;
    if (this.sheet === "wait") this.closeSheet();
  }

  ask() {
    if (this.hintButton.disabled) return;
    this.why.textContent = "Thinking …";
    this.patience(() => !this.hint && this.why.textContent === "Thinking …" && this.why);
    this.say({ type: "hint", number: this.view.number });
  }

  /** Say why the very first answer takes long, if it does. */
  patience(place) {
    setTimeout(() => {
      const words = place();
      if (words) words.textContent = "The first time takes up to a minute: the search is being compiled …";
    }, 5000);
  }

  showHint(hint) {
    if (hint.number !== this.view.number) return;
    this.hint = hint;
    this.why.textContent = `Hint: ${actionText(hint.rows[0].action)}.`;
    this.render();
  }

  undo() {
    if (!this.undoButton.disabled) this.say({ type: "undo", number: this.view.number });
  }

  next() {
    if (this.view.fresh) this.say({ type: "next", number: this.view.number });
    this.closeSheet();
  }

  openResult(result = this.view?.result) {
    const { view, facts } = this;
    if (!result) return;
    this.sheet = "result";
    this.looked = result;
    this.open(resultSheet(facts, view, result, {
      next: () => this.next(),
      review: () => this.review(result.number - 1),
      again: () => this.again(),
      close: () => this.closeSheet(),
    }));
  }

  review(deal) {
    this.sheet = "wait";
    const words = h("p", { class: "quiet" }, "Looking the deal over …");
    this.open(h("div", { class: "result" }, words));
    this.patience(() => words.isConnected && words);
    this.say({ type: "review", deal });
  }

  showAbout(message) {
    if (message.type === "summary") this.openResult(message);
    else {
      this.sheet = "review";
      this.open(reviewSheet(message, () => this.openResult(this.looked)));
    }
  }

  open(content) {
    put(this.overlay, content);
    this.overlay.hidden = false;
    this.main.classList.add("covered");
    this.overlay.querySelector("[data-first]")?.focus({ preventScroll: true });
  }

  closeSheet() {
    this.sheet = null;
    this.overlay.hidden = true;
    this.main.classList.remove("covered");
    put(this.overlay);
  }

  async transcript() {
    return (await call("/api/transcript", { table: this.name, token: this.token })).text();
  }

  async download() {
    const url = URL.createObjectURL(new Blob([await this.transcript()], { type: "application/x-ndjson" }));
    h("a", { href: url, download: `${this.facts.game}.jsonl` }).click();
    setTimeout(() => URL.revokeObjectURL(url), 10000);
  }

  async replay() {
    this.go("/replay", await this.transcript());
  }

  again() {
    this.go("/");
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName) || !this.view) return;
    const { view } = this;
    const pressed = event.key.toLowerCase();
    if (pressed === "h") this.ask();
    else if (pressed === "u") this.undo();
    else if (pressed === "n" && (view.fresh || this.sheet)) this.next();
    else if (pressed === "escape" && this.sheet) this.next();
    else if (pressed === "p" && view.legal.includes("pass")) this.choose("pass");
    else if (/^\d$/.test(pressed) && view.phase === "bid") this.choose(pressed);
    else if (view.phase === "name" && /^[cdhs]$/.test(pressed)) this.choose(`trump:${pressed.toUpperCase()}`);
    else if (pressed === "arrowleft" || pressed === "arrowright") this.move(pressed === "arrowleft" ? -1 : 1);
    else return;
    event.preventDefault();
  }

  move(step) {
    const cards = [...this.hand.querySelectorAll("button")];
    if (!cards.length) return;
    const at = cards.indexOf(document.activeElement);
    cards[at < 0 ? 0 : (at + step + cards.length) % cards.length].focus();
  }
}

/** The table as the deal before left it, while its result is looked at. */
function ended(view) {
  const { result } = view;
  const counts = view.counts.map(() => 0);
  const common = { phase: "over", trick: [], turn: null, counts, stock: 0, dealer: result.dealer, bids: result.bids, deal: result.number };
  if (result.redeal) return { ...common, last: null, trump: null, bidder: null, bid: null };
  const tricks = view.tricks.map((_, team) => result.tricks.filter((trick) => trick.winner % view.tricks.length === team).length);
  const last = result.tricks[result.tricks.length - 1];
  return { ...common, last, tricks, trump: result.trump, bidder: result.bidder, bid: result.bid, tally: result.points, card_points: result.card_points };
}
