// Laying a table: the game, its options, who sits where, and the tables this browser knows.
import { h, put } from "./dom.js";
import { call, forgetTable, keepTable, myTables } from "./net.js";

export const TEAMS = ["A", "B", "C", "D", "E", "F"];
const SPEEDS = [["slow", "Slow"], ["normal", "Normal"], ["fast", "Fast"], ["instant", "At once"]];

/** Show the lobby; returns what to do on leaving. */
export function showLobby(main, go) {
  document.title = "Smear";
  main.className = "lobby";
  const mine = h("section", { class: "sheet", "aria-labelledby": "mine-title" });
  const laying = h("section", { class: "sheet", "aria-labelledby": "new-title" }, h("p", { class: "quiet" }, "Loading …"));
  main.append(h("h1", { class: "hidden-text" }, "Smear"), laying, mine);
  listTables(mine);
  call("/api/catalogue").then((answer) => answer.json()).then(
    ({ games }) => new Laying(laying, games, go),
    (problem) => put(laying, h("p", { role: "alert" }, problem.message)),
  );
  return () => {};
}

function listTables(place) {
  const tables = myTables();
  put(place, h("h2", { id: "mine-title" }, "Your tables"));
  if (!tables.length) {
    place.append(h("p", { class: "quiet" }, "Tables that you open in this browser are listed here. They stay as they are when you leave."));
    return;
  }
  place.append(h("ul", { class: "tables" }, tables.map((entry) => {
    const token = entry.seats.find((seat) => seat.seat === entry.mine)?.token ?? "";
    const when = new Date(entry.when).toLocaleString([], { dateStyle: "medium", timeStyle: "short" });
    return h("li", {},
      h("a", { href: `/table/${encodeURIComponent(entry.table)}#${token}`, "data-route": true }, entry.title),
      h("span", { class: "quiet" }, when),
      h("button", { type: "button", class: "plain", "aria-label": `Remove ${entry.title} of ${when} from this list`, onclick: () => {
        forgetTable(entry.table);
        listTables(place);
      } }, "Remove"),
    );
  })));
}

class Laying {
  constructor(place, games, go) {
    Object.assign(this, { place, games, go });
    this.game = games.find((one) => one.game === localStorage.getItem("smear.game")) ?? games[0];
    this.render();
  }

  render() {
    const form = h("form", { onsubmit: (event) => this.submit(event) });
    put(this.place, h("h2", { id: "new-title" }, "Lay a table"), form);
    form.append(this.chooser());
    this.rest = h("div", { class: "rest" });
    form.append(this.rest);
    this.problem = h("p", { class: "problem", role: "alert" });
    form.append(this.problem, h("button", { class: "primary", type: "submit" }, "Sit down"));
    this.renderGame();
  }

  chooser() {
    return h("fieldset", { class: "games" }, h("legend", {}, "Game"), this.games.map((game) =>
      h("label", { class: "game" },
        h("input", { type: "radio", name: "game", value: game.game, checked: game === this.game, onchange: () => {
          this.game = game;
          localStorage.setItem("smear.game", game.game);
          this.renderGame();
        } }),
        h("span", { class: "game-title" }, game.title),
        h("span", { class: "quiet" }, game.about),
      )));
  }

