// The page of a conversation: follows its events from the one that the page was rendered with.

import { Cards } from "./cards.js";
import { Composer } from "./composer.js";
import { addCopyButtons } from "./copying.js";
import { Details } from "./details.js";
import { getElement, listElements } from "./elements.js";
import { listen } from "./events.js";
import { formatDollars } from "./figures.js";
import { fetchJson } from "./fragments.js";
import { post } from "./posting.js";
import { Queue } from "./queue.js";
import { Streaming } from "./streaming.js";
import { Turns } from "./turns.js";
import { startUnfolding } from "./unfolding.js";
import { showText, showToast, translate } from "./words.js";

/**
 * @typedef {{ status: string, model: string | null, permission_mode: string | null,
 *   effort: string | null, cost_usd: number | null, session_id: string | null, title: string,
 *   waited_seconds: number, waiting_since: number | null }} Row
 */

/**
 * @typedef {{ value: string, displayName: string, resolvedModel: string | null,
 *   supportedEffortLevels: string[] }} Model
 */

const PAUSE = 40;
/** Pause after a render, as a multiple of its duration: long turns render less often. */
const REST = 4;
const MAX_PAUSE = 2000;
const NEAR_END = 160;
const MAX_NOTICES = 20;
const JUST_DRAWN = 5000;

class ConversationPage {
  /** @param {HTMLElement} article */
  constructor(article) {
    this.article = article;
    this.address = article.dataset.address ?? "";
    this.nonce = article.dataset.nonce ?? "";
    this.status = article.dataset.status ?? "";
    this.middle = getElement(article, ".chat-middle", HTMLElement);
    this.turns = new Turns(article);
    this.streaming = new Streaming(getElement(article, "[data-streaming]", HTMLElement));
    this.cards = new Cards(article);
    this.composer = new Composer(article);
    this.notices = getElement(article, "[data-notices]", HTMLElement);
    this.queue = new Queue(article, this.composer);
    this.details = new Details(article);
    this.timer = 0;
    this.rested = 0;
    /** @type {{ message: string | null, index: number | null, agent: string | null }[]} */
    this.finished = [];
    this.isFollowing = true;
    this.scrolled = 0;
    /** @type {Model[]} what the client offers */
    this.models = [];
    this.detailsRevision = "";
    this.model = article.dataset.model ?? "";
    this.effort = article.dataset.effort ?? "";
  }

  start() {
    startUnfolding(this.article);
    this.turns.onChange((part) => addCopyButtons(part));
    this.cards.onLeft = () => this.composer.field.focus();
    this.composer.onSend = () => this.goToEnd();
    this.article.addEventListener("click", (event) => this.click(event));
    document.addEventListener("keydown", (event) => this.press(event));
    addEventListener("scroll", () => this.noteScroll(), { passive: true });
    addEventListener("wheel", (event) => this.noteWheel(event), { passive: true });
    for (const select of this.article.querySelectorAll("select[data-setting]")) {
      select.addEventListener("change", () => this.changeSetting(select));
    }
    for (const item of listElements(this.article, "[data-task]")) this.addStop(item);
    this.composer.setBusy(this.isBusy);
    this.showEnd();
    this.refreshDetails();
    this.loadOffers();
    this.listen();
    if (!this.cards.isOpen) this.composer.field.focus({ preventScroll: true });
  }

  get isBusy() {
    return this.status === "working" || this.status === "waiting";
  }

  /** How far down the end of the conversation is; on a narrow screen the details come after it. */
  get end() {
    const rest = this.article.getBoundingClientRect().bottom - this.middle.getBoundingClientRect().bottom;
    return document.documentElement.scrollHeight - innerHeight - rest;
  }

  /**
   * A reader who scrolls up, or down to the details, stays there; a page that has merely grown is
   * still followed.
   */
  noteScroll() {
    // The event of our own scrolling: what has changed since then is not the reader's doing.
    if (scrollY === this.scrolled) return;
    const { end } = this;
    const isPast = scrollY > end + NEAR_END;
    const isAtEnd = !isPast && scrollY >= end - NEAR_END;
    if (scrollY > this.scrolled || this.scrolled > end + NEAR_END) this.isFollowing ||= isAtEnd;
    else if (scrollY < this.scrolled) this.isFollowing &&= isAtEnd;
    this.isFollowing &&= !isPast;
    this.scrolled = scrollY;
  }

