// Pages that come at once and are filled when the server has found out: asked for, then reloaded.

import { listElements } from "./elements.js";

export function startLoading() {
  for (const place of listElements(document, "[data-load]")) {
    fetch(place.dataset.load ?? "").then((answer) => {
      if (answer.ok) location.reload();
    });
  }
}
