// The outline: every prompt, one line each, the one that is on the screen marked.

import { getElement, listElements } from "./elements.js";
import { fetchJson } from "./fragments.js";
import { showText } from "./words.js";

/**
 * A turn in one line, as the server describes it.
 * @typedef {object} Entry
 * @property {number} number counted from 1
 * @property {string} line
 * @property {string | null} uuid
 * @property {number} errors
 * @property {boolean} is_by_person
 * @property {boolean} is_branch
 * @property {boolean} is_on_main_path
 */

/**
 * @param {HTMLElement} article
 * @param {import("./turns.js").Turns} turns
 */
export function startOutline(article, turns) {
  const list = getElement(article, "[data-outline]", HTMLElement);
  const box = /** @type {HTMLElement} */ (list.parentElement);

  async function load() {
    const session = encodeURIComponent(article.dataset.session ?? "");
    const address = `/api/sessions/${session}/outline`;
    const query = article.dataset.project
      ? `?${new URLSearchParams({ project: article.dataset.project })}`
      : "";
    const answer = await fetchJson(address + query);
    /** @type {Entry[]} */
    const all = answer.turns;
    const entries = all.filter((entry) => entry.line && (entry.is_by_person || entry.is_branch));
    list.replaceChildren(...entries.map(draw));
    mark();
  }

  /** @param {Entry} entry */
  function draw(entry) {
    const item = document.createElement("li");
    item.dataset.turn = String(entry.number - 1);
    if (!entry.is_on_main_path) item.className = "off-path";
    const link = document.createElement("a");
    link.href = entry.uuid ? `#${entry.uuid}` : `#turn-${entry.number}`;
    link.textContent = showText(entry.line);
    link.title = link.textContent;
    if (entry.errors > 0) {
      const errors = document.createElement("span");
      errors.className = "errors";
      errors.textContent = ` ✕${entry.errors}`;
      link.append(errors);
    }
    link.addEventListener("click", (event) => {
      event.preventDefault();
      history.replaceState(null, "", link.href);
      turns.showTurn(entry.number - 1);
    });
    item.append(link);
    return item;
  }

  function mark() {
    const isAtEnd = scrollY > 0 && innerHeight + scrollY >= document.body.scrollHeight - 2;
    const limit = isAtEnd ? innerHeight : innerHeight / 3;
    const shown = listElements(article, "#turns > .turn").filter(
      (turn) => turn.getBoundingClientRect().top < limit,
    );
    const here = Number(shown.at(-1)?.dataset.turn ?? 0);
    let current = null;
    for (const item of listElements(list, ":scope > li")) {
      item.classList.remove("here");
      if (Number(item.dataset.turn) <= here) current = item;
    }
    current?.classList.add("here");
    if (current) reveal(current);
  }

  /**
   * Within its box only: the page stays where the reader has it.
   * @param {Element} item
   */
  function reveal(item) {
    const { top, bottom } = box.getBoundingClientRect();
    const line = item.getBoundingClientRect();
    if (line.top < top) box.scrollTop -= top - line.top;
    else if (line.bottom > bottom) box.scrollTop += line.bottom - bottom;
  }

  let isWaiting = false;
  addEventListener(
    "scroll",
    () => {
      if (isWaiting) return;
      isWaiting = true;
      requestAnimationFrame(() => {
        isWaiting = false;
        mark();
      });
    },
    { passive: true },
  );
  document.addEventListener("recollect:grown", load);
  load();
}