  /**
   * Runs before the scroll itself: output that arrives now would scroll the page back.
   * @param {WheelEvent} event
   */
  noteWheel(event) {
    const isLong = document.documentElement.scrollHeight > innerHeight;
    if (event.deltaY < 0 && isLong) this.isFollowing = false;
  }

  goToEnd() {
    this.isFollowing = true;
    this.scrolled = scrollY;
    this.showEnd();
  }

  showEnd() {
    // The scroll event may still be pending.
    this.noteScroll();
    if (!this.isFollowing) return;
    scrollTo({ top: this.end, behavior: "instant" });
    // Not by the user: the event that says so comes later.
    this.scrolled = scrollY;
  }

  listen() {
    listen(
      `${this.address}/events`,
      {
        block: (event) => {
          this.streaming.add(event);
          this.showEnd();
        },
        record: (event) => this.refresh(event),
        status: ({ conversation }) => this.showStatus(conversation),
        finished: ({ conversation }) => this.finish(conversation),
        request: ({ id, how }) => (how ? this.settle(id, how) : this.ask(id)),
        prompt: (event) => this.showPrompt(event),
        notice: ({ kind, text }) => this.notice(kind, text),
        tasks: ({ tasks }) => this.showTasks(tasks),
        reload: () => this.reload(),
      },
      { lastId: this.article.dataset.last ?? "0", onLost: (isLost) => this.showLost(isLost) },
    );
  }

  /** @param {{ message: string | null, index: number | null, agent: string | null }} event */
  refresh(event) {
    this.finished.push(event);
    this.schedule();
  }

  schedule() {
    this.timer ||= setTimeout(() => this.draw(), Math.max(PAUSE, this.rested - performance.now()));
  }

  async draw() {
    const finished = this.finished.splice(0);
    const begun = performance.now();
    try {
      await this.turns.refresh(false);
      if (!this.turns.isComplete) await this.turns.later();
    } finally {
      this.timer = 0;
      for (const event of finished) this.streaming.remove(event);
      listElements(this.article, "[data-empty]").forEach((each) => each.remove());
      const now = performance.now();
      this.rested = now + Math.min(REST * (now - begun), MAX_PAUSE);
      if (this.finished.length > 0) this.schedule();
      this.showEnd();
    }
    this.details.showTurnCount(this.turns.total);
    if (this.detailsRevision !== this.turns.detailsRevision) this.refreshDetails();
  }

  /**
   * Events were missed. A page that was just drawn misses only the beginning of a very long block.
   */
  reload() {
    if (performance.now() > JUST_DRAWN) location.reload();
  }

  /** @param {string} id */
  async ask(id) {
    await this.cards.add(id);
    this.details.showWaiting();
    this.showEnd();
  }

  /**
   * @param {string} id
   * @param {string} how
   */
  settle(id, how) {
    this.cards.remove(id);
    if (how === "edited") this.notice("edited", "");
  }

  /** @param {Row} row */
  finish(row) {
    this.showStatus(row);
    this.streaming.clear();
    this.details.measureContext();
  }

  /** @param {Row} row */
  showStatus(row) {
    this.status = row.status;
    this.article.dataset.status = row.status;
    const name = translate(`status${row.status.charAt(0).toUpperCase()}${row.status.slice(1)}`);
    const dot = getElement(this.article, ".chat-head [data-live]", HTMLElement);
    dot.dataset.status = row.status;
    dot.setAttribute("aria-label", name);
    getElement(this.article, "[data-status-text]", HTMLElement).textContent = name;
    const cost = row.cost_usd === null ? "" : formatDollars(row.cost_usd);
    getElement(this.article, "[data-cost]", HTMLElement).textContent = cost;
    if (row.title) getElement(this.article, "[data-title]", HTMLElement).textContent = showText(row.title);
    for (const link of listElements(this.article, "a[data-session-link]")) {
      link.setAttribute("href", `/s/${encodeURIComponent(row.session_id ?? "")}`);
    }
    getElement(this.article, "[data-ended]", HTMLElement).hidden = row.status !== "ended";
    this.composer.showEnded(row.status === "ended");
    this.composer.setBusy(this.isBusy);
    this.details.noteWaiting(row);
    this.showSettings(row);
  }

  /** @param {Row} row */
  showSettings(row) {
    const model = getElement(this.article, "[data-setting=model]", HTMLSelectElement);
    if (row.model && model.options[0]) model.options[0].textContent = showText(row.model);
    const mode = getElement(this.article, "[data-setting=permission_mode]", HTMLSelectElement);
    const known = [...mode.options].some((each) => each.value === row.permission_mode);
    if (row.permission_mode && known) mode.value = row.permission_mode;
    this.model = row.model ?? "";
    this.effort = row.effort ?? "";
    this.showEffort();
  }

