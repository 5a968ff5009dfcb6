// Card faces drawn as SVG, and how cards are called.
import { h, s } from "./dom.js";

export const SUITS = { S: "spades", H: "hearts", C: "clubs", D: "diamonds" };
const RANKS = { A: "ace", K: "king", Q: "queen", J: "jack", T: "ten" };
const JOKERS = { JK: "joker", BJ: "big joker", LJ: "little joker" };

export const PATHS = {
  H: "M16 28.500C4 19.500 2 13.300 2 9.700C2 5.700 5 3 8.500 3C11.500 3 14.500 4.800 16 8C17.500 4.800 20.500 3 23.500 3C27 3 30 5.700 30 9.700C30 13.300 28 19.500 16 28.500Z",
  D: "M16 1.500C19 7 23.500 12 27 16C23.500 20 19 25 16 30.500C13 25 8.500 20 5 16C8.500 12 13 7 16 1.500Z",
  S: "M16 2C19 8 29 13.500 29 20.500C29 24.500 26 27 22.600 27C20.200 27 18.200 25.800 17 23.800C17.200 27 18.400 29.200 20.500 30.500L11.500 30.500C13.600 29.200 14.800 27 15 23.800C13.800 25.800 11.800 27 9.400 27C6 27 3 24.500 3 20.500C3 13.500 13 8 16 2Z",
  C: "M16 2.500A6.200 6.200 0 0 1 21.300 11.900A6.400 6.400 0 1 1 17.400 23.500C17.600 26.800 18.600 29.200 20.500 30.500L11.500 30.500C13.400 29.200 14.400 26.800 14.600 23.500A6.400 6.400 0 1 1 10.700 11.900A6.200 6.200 0 0 1 16 2.500Z",
};

// Pips of the numbers in a field of 100 by 140: left, middle and right column, seven heights.
const [L, M, R] = [31, 50, 69];
const Y = { top: 32, upper: 57.500, third: 45, centre: 70, half: 51, low: 82.500, bottom: 108 };
const CORNERS = [[L, Y.top], [R, Y.top], [L, Y.bottom], [R, Y.bottom]];
const SIDES = [[L, Y.centre], [R, Y.centre]];
const FOUR_ROWS = [[L, 32], [R, 32], [L, 57.300], [R, 57.300], [L, 82.700], [R, 82.700], [L, 108], [R, 108]];
const PIPS = {
  2: [[M, Y.top], [M, Y.bottom]],
  3: [[M, Y.top], [M, Y.centre], [M, Y.bottom]],
  4: CORNERS,
  5: [...CORNERS, [M, Y.centre]],
  6: [...CORNERS, ...SIDES],
  7: [...CORNERS, ...SIDES, [M, Y.half]],
  8: [...CORNERS, ...SIDES, [M, Y.half], [M, 89]],
  9: [...FOUR_ROWS, [M, Y.centre]],
  T: [...FOUR_ROWS, [M, 44.500], [M, 95.500]],
};

/** `AS` as `ace of spades`. */
export function cardText(card) {
  return JOKERS[card] ?? `${RANKS[card[0]] ?? card[0]} of ${SUITS[card[1]]}`;
}

/** What an action is called: a card, a bid, a pass or naming trump. */
export function actionText(action) {
  if (action === "pass") return "pass";
  if (/^\d+$/.test(action)) return `bid ${action}`;
  if (action.startsWith("trump:")) return `${SUITS[action[6]]} as trump`;
  return cardText(action);
}

export const isJoker = (card) => card in JOKERS;
const isRed = (suit) => suit === "H" || suit === "D";
const rankText = (card) => (card[0] === "T" ? "10" : card[0]);

function pip(suit, x, y, size) {
  const turned = y > 71 ? ` rotate(180 ${x} ${y})` : "";
  const place = `translate(${x - size / 2} ${y - size / 2}) scale(${size / 32})`;
  return s("path", { d: PATHS[suit], transform: turned + place });
}

