// The outline: every prompt, one line each, the one that is on the screen marked.

import { fetchJson } from "./fragments.js";

export function startOutline(article, turns) {
  const list = article.querySelector("[data-outline]");
  let entries = [];

  async function load() {
    const address = `/api/sessions/${encodeURIComponent(article.dataset.session)}/outline`;
    const query = article.dataset.project
      ? `?${new URLSearchParams({ project: article.dataset.project })}`
      : "";
    const answer = await fetchJson(address + query);
    entries = answer.turns.filter((entry) => entry.line && (entry.is_by_person || entry.is_branch));
    list.replaceChildren(...entries.map(draw));
    mark();
  }

  function draw(entry) {
    const item = document.createElement("li");
    item.dataset.turn = entry.index;
    if (!entry.is_on_main_path) item.className = "off-path";
    const link = document.createElement("a");
    link.href = entry.uuid ? `#${entry.uuid}` : `#turn-${entry.index}`;
    link.textContent = entry.line;
    link.title = entry.line;
    if (entry.errors > 0) {
      const errors = document.createElement("span");
      errors.className = "errors";
      errors.textContent = ` ✕${entry.errors}`;
      link.append(errors);
    }
    link.addEventListener("click", (event) => {
      event.preventDefault();
      history.replaceState(null, "", link.href);
      turns.showTurn(entry.index);
    });
    item.append(link);
    return item;
  }

  function mark() {
    const isAtEnd = scrollY > 0 && innerHeight + scrollY >= document.body.scrollHeight - 2;
    const limit = isAtEnd ? innerHeight : innerHeight / 3;
    const shown = [...article.querySelectorAll("#turns > .turn")].filter(
      (turn) => turn.getBoundingClientRect().top < limit,
    );
    const here = Number(shown.at(-1)?.dataset.turn ?? 0);
    let current = null;
    for (const item of list.children) {
      item.classList.remove("here");
      if (Number(item.dataset.turn) <= here) current = item;
    }
    current?.classList.add("here");
    if (current) reveal(current);
  }

  // Within its box only: the page stays where the reader has it.
  function reveal(item) {
    const box = list.parentElement.getBoundingClientRect();
    const line = item.getBoundingClientRect();
    if (line.top < box.top) list.parentElement.scrollTop -= box.top - line.top;
    else if (line.bottom > box.bottom) list.parentElement.scrollTop += line.bottom - box.bottom;
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
      });
    },
    { passive: true },
  );
  document.addEventListener("recollect:grown", load);
  load();
}
