// What is running: the count in the navigation, the list beside a conversation, and a notification
// when one waits. One tab listens for all: browsers open few connections to a server.

import { findAround, listElements } from "./elements.js";
import { listen } from "./events.js";
import { formatDollars } from "./figures.js";
import { post } from "./posting.js";
import { showText, showToast, translate } from "./words.js";

/**
 * @typedef {{ id: string, title: string, directory: string, status: string, waiting: string[],
 *   cost_usd: number | null }} Row
 */

const CHANNEL = "recollect-conversations";
const ASKS = "latest";
/** @type {Map<string, number>} */
const waiting = new Map();
let isFirst = true;

/** @param {Row[]} rows */
function show(rows) {
  const count = rows.filter((row) => row.waiting.length > 0).length;
  for (const place of listElements(document, "[data-waiting]")) {
    place.textContent = String(count);
    place.hidden = count === 0;
  }
  const running = rows.filter((row) => row.status !== "ended");
  const ended = rows.filter((row) => row.status === "ended");
  for (const list of listElements(document, "[data-running-list]")) fill(list, running);
  for (const list of listElements(document, "[data-ended-list]")) {
    fill(list, ended);
    if (list.previousElementSibling instanceof HTMLElement) {
      list.previousElementSibling.hidden = ended.length === 0;
    }
  }
  for (const place of listElements(document, "[data-running-count]")) {
    place.textContent = String(running.length);
  }
  const page = document.querySelector("[data-running-page]");
  if (page && !isFirst && isDifferent(page, rows)) location.reload();
  isFirst = false;
}

/**
 * @param {HTMLElement} list
 * @param {Row[]} rows
 */
function fill(list, rows) {
  list.replaceChildren(...rows.map((row) => drawRow(row, list.dataset.here ?? "")));
}

/**
 * @param {Element} page
 * @param {Row[]} rows
 */
function isDifferent(page, rows) {
  const shown = listElements(page, "tr[data-conversation]").map(
    (row) => `${row.dataset.conversation} ${row.querySelector(".live")?.getAttribute("data-status")}`,
  );
  return shown.join() !== rows.map((row) => `${row.id} ${row.status}`).join();
}

/**
 * @param {string} tag
 * @param {string} text
 * @param {string} name
 */
function draw(tag, text, name = "cut") {
  const element = document.createElement(tag);
  element.className = name;
  element.textContent = showText(text);
  return element;
}

/**
 * @param {Row} row
 * @param {string} here
 */
function drawRow(row, here) {
  const item = document.createElement("li");
  const link = document.createElement("a");
  link.href = `/c/${encodeURIComponent(row.id)}`;
  if (row.id === here) {
    item.className = "here";
    link.setAttribute("aria-current", "page");
  }
  const dot = document.createElement("span");
  dot.className = "live";
  dot.dataset.status = row.status;
  const text = document.createElement("span");
  text.className = "row-text";
  const asks = row.waiting.length > 0 ? ` · ${translate("asks")} ${row.waiting.join(", ")}` : "";
  const place = row.directory.split(/[\\/]/).pop() ?? "";
  text.append(draw("span", row.title || translate("untitled")), draw("small", place + asks));
  const cost = row.cost_usd === null ? "" : formatDollars(row.cost_usd);
  link.append(dot, text, draw("small", cost, "figure"));
  item.append(link);
  return item;
}

/** @param {Row[]} rows */
function notify(rows) {
  for (const row of rows) {
    const before = waiting.get(row.id) ?? 0;
    waiting.set(row.id, row.waiting.length);
    if (row.waiting.length <= before || globalThis.Notification?.permission !== "granted") continue;
    if (!document.hidden && location.pathname === `/c/${row.id}`) continue;
    const note = new Notification(translate("waits"), {
      body: showText(`${row.title || translate("untitled")}: ${row.waiting.join(", ")}`),
      tag: row.id,
    });
    note.addEventListener("click", () => {
      window.focus();
      location.href = `/c/${encodeURIComponent(row.id)}`;
    });
  }
}

function offerNotifications() {
  const [button] = listElements(document, "[data-notify]");
  if (!button || globalThis.Notification?.permission !== "default") return;
  button.hidden = false;
  button.addEventListener("click", async () => {
    await Notification.requestPermission();
    button.hidden = true;
  });
}

/** @param {MouseEvent} event */
async function endConversation(event) {
  const button = findAround(event, "[data-running-page] button[data-end-conversation]");
  if (!button) return;
  const address = `/c/${encodeURIComponent(button.dataset.endConversation ?? "")}/end`;
  try {
    await post(address, button.dataset.nonce ?? "");
    location.reload();
  } catch (failure) {
    if (failure instanceof Error) showToast(showText(failure.message));
  }
}

export function startRunning() {
  const channel = new BroadcastChannel(CHANNEL);
  /** @type {Row[] | null} what the server sent last, in the tab that listens */
  let latest = null;
  channel.addEventListener("message", ({ data }) => {
    if (data !== ASKS) show(data);
    else if (latest) channel.postMessage(latest);
  });
  // Whatever changed since this page was rendered.
  channel.postMessage(ASKS);
  offerNotifications();
  document.addEventListener("click", endConversation);
  const start = () =>
    listen(
      "/c/events",
      {
        conversations: ({ conversations }) => {
          latest = conversations;
          show(conversations);
          notify(conversations);
          channel.postMessage(conversations);
        },
      },
      { whileHidden: true },
    );
  // Held until the tab is closed; then another one takes over.
  navigator.locks.request(CHANNEL, () => {
    start();
    return new Promise(() => {});
  });
}