function corner(text, suit, turned) {
  const group = s("g", turned ? { transform: "rotate(180 50 70)" } : {});
  const size = text.length > 1 ? 21 : 25;
  group.append(s("text", { x: 13.500, y: 25, "font-size": size, "text-anchor": "middle", class: "rank" }, text));
  group.append(s("path", { d: PATHS[suit], transform: "translate(5.500 29.500) scale(.5)" }));
  return group;
}

function middle(card) {
  const [rank, suit] = card;
  if (rank === "A") return [s("path", { d: PATHS[suit], transform: "translate(27 47) scale(1.440)" })];
  if (PIPS[rank]) return PIPS[rank].map(([x, y]) => pip(suit, x, y, 17));
  return [
    s("rect", { x: 27, y: 24, width: 46, height: 92, rx: 4, class: "court" }),
    s("rect", { x: 29.500, y: 26.500, width: 41, height: 87, rx: 2.500, class: "court-line" }),
    s("text", { x: 50, y: 83, "font-size": 38, "text-anchor": "middle", class: "rank" }, rank),
    pip(suit, 50, 39, 15),
    pip(suit, 50, 101, 15),
  ];
}

function joker(card) {
  const star = "M50 30L57 58L86 58L62 75L71 103L50 86L29 103L38 75L14 58L43 58Z";
  const word = { JK: "JOKER", BJ: "BIG JOKER", LJ: "LITTLE JOKER" }[card];
  return [
    s("path", { d: star, class: card === "LJ" ? "star hollow" : "star" }),
    s("text", { x: 50, y: 124, "font-size": word.length > 9 ? 10.500 : 13, "text-anchor": "middle", class: "rank" }, word),
    s("text", { x: 13, y: 24, "font-size": 22, "text-anchor": "middle", class: "rank" }, "★"),
  ];
}

/** A card's face; hidden from screen readers, as whoever shows it gives it a name. */
export function face(card) {
  const kind = isJoker(card) ? "joker" : isRed(card[1]) ? "red" : "black";
  const svg = s("svg", { viewBox: "0 0 100 140", class: `face ${kind}`, "aria-hidden": "true", focusable: "false" });
  svg.append(s("rect", { x: 0.750, y: 0.750, width: 98.500, height: 138.500, rx: 8, class: "paper" }));
  if (isJoker(card)) svg.append(...joker(card));
  else svg.append(...middle(card), corner(rankText(card), card[1], false), corner(rankText(card), card[1], true));
  return svg;
}

/** A card that lies on the table, with its name for screen readers. */
export function laid(card, extra = "") {
  return h("span", { class: `card ${extra}`, role: "img", "aria-label": cardText(card) }, face(card));
}

/** A suit's sign. */
export function suitSign(suit, label = false) {
  const svg = s("svg", { viewBox: "0 0 32 32", class: `suit ${isRed(suit) ? "red" : "black"}` });
  if (label) {
    svg.setAttribute("role", "img");
    svg.setAttribute("aria-label", SUITS[suit]);
  } else svg.setAttribute("aria-hidden", "true");
  svg.append(s("path", { d: PATHS[suit] }));
  return svg;
}

/** A card in a line of text: rank and suit. */
export function small(card) {
  const chip = h("span", { class: `chip-card ${isJoker(card) ? "joker" : isRed(card[1]) ? "red" : "black"}`, role: "img", "aria-label": cardText(card) });
  if (isJoker(card)) chip.append(h("span", { "aria-hidden": "true" }, { JK: "Joker", BJ: "Big J.", LJ: "Little J." }[card]));
  else chip.append(h("span", { "aria-hidden": "true" }, rankText(card)), suitSign(card[1]));
  return chip;
}

/** An action as people write it: a small card, a number, `pass`, or a suit as trump. */
export function actionSign(action) {
  if (action.startsWith("trump:")) return h("span", { class: "call" }, suitSign(action[6], true), " trump");
  if (action === "pass" || /^\d+$/.test(action)) return h("span", { class: "call" }, action === "pass" ? "pass" : `bid ${action}`);
  return small(action);
}
