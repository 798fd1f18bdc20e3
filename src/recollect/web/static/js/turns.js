// The turns that are in the page, and how others come in: as one scrolls, by a jump, or anew when
// the session has grown. Turns are drawn by the server; here they are only put in their place.

import { fetchFragment } from "./fragments.js";
import { showTimes } from "./times.js";
import { say, tell } from "./words.js";

const COUNT = 20;
const MOST = 200;
const AHEAD = "1200px";

export class Turns {
  constructor(article) {
    this.article = article;
    this.list = article.querySelector("#turns");
    this.start = Number(article.dataset.start);
    this.next = Number(article.dataset.next);
    this.total = article.dataset.total === "" ? null : Number(article.dataset.total);
    this.listeners = [];
    this.waiting = null;
    // What the server drew, before anything was opened or added: the measure of what has changed.
    this.drawn = new WeakMap();
    for (const turn of this.list.children) this.drawn.set(turn, turn.innerHTML);
    this.watchEnds();
    if (article.dataset.partial === "true") this.refresh(true);
  }

  onChange(listener) {
    this.listeners.push(listener);
  }

  get isComplete() {
    return this.total !== null && this.next >= this.total;
  }

  address(start, count, at = "") {
    const query = new URLSearchParams({ start: String(start), count: String(count) });
    if (at) query.set("at", at);
    if (this.article.dataset.project) query.set("project", this.article.dataset.project);
    return `${this.article.dataset.address}/turns?${query}`;
  }

  // One thing at a time: two answers that cross would put turns in twice.
  async queue(work) {
    const before = this.waiting;
    this.waiting = (async () => {
      await before?.catch(() => {});
      return work();
    })();
    try {
      return await this.waiting;
    } catch (error) {
      tell(say("failed"));
      throw error;
    }
  }

  async fetch(start, count, at) {
    const fragment = await fetchFragment(this.address(start, count, at));
    const part = fragment.querySelector(".turns-part");
    return {
      part,
      start: Number(part.dataset.start),
      next: Number(part.dataset.next),
      total: part.dataset.total === "" ? null : Number(part.dataset.total),
    };
  }

  later() {
    return this.queue(async () => {
      if (this.isComplete) return;
      const got = await this.fetch(this.next, COUNT);
      this.total = got.total ?? this.total;
      this.next = Math.max(got.next, this.next);
      this.place(got.part, (nodes) => this.list.append(...nodes));
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
    });
  }

  // The message with this uuid, brought into the page if it is not there.
  show(uuid) {
    return this.queue(async () => {
      if (!document.getElementById(uuid)) await this.jump(uuid);
      const target = document.getElementById(uuid);
      if (!target) return null;
      for (let place = target; place; place = place.parentElement) {
        if (place.localName === "details") place.open = true;
      }
      target.scrollIntoView({ block: "start", behavior: "instant" });
      target.classList.add("flash");
      setTimeout(() => target.classList.remove("flash"), 2500);
      return target;
    });
  }

  showTurn(index) {
    const turn = this.find(index);
    if (turn) {
      turn.scrollIntoView({ block: "start" });
      return Promise.resolve();
    }
    return this.queue(async () => {
      this.replace(await this.fetch(index, COUNT));
      this.find(index)?.scrollIntoView({ behavior: "instant" });
    });
  }

  async jump(uuid) {
    this.replace(await this.fetch(0, COUNT, uuid));
  }

  replace(got) {
    this.start = got.start;
    this.next = got.next;
    this.total = got.total ?? this.total;
    this.place(got.part, (nodes) => this.list.replaceChildren(...nodes));
  }

  // The turns that are shown, drawn anew where the session has changed: all of them, or those that
  // a record at the end can have changed. What one has opened stays open, and what one reads stays
  // where it is.
  refresh(isWhole) {
    return this.queue(async () => {
      const end = this.next;
      let from = isWhole ? this.start : Math.max(this.start, end - COUNT);
      do {
        const got = await this.fetch(from, Math.min(Math.max(end - from, 1), MOST));
        this.total = got.total ?? this.total;
        this.next = Math.max(got.next, this.next);
        for (const fresh of [...got.part.children]) this.swap(fresh);
        from += MOST;
      } while (from < end);
      this.updateLinks();
    });
  }

  swap(fresh) {
    const old = this.find(fresh.dataset.turn);
    if (old && this.drawn.get(old) === fresh.innerHTML) return;
    this.drawn.set(fresh, fresh.innerHTML);
    if (!old) this.list.append(fresh);
    else {
      keepOpen(old, fresh);
      old.replaceWith(fresh);
    }
    this.tell(fresh);
  }

  // Turns of subagents, which stand inside of others, have numbers of their own.
  find(index) {
    return this.list.querySelector(`:scope > [data-turn="${index}"]`);
  }

  place(part, put) {
    const nodes = [...part.children];
    for (const node of nodes) this.drawn.set(node, node.innerHTML);
    put(nodes);
    for (const node of nodes) this.tell(node);
    this.updateLinks();
  }

  tell(node) {
    showTimes(node);
    for (const listener of this.listeners) listener(node);
  }

  updateLinks() {
    for (const link of this.article.querySelectorAll("[data-more]")) {
      const isNeeded = link.dataset.more === "later" ? !this.isComplete : this.start > 0;
      link.parentElement.hidden = !isNeeded;
    }
  }

  watchEnds() {
    const observer = new IntersectionObserver(
      (entries) => {
        for (const entry of entries) {
          if (entry.isIntersecting && !entry.target.parentElement.hidden) this.more(entry.target);
        }
      },
      { rootMargin: AHEAD },
    );
    for (const link of this.article.querySelectorAll("[data-more]")) {
      observer.observe(link);
      link.addEventListener("click", (event) => {
        event.preventDefault();
        this.more(link);
      });
    }
    this.observer = observer;
    document.addEventListener("recollect:end", (event) => {
      const { isLast } = event.detail;
      if (isLast && !this.isComplete) this.showTurn(Math.max((this.total ?? this.next) - 1, 0));
      if (!isLast && this.start > 0) this.showTurn(0);
    });
  }

  async more(link) {
    await (link.dataset.more === "later" ? this.later() : this.earlier());
    // Still on the screen after that: the observer tells only of changes.
    this.observer.unobserve(link);
    this.observer.observe(link);
  }
}

function keepOpen(old, fresh) {
  for (const details of old.querySelectorAll("details[open]")) {
    const selector = details.dataset.source
      ? `details[data-source="${CSS.escape(details.dataset.source)}"]`
      : details.id && `details#${CSS.escape(details.id)}`;
    const twin = selector && fresh.querySelector(selector);
    if (!twin) continue;
    const body = details.querySelector(":scope > .call-body, :scope > .child-body");
    const place = twin.querySelector(":scope > .call-body, :scope > .child-body");
    if (body && place && !place.hasChildNodes() && twin.dataset.status === details.dataset.status) {
      place.replaceChildren(...body.childNodes);
    }
    twin.open = true;
  }
}
