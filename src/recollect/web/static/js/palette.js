// Ctrl+K: go to any session or page by typing a few letters of its name, or search for them.

import { getElement } from "./elements.js";
import { fetchJson } from "./fragments.js";
import { describeMoment } from "./times.js";
import { showText, translate } from "./words.js";

/** @typedef {{ name: string, note: string, address: string }} Choice */

/**
 * @typedef {object} Listed a session in the answer of the API
 * @property {string} id
 * @property {string | null} title
 * @property {string | null} firstMessage
 * @property {string | null} projectPath
 * @property {number | null} lastActiveAt
 */

const dialog = getElement(document, "#palette", HTMLDialogElement);
const field = getElement(dialog, "input", HTMLInputElement);
const list = getElement(dialog, "ul", HTMLUListElement);
const MAX_RESULTS = 30;
const PAUSE = 90;

let selected = 0;
let asked = new AbortController();

export function openPalette() {
  if (dialog.open) return;
  field.value = "";
  dialog.showModal();
  fill();
}

/**
 * @param {string[]} words
 * @returns {Choice[]}
 */
function listPages(words) {
  return [...document.querySelectorAll(".top nav a, .status-line a[data-page]")]
    .map((link) => ({
      name: link.textContent ?? "",
      note: "",
      address: link.getAttribute("href") ?? "",
    }))
    .filter((page) => hasWords(page.name, words));
}

/**
 * @param {string} text
 * @returns {Promise<Choice[]>}
 */
async function listSessions(text) {
  asked.abort();
  asked = new AbortController();
  const query = new URLSearchParams({ pageSize: String(MAX_RESULTS), text });
  const answer = await fetchJson(`/api/history/sessions?${query}`, asked.signal);
  const choices = answer.sessions.map((/** @type {Listed} */ each) => ({
    name: showText(each.title ?? each.firstMessage ?? each.id),
    note: showText(joinFacts((each.projectPath ?? "").split(/[\\/]/).pop(), each.lastActiveAt)),
    address: `/s/${encodeURIComponent(each.id)}`,
  }));
  // Prompts and directories are searched too, but what is typed here is mostly a name.
  const words = listWords(text);
  const isNamed = (/** @type {Choice} */ each) => hasWords(each.name, words);
  return [...choices.filter(isNamed), ...choices.filter((/** @type {Choice} */ each) => !isNamed(each))];
}

/**
 * @param {string | undefined} project
 * @param {number | null} moment
 */
function joinFacts(project, moment) {
  const age = moment === null ? "" : describeMoment(new Date(moment));
  return [project, age].filter(Boolean).join(", ");
}

/** @param {string} text */
function listWords(text) {
  return text.toLowerCase().split(/\s+/).filter(Boolean);
}

/**
 * @param {string} name
 * @param {string[]} words
 */
function hasWords(name, words) {
  return words.every((word) => name.toLowerCase().includes(word));
}

async function fill() {
  const text = field.value.trim();
  const pages = listPages(listWords(text));
  const sessions = await listSessions(text).catch(() => []);
  show([...sessions, ...pages, ...(text ? [searchFor(text)] : [])]);
}

/**
 * Words that are in no title may still be in a text.
 * @param {string} text
 * @returns {Choice}
 */
function searchFor(text) {
  const address = `/search?${new URLSearchParams({ q: text })}`;
  return { name: translate("search", { text: showText(text) }), note: "", address };
}

/** @param {Choice[]} choices */
function show(choices) {
  list.replaceChildren(...choices.map(draw));
  select(0);
}

/**
 * @param {Choice} choice
 * @param {number} number
 */
function draw(choice, number) {
  const item = document.createElement("li");
  item.role = "none";
  const link = document.createElement("a");
  link.role = "option";
  link.id = `choice-${number}`;
  link.href = choice.address;
  link.tabIndex = -1;
  const name = document.createElement("span");
  name.textContent = choice.name;
  const note = document.createElement("small");
  note.textContent = choice.note;
  link.append(name, note);
  item.append(link);
  return item;
}

/** @param {number} number */
function select(number) {
  const items = [...list.querySelectorAll("a")];
  selected = Math.min(Math.max(number, 0), items.length - 1);
  for (const [place, item] of items.entries()) {
    item.setAttribute("aria-selected", String(place === selected));
  }
  items[selected]?.scrollIntoView({ block: "nearest" });
  field.setAttribute("aria-activedescendant", items[selected]?.id ?? "");
}

export function startPalette() {
  for (const button of document.querySelectorAll("[data-open=palette]")) {
    button.addEventListener("click", openPalette);
  }
  let timer = 0;
  field.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(fill, PAUSE);
  });
  field.addEventListener("keydown", (event) => {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (step) {
      event.preventDefault();
      select(selected + step);
    } else if (event.key === "Enter") {
      event.preventDefault();
      list.querySelectorAll("a")[selected]?.click();
    }
  });
}
