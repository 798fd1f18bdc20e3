// The turns on the page, and how others are loaded: by scrolling, by a jump, or again when the
// session has grown. Turns are rendered by the server; here they are only inserted.

import { getElement, listElements } from "./elements.js";
import { fetchFragment } from "./fragments.js";
import { showTimes } from "./times.js";
import { joinBranches, openAround, openBranch, openWay } from "./unfolding.js";
import { translate, showToast } from "./words.js";

const COUNT = 20;
const MAX_TURNS = 200;
const AHEAD = "1200px";
/** Turns that stay on the page, and the distance in pixels at which others are removed. */
const MAX_KEPT = 120;
const FAR = 6000;

/**
 * Turns from the server: from `start` to before `next`, of `total` if known.
 * @typedef {{ part: HTMLElement, start: number, next: number, total: number | null,
 *   messages: number | null, at: string, way: Way }} Got
 *
 * How to get to a record of a subagent: the subagents to open, the turn and the anchor in each.
 * @typedef {[agent: string, turn: number, anchor: string][]} Way
 */

export class Turns {
  /** @param {HTMLElement} article */
  constructor(article) {
    this.article = article;
    this.list = getElement(article, "#turns", HTMLElement);
    this.start = Number(article.dataset.start);
    this.next = Number(article.dataset.next);
    this.total = readTotal(article);
    /** Prompts and replies of the whole session, if known. */
    this.messages = readMessages(article);
    /** @type {((node: HTMLElement) => void)[]} */
    this.listeners = [];
    /** @type {Promise<unknown>} */
    this.waiting = Promise.resolve();
    // The server's HTML, before anything was opened or added, to detect changes.
    /** @type {WeakMap<Element, string>} */
    this.drawn = new WeakMap();
    // The server's id for the state of the turns on the page; empty if it must send all of them.
    this.revision = "";
    // Of a conversation that runs: how often its todo list or its files have changed.
    this.detailsRevision = article.dataset.detailsRevision ?? "";
    for (const turn of this.list.children) this.drawn.set(turn, turn.innerHTML);
    this.observer = this.watchEnds();
    if (article.dataset.partial === "true") this.refresh(true);
  }

  /** @param {(node: HTMLElement) => void} listener is given each turn that comes in */
  onChange(listener) {
    this.listeners.push(listener);
  }

  get isComplete() {
    return this.total !== null && this.next >= this.total;
  }

  /**
   * @param {number} start
   * @param {number} count
   */
  address(start, count, at = "", marks = "", since = "") {
    const query = new URLSearchParams({ start: String(start), count: String(count) });
    if (at) query.set("at", at);
    if (at && marks) query.set("mark", marks);
    if (since) query.set("since", since);
    if (this.article.dataset.project) query.set("project", this.article.dataset.project);
    return `${this.article.dataset.address}/turns?${query}`;
  }

  /**
   * One request at a time: two overlapping responses would insert turns twice.
   * @template T
   * @param {() => Promise<T>} work
   * @returns {Promise<T>}
   */
  async queue(work) {
    const before = this.waiting;
    const result = (async () => {
      await before.catch(() => {});
      return work();
    })();
    this.waiting = result;
    try {
      return await result;
    } catch (error) {
      showToast(translate("failed"));
      throw error;
    }
  }

  /**
   * @param {number} start
   * @param {number} count
   * @param {string} [at] the uuid of a message: the turns around it instead
   * @param {string} [marks] words in that message, one per line
   * @param {string} [since] the revision on the page: only what has changed after it
   * @returns {Promise<Got>}
   */
  async fetch(start, count, at, marks, since) {
    const fragment = await fetchFragment(this.address(start, count, at, marks, since));
    const part = getElement(fragment, ".turns-part", HTMLElement);
    return {
      part,
      start: Number(part.dataset.start),
      next: Number(part.dataset.next),
      total: readTotal(part),
      messages: readMessages(part),
      at: part.dataset.at ?? "",
      way: readWay(part),
    };
  }

  later() {
    return this.queue(async () => {
      if (this.isComplete) return;
      const got = await this.fetch(this.next, COUNT);
      this.total = got.total ?? this.total;
      this.next = Math.max(got.next, this.next);
      this.place(got.part, (nodes) => this.list.append(...nodes));
      this.trim(true);
    });
  }

  earlier() {
    return this.queue(async () => {
      if (this.start === 0) return;
      const from = Math.max(0, this.start - COUNT);
      const got = await this.fetch(from, this.start - from);
      const height = document.documentElement.scrollHeight;
      const top = scrollY;
      this.start = got.start;
      this.place(got.part, (nodes) => this.list.prepend(...nodes));
      scrollTo({ top: top + document.documentElement.scrollHeight - height, behavior: "instant" });
      this.trim(false);
    });
  }

