// Details of a tool call or a subagent, fetched when they are opened for the first time.

import { addCopyButtons } from "./copying.js";
import { findAround } from "./elements.js";
import { fetchFragment } from "./fragments.js";
import { translate } from "./words.js";

const MOST_AT_ONCE = 40;

/** @type {WeakMap<HTMLDetailsElement, Promise<void>>} */
const filling = new WeakMap();

/**
 * One request at a time for each call: a second one would replace what was found in the first.
 * @param {HTMLDetailsElement} details
 * @param {boolean} isWhole whether to fetch a call with every field, which its view may leave out
 */
function fill(details, isWhole = false) {
  const before = filling.get(details) ?? Promise.resolve();
  const result = before.then(() => load(details, isWhole));
  filling.set(details, result);
  return result;
}

/**
 * @param {HTMLDetailsElement} details
 * @param {boolean} isWhole
 */
async function load(details, isWhole) {
  const body = details.querySelector(":scope > .call-body, :scope > .child-body");
  if (!details.open || !details.dataset.source || !body) return;
  const lacksFields = isWhole && details.matches(".call") && !details.dataset.whole;
  if (body.hasChildNodes() && !(lacksFields && body.querySelector("[data-whole]"))) return;
  const note = document.createElement("p");
  note.className = "loading";
  note.textContent = translate("loading");
  body.append(note);
  try {
    const from = new URL(details.dataset.source, location.href);
    if (lacksFields) from.searchParams.set("whole", "true");
    const fragment = await fetchFragment(from.pathname + from.search);
    if (lacksFields) details.dataset.whole = "true";
    // The turns of a subagent are numbered from the start, too.
    for (const turn of fragment.querySelectorAll(".turn")) turn.removeAttribute("id");
    body.replaceChildren(fragment);
    addCopyButtons(body);
  } catch {
    note.textContent = translate("failed");
    body.replaceChildren(note);
  }
}

/**
 * The turns of the abandoned branch that a turn is in: from one rewind to the next.
 * @param {Element} turn
 */
function listBranch(turn) {
  /** @param {Element | null} each */
  const isAbandoned = (each) => each?.matches(".turn.off-path");
  const isStart = (/** @type {Element} */ each) => each.querySelector(":scope > header .branches");
  const found = [turn];
  for (let at = turn; !isStart(at) && isAbandoned(at.previousElementSibling); ) {
    at = /** @type {Element} */ (at.previousElementSibling);
    found.unshift(at);
  }
  for (let at = turn.nextElementSibling; at && isAbandoned(at) && !isStart(at); ) {
    found.push(at);
    at = at.nextElementSibling;
  }
  return found;
}

/**
 * Each turn of an abandoned branch is collapsed to its prompt until the branch is opened.
 * @param {Element} turn
 * @param {boolean} isOpen
 */
function switchBranch(turn, isOpen) {
  for (const each of listBranch(turn)) {
    const button = each.querySelector(":scope > header [data-branch]");
    button?.setAttribute("aria-expanded", String(isOpen));
  }
}

/**
 * Opens turns that were loaded later, in branches that are open.
 * @param {HTMLElement} list
 */
export function joinBranches(list) {
  const opened = list.querySelectorAll(":scope > .off-path:has(> header [aria-expanded=true])");
  for (const turn of opened) switchBranch(turn, true);
}

/**
 * Opens the branch of a turn if it is an abandoned one.
 * @param {Element} turn
 */
export function openBranch(turn) {
  if (turn.matches(".turn.off-path")) switchBranch(turn, true);
}

/**
 * Opens the subagents on the way to a record of one of them.
 * @param {HTMLElement | null} start where the first of them was started
 * @param {import("./turns.js").Way} way
 */
export async function openWay(start, way) {
  let target = start;
  for (const [agent, turn, anchor] of way) {
    const scope = target?.closest(".turn") ?? document;
    const child = scope.querySelector(`details.child[data-agent="${CSS.escape(agent)}"]`);
    if (!(child instanceof HTMLDetailsElement)) {
      // No call started it: it has a separate page.
      location.assign(`/s/agent-${encodeURIComponent(agent)}?at=${encodeURIComponent(anchor)}`);
      return null;
    }
    await openAround(child);
    if (turn > 0 && !find(child, anchor)) {
      const from = new URL(child.dataset.source ?? "", location.href);
      from.searchParams.set("start", String(turn));
      child.dataset.source = from.pathname + from.search;
      child.querySelector(":scope > .child-body")?.replaceChildren();
      await fill(child);
    }
    target = find(child, anchor) ?? child;
  }
  return target;
}

/**
 * @param {Element} scope
 * @param {string} anchor
 * @returns {HTMLElement | null}
 */
function find(scope, anchor) {
  const number = /^turn-(\d+)$/.exec(anchor)?.[1];
  const named = number ? `[data-turn="${Number(number) - 1}"]` : `[id="${CSS.escape(anchor)}"]`;
  return scope.querySelector(named);
}

/**
 * Opens an element that folds, and everything that it is folded into, with all details loaded.
 * @param {HTMLElement} target
 */
export async function openAround(target) {
  /** @type {HTMLElement[]} */
  const around = [];
  for (let at = target; at && at !== document.body; at = /** @type {HTMLElement} */ (at.parentElement)) {
    around.unshift(at);
  }
  for (const each of around) {
    // What is off the screen has only an estimated height, and no place to scroll to.
    if (each.matches(".turn")) each.classList.add("landed");
    openBranch(each);
    if (!(each instanceof HTMLDetailsElement)) continue;
    each.open = true;
    // The match may be in a field that the view of a call leaves out.
    await fill(each, true);
  }
}

/** @param {HTMLElement} article */
export function startUnfolding(article) {
  article.addEventListener("click", (event) => {
    const button = findAround(event, "[data-branch]");
    const turn = button?.closest(".turn");
    if (button && turn) switchBranch(turn, button.getAttribute("aria-expanded") !== "true");
    const around = findAround(event, "[data-whole]")?.closest("details");
    if (around) fill(around, true);
  });
  const onToggle = (/** @type {Event} */ event) => {
    if (event.target instanceof HTMLDetailsElement) fill(event.target);
  };
  article.addEventListener("toggle", onToggle, true);
  /** @type {NodeListOf<HTMLDetailsElement>} */
  const open = article.querySelectorAll("details[data-source][open]");
  for (const details of open) fill(details);
}

/**
 * Expands only what is near the screen: a session of ten thousand calls would take forever.
 * @param {HTMLElement} article
 * @param {HTMLElement} button
 */
export function unfoldAll(article, button) {
  const isOpen = button.getAttribute("aria-pressed") !== "true";
  button.setAttribute("aria-pressed", String(isOpen));
  /** @type {NodeListOf<HTMLDetailsElement>} */
  const found = article.querySelectorAll("details.call, details.thought");
  const calls = [...found];
  const near = isOpen ? calls.filter(isNear).slice(0, MOST_AT_ONCE) : calls;
  for (const details of near) details.open = isOpen;
}

/** @param {Element} element */
function isNear(element) {
  const { top, bottom } = element.getBoundingClientRect();
  return bottom > -innerHeight && top < innerHeight * 2;
}
