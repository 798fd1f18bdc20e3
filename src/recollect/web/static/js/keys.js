// One table of keys for all pages; `?` shows it. What an item is, the page says by `data-item`.

import { switchTheme } from "./preferences.js";
import { openPalette } from "./palette.js";
import { copyText, linkTo } from "./copying.js";

const TEXT_FIELDS = "input:not([type=checkbox]), select, textarea";

let chosen = null;

function listItems() {
  const session = document.querySelector("article.session");
  if (session) return [...session.querySelectorAll(".prompt, .said, .call, .noted, .thought")];
  return [...document.querySelectorAll("[data-item]")];
}

function listPrompts() {
  return [...document.querySelectorAll(".turn.by-person > .prompt")];
}

export function choose(item) {
  chosen?.classList.remove("chosen");
  chosen = item;
  chosen.classList.add("chosen");
  const target = item.querySelector("a, summary") ?? item;
  if (!target.hasAttribute("tabindex") && target === item) item.tabIndex = -1;
  target.focus({ preventScroll: true });
  item.scrollIntoView({ block: item.offsetHeight > innerHeight ? "start" : "nearest" });
}

// The items that one can see decide where to go on, wherever one has scrolled to since. Halves are
// between two items.
function findPlace(items) {
  if (!chosen?.isConnected || !isOnScreen(chosen)) {
    return items.findIndex((item) => item.getBoundingClientRect().bottom > 80) - 0.5;
  }
  const place = items.indexOf(chosen);
  if (place >= 0) return place;
  const next = items.findIndex((item) => isBefore(chosen, item));
  return (next >= 0 ? next : items.length) - 0.5;
}

function isBefore(one, other) {
  return (one.compareDocumentPosition(other) & Node.DOCUMENT_POSITION_FOLLOWING) !== 0;
}

function isOnScreen(item) {
  const { top, bottom } = item.getBoundingClientRect();
  return bottom > 0 && top < innerHeight;
}

function move(items, step) {
  if (items.length === 0) return;
  const place = findPlace(items);
  const next = step > 0 ? Math.floor(place + 1) : Math.ceil(place - 1);
  choose(items[Math.min(Math.max(next, 0), items.length - 1)]);
}

function goToEnd(isLast) {
  document.dispatchEvent(new CustomEvent("recollect:end", { detail: { isLast } }));
  scrollTo({ top: isLast ? document.body.scrollHeight : 0 });
}

function findText() {
  const field = document.querySelector("[data-find]");
  if (field) {
    field.focus();
    field.select();
  } else location.href = "/search";
}

function nextHit(step) {
  document.dispatchEvent(new CustomEvent("recollect:hit", { detail: { step } }));
  if (!document.querySelector("article.session")) move(listItems(), step);
}

function openChosen() {
  const details = chosen?.closest("details") ?? chosen?.querySelector("details");
  if (details) details.open = !details.open;
}

function copyChosen() {
  const message = chosen?.closest("[id]");
  if (message && document.querySelector("article.session")) copyText(linkTo(message.id));
}

const KEYS = {
  j: () => move(listItems(), 1),
  k: () => move(listItems(), -1),
  "]": () => move(listPrompts(), 1),
  "[": () => move(listPrompts(), -1),
  n: () => nextHit(1),
  N: () => nextHit(-1),
  "/": findText,
  g: () => goToEnd(false),
  G: () => goToEnd(true),
  o: openChosen,
  c: copyChosen,
  t: switchTheme,
  "?": () => document.getElementById("keys").showModal(),
};

function press(event) {
  if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
    event.preventDefault();
    openPalette();
    return;
  }
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  if (event.target.closest(TEXT_FIELDS)) {
    if (event.key === "Escape") {
      // A browser would empty the field, and there would be no hits left to go through.
      event.preventDefault();
      event.target.blur();
    }
    return;
  }
  const deed = KEYS[event.key];
  if (deed) {
    event.preventDefault();
    deed();
  }
}

export function startKeys() {
  document.addEventListener("keydown", press);
  for (const button of document.querySelectorAll("[data-open=keys]")) {
    button.addEventListener("click", () => document.getElementById("keys").showModal());
  }
  for (const dialog of document.querySelectorAll("dialog")) {
    dialog.addEventListener("click", (event) => {
      if (event.target === dialog) dialog.close();
    });
  }
}
