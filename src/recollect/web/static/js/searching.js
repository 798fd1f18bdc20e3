// Results as you type; the URL is updated, so that a reload or a link shows the same.

import { getElement } from "./elements.js";
import { fetchFragment } from "./fragments.js";

const PAUSE = 120;

export function startSearching() {
  const form = getElement(document, "form.search", HTMLFormElement);
  const results = getElement(document, "#results", HTMLElement);
  let asked = new AbortController();
  let timer = 0;

  async function search() {
    asked.abort();
    asked = new AbortController();
    const query = new URLSearchParams();
    for (const [name, value] of new FormData(form)) query.append(name, String(value));
    history.replaceState(null, "", `/search?${query}`);
    query.set("part", "true");
    try {
      results.replaceChildren(await fetchFragment(`/search?${query}`, asked.signal));
    } catch (error) {
      if (!(error instanceof DOMException && error.name === "AbortError")) throw error;
    }
  }

  form.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(search, PAUSE);
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    clearTimeout(timer);
    search();
  });
}
