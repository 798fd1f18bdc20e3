// Follow a growing session: new records are inserted where they belong. The page never scrolls by
// itself; a pill says how much is new below.

import { getElement } from "./elements.js";
import { listen } from "./events.js";
import { translate, showText, showToast } from "./words.js";

const PAUSE = 150;
const NEAR_END = 400;

/**
 * @param {HTMLElement} article
 * @param {import("./turns.js").Turns} turns
 */
export function startFollowing(article, turns) {
  const pill = getElement(article, ".new-turns", HTMLElement);
  const status = getElement(article, ".session-status", HTMLElement);
  let added = 0;
  let timer = 0;
  let isWhole = false;

  const isAtEnd = () =>
    turns.isComplete && innerHeight + scrollY >= document.documentElement.scrollHeight - NEAR_END;

  pill.addEventListener("click", () => {
    added = 0;
    pill.hidden = true;
    document.dispatchEvent(new CustomEvent("recollect:end", { detail: { isLast: true } }));
    scrollTo({ top: document.body.scrollHeight });
  });

  /** @param {number} records how many came at the end; 0 when anything may have changed */
  function grow(records) {
    added += records;
    isWhole ||= records === 0;
    // Not restarted by each record: otherwise a steady stream would never be shown.
    timer ||= setTimeout(draw, PAUSE);
  }

  async function draw() {
    const wasAtEnd = isAtEnd();
    const isAll = isWhole;
    timer = 0;
    isWhole = false;
    await turns.refresh(isAll);
    document.dispatchEvent(new CustomEvent("recollect:grown"));
    if (wasAtEnd) added = 0;
    pill.hidden = added === 0;
    pill.textContent = translate("new", { count: added });
  }

  addEventListener(
    "scroll",
    () => {
      if (isAtEnd()) {
        added = 0;
        pill.hidden = true;
      }
    },
    { passive: true },
  );

  let wasLost = false;
  listen(
    `/api/events?${new URLSearchParams({ session: article.dataset.session ?? "", records: "false" })}`,
    {
      appended: () => grow(1),
      found: () => grow(0),
      reset: () => grow(0),
      status: (event) => showStatus(status, event.status, event.reason),
      continued: (event) => showStatus(status, "continued", event.reason),
    },
    {
      onLost: (isLost) => {
        if (isLost && !wasLost) showToast(translate("lost"));
        // The server may have been away: the next update includes what was missed.
        if (!isLost && wasLost) grow(0);
        wasLost = isLost;
      },
    },
  );
}

/**
 * @param {HTMLElement} place
 * @param {string} status
 * @param {string} reason
 */
function showStatus(place, status, reason) {
  place.hidden = status === "ended" || status === "unknown";
  getElement(place, "[data-live]", HTMLElement).dataset.status = status;
  const words = showText(status.replaceAll("_", " "));
  getElement(place, "[data-status-text]", HTMLElement).textContent = words;
  place.title = showText(reason);
}
