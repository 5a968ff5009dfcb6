// The server: JSON calls, the socket of a seat, and which seats this browser holds.

/** A JSON call; throws an Error with the server's words. */
export async function call(path, body, kind = "application/json") {
  const options = body === undefined ? {} : {
    method: "POST",
    headers: { "content-type": kind },
    body: kind === "application/json" ? JSON.stringify(body) : body,
  };
  let answer;
  try {
    answer = await fetch(path, options);
  } catch {
    throw new Error("The server cannot be reached.");
  }
  if (!answer.ok) {
    const problem = await answer.json().catch(() => ({}));
    throw new Error(problem.message ?? `The server answered ${answer.status}.`);
  }
  return answer;
}

/** A seat's socket, opened again when it is lost. `hear` gets messages, `state` gets `open`, `lost` or `refused`. */
export class Line {
  constructor(table, token, hear, state) {
    Object.assign(this, { table, token, hear, state, tries: 0, closed: false });
    this.open();
  }

  open() {
    const url = new URL(`/api/tables/${encodeURIComponent(this.table)}`, location.href);
    url.protocol = url.protocol.replace("http", "ws");
    this.socket = new WebSocket(url);
    this.socket.onopen = () => this.socket.send(JSON.stringify({ type: "join", token: this.token }));
    this.socket.onmessage = (event) => {
      const message = JSON.parse(event.data);
      if (message.type === "facts") {
        this.tries = 0;
        this.state("open");
      }
      this.hear(message);
    };
    this.socket.onclose = (event) => {
      if (this.closed) return;
      if (event.code === 4403) {
        this.closed = true;
        this.state("refused");
        return;
      }
      this.state("lost");
      this.timer = setTimeout(() => this.open(), Math.min(8000, 300 * 2 ** this.tries++));
    };
  }

  say(message) {
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(message));
  }

  close() {
    this.closed = true;
    clearTimeout(this.timer);
    this.socket.close();
  }
}

const KEY = "smear.tables";

/** Tables of which this browser holds seats: `[{table, title, when, seats: [{seat, token, name}], mine}]`. */
export function myTables() {
  try {
    const kept = JSON.parse(localStorage.getItem(KEY) ?? "[]");
    return Array.isArray(kept) ? kept : [];
  } catch {
    return [];
  }
}

/** Keep a table, the latest first. */
export function keepTable(entry) {
  const others = myTables().filter((one) => one.table !== entry.table);
  localStorage.setItem(KEY, JSON.stringify([entry, ...others].slice(0, 30)));
}

/** Forget a table in this browser; on the server it stays. */
export function forgetTable(table) {
  localStorage.setItem(KEY, JSON.stringify(myTables().filter((one) => one.table !== table)));
}
