// One table of keyboard shortcuts for all pages; `?` shows it. Pages mark items by `data-item`.

import { switchTheme } from "./preferences.js";
import { openPalette } from "./palette.js";
import { copyText, linkTo } from "./copying.js";
import { toggleStar } from "./marking.js";
import { findAround, getElement, listElements } from "./elements.js";

const TEXT_FIELDS = "input:not([type=checkbox]), select, textarea";

/** @type {HTMLElement | null} */
let chosen = null;

function listItems() {
  const session = document.querySelector("article.session, article.thread, article.chat");
  if (!session) return listElements(document, "[data-item]");
  const items = listElements(session, ".prompt, .said, .call, .noted, .thought");
  return items.filter((item) => !item.parentElement?.closest("details:not([open])"));
}

function listPrompts() {
  return listElements(document, ".turn.by-person > .prompt");
}

/** @param {HTMLElement} item */
export function choose(item) {
  chosen?.classList.remove("chosen");
  chosen = item;
  chosen.classList.add("chosen");
  const [target = item] = listElements(item, "a, summary");
  if (!target.hasAttribute("tabindex") && target === item) item.tabIndex = -1;
  target.focus({ preventScroll: true });
  item.scrollIntoView({ block: item.offsetHeight > innerHeight ? "start" : "nearest" });
}

/**
 * Continues from the visible items, wherever the page has been scrolled to. Halves are between two
 * items.
 * @param {HTMLElement[]} items
 */
function findPlace(items) {
  const last = chosen;
  if (!last?.isConnected || !isOnScreen(last)) {
    return items.findIndex((item) => item.getBoundingClientRect().bottom > 80) - 0.5;
  }
  const place = items.indexOf(last);
  if (place >= 0) return place;
  const next = items.findIndex((item) => isBefore(last, item));
  return (next >= 0 ? next : items.length) - 0.5;
}

/**
 * @param {Element} one
 * @param {Element} other
 */
function isBefore(one, other) {
  return (one.compareDocumentPosition(other) & Node.DOCUMENT_POSITION_FOLLOWING) !== 0;
}

/** @param {Element} item */
function isOnScreen(item) {
  const { top, bottom } = item.getBoundingClientRect();
  return bottom > 0 && top < innerHeight;
}

/**
 * @param {HTMLElement[]} items
 * @param {number} step
 */
function move(items, step) {
  if (items.length === 0) return;
  const place = findPlace(items);
  const next = step > 0 ? Math.floor(place + 1) : Math.ceil(place - 1);
  choose(items[Math.min(Math.max(next, 0), items.length - 1)]);
}

/** @param {boolean} isLast */
function goToEnd(isLast) {
  document.dispatchEvent(new CustomEvent("recollect:end", { detail: { isLast } }));
  scrollTo({ top: isLast ? document.body.scrollHeight : 0 });
}

function findText() {
  const field = document.querySelector("[data-find]");
  if (field instanceof HTMLInputElement) {
    field.focus();
    field.select();
  } else location.href = "/search";
}

/** @param {number} step */
function nextHit(step) {
  document.dispatchEvent(new CustomEvent("recollect:hit", { detail: { step } }));
  if (!document.querySelector("article.session")) move(listItems(), step);
}

/** @param {number} step */
function nextFailure(step) {
  document.dispatchEvent(new CustomEvent("recollect:failure", { detail: { step } }));
  if (document.querySelector("article.session")) return;
  move(listElements(document, ".call[data-status=failed]"), step);
}

function openChosen() {
  const own = chosen?.matches("details") ? chosen : chosen?.querySelector("details");
  const details = own ?? chosen?.closest("details");
  if (details instanceof HTMLDetailsElement) details.open = !details.open;
}

function copyChosen() {
  const message = chosen?.closest("[id]");
  if (message && document.querySelector("article.session")) copyText(linkTo(message.id));
}

function starChosen() {
  const [button] = listElements(chosen?.closest("tr") ?? document, "[data-star]");
  const isMeant = chosen?.closest("tr") || document.querySelector("article.session");
  if (button && isMeant) toggleStar(button);
}

function showKeys() {
  getElement(document, "#keys", HTMLDialogElement).showModal();
}

/** @type {Record<string, () => void>} */
const KEYS = {
  j: () => move(listItems(), 1),
  k: () => move(listItems(), -1),
  "]": () => move(listPrompts(), 1),
  "[": () => move(listPrompts(), -1),
  x: () => nextFailure(1),
  X: () => nextFailure(-1),
  n: () => nextHit(1),
  N: () => nextHit(-1),
  "/": findText,
  g: () => goToEnd(false),
  G: () => goToEnd(true),
  o: openChosen,
  c: copyChosen,
  s: starChosen,
  t: switchTheme,
  "?": showKeys,
};

/** @param {KeyboardEvent} event */
function press(event) {
  if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
    event.preventDefault();
    openPalette();
    return;
  }
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  const field = findAround(event, TEXT_FIELDS);
  if (field) {
    if (event.key === "Escape") {
      // A browser would clear the field, and there would be no matches left to go through. On the
      // page of a conversation, Escape interrupts, and the text stays where it is.
      if (document.querySelector("article.chat")) return;
      event.preventDefault();
      field.blur();
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
    button.addEventListener("click", showKeys);
  }
  for (const dialog of document.querySelectorAll("dialog")) {
    dialog.addEventListener("click", (event) => {
      if (event.target === dialog) dialog.close();
    });
  }
}
