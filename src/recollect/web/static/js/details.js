// What is beside a conversation: its todo list, the files that it changed, the context, and for how
// long it has waited for an answer.

import { getElement, listElements } from "./elements.js";
import { fetchFragment, fetchJson } from "./fragments.js";
import { describeDuration } from "./times.js";
import { showText, translate } from "./words.js";

const MINUTE = 60;
const STEP = 5000;

export class Details {
  /** @param {HTMLElement} article */
  constructor(article) {
    this.article = article;
    this.address = article.dataset.address ?? "";
    this.waited = Number(article.dataset.waited);
    /** @type {number | null} */
    this.since = article.dataset.since ? Number(article.dataset.since) : null;
    this.showWaiting();
    setInterval(() => this.showWaiting(), STEP);
  }

  async refresh() {
    const fragment = await fetchFragment(`${this.address}/details`).catch(() => null);
    if (!fragment) return;
    for (const part of listElements(fragment, "[data-part]")) {
      const place = getElement(this.article, `section[data-${part.dataset.part}]`, HTMLElement);
      place.replaceChildren(...part.children);
      place.hidden = place.childElementCount === 0;
    }
  }

  /** @param {{ waited_seconds: number, waiting_since: number | null }} row */
  noteWaiting(row) {
    this.waited = row.waited_seconds;
    this.since = row.waiting_since;
    this.showWaiting();
  }

  showWaiting() {
    const now = Date.now() / 1000;
    const open = this.since === null ? 0 : Math.max(now - this.since, 0);
    const total = getElement(this.article, "[data-waited-for]", HTMLElement);
    total.textContent = describeDuration(this.waited + open);
    for (const note of listElements(this.article, "[data-asked]")) {
      const seconds = now - Number(note.dataset.asked || now);
      if (seconds >= MINUTE) {
        note.textContent = translate("waitingFor", { time: describeDuration(seconds) });
      }
    }
  }

  async measureContext() {
    const used = await fetchJson(`${this.address}/context`).catch(() => null);
    if (!used?.maxTokens) return;
    const share = Math.min(100, (100 * used.totalTokens) / used.maxTokens);
    const meter = getElement(this.article, "[data-context]", HTMLElement);
    const words = translate("contextOf")
      .replace("{share}", share.toFixed(0))
      .replace("{total}", shorten(used.maxTokens));
    meter.hidden = false;
    getElement(meter, ".used", SVGRectElement).setAttribute("width", share.toFixed(1));
    getElement(meter, "svg", SVGElement).setAttribute("aria-label", words);
    getElement(meter, "small", HTMLElement).textContent = words;
    this.showParts(used);
  }

  /**
   * @param {{ totalTokens: number, maxTokens: number, categories: { name: string,
   *   tokens: number }[] }} used
   */
  showParts(used) {
    const place = getElement(this.article, "[data-context-parts]", HTMLElement);
    const rows = used.categories.filter((each) => each.tokens > 0).map((each) => {
      const row = document.createElement("div");
      const name = document.createElement("dt");
      name.textContent = showText(each.name);
      const tokens = document.createElement("dd");
      tokens.textContent = shorten(each.tokens);
      row.append(name, tokens);
      return row;
    });
    getElement(place, "dl", HTMLElement).replaceChildren(...rows);
    const total = `${shorten(used.totalTokens)} / ${shorten(used.maxTokens)}`;
    getElement(place, "[data-context-total]", HTMLElement).textContent = total;
    place.hidden = rows.length === 0;
  }
}

/** @param {number} count */
function shorten(count) {
  if (count >= 1_000_000) return `${Number((count / 1_000_000).toFixed(1))}M`;
  return count >= 1000 ? `${Math.round(count / 1000)}k` : String(count);
}