  /**
   * Removes turns far above or below the window: a page with thousands would become slow.
   * @param {boolean} isAbove
   */
  trim(isAbove) {
    const turns = listElements(this.list, ":scope > *");
    const surplus = Math.max(turns.length - MAX_KEPT, 0);
    const outer = isAbove ? turns.slice(0, surplus) : turns.reverse().slice(0, surplus);
    const end = outer.findIndex((turn) => isUsed(turn) || !isFar(turn));
    const removed = end < 0 ? outer : outer.slice(0, end);
    if (!removed.length) return;
    const height = document.documentElement.scrollHeight;
    const top = scrollY;
    for (const turn of removed) turn.remove();
    if (isAbove) {
      this.start += removed.length;
      scrollTo({ top: top + document.documentElement.scrollHeight - height, behavior: "instant" });
    } else {
      this.next -= removed.length;
    }
    this.updateLinks();
  }

  /**
   * The message with this uuid, loaded if it is not on the page, and opened.
   * @param {string} uuid
   * @param {string} marks words in it, one per line
   * @param {Way | null} known how to get to it, if the server has said so already
   */
  show(uuid, marks = "", known = null) {
    return this.queue(async () => {
      let way = known ?? [];
      let shown = uuid;
      if (!document.getElementById(uuid)) {
        const got = await this.fetch(0, COUNT, uuid, marks);
        this.replace(got);
        shown = got.at || uuid;
        if (got.way.length > 0) way = got.way;
      }
      const target = await openWay(document.getElementById(shown), way);
      if (!target) return null;
      await openAround(target);
      target.scrollIntoView({ block: "start", behavior: "instant" });
      target.classList.add("flash");
      setTimeout(() => target.classList.remove("flash"), 2500);
      return target;
    });
  }

  /**
   * @param {number} index
   * @param {boolean} opens whether to open the abandoned branch that it is in, too
   */
  showTurn(index, opens = false) {
    const turn = this.find(index);
    if (turn) {
      if (opens) openBranch(turn);
      turn.scrollIntoView({ block: "start" });
      return Promise.resolve();
    }
    return this.queue(async () => {
      this.replace(await this.fetch(index, COUNT));
      const found = this.find(index);
      if (found && opens) openBranch(found);
      found?.scrollIntoView({ behavior: "instant" });
    });
  }

  /** @param {Got} got */
  replace(got) {
    this.start = got.start;
    this.next = got.next;
    this.total = got.total ?? this.total;
    this.revision = "";
    this.place(got.part, (nodes) => this.list.replaceChildren(...nodes));
  }

  /**
   * Updates the turns on the page: all of them, or those that a new record can have changed. What
   * is open stays open, and the scroll position stays.
   * @param {boolean} isWhole
   */
  refresh(isWhole) {
    return this.queue(async () => {
      const end = this.next;
      let from = isWhole ? this.start : Math.max(this.start, end - COUNT);
      do {
        const got = await this.fetchChanges(from, Math.min(Math.max(end - from, 1), MAX_TURNS));
        this.total = got.total ?? this.total;
        this.messages = got.messages ?? this.messages;
        this.next = Math.max(got.next, this.next);
        for (const fresh of listTurns(got.part)) this.swap(fresh);
        this.revision = got.part.dataset.revision ?? "";
        this.detailsRevision = got.part.dataset.detailsRevision ?? "";
        from += MAX_TURNS;
      } while (from < end);
      this.updateLinks();
    });
  }

  /**
   * What has changed since the last time, or everything if the page lacks what that builds on.
   * @param {number} start
   * @param {number} count
   */
  async fetchChanges(start, count) {
    const got = await this.fetch(start, count, "", "", this.revision);
    const fits = listTurns(got.part).every((fresh) => {
      const steps = this.find(Number(fresh.dataset.turn))?.querySelector(":scope > .steps");
      return (steps?.childElementCount ?? 0) >= Number(fresh.dataset.kept ?? 0);
    });
    return fits ? got : this.fetch(start, count);
  }

  /**
   * Replaces the steps of a turn after the first few, and what is around them.
   * @param {Element} old
   * @param {HTMLElement} fresh
   */
  grow(old, fresh) {
    const steps = getElement(old, ":scope > .steps", HTMLElement);
    const added = getElement(fresh, ":scope > .steps", HTMLElement);
    const around = [":scope > header", ":scope > footer"].map((name) => ({
      known: getElement(old, name, HTMLElement),
      part: getElement(fresh, name, HTMLElement),
    }));
    for (const { part } of around) this.drawn.set(part, part.innerHTML);
    keepOpen(old, fresh);
    this.showToast(fresh);
    for (const each of [...steps.children].slice(Number(fresh.dataset.kept))) each.remove();
    steps.append(...listElements(added, ":scope > *"));
    for (const { known, part } of around) {
      if (this.drawn.get(known) !== this.drawn.get(part)) known.replaceWith(part);
    }
    old.classList.toggle("off-path", fresh.classList.contains("off-path"));
    this.drawn.delete(old);
  }

