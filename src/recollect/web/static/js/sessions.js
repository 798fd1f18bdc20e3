// The list while it is open: live dots follow, and what is new waits until it is asked for, so
// that nothing moves under the reader's eyes.

import { getElement, listElements } from "./elements.js";
import { listen } from "./events.js";

export function startSessions() {
  const pill = getElement(document, "[data-changed]", HTMLElement);
  pill.addEventListener("click", () => location.reload());

  /** @param {Record<string, string>} live what each running session does, by its id */
  function showLive(live) {
    for (const row of listElements(document, "tr[data-session]")) {
      const dot = getElement(row, "[data-live]", HTMLElement);
      const session = row.dataset.session ?? "";
      dot.hidden = !(session in live);
      dot.dataset.status = live[session] ?? "";
    }
  }

  listen(
    "/api/events",
    {
      sessions: (change) => {
        if (change.live) showLive(change.live);
        if (change.sessions.length > 0 || change.gone.length > 0) pill.hidden = false;
      },
      reload: () => {
        pill.hidden = false;
      },
    },
    { lastId: pill.dataset.since },
  );
}
