// Forms that take time: their buttons say so, and cannot be pressed twice.

import { getElement, listElements } from "./elements.js";

export function startSubmitting() {
  for (const form of listElements(document, "form[data-busy]")) {
    form.addEventListener("submit", () => {
      for (const button of listElements(document, `button[form="${form.id}"]`)) {
        getElement(button, "span", HTMLElement).textContent = form.dataset.busy ?? "";
        if (button instanceof HTMLButtonElement) button.disabled = true;
      }
    });
  }
}