  renderGame() {
    // Another game keeps what has been filled in already.
    const name = this.name?.value ?? localStorage.getItem("smear.name") ?? "";
    const speed = this.speed?.value ?? "normal";
    const practice = this.practice?.checked ?? true;
    this.seats = Array.from({ length: this.game.players }, (_, seat) => this.seatChoice(seat));
    this.options = this.game.options.map((option) => this.optionChoice(option));
    this.name = h("input", { type: "text", id: "your-name", value: name, maxLength: 32, autocomplete: "nickname", placeholder: "You" });
    this.speed = h("select", { id: "speed" }, SPEEDS.map(([value, label]) => h("option", { value, selected: value === speed }, label)));
    this.practice = h("input", { type: "checkbox", id: "practice", checked: practice });
    const teams = this.options.find((one) => one.option.name === "teams");
    if (teams) teams.select.onchange = () => this.colourSeats();
    put(this.rest,
      h("fieldset", { class: "seats" }, h("legend", {}, "Seats"),
        h("p", { class: "quiet" }, "You take seat 0; a seat for another person gets a link to send."),
        h("div", { class: "seat-rows" }, this.seats.map((seat) => seat.row))),
      h("div", { class: "choices" },
        h("p", {}, h("label", { for: "your-name" }, "Your name"), this.name),
        h("p", {}, h("label", { for: "speed" }, "Agents play"), this.speed),
        h("p", { class: "check" }, this.practice, h("label", { for: "practice" }, "Practice: moves can be taken back")),
      ),
      h("details", { class: "options" }, h("summary", {}, "Rules of the house"),
        h("div", { class: "option-rows" }, this.options.map((one) => one.row))),
    );
    this.colourSeats();
  }

  seatChoice(seat) {
    const id = `seat-${seat}`;
    const mark = h("span", { class: "team-mark", "aria-hidden": "true" });
    const about = h("span", { class: "quiet about" });
    const agents = this.game.agents;
    const select = h("select", { id },
      h("optgroup", { label: "People" },
        seat === 0 ? h("option", { value: "you" }, "You") : null,
        h("option", { value: "human" }, "Another person")),
      h("optgroup", { label: "Agents" }, agents.map((agent, index) =>
        h("option", { value: agent.player, selected: seat > 0 && index === 0 }, agent.label))));
    if (seat === 0) select.replaceChildren(h("option", { value: "you" }, "You"));
    const explain = () => {
      about.textContent = agents.find((agent) => agent.player === select.value)?.about ?? "";
    };
    select.onchange = explain;
    explain();
    const row = h("p", { class: "seat-row" }, mark, h("label", { for: id }, `Seat ${seat}`), select, about);
    return { row, select, mark };
  }

  optionChoice(option) {
    const id = `option-${option.name}`;
    const select = h("select", { id }, option.choices.map(([value, text], index) =>
      h("option", { value: String(index), selected: value === option.value }, text)));
    return { option, select, row: h("p", {}, h("label", { for: id }, option.label), select) };
  }

  chosenOptions() {
    return Object.fromEntries(this.options.map(({ option, select }) => [option.name, option.choices[Number(select.value)][0]])
      .filter(([name, value]) => value !== this.game.options.find((one) => one.name === name).value));
  }

  colourSeats() {
    const teams = this.chosenOptions().teams ?? this.game.teams;
    this.seats.forEach(({ mark }, seat) => {
      mark.textContent = TEAMS[seat % teams];
      mark.dataset.team = String(seat % teams);
    });
  }

  async submit(event) {
    event.preventDefault();
    const name = this.name.value.trim();
    localStorage.setItem("smear.name", name);
    const labels = new Map(this.game.agents.map((agent) => [agent.player, agent.label]));
    const count = new Map();
    const seats = this.seats.map(({ select }, seat) => {
      const player = select.value;
      if (player === "you") return { player: "human", name: name || `Player ${seat}` };
      if (player === "human") return { player, name: `Guest ${seat}` };
      count.set(player, (count.get(player) ?? 0) + 1);
      const short = labels.get(player).replace(/^Policy \S+/, "Policy").replace(" with search", " +");
      return { player, name: `${short} ${count.get(player)}` };
    });
    const setup = { game: this.game.game, options: this.chosenOptions(), seats, speed: this.speed.value, practice: this.practice.checked };
    try {
      const made = await (await call("/api/tables", setup)).json();
      keepTable({ table: made.table, title: this.game.title, when: Date.now(), seats: made.seats, mine: 0 });
      this.go(`/table/${made.table}#${made.seats.find((one) => one.seat === 0).token}`);
    } catch (problem) {
      this.problem.textContent = problem.message;
    }
  }
}
