// Follow a growing session: new records are inserted where they belong. The page never scrolls by
// itself, unless asked to follow; a pill says how much is new below. Figures stay current.

import { getElement } from "./elements.js";
import { listen } from "./events.js";
import { fetchFragment } from "./fragments.js";
import { showTimes } from "./times.js";
import { translate, showText, showToast } from "./words.js";

const PAUSE = 150;
const NEAR_END = 400;
const FIGURES_PAUSE = 2000;

/**
 * @param {HTMLElement} article
 * @param {import("./turns.js").Turns} turns
 */
export function startFollowing(article, turns) {
  const pill = getElement(article, ".new-turns", HTMLElement);
  const status = getElement(article, ".session-status", HTMLElement);
  // How many messages the session had when the reader was last at its end, or opened it.
  let seen = turns.messages;
  // A long session is counted once it has been read completely.
  turns.waiting.then(
    () => (seen ??= turns.messages),
    () => {},
  );
  let timer = 0;
  let isWhole = false;
  let figures = 0;

  async function showFigures() {
    figures = 0;
    const { address = "", project = "" } = article.dataset;
    const query = new URLSearchParams({ project });
    // The event stream reports a server that is unreachable.
    const part = await fetchFragment(`${address}/facts?${query}`).catch(() => null);
    const facts = part?.querySelector("[data-facts]");
    if (!(facts instanceof HTMLElement)) return;
    showTimes(facts);
    getElement(article, "[data-facts]", HTMLElement).replaceWith(facts);
    getElement(article, "[data-cost]", HTMLElement).textContent = facts.dataset.costShown ?? "";
  }

  const isAtEnd = () =>
    turns.isComplete && innerHeight + scrollY >= document.documentElement.scrollHeight - NEAR_END;

  function showAllSeen() {
    seen = turns.messages;
    pill.hidden = true;
  }

  function goToEnd() {
    showAllSeen();
    document.dispatchEvent(new CustomEvent("recollect:end", { detail: { isLast: true } }));
    scrollToEnd();
  }

  function scrollToEnd() {
    scrollTo({ top: document.documentElement.scrollHeight, behavior: "instant" });
    noteScroll();
    isLeft = false;
  }

  pill.addEventListener("click", goToEnd);
  const follow = getElement(article, "[data-follow]", HTMLElement);
  const isFollowing = () => follow.ariaPressed === "true";
  follow.addEventListener("click", () => {
    follow.ariaPressed = String(!isFollowing());
    if (isFollowing()) goToEnd();
    else isLeft = true;
  });
  // A reader who scrolls up wants to read, not to follow.
  let isLeft = true;
  function leaveEnd() {
    isLeft = true;
    follow.ariaPressed = "false";
  }
  let scrolled = { top: 0, below: 0 };
  function noteScroll() {
    const { scrollHeight } = document.documentElement;
    const now = { top: scrollY, below: scrollHeight - innerHeight - scrollY };
    // A page that becomes shorter scrolls up too, but not away from its end.
    if (now.top < scrolled.top && now.below > scrolled.below) leaveEnd();
    scrolled = now;
  }
  // Runs before the scroll itself: output that arrives now would scroll the page back.
  addEventListener("wheel", (event) => event.deltaY < 0 && leaveEnd(), { passive: true });
  // Turns have their real height only once they are in view.
  article.addEventListener("contentvisibilityautostatechange", (event) => {
    const { skipped } = /** @type {ContentVisibilityAutoStateChangeEvent} */ (event);
    if (!skipped) requestAnimationFrame(() => isLeft || scrollToEnd());
  });
  if (location.hash === "#follow") follow.click();

  /** @param {boolean} isAnywhere whether more than the end may have changed */
  function grow(isAnywhere) {
    isWhole ||= isAnywhere;
    // Not restarted by each record: otherwise a steady stream would never be shown.
    timer ||= setTimeout(draw, PAUSE);
  }

  async function draw() {
    const isAll = isWhole;
    timer = 0;
    isWhole = false;
    // Until now, the page was kept at its end while turns took their real height.
    isLeft ||= !isFollowing();
    await turns.refresh(isAll);
    document.dispatchEvent(new CustomEvent("recollect:grown"));
    if (isFollowing()) goToEnd();
    figures ||= setTimeout(showFigures, FIGURES_PAUSE);
    if (isAtEnd()) showAllSeen();
    else showAdded();
  }

  function showAdded() {
    seen ??= turns.messages;
    const added = (turns.messages ?? 0) - (seen ?? 0);
    pill.hidden = added <= 0;
    pill.textContent = translate("new", { count: added });
  }

  addEventListener(
    "scroll",
    () => {
      noteScroll();
      if (isAtEnd()) showAllSeen();
    },
    { passive: true },
  );

  let wasLost = false;
  listen(
    `/api/events?${new URLSearchParams({ session: article.dataset.session ?? "", records: "false" })}`,
    {
      appended: () => grow(false),
      found: () => grow(true),
      reset: () => grow(true),
      status: (event) => {
        showStatus(status, event.status, event.reason);
        follow.hidden = status.hidden;
      },
      continued: (event) => showStatus(status, "continued", event.reason),
    },
    {
      onLost: (isLost) => {
        if (isLost && !wasLost) showToast(translate("lost"));
        // The server may have been unreachable: the next update includes what was missed.
        if (!isLost && wasLost) grow(true);
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
