// Find in session: asks the server, so that it also finds what is not on the page yet.

import { getElement } from "./elements.js";
import { fetchJson } from "./fragments.js";
import { markWords } from "./highlighting.js";
import { translate } from "./words.js";

const PAUSE = 200;

/**
 * @param {HTMLElement} article
 * @param {import("./turns.js").Turns} turns
 */
export function startFinding(article, turns) {
  const form = getElement(article, "[data-find-in-session]", HTMLElement);
  const field = getElement(form, "input", HTMLInputElement);
  const count = getElement(form, ".find-count", HTMLElement);
  /** @type {{ uuid: string, turn: number | null }[]} */
  let hits = [];
  let place = -1;
  let sought = "";
  let asked = new AbortController();

  let found = Promise.resolve();

  /** Going to a hit in the meantime waits for the same search. */
  function find() {
    const text = field.value.trim();
    if (text !== sought) {
      sought = text;
      found = search(text);
    }
    return found;
  }

  /** @param {string} text */
  async function search(text) {
    asked.abort();
    asked = new AbortController();
    const { signal } = asked;
    const answer = text ? await ask(text, signal) : [];
    if (signal.aborted) return;
    hits = answer;
    place = -1;
    tellCount();
    document.dispatchEvent(new CustomEvent("recollect:found", { detail: { hits } }));
  }

  /**
   * @param {string} text
   * @param {AbortSignal} signal
   */
  async function ask(text, signal) {
    const query = new URLSearchParams({ q: text });
    if (article.dataset.project) query.set("project", article.dataset.project);
    const session = encodeURIComponent(article.dataset.session ?? "");
    const address = `/api/sessions/${session}/find?${query}`;
    try {
      return (await fetchJson(address, signal)).hits;
    } catch {
      return [];
    }
  }

  function tellCount() {
    if (!sought) count.textContent = "";
    else if (hits.length === 0) count.textContent = translate("none");
    else count.textContent = translate("hits", { at: place + 1, count: hits.length });
  }

  /** @param {number} step */
  async function go(step) {
    await find();
    if (hits.length === 0) return;
    place = (place + step + hits.length) % hits.length;
    tellCount();
    const target = await turns.show(hits[place].uuid, sought);
    if (target) await markWords(target, sought);
  }

  let timer = 0;
  field.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(find, PAUSE);
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    go(1);
  });
  field.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    event.preventDefault();
    go(event.shiftKey ? -1 : 1);
  });
  document.addEventListener("recollect:hit", (event) => go(event.detail.step));
}
