// The open list: filters apply as you type. In a list of sessions the dots of running ones and the
// counts of the filters are updated, and other changes are shown on request, so that nothing moves
// while you read.

import { findAround, getElement, listElements } from "./elements.js";
import { listen } from "./events.js";
import { fetchFragment } from "./fragments.js";
import { showTimes } from "./times.js";

const PAUSE = 150;

/** @param {ParentNode} page the list as it is now */
function showCounts(page) {
  for (const shown of listElements(document, "[data-count]")) {
    const current = getElement(page, `[data-count="${shown.dataset.count}"]`, HTMLElement);
    shown.textContent = current.textContent;
  }
}

/** Updates the counts of the filters, and nothing that would move the list. */
async function refreshCounts() {
  const address = location.href;
  const page = await fetchFragment(address);
  // The filters may have changed meanwhile.
  if (location.href === address) showCounts(page);
}

/** Offers to show changes, and keeps the dots of running sessions current. */
export function followList() {
  const findPill = () => getElement(document, "[data-changed]", HTMLElement);
  const since = findPill().dataset.since;
  document.addEventListener("click", (event) => {
    if (findAround(event, "[data-changed]")) location.reload();
  });

  document.addEventListener("recollect:marked", refreshCounts);
  let running = "";

  /** @param {Record<string, string>} live what each running session does, by its id */
  function showLive(live) {
    const ids = Object.keys(live).sort().join();
    if (ids !== running) refreshCounts();
    running = ids;
    for (const row of listElements(document, "tr[data-session]")) {
      const session = row.dataset.session ?? "";
      for (const dot of listElements(row, "[data-live]")) {
        dot.hidden = !(session in live);
        dot.dataset.status = live[session] ?? "";
      }
    }
  }

  listen(
    "/api/events",
    {
      sessions: (change) => {
        if (change.live) showLive(change.live);
        if (change.sessions.length > 0 || change.gone.length > 0) findPill().hidden = false;
      },
      reload: () => {
        findPill().hidden = false;
      },
    },
    { lastId: since },
  );
}

/** Keeps the list and the URL in sync with the filters. */
export function startFilters() {
  const list = getElement(document, "#list", HTMLElement);
  const form = getElement(document, "form[data-instant]", HTMLFormElement);
  let asked = new AbortController();
  let timer = 0;

  async function apply() {
    asked.abort();
    asked = new AbortController();
    const query = new URLSearchParams();
    for (const [name, value] of new FormData(form)) if (value) query.append(name, String(value));
    const address = `${location.pathname}?${query}`;
    try {
      const page = await fetchFragment(address, asked.signal);
      history.replaceState(null, "", address);
      list.replaceChildren(...getElement(page, "#list", HTMLElement).childNodes);
      showCounts(page);
      showTimes(list);
    } catch (error) {
      if (!(error instanceof DOMException && error.name === "AbortError")) throw error;
    }
  }

  form.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(apply, PAUSE);
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    clearTimeout(timer);
    apply();
  });
}
