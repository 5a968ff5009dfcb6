// A transcript, deal by deal and action by action, with every hand open.
import { actionText, small } from "./cards.js";
import { announce, h, put } from "./dom.js";
import { Felt } from "./felt.js";
import { TEAMS } from "./lobby.js";
import { call } from "./net.js";
import { auction, lastTrick, scoreBoard } from "./panels.js";

/** Show the replay page, at once with a transcript if its text is given; returns what to do on leaving. */
export function showReplay(main, text) {
  document.title = "Replay – Smear";
  const page = new ReplayPage(main);
  if (text) page.read(text);
  return () => page.leave();
}

class ReplayPage {
  constructor(main) {
    Object.assign(this, { main, text: "", match: 0, deal: 0, step: 0, data: null });
    main.className = "replay";
    this.problem = h("p", { class: "problem", role: "alert" });
    const file = h("input", { type: "file", id: "transcript-file", accept: ".jsonl,.json,application/json,application/x-ndjson", onchange: async () => {
      if (file.files[0]) this.read(await file.files[0].text());
    } });
    this.place = h("div", { class: "replayed" });
    put(main, h("section", { class: "sheet" }, h("h1", {}, "Replay"), h("p", { class: "quiet" }, "A transcript is a file of JSON lines, one match a line; a table's own can be had from its page."),
      h("p", { class: "file" }, h("label", { for: "transcript-file" }, "Transcript"), file), this.problem), this.place);
    this.keys = (event) => this.key(event);
    document.addEventListener("keydown", this.keys);
  }

  leave() {
    document.removeEventListener("keydown", this.keys);
    clearInterval(this.timer);
  }

  async read(text) {
    this.text = text;
    await this.load(0, 0);
  }

  async load(match, deal) {
    this.problem.textContent = "";
    try {
      const answer = await call(`/api/replay?match=${match}&deal=${deal}`, this.text, "application/x-ndjson");
      this.data = await answer.json();
    } catch (problem) {
      this.problem.textContent = problem.message;
      return;
    }
    Object.assign(this, { match, deal, step: 0 });
    this.build();
    this.render();
  }

  build() {
    const { data } = this;
    this.facts = { ...data, viewer: 0, seats: Array.from({ length: data.players }, (_, seat) => ({ name: `Seat ${seat}`, team: seat % data.teams, human: false })) };
    // Nobody sits at the bottom: every seat is named by its number.
    this.facts.viewer = -1;
    this.felt = new Felt();
    this.scores = h("section", { class: "scores", "aria-label": "Score" });
    this.slider = h("input", { type: "range", id: "slider", min: 0, max: Math.max(0, data.frames.length - 1), value: 0, "aria-label": "Action", oninput: () => this.to(Number(this.slider.value)) });
    this.caption = h("p", { class: "prompt" });
    this.hands = h("ul", { class: "open-hands", "aria-label": "Hands" });
    this.side = h("aside", { class: "side" });
    const number = (label, count, value, go) => count > 1 ? h("label", {}, `${label} `, h("select", { onchange: (event) => go(Number(event.target.value)) }, Array.from({ length: count }, (_, index) => h("option", { value: String(index), selected: index === value }, String(index + 1))))) : null;
    this.playing = h("button", { type: "button", onclick: () => this.play() }, "Play");
    put(this.place, this.scores, h("div", { class: "board" }, h("div", { class: "area" }, this.felt.element)),
      h("section", { class: "mine", "aria-label": "Steps" }, this.caption, h("div", { class: "steps" },
        h("button", { type: "button", "aria-label": "One action back", onclick: () => this.to(this.step - 1) }, "‹"), this.slider,
        h("button", { type: "button", "aria-label": "One action on", onclick: () => this.to(this.step + 1) }, "›"), this.playing),
        h("p", { class: "which" }, number("Match", data.matches, this.match, (match) => this.load(match, 0)), number("Deal", data.deals, this.deal, (deal) => this.load(this.match, deal))),
        this.hands), this.side);
  }

  to(step) {
    this.step = Math.max(0, Math.min(this.data.frames.length - 1, step));
    this.render();
    announce(this.caption.textContent);
  }

  play() {
    clearInterval(this.timer);
    if (this.playing.textContent === "Pause") {
      this.playing.textContent = "Play";
      return;
    }
    this.playing.textContent = "Pause";
    this.timer = setInterval(() => {
      if (this.step >= this.data.frames.length - 1) {
        clearInterval(this.timer);
        this.playing.textContent = "Play";
      } else this.to(this.step + 1);
    }, 900);
  }

  render() {
    const { facts, data } = this;
    const frame = data.frames[this.step];
    if (!frame) {
      this.caption.textContent = "This deal has no actions.";
      return;
    }
    this.slider.value = String(this.step);
    const view = { ...frame, counts: frame.hands.map((hand) => hand.length), seat: undefined };
    this.felt.show(facts, view, 0);
    scoreBoard(this.scores, facts, view);
    this.caption.textContent = frame.next ? `${facts.seats[frame.next[0]].name}: ${actionText(frame.next[1])}` : this.ending();
    this.slider.setAttribute("aria-valuetext", `Action ${this.step + 1} of ${data.frames.length}: ${this.caption.textContent}`);
    put(this.hands, frame.hands.map((hand, seat) => h("li", { class: frame.turn === seat ? "turn" : "" },
      h("span", { class: "team-mark", data: { team: seat % facts.teams }, "aria-hidden": "true" }, TEAMS[seat % facts.teams]), h("span", { class: "name" }, facts.seats[seat].name),
      h("span", { class: "cards" }, hand.map((card) => {
        const sign = small(card);
        if (frame.next && frame.next[0] === seat && frame.next[1] === card) sign.classList.add("chosen");
        return sign;
      })))));
    put(this.side, h("div", { class: "pair" }, auction(facts, frame), lastTrick(facts, frame)), this.result());
  }

  ending() {
    const { result } = this.data;
    return result.redeal ? "Everybody passed." : `Seat ${result.bidder + 1} ${result.made ? "made" : "failed"} ${result.bid}.`;
  }

  result() {
    const { result, points } = this.data;
    if (!result.points) return h("section", { class: "block" }, h("h2", {}, "Result"), h("p", { class: "quiet" }, result.redeal ? "Passed out." : "This deal was cut off."));
    return h("section", { class: "block" }, h("h2", {}, "Result"), h("ul", { class: "points" }, points.map(([name, label]) => h("li", { class: "held" }, h("span", {}, label), result.points[name] === null ? h("span", { class: "quiet" }, "nobody") : h("span", { class: "team-mark", data: { team: result.points[name] }, role: "img", "aria-label": `Team ${TEAMS[result.points[name]]}` }, TEAMS[result.points[name]])))));
  }

  key(event) {
    if (!this.data || /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) return;
    if (event.key === "ArrowLeft") this.to(this.step - 1);
    else if (event.key === "ArrowRight") this.to(this.step + 1);
    else return;
    event.preventDefault();
  }
}
