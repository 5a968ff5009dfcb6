// What stands beside the felt: scores, the deal's points, auction, last trick, hints, results and reviews.
import { actionSign, actionText, cardText, small, suitSign, SUITS } from "./cards.js";
import { h, put } from "./dom.js";
import { TEAMS } from "./lobby.js";

const signed = (number, digits = 0) => {
  const text = number.toFixed(digits);
  return Number(text) > 0 ? `+${text}` : Number(text) === 0 ? text.replace("-", "") : text.replace("-", "−");
};
const teamMark = (team) => h("span", { class: "team-mark", data: { team }, role: "img", "aria-label": `Team ${TEAMS[team]}` }, TEAMS[team]);
const who = (facts, seat) => (seat === facts.viewer ? "You" : facts.seats[seat].name);

function members(facts, team) {
  return facts.seats.map((_, seat) => seat).filter((seat) => seat % facts.teams === team).map((seat) => who(facts, seat)).join(", ");
}

/** The running score of the match. */
export function scoreBoard(element, facts, view) {
  put(element, facts.seats.slice(0, facts.teams).map((_, team) => {
    const own = view.seat !== undefined && team === view.seat % facts.teams;
    const share = Math.max(0, Math.min(1, view.scores[team] / facts.target));
    const meter = h("span", { class: "meter", "aria-hidden": "true" }, h("i"));
    meter.firstChild.style.setProperty("inline-size", `${100 * share}%`);
    return h("div", { class: `score ${own ? "own" : ""}`, data: { team } },
      teamMark(team), h("span", { class: "members" }, members(facts, team)),
      h("span", { class: "number" }, h("b", {}, String(view.scores[team]).replace("-", "−")), h("span", { class: "quiet" }, ` / ${facts.target}`)), meter);
  }));
}

/** Which team holds each point of the deal so far, card points and tricks. */
export function tally(facts, view) {
  const rows = facts.points.map(([name, label]) => {
    const team = view.tally[name];
    const held = team !== null && team !== undefined;
    return h("li", { class: held ? "held" : "open" }, h("span", {}, label), held ? teamMark(team) : h("span", { class: "quiet" }, "–"));
  });
  const counts = view.card_points.map((points, team) => h("li", {}, teamMark(team), ` ${points} `, h("span", { class: "quiet" }, `in ${view.tricks[team]} ${view.tricks[team] === 1 ? "trick" : "tricks"}`)));
  return h("section", { class: "block tally" }, h("h2", {}, `Deal ${view.deal}: points so far`), h("ul", { class: "points" }, rows), h("h3", {}, "Card points"), h("ul", { class: "card-points" }, counts));
}

/** Who said what. */
export function auction(facts, view) {
  const said = view.bids.map(([seat, word]) => h("li", { class: seat === view.bidder ? "best" : "" }, h("span", {}, who(facts, seat)), h("b", {}, word)));
  return h("section", { class: "block" }, h("h2", {}, "Auction"), said.length ? h("ol", { class: "said" }, said) : h("p", { class: "quiet" }, "Nobody has spoken."),
    view.trump ? h("p", { class: "trump-line" }, suitSign(view.trump), ` ${SUITS[view.trump]} are trump`) : null);
}

/** The trick before. */
export function lastTrick(facts, view) {
  return h("section", { class: "block" }, h("h2", {}, "Last trick"), view.last
    ? h("ol", { class: "said" }, view.last.cards.map(([seat, card]) => h("li", { class: seat === view.last.winner ? "best" : "" }, h("span", {}, who(facts, seat)), small(card))))
    : h("p", { class: "quiet" }, "None yet."));
}

