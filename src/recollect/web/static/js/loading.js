// Pages that are shown before their data is ready: request the data, then reload.

import { listElements } from "./elements.js";

export function startLoading() {
  for (const place of listElements(document, "[data-load]")) {
    fetch(place.dataset.load ?? "").then((answer) => {
      if (answer.ok) location.reload();
    });
  }
}
