// Stars and notes: kept by the server beside its index, never in the Claude directory.

import { findAround, getElement, listElements } from "./elements.js";

/**
 * @param {string} session
 * @param {{ starred?: boolean, note?: string }} change
 */
async function send(session, change) {
  const response = await fetch(`/api/sessions/${encodeURIComponent(session)}/mark`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(change),
  });
  if (!response.ok) throw new Error(`The server answered ${response.status}.`);
}

/** @param {HTMLElement} button */
export async function toggleStar(button) {
  const starred = button.ariaPressed !== "true";
  await send(button.dataset.star ?? "", { starred });
  for (const each of listElements(document, "[data-star]")) {
    if (each.dataset.star === button.dataset.star) each.ariaPressed = String(starred);
  }
  document.dispatchEvent(new Event("recollect:marked"));
}

export function startMarking() {
  document.addEventListener("click", (event) => {
    const button = findAround(event, "[data-star]");
    if (button) toggleStar(button);
  });
  document.addEventListener("submit", async (event) => {
    const form = event.target;
    if (!(form instanceof HTMLFormElement) || !form.dataset.note) return;
    event.preventDefault();
    const field = getElement(form, "textarea", HTMLTextAreaElement);
    await send(form.dataset.note, { note: field.value });
    getElement(form, "[role=status]", HTMLElement).textContent = form.dataset.saved ?? "";
  });
}
