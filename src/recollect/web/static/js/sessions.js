// The list while it is open: live dots follow, and what is new waits until it is asked for, so
// that nothing moves under the reader's eyes.

import { listen } from "./events.js";

export function startSessions() {
  const pill = document.querySelector("[data-changed]");
  pill.addEventListener("click", () => location.reload());

  function showLive(live) {
    for (const row of document.querySelectorAll("tr[data-session]")) {
      const dot = row.querySelector("[data-live]");
      dot.hidden = !(row.dataset.session in live);
      dot.dataset.status = live[row.dataset.session] ?? "";
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
