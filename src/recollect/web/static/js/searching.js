// Results as you type; the URL is updated, so that a reload or a link shows the same.
//
// Recent searches stay in this browser: the server never gets a list of them.

import { findAround, getElement } from "./elements.js";
import { fetchFragment } from "./fragments.js";
import { choose } from "./keys.js";
import { showTimes } from "./times.js";
import { showText } from "./words.js";

const PAUSE = 120;
const LONG_PAUSE = 400;
const RECENT = "recollect-searches";
const MAX_RECENT = 12;

/** @returns {string[]} */
function listRecent() {
  try {
    const kept = JSON.parse(localStorage.getItem(RECENT) ?? "[]");
    return Array.isArray(kept) ? kept.filter((each) => typeof each === "string") : [];
  } catch {
    return [];
  }
}

/** @param {string} query */
function remember(query) {
  if (!query) return;
  const others = listRecent().filter((each) => each !== query);
  localStorage.setItem(RECENT, JSON.stringify([query, ...others].slice(0, MAX_RECENT)));
}

/**
 * Lists recent searches as long as nothing is being searched for.
 * @param {boolean} isShown
 */
function showRecent(isShown) {
  const section = getElement(document, ".recent-searches", HTMLElement);
  const recent = isShown ? listRecent() : [];
  section.hidden = recent.length === 0;
  getElement(section, "ul", HTMLUListElement).replaceChildren(...recent.map(linkTo));
}

/** @param {string} query */
function linkTo(query) {
  const item = document.createElement("li");
  const link = document.createElement("a");
  link.href = `/search?${new URLSearchParams({ q: query })}`;
  link.textContent = showText(query);
  item.append(link);
  return item;
}

/**
 * Replaces the results. The focus stays on its link, or goes to the nearest one that is still there,
 * at the same height in the window.
 * @param {HTMLElement} results
 * @param {DocumentFragment} found
 * @param {HTMLElement} field where the focus goes if there is no link left
 */
function replaceResults(results, found, field) {
  const focused = document.activeElement;
  if (!focused || !results.contains(focused)) {
    results.replaceChildren(found);
    return;
  }
  const { top } = focused.getBoundingClientRect();
  const wasChosen = focused.closest(".chosen") !== null;
  const kind = focused.closest(".hit") ? ".hit a" : "a";
  const before = [...results.querySelectorAll(kind)];
  const place = before.indexOf(focused);
  // A little more for those before it: of two as near, the next one is taken.
  const nearest = before
    .map((link, at) => ({ link, distance: at < place ? place - at + 0.5 : at - place }))
    .sort((one, other) => one.distance - other.distance);
  results.replaceChildren(found);
  /** @type {Map<string | null, HTMLElement | SVGElement>} */
  const after = new Map();
  for (const link of results.querySelectorAll("a")) after.set(link.getAttribute("href"), link);
  const kept = nearest.map((each) => after.get(each.link.getAttribute("href")));
  const link = kept.find((each) => each) ?? field;
  link.focus({ preventScroll: true });
  scrollBy(0, link.getBoundingClientRect().top - top);
  const item = link.closest("[data-item]");
  if (wasChosen && item instanceof HTMLElement) choose(item);
}

export function startSearching() {
  const form = getElement(document, "form.search", HTMLFormElement);
  const field = getElement(form, "input[type=search]", HTMLInputElement);
  const results = getElement(document, "#results", HTMLElement);
  let asked = new AbortController();
  let timer = 0;

  const readQuery = () => String(new FormData(form).get("q") ?? "").trim();

  /** @param {boolean} isQuick */
  async function search(isQuick) {
    asked.abort();
    asked = new AbortController();
    const query = new URLSearchParams();
    for (const [name, value] of new FormData(form)) {
      if (value !== "false") query.append(name, String(value));
    }
    history.replaceState(null, "", `/search?${query}`);
    showRecent(!query.get("q"));
    query.set("part", "true");
    if (isQuick) query.set("quick", "true");
    try {
      replaceResults(results, await fetchFragment(`/search?${query}`, asked.signal), field);
      showTimes(results);
      // Slow lookups run once typing has stopped.
      if (results.querySelector("[data-unfinished]")) {
        timer = setTimeout(() => search(false), LONG_PAUSE);
      }
    } catch (error) {
      if (!(error instanceof DOMException && error.name === "AbortError")) throw error;
    }
  }

  form.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(() => search(true), PAUSE);
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    clearTimeout(timer);
    remember(readQuery());
    search(false);
  });
  results.addEventListener("click", (event) => {
    // Only a search that led somewhere is worth coming back to, not what was typed on the way.
    if (findAround(event, ".hits a")) remember(readQuery());
  });
  getElement(document, ".recent-searches button", HTMLElement).addEventListener("click", () => {
    localStorage.removeItem(RECENT);
    showRecent(false);
  });
  showRecent(!readQuery());
}