  /** Offer the levels of the current model or, if it has none, whether it thinks at all. */
  showEffort() {
    const select = getElement(this.article, "[data-setting=effort]", HTMLSelectElement);
    const { models, model } = this;
    const used = models.find((each) => [each.value, each.resolvedModel].includes(model)) ?? models[0];
    if (!used) return;
    const levels = used.supportedEffortLevels;
    const names = levels.length > 0 ? ["on", ...levels] : ["on", "off"];
    const words = (/** @type {string} */ name) =>
      ({ on: translate("effortOn"), off: translate("effortOff") })[name] ??
      showText(name);
    select.replaceChildren(...names.map((name) => new Option(words(name), name)));
    select.value = names.includes(this.effort) ? this.effort : names[0];
    select.hidden = false;
  }

  /** @param {{ uuid: string, state: string, text: string }} event */
  showPrompt(event) {
    // What was noticed belongs to the turn before.
    if (event.state === "taken") this.notices.replaceChildren();
    this.queue.show(event);
  }

  /**
   * @param {string} kind
   * @param {string} text
   */
  notice(kind, text) {
    const known = {
      silent: "silent", ended: "died", stderr: "stderr", unparsed: "unparsed", edited: "edited",
    }[kind];
    const line = document.createElement("p");
    line.className = `notice ${kind === "ended" ? "failure" : ""}`;
    line.textContent = showText(known ? translate(known).replace("{text}", () => text) : text);
    this.notices.append(line);
    while (this.notices.childElementCount > MAX_NOTICES) this.notices.firstElementChild?.remove();
    this.showEnd();
  }

  /** @param {Record<string, string>} tasks */
  showTasks(tasks) {
    const place = getElement(this.article, "[data-tasks]", HTMLElement);
    place.hidden = Object.keys(tasks).length === 0;
    const items = Object.entries(tasks).map(([id, words]) => {
      const item = document.createElement("li");
      item.dataset.task = id;
      const text = document.createElement("span");
      text.textContent = showText(words || id);
      item.append(text);
      this.addStop(item);
      return item;
    });
    getElement(place, "ul", HTMLElement).replaceChildren(...items);
  }

  /** @param {HTMLElement} item a background task */
  addStop(item) {
    const stop = document.createElement("button");
    stop.type = "button";
    stop.className = "plain";
    stop.textContent = translate("stopTask");
    stop.addEventListener("click", () => this.act("tasks", { name: item.dataset.task }));
    item.append(stop);
  }

  /** @param {boolean} isLost */
  showLost(isLost) {
    this.article.classList.toggle("lost", isLost);
    if (isLost) showToast(translate("lost"));
  }

  /** @param {Event} event */
  click(event) {
    const button = event.target instanceof Element ? event.target.closest("button[data-act]") : null;
    if (button instanceof HTMLElement) this.act(button.dataset.act ?? "");
  }

  /** @param {KeyboardEvent} event */
  press(event) {
    if (event.key !== "Escape" || event.defaultPrevented || !this.isBusy) return;
    if (document.querySelector("dialog[open]")) return;
    event.preventDefault();
    this.act("interrupt");
  }

  /**
   * @param {string} name
   * @param {Record<string, unknown>} [body]
   */
  async act(name, body = {}) {
    try {
      await post(`${this.address}/${name}`, this.nonce, body);
    } catch (failure) {
      if (failure instanceof Error) showToast(showText(failure.message));
    }
  }

  /** @param {Element} select */
  changeSetting(select) {
    if (!(select instanceof HTMLSelectElement) || !select.value) return;
    this.act("settings", { [select.dataset.setting ?? ""]: select.value });
  }

  refreshDetails() {
    this.detailsRevision = this.turns.detailsRevision;
    this.details.refresh();
  }

  async loadOffers() {
    if (this.status === "ended") return;
    const offers = await fetchJson(`${this.address}/offers`).catch(() => null);
    if (!offers) return;
    this.composer.commands = offers.commands;
    const model = getElement(this.article, "[data-setting=model]", HTMLSelectElement);
    this.models = offers.models;
    model.append(
      ...this.models.map((each) => new Option(showText(each.displayName || each.value), each.value)),
    );
    this.showEffort();
    this.details.measureContext();
  }
}

export function startConversation() {
  new ConversationPage(getElement(document, "article.chat", HTMLElement)).start();
}
