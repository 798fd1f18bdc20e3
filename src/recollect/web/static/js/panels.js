// Slow panels: each is part of another page, and fetched once this page has loaded.

import { getElement, listElements } from "./elements.js";
import { fetchFragment } from "./fragments.js";

export async function startPanels() {
  for (const panel of listElements(document, "[data-panel]")) {
    const page = await fetchFragment(panel.dataset.panel ?? "", new AbortController().signal);
    panel.replaceChildren(...getElement(page, ".panel", HTMLElement).childNodes);
    panel.dataset.loaded = "true";
  }
}