  /** @param {HTMLElement} fresh */
  swap(fresh) {
    const old = this.find(Number(fresh.dataset.turn));
    if (old && fresh.dataset.kept) {
      this.grow(old, fresh);
      return;
    }
    if (old && this.drawn.get(old) === fresh.innerHTML) return;
    this.drawn.set(fresh, fresh.innerHTML);
    if (!old) this.list.append(fresh);
    else {
      keepOpen(old, fresh);
      old.replaceWith(fresh);
    }
    this.showToast(fresh);
  }

  /**
   * Turns of subagents, which are nested in others, are numbered separately.
   * @param {number} index
   */
  find(index) {
    return this.list.querySelector(`:scope > [data-turn="${index}"]`);
  }

  /**
   * @param {HTMLElement} part
   * @param {(nodes: HTMLElement[]) => void} put
   */
  place(part, put) {
    const nodes = listTurns(part);
    for (const node of nodes) this.drawn.set(node, node.innerHTML);
    put(nodes);
    joinBranches(this.list);
    for (const node of nodes) this.showToast(node);
    this.updateLinks();
  }

  /** @param {HTMLElement} node */
  showToast(node) {
    showTimes(node);
    for (const listener of this.listeners) listener(node);
  }

  updateLinks() {
    for (const link of listElements(this.article, "[data-more]")) {
      const isNeeded = link.dataset.more === "later" ? !this.isComplete : this.start > 0;
      if (link.parentElement) link.parentElement.hidden = !isNeeded;
    }
  }

  watchEnds() {
    const observer = new IntersectionObserver(
      (entries) => {
        for (const entry of entries) {
          const link = /** @type {HTMLElement} */ (entry.target);
          if (entry.isIntersecting && !link.parentElement?.hidden) this.more(link);
        }
      },
      { rootMargin: AHEAD },
    );
    for (const link of listElements(this.article, "[data-more]")) {
      observer.observe(link);
      link.addEventListener("click", (event) => {
        event.preventDefault();
        this.more(link);
      });
    }
    document.addEventListener("recollect:end", (event) => {
      const { isLast } = event.detail;
      if (isLast && !this.isComplete) this.showTurn(Math.max((this.total ?? this.next) - 1, 0));
      if (!isLast && this.start > 0) this.showTurn(0);
    });
    return observer;
  }

  /** @param {HTMLElement} link */
  async more(link) {
    await (link.dataset.more === "later" ? this.later() : this.earlier());
    // Still visible after that: the observer only reports changes.
    this.observer.unobserve(link);
    this.observer.observe(link);
  }
}

/** @param {Element} turn */
function isFar(turn) {
  const { top, bottom } = turn.getBoundingClientRect();
  return bottom < -FAR || top > innerHeight + FAR;
}

/**
 * Whether a turn has the focus or selected text.
 * @param {Element} turn
 */
function isUsed(turn) {
  const selection = getSelection();
  const isSelected = !selection?.isCollapsed && selection?.containsNode(turn, true);
  return isSelected || turn.contains(document.activeElement);
}

/**
 * @param {HTMLElement} place
 * @returns {Way}
 */
export function readWay(place) {
  return JSON.parse(place.dataset.way || "[]");
}

/**
 * The number of turns; undefined while the server does not know it.
 * @param {HTMLElement} place
 */
function readTotal(place) {
  return place.dataset.total === "" ? null : Number(place.dataset.total);
}

/** @param {HTMLElement} place */
function readMessages(place) {
  return place.dataset.messages === undefined ? null : Number(place.dataset.messages);
}

/**
 * @param {HTMLElement} part
 * @returns {HTMLElement[]}
 */
function listTurns(part) {
  return listElements(part, ":scope > *");
}

/**
 * @param {HTMLElement} details
 * @returns {string} finds the same details in a turn that is drawn again; empty if nothing does
 */
function selectDetails(details) {
  const { source } = details.dataset;
  if (source) return `details[data-source="${CSS.escape(source)}"]`;
  if (details.id) return `details#${CSS.escape(details.id)}`;
  // A run of notices may have grown, but still has the first one.
  const notice = details.closest(".noted[id]") ?? details.querySelector(".noted[id]");
  if (notice) {
    const named = `.noted[id="${CSS.escape(notice.id)}"]`;
    return `details:is(.run:has(> ${named}), ${named} > *)`;
  }
  return details.closest(".growth") ? ":scope > footer .growth > dd > details" : "";
}

/**
 * @param {Element} old
 * @param {Element} fresh
 */
function keepOpen(old, fresh) {
  for (const details of listElements(old, "details[open]")) {
    const selector = selectDetails(details);
    const twin = selector && fresh.querySelector(selector);
    if (!(twin instanceof HTMLDetailsElement)) continue;
    const body = details.querySelector(":scope > .call-body, :scope > .child-body");
    const place = twin.querySelector(":scope > .call-body, :scope > .child-body");
    if (body && place && !place.hasChildNodes() && twin.dataset.status === details.dataset.status) {
      place.replaceChildren(...body.childNodes);
    }
    twin.open = true;
  }
}
