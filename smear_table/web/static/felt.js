// The felt: seats around it, what each has said, and the trick in the middle. For four, for six, and any number between.
import { cardText, laid, suitSign } from "./cards.js";
import { h, keep, put } from "./dom.js";
import { TEAMS } from "./lobby.js";

/** Where a seat sits: its place clockwise from the viewer, who sits at the bottom, as shares of the felt. */
export function place(seat, viewer, players, reach) {
  const turn = ((seat - viewer + players) % players) / players;
  const angle = Math.PI / 2 + 2 * Math.PI * turn;
  return { x: Math.cos(angle) * reach.x, y: Math.sin(angle) * reach.y };
}

export class Felt {
  constructor() {
    this.seats = h("ul", { class: "around", "aria-label": "Players" });
    this.trick = h("ul", { class: "trick", "aria-label": "Trick on the table" });
    this.centre = h("div", { class: "centre" });
    this.element = h("div", { class: "felt" }, this.centre, this.trick, this.seats);
  }

  /** `facts`: players, teams, seats; `view`: the table; `viewer`: the seat at the bottom. */
  show(facts, view, viewer) {
    this.element.dataset.players = facts.players;
    this.showSeats(facts, view, viewer);
    this.showTrick(facts, view, viewer);
    this.showCentre(facts, view);
  }

  showSeats(facts, view, viewer) {
    keep(this.seats, facts.seats.map((seat, index) => ({ ...seat, index })), (seat) => seat.index, () => h("li", { class: "seat" }), (element, seat) => {
      const { x, y } = place(seat.index, viewer, facts.players, { x: 1, y: 1 });
      element.style.setProperty("--x", x.toFixed(3));
      element.style.setProperty("--y", y.toFixed(3));
      element.dataset.team = seat.team;
      element.classList.toggle("west", x < -0.1);
      element.classList.toggle("north", Math.abs(x) < 0.1 && y < 0);
      element.classList.toggle("turn", view.turn === seat.index);
      element.classList.toggle("self", seat.index === facts.viewer);
      element.classList.toggle("away", seat.human && view.present && !view.present.includes(seat.index));
      put(element, ...this.seat(seat, facts, view));
    });
  }

  seat(seat, facts, view) {
    const { viewer } = facts;
    const words = [];
    const said = view.bids.filter(([who]) => who === seat.index).map(([, word]) => word).pop();
    if (view.dealer === seat.index) words.push("dealer");
    if (view.bidder === seat.index && view.bid) words.push(`bid ${view.bid}`);
    else if (said && view.phase === "bid") words.push(said === "pass" ? "passed" : `bid ${said}`);
    if (view.turn === seat.index) words.push("to act");
    if (seat.human && view.present && !view.present.includes(seat.index)) words.push("away");
    const mates = seat.index !== viewer && seat.team === viewer % facts.teams;
    const own = seat.index === viewer;
    const label = `${seat.name}${own ? " (you)" : ""}, team ${TEAMS[seat.team]}${mates ? ", your partner" : ""}${words.length ? `, ${words.join(", ")}` : ""}`;
    const bubble = view.phase === "bid" ? said : view.bidder === seat.index && view.bid ? String(view.bid) : null;
    const count = view.counts?.[seat.index] ?? 0;
    return [
      h("span", { class: "hidden-text" }, `${label}, ${count} cards`),
      h("span", { class: "plate", "aria-hidden": "true" },
        h("span", { class: "team-mark", data: { team: seat.team } }, TEAMS[seat.team]),
        h("span", { class: "who" }, h("span", { class: "name" }, own ? "You" : seat.name), mates ? h("span", { class: "mate" }, "partner") : null),
        view.dealer === seat.index ? h("span", { class: "dealer", title: "Dealer" }, "D") : null,
      ),
      own ? null : h("span", { class: "backs", "aria-hidden": "true" }, Array.from({ length: Math.min(count, 9) }, () => h("i"))),
      bubble ? h("span", { class: `bubble ${bubble === "pass" ? "passed" : ""} ${view.bidder === seat.index ? "best" : ""}`, "aria-hidden": "true" }, bubble === "pass" ? "pass" : bubble) : null,
    ];
  }

  showTrick(facts, view, viewer) {
    // Until the next card is led, the trick before stays, its winner marked.
    const done = view.trick.length === 0 && view.last && (view.phase === "play" || view.phase === "over");
    const cards = done ? view.last.cards : view.trick;
    const winner = done ? view.last.winner : null;
    this.trick.classList.toggle("done", Boolean(done));
    this.trick.setAttribute("aria-label", done ? "Last trick" : "Trick on the table");
    keep(this.trick, cards, ([seat, card]) => `${seat}-${card}`, ([seat, card]) => {
      const { x, y } = place(seat, viewer, facts.players, { x: 1, y: 1 });
      const element = h("li", { class: "laid" }, laid(card));
      element.style.setProperty("--x", x.toFixed(3));
      element.style.setProperty("--y", y.toFixed(3));
      element.style.setProperty("--turn", `${(((seat * 37 + card.charCodeAt(0)) % 9) - 4) * 0.7}deg`);
      return element;
    }, (element, [seat, card]) => {
      element.classList.toggle("won", seat === winner);
      const name = seat === facts.viewer ? "you" : facts.seats[seat].name;
      element.firstChild.setAttribute("aria-label", `${cardText(card)}, ${name}${seat === winner ? ", takes the trick" : ""}`);
    });
  }

  showCentre(facts, view) {
    const trump = view.trump ? h("span", { class: "trump" }, suitSign(view.trump, true), h("span", {}, "trump")) : null;
    const empty = !view.trick.length && !(view.last && (view.phase === "play" || view.phase === "over"));
    const words = empty ? { bid: "The auction", discard: says(facts, view.turn, "discard"), exchange: "The exchange", name: says(facts, view.turn, "name", " trump"), play: says(facts, view.turn, "lead") }[view.phase] : null;
    put(this.centre, h("span", { class: "middle" }, words && h("span", { class: "word" }, words), empty && view.stock > 0 && view.phase !== "play" ? h("span", { class: "stock" }, h("i"), `${view.stock} in the stock`) : null));
    this.element.querySelector(".corner")?.remove();
    if (trump) this.element.append(h("div", { class: "corner" }, trump));
  }
}

/** Who does what: `You lead`, `Ada leads`. */
function says(facts, seat, verb, rest = "") {
  if (seat === null || seat === undefined) return null;
  return seat === facts.viewer ? `You ${verb}${rest}` : `${facts.seats[seat].name} ${verb}s${rest}`;
}
