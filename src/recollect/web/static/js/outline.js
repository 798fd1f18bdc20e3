// The outline: one line per prompt, with the visible one marked; and what failed, the changed files
// and the subagents, each behind a tab.

import { drawIcon, drawText, getElement, listElements } from "./elements.js";
import { Failures } from "./failures.js";
import { formatDollars } from "./figures.js";
import { fetchJson } from "./fragments.js";
import { Scrubber } from "./scrubber.js";
import { Tabs } from "./tabs.js";
import { showText, translate } from "./words.js";

/**
 * A turn in one line, as sent by the server.
 * @typedef {object} Entry
 * @property {number} number counted from 1
 * @property {string} line
 * @property {string | null} uuid
 * @property {number} errors
 * @property {{ uuid: string | null, tool: string, line: string }[]} failures
 * @property {number | null} cost_usd
 * @property {boolean} is_by_person
 * @property {boolean} is_branch
 * @property {boolean} is_on_main_path
 * @property {string} trace its steps, two characters each
 * @property {number} segment between compactions, counted from 0
 * @property {number} context_tokens read by its last request
 * @property {number} backups files that were backed up at this prompt
 * @property {Agent[]} subagents
 */

/**
 * A file that the session changed.
 * @typedef {{ path: string, lines_added: number, lines_removed: number }} ChangedFile
 */

/**
 * A subagent, with those that it started itself.
 * @typedef {object} Agent
 * @property {string} agent_id
 * @property {string | null} call_uuid the record of the call that started it
 * @property {number} turn that of the call, counted from 1 in the session or subagent that made it
 * @property {string | null} agent_type
 * @property {string | null} description
 * @property {string | null} outcome
 * @property {Agent[]} subagents
 */

/**
 * @param {HTMLElement} article
 * @param {import("./turns.js").Turns} turns
 */