/** The deals so far. */
export function scoreSheet(facts, view, show) {
  if (!view.sheet.length) return null;
  const rows = view.sheet.map((deal, index) => deal.redeal
    ? h("tr", {}, h("th", { scope: "row" }, opener(index, show)), h("td", { colSpan: 1 + facts.teams, class: "quiet" }, "passed out"))
    : h("tr", {}, h("th", { scope: "row" }, opener(index, show)),
      h("td", {}, `${who(facts, deal.bidder)} ${deal.bid} `, suitSign(deal.trump, true), deal.made ? "" : h("span", { class: "set" }, " set")),
      deal.scores.map((score, team) => h("td", { class: "right" }, String(score).replace("-", "−"), h("span", { class: "quiet" }, ` (${signed(deal.delta[team])})`)))));
  return h("section", { class: "block" }, h("details", { open: false }, h("summary", {}, h("h2", {}, "Score sheet")),
    h("table", { class: "sheet-table" }, h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Deal"), h("th", { scope: "col" }, "Bid"), TEAMS.slice(0, facts.teams).map((team) => h("th", { scope: "col", class: "right" }, team)))), h("tbody", {}, rows))));
}

const opener = (index, show) => h("button", { type: "button", class: "plain", "aria-label": `Show deal ${index + 1}`, onclick: () => show(index) }, index + 1);

/** What each action is worth. */
export function hintSheet(hint, choose) {
  const bids = hint.rows.some((row) => row.make !== null);
  const wins = hint.rows.some((row) => row.win !== null);
  const rows = hint.rows.map((row, index) => {
    const bar = h("span", { class: "bar-track" }, h("i"));
    bar.firstChild.style.setProperty("inline-size", `${Math.round(100 * row.probability)}%`);
    return h("tr", { class: index === 0 ? "best" : "" },
      h("th", { scope: "row" }, h("button", { type: "button", class: "plain", "aria-label": `Choose ${actionText(row.action)}`, onclick: () => choose(row.action) }, actionSign(row.action))),
      h("td", { class: "right" }, h("span", { class: "percent" }, `${Math.round(100 * row.probability)} %`), bar),
      h("td", { class: "right", title: `± ${row.error}` }, signed(row.points, 1)),
      bids ? h("td", { class: "right" }, row.make === null ? "" : `${Math.round(100 * row.make)} %`) : null,
      wins ? h("td", { class: "right" }, `${signed(100 * row.win, 1)} %`) : null);
  });
  return h("section", { class: "block hint" }, h("h2", {}, "Hint"),
    h("table", {}, h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Action"), h("th", { scope: "col", class: "right" }, "Chosen"), h("th", { scope: "col", class: "right" }, "Points"), bids ? h("th", { scope: "col", class: "right" }, "Made") : null, wins ? h("th", { scope: "col", class: "right" }, "Match") : null)), h("tbody", {}, rows)),
    h("p", { class: "quiet" }, `How often ${hint.adviser} would choose it, and your points less the others' to expect, over deals that fit what you see.${wins ? " Match: what the deal would change in your chance of winning the match." : ""}${hint.untrained.length ? ` It was not trained on ${hint.untrained.join(", ")}.` : ""}`));
}

/** What a deal has given: the last one, on which the match waits, or an earlier one. */
export function resultSheet(facts, view, result, on) {
  const newest = result.number === view.sheet.length;
  const last = newest && (view.fresh || view.over);
  const actions = h("p", { class: "buttons" },
    last && view.over ? h("button", { type: "button", class: "primary", "data-first": true, onclick: on.again }, "New table")
      : h("button", { type: "button", class: "primary", "data-first": true, onclick: last ? on.next : on.close }, last ? "Next deal" : "Close"),
    h("button", { type: "button", onclick: on.review }, "Review my decisions"),
    last && view.over ? h("button", { type: "button", onclick: on.close }, "Close") : null);
  const title = h("h2", { id: "result-title" }, newest ? headline(facts, view, result) : `Deal ${result.number}: ${headline(facts, { ...view, over: false }, result)}`);
  if (result.redeal) return h("div", { class: "result", role: "dialog", "aria-labelledby": "result-title" }, title, h("p", {}, "Everybody passed; the cards are thrown in and dealt again."), actions);
  const points = facts.points.map(([name, label]) => h("li", { class: result.points[name] === null ? "open" : "held" }, h("span", {}, label), result.points[name] === null ? h("span", { class: "quiet" }, "nobody") : teamMark(result.points[name])));
  const teams = result.delta.map((delta, team) => h("tr", {}, h("th", { scope: "row" }, teamMark(team), h("span", {}, ` ${members(facts, team)}`)), h("td", { class: "right" }, result.card_points[team]), h("td", { class: "right" }, signed(delta)), h("td", { class: "right" }, h("b", {}, String(result.scores[team]).replace("-", "−")))));
  return h("div", { class: "result", role: "dialog", "aria-labelledby": "result-title" }, title,
    h("p", { class: "sub" }, `${who(facts, result.bidder)} bid ${result.bid}, `, suitSign(result.trump, true), ` trump: ${result.made ? "made" : "set"}.`),
    h("ul", { class: "points" }, points),
    h("table", { class: "sheet-table" }, h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Team"), h("th", { scope: "col", class: "right" }, "Cards"), h("th", { scope: "col", class: "right" }, "Deal"), h("th", { scope: "col", class: "right" }, "Score"))), h("tbody", {}, teams)),
    h("details", {}, h("summary", {}, "All tricks"), h("ol", { class: "tricks" }, result.tricks.map((trick) => h("li", {}, trick.cards.map(([seat, card]) => h("span", { class: seat === trick.winner ? "play best" : "play" }, h("span", { class: "quiet" }, who(facts, seat)), small(card))))))),
    actions);
}

function headline(facts, view, result) {
  if (view.over) return view.winner === null ? "The match was cut off" : view.winner === view.seat % facts.teams ? "Your team wins the match" : `Team ${TEAMS[view.winner]} wins the match`;
  if (result.redeal) return "Passed out";
  const own = result.bidder % facts.teams === view.seat % facts.teams;
  const side = own ? "Your team" : `Team ${TEAMS[result.bidder % facts.teams]}`;
  return result.made ? `${side} made ${result.bid}` : `${side} was set by ${result.bid}`;
}

/** Each decision of a deal beside the adviser's and the solver's. */
export function reviewSheet(review, back) {
  const cost = (points) => (points === null || points === undefined ? h("span", { class: "quiet" }, "–") : points < 0.005 ? h("span", { class: "good" }, "0") : h("span", { class: "cost" }, `−${points.toFixed(points < 1 ? 2 : 1)}`));
  const rows = review.decisions.map((row) => h("tr", { class: row.action === row.adviser ? "" : "other" },
    h("th", { scope: "row" }, row.label), h("td", { data: { label: "You" } }, actionSign(row.action)), h("td", { data: { label: review.adviser } }, actionSign(row.adviser), h("span", { class: "quiet" }, ` ${Math.round(100 * row.adviser_probability)} %`)), h("td", { class: "right", data: { label: "Cost" } }, cost(row.adviser_cost)),
    h("td", { data: { label: "Solver" } }, row.solver_cost === null ? h("span", { class: "quiet" }, "–") : row.solver.slice(0, 3).map((card) => small(card)), row.solver.length > 3 ? h("span", { class: "quiet" }, " …") : null), h("td", { class: "right", data: { label: "Cost" } }, cost(row.solver_cost))));
  return h("div", { class: "result review", role: "dialog", "aria-labelledby": "review-title" }, h("h2", { id: "review-title" }, `Your decisions in deal ${review.deal + 1}`),
    rows.length ? h("div", { class: "scroll", tabIndex: 0, role: "region", "aria-label": "Decisions" }, h("table", { class: "sheet-table" }, h("thead", {}, h("tr", {}, ["Decision", "You", review.adviser, "Cost", "Solver", "Cost"].map((text, index) => h("th", { scope: "col", class: index === 3 || index === 5 ? "right" : "" }, text)))), h("tbody", {}, rows)))
      : h("p", {}, "You had no choice to make in this deal."),
    h("p", { class: "quiet" }, "Costs are points lost. The adviser knew what you knew; the solver saw all hands, which nobody could."),
    h("p", { class: "buttons" }, h("button", { type: "button", class: "primary", "data-first": true, onclick: back }, "Back")));
}

/** What has happened between two views, in sentences. */
export function tell(facts, before, view) {
  const found = [];
  if (!before) return [`${facts.title}. You hold ${view.hand.map(cardText).join(", ")}.`];
  if (view.deal !== before.deal && view.result && !view.result.redeal) found.push(`The deal is over. ${who(facts, view.result.bidder)} ${view.result.made ? "made" : "failed"} ${view.result.bid}.`);
  if (view.deal === before.deal) {
    for (const [seat, word] of view.bids.slice(before.bids.length)) found.push(`${who(facts, seat)}: ${word === "pass" ? "pass" : `bid ${word}`}.`);
    if (view.trump && !before.trump) found.push(`${SUITS[view.trump]} are trump.`);
    const fresh = view.trick.length >= before.trick.length ? view.trick.slice(before.trick.length) : view.trick;
    if (view.last && JSON.stringify(view.last) !== JSON.stringify(before.last)) {
      const [seat, card] = view.last.cards[view.last.cards.length - 1];
      found.push(`${who(facts, seat)}: ${cardText(card)}. ${who(facts, view.last.winner)} took the trick.`);
    }
    for (const [seat, card] of fresh) found.push(`${who(facts, seat)}: ${cardText(card)}.`);
  }
  if (view.turn === view.seat && !view.fresh && (before.turn !== view.seat || view.phase !== before.phase)) found.push("Your turn.");
  return found;
}
