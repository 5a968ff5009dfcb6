// The page: which view is shown, and whether it is light or dark.
import { put } from "./dom.js";
import { showLobby } from "./lobby.js";
import { showReplay } from "./replay.js";
import { showTable } from "./table.js";

const main = document.getElementById("main");
let leave = null;

/** Show what the address says; `data` is handed to the view. */
export function show(data) {
  leave?.();
  put(main);
  main.className = "";
  const parts = location.pathname.split("/").filter(Boolean);
  if (parts[0] === "table" && parts[1]) leave = showTable(main, decodeURIComponent(parts[1]), location.hash.slice(1), go);
  else if (parts[0] === "replay") leave = showReplay(main, data);
  else leave = showLobby(main, go);
  for (const link of document.querySelectorAll("header nav a")) {
    if (link.pathname === location.pathname) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
}

/** Go to an address of this page without loading it anew. */
function go(address, data) {
  history.pushState(null, "", address);
  show(data);
  main.focus({ preventScroll: true });
  scrollTo(0, 0);
}

document.addEventListener("click", (event) => {
  const link = event.target.closest?.("a[data-route]");
  if (link && !event.ctrlKey && !event.metaKey && !event.shiftKey && event.button === 0) {
    event.preventDefault();
    go(link.getAttribute("href"));
  }
});
addEventListener("popstate", () => show());

const button = document.getElementById("theme");
const dark = matchMedia("(prefers-color-scheme: dark)");

function applyTheme() {
  const chosen = localStorage.getItem("smear.theme");
  const theme = chosen ?? (dark.matches ? "dark" : "light");
  document.documentElement.dataset.theme = theme;
  button.textContent = theme === "dark" ? "Light" : "Dark";
}

button.onclick = () => {
  localStorage.setItem("smear.theme", document.documentElement.dataset.theme === "dark" ? "light" : "dark");
  applyTheme();
};
dark.addEventListener("change", applyTheme);
applyTheme();
show();
