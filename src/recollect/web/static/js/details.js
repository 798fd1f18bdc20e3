// The panel beside a conversation: its to-do list, the files that it changed, the context, and how
// long it has waited for an answer.

import { getElement, listElements, SVG } from "./elements.js";
import { fetchFragment, fetchJson } from "./fragments.js";
import { describeDuration } from "./times.js";
import { showText, translate } from "./words.js";

/**
 * @typedef {{ id: string | null, name: string, tokens: number, kind: string | null,
 *   isDeferred: boolean }} Category
 * @typedef {{ totalTokens: number, maxTokens: number, categories: Category[] }} ContextUsage
 */

const MINUTE = 60;
const STEP = 5000;
const UNUSED = ["free_space", "autocompact_buffer"];

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

  /** @param {number | null} count */
  showTurnCount(count) {
    if (count === null) return;
    getElement(this.article, "[data-turn-count]", HTMLElement).textContent = String(count);
  }

  async measureContext() {
    /** @type {ContextUsage | null} */
    const usage = await fetchJson(`${this.address}/context`).catch(() => null);
    if (!usage?.maxTokens) return;
    const share = Math.min(100, (100 * usage.totalTokens) / usage.maxTokens);
    const words = translate("contextOf", { share: share.toFixed(0), total: shorten(usage.maxTokens) });
    const parts = usage.categories.filter(isUsed);
    const meter = getElement(this.article, "[data-context]", HTMLElement);
    meter.hidden = false;
    getElement(meter, "small", HTMLElement).textContent = words;
    for (const bar of listElements(this.article, "[data-context-bar]")) {
      const drawing = getElement(bar, "svg", SVGElement);
      drawing.setAttribute("aria-label", words);
      getElement(drawing, "g", SVGGElement).replaceChildren(...drawParts(parts, share));
    }
    this.showParts(parts, `${shorten(usage.totalTokens)} / ${shorten(usage.maxTokens)}`);
  }

  /**
   * @param {Category[]} parts
   * @param {string} total
   */
  showParts(parts, total) {
    const place = getElement(this.article, "[data-context-parts]", HTMLElement);
    const rows = parts.map((each) => {
      const row = document.createElement("div");
      const name = document.createElement("dt");
      name.textContent = showText(each.name);
      name.dataset.category = nameCategory(each);
      const tokens = document.createElement("dd");
      tokens.textContent = shorten(each.tokens);
      row.append(name, tokens);
      return row;
    });
    getElement(place, "dl", HTMLElement).replaceChildren(...rows);
    getElement(place, "[data-context-total]", HTMLElement).textContent = total;
    place.hidden = rows.length === 0;
  }
}

/**
 * Whether a category takes up context now. Older clients do not say so.
 * @param {Category} category
 */
function isUsed(category) {
  const isReserved = category.isDeferred || UNUSED.includes(nameCategory(category));
  return category.tokens > 0 && (category.kind ? category.kind === "used" : !isReserved);
}

/** @param {Category} category */
function nameCategory(category) {
  return category.id ?? category.name.toLowerCase().replaceAll(/\W+/g, "_");
}

/**
 * Divides the used share of a bar, which is 100 wide, among the categories.
 * @param {Category[]} parts
 * @param {number} share
 */
function drawParts(parts, share) {
  const sum = parts.reduce((tokens, each) => tokens + each.tokens, 0);
  let start = 0;
  return parts.map((each) => {
    const width = (share * each.tokens) / sum;
    const bar = document.createElementNS(SVG, "rect");
    bar.setAttribute("x", start.toFixed(2));
    bar.setAttribute("width", width.toFixed(2));
    bar.setAttribute("height", "6");
    bar.dataset.category = nameCategory(each);
    start += width;
    return bar;
  });
}

/** @param {number} count */
function shorten(count) {
  if (count >= 1_000_000) return `${Number((count / 1_000_000).toFixed(1))}M`;
  return count >= 1000 ? `${Math.round(count / 1000)}k` : String(count);
}