export function startOutline(article, turns) {
  const list = getElement(article, "[data-outline]", HTMLElement);
  const box = getElement(article, "nav.outline", HTMLElement);
  const tabs = new Tabs(getElement(box, "[role=tablist]", HTMLElement));
  const failures = new Failures(article, turns);
  const scrubber = new Scrubber(article, turns);
  const counter = getElement(article, "[data-counter]", HTMLElement);

  async function load() {
    const session = encodeURIComponent(article.dataset.session ?? "");
    const address = `/api/sessions/${session}/outline`;
    const query = article.dataset.project
      ? `?${new URLSearchParams({ project: article.dataset.project })}`
      : "";
    const answer = await fetchJson(address + query);
    /** @type {Entry[]} */
    const all = answer.turns;
    scrubber.draw(all);
    const entries = listPrompts(all);
    drawLines(entries);
    drawTabs(entries, all, answer.files);
    counter.hidden = entries.length === 0;
    // Turns have one number each, also those without a line: these count, as beside the conversation.
    getElement(counter, "[data-of]", HTMLElement).textContent = String(entries.at(-1)?.number ?? 0);
    mark();
  }

  /**
   * @param {Entry[]} entries
   * @param {Entry[]} all
   * @param {ChangedFile[]} files
   */
  function drawTabs(entries, all, files) {
    const failed = all.flatMap(({ number, failures }) =>
      failures.map((each) => ({ ...each, turn: number })),
    );
    const agents = all.flatMap(({ subagents }) => subagents);
    failures.draw(findList("failures"), failed);
    findList("files").replaceChildren(...files.map(drawFile));
    const tree = agents.length > 0 ? drawAgents(agents, []).children : [];
    findList("agents").replaceChildren(...tree);
    tabs.setCount("prompts", entries.length);
    tabs.setCount("failures", failed.length);
    tabs.setCount("files", files.length);
    tabs.setCount("agents", countAgents(agents));
  }

  /** @param {string} name */
  function findList(name) {
    return getElement(box, `[data-panel-of=${name}] > ol`, HTMLElement);
  }

  /**
   * @param {ChangedFile} file
   * @param {number} at
   */
  function drawFile(file, at) {
    const item = document.createElement("li");
    const link = document.createElement("a");
    const page = getElement(article, "a[data-changes]", HTMLAnchorElement);
    link.href = `${page.href}#file-${at + 1}`;
    link.title = showText(file.path);
    const cut = Math.max(file.path.lastIndexOf("/"), file.path.lastIndexOf("\\")) + 1;
    link.append(
      drawText("folder", showText(file.path.slice(0, cut))),
      drawText("name", showText(file.path.slice(cut))),
    );
    if (file.lines_added > 0) link.append(drawText("added-count", `+${file.lines_added}`));
    if (file.lines_removed > 0) link.append(drawText("removed-count", `−${file.lines_removed}`));
    item.append(link);
    return item;
  }

  /** @type {{ key: string, items: HTMLElement[] }[]} */
  let drawn = [];

  /**
   * Lines before the first that changed keep their elements, and with them the focus.
   * @param {Entry[]} entries
   */
  function drawLines(entries) {
    const keys = entries.map((entry) => JSON.stringify(entry));
    const first = keys.findIndex((key, at) => key !== drawn[at]?.key);
    const start = first < 0 ? keys.length : first;
    // The lines that came with the page link to other pages, for readers without scripts.
    if (drawn.length === 0) list.replaceChildren();
    for (const { items } of drawn.splice(start)) {
      for (const item of items) item.remove();
    }
    for (let at = start; at < entries.length; at++) {
      const isGap = at > 0 && entries[at].segment > entries[at - 1].segment;
      const items = isGap ? [drawGap(), draw(entries[at])] : [draw(entries[at])];
      list.append(...items);
      drawn.push({ key: keys[at], items });
    }
  }

  function drawGap() {
    const item = document.createElement("li");
    item.className = "segment";
    item.textContent = translate("compacted");
    return item;
  }

  /** @param {Entry} entry */
  function draw(entry) {
    const item = document.createElement("li");
    item.dataset.turn = String(entry.number - 1);
    if (!entry.is_on_main_path) item.className = "off-path";
    const link = document.createElement("a");
    link.href = entry.uuid ? `#${entry.uuid}` : `#turn-${entry.number}`;
    link.title = showText(entry.line);
    link.append(drawText("number", String(entry.number)), drawText("line", link.title));
    if (entry.errors > 0) link.append(drawErrors(entry.errors));
    if (entry.cost_usd) link.append(drawText("cost", formatDollars(entry.cost_usd)));
    link.addEventListener("click", (event) => {
      event.preventDefault();
      history.replaceState(null, "", link.href);
      turns.showTurn(entry.number - 1, true);
    });
    item.append(link);
    if (entry.backups > 0) item.append(drawCheckpoint(entry));
    if (entry.subagents.length > 0) item.append(drawAgents(entry.subagents, []));
    return item;
  }

  /**
   * The tree of some subagents.
   * @param {Agent[]} agents
   * @param {Agent[]} above the subagents that these are part of
   */
  function drawAgents(agents, above) {
    const tree = document.createElement("ul");
    tree.className = "agents";
    for (const agent of agents) {
      const way = [...above, agent];
      const item = document.createElement("li");
      const link = document.createElement("a");
      const call = way[0].call_uuid ?? "";
      link.href = `#${call}`;
      link.title = showText(agent.description ?? agent.agent_id);
      link.append(drawText("kind", showText(agent.agent_type ?? "")), drawText("line", link.title));
      if (agent.outcome === "failed") link.append(drawErrors());
      link.addEventListener("click", (event) => {
        event.preventDefault();
        turns.show(call, "", way.map((each, at) => makeStep(each, way[at + 1])));
      });
      item.append(link);
      if (agent.subagents.length > 0) item.append(drawAgents(agent.subagents, way));
      tree.append(item);
    }
    return tree;
  }

  /** @param {Entry} entry */
  function drawCheckpoint(entry) {
    const query = new URLSearchParams({ at: String(entry.number) });
    if (article.dataset.project) query.set("project", article.dataset.project);
    const link = document.createElement("a");
    link.className = "checkpoint";
    link.href = `/s/${encodeURIComponent(article.dataset.session ?? "")}/checkpoints?${query}`;
    link.title = translate("checkpoint", { files: entry.backups });
    link.setAttribute("aria-label", link.title);
    link.textContent = "◆";
    return link;
  }

  function mark() {
    const isAtEnd = scrollY > 0 && innerHeight + scrollY >= document.body.scrollHeight - 2;
    const limit = isAtEnd ? innerHeight : innerHeight / 3;
    const shown = listElements(article, "#turns > .turn").filter(
      (turn) => turn.getBoundingClientRect().top < limit,
    );
    const here = Number(shown.at(-1)?.dataset.turn ?? 0);
    const items = listElements(list, ":scope > [data-turn]");
    let current = -1;
    for (const [at, item] of items.entries()) {
      item.classList.remove("here");
      if (Number(item.dataset.turn) <= here) current = at;
    }
    const nearest = items[Math.max(current, 0)];
    if (nearest) {
      const number = String(Number(nearest.dataset.turn) + 1);
      getElement(counter, "[data-at]", HTMLElement).textContent = number;
    }
    if (current < 0) return;
    items[current].classList.add("here");
    reveal(items[current]);
  }

  /** @param {number} step */
  function go(step) {
    const items = listElements(list, ":scope > [data-turn]");
    const at = items.findIndex((item) => item.classList.contains("here"));
    const next = items[Math.min(Math.max(at + step, 0), items.length - 1)];
    if (next) turns.showTurn(Number(next.dataset.turn));
  }

  /**
   * Scrolls only the outline, not the page.
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
        scrubber.mark();
      });
    },
    { passive: true },
  );
  for (const button of listElements(counter, "[data-step]")) {
    button.addEventListener("click", () => go(Number(button.dataset.step)));
  }
  const from = getElement(article, "[data-export-from]", HTMLButtonElement);
  from.hidden = false;
  from.addEventListener("click", () => {
    const here = list.querySelector(":scope > .here") ?? list.querySelector(":scope > [data-turn]");
    const turn = here instanceof HTMLElement ? Number(here.dataset.turn) + 1 : 1;
    const field = getElement(article, ".export-menu [name=turns]", HTMLInputElement);
    field.value = `${turn}-`;
    field.focus();
  });
  document.addEventListener("recollect:grown", load);
  load();
}

/**
 * A step on the way to a subagent: the one to open, and the call in it that started the next.
 * @param {Agent} agent
 * @param {Agent | undefined} next
 * @returns {[agent: string, turn: number, anchor: string]}
 */
function makeStep(agent, next) {
  return [agent.agent_id, next ? next.turn - 1 : 0, next?.call_uuid ?? ""];
}

/**
 * The turns that have a line: prompts and branches. What other turns did and cost, such as those that
 * a notification opened, belongs to the prompt before them.
 * @param {Entry[]} turns
 */
function listPrompts(turns) {
  /** @type {Entry[]} */
  const entries = [];
  for (const turn of turns) {
    const last = entries.at(-1);
    if (turn.line && (turn.is_by_person || turn.is_branch)) entries.push({ ...turn });
    else if (last) {
      last.subagents = [...last.subagents, ...turn.subagents];
      last.errors += turn.errors;
      if (turn.cost_usd !== null) last.cost_usd = (last.cost_usd ?? 0) + turn.cost_usd;
    }
  }
  return entries;
}

/**
 * @param {Agent[]} agents
 * @returns {number} with those that they started themselves
 */
function countAgents(agents) {
  return agents.reduce((sum, agent) => sum + 1 + countAgents(agent.subagents), 0);
}

/** @param {number} [count] */
function drawErrors(count) {
  const span = drawText("errors", "");
  span.append(drawIcon("failed", translate("failure")), count ? String(count) : "");
  return span;
}
