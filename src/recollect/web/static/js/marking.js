// Stars and notes: kept by the server beside its index, never in the Claude directory.

import { findAround, getElement, listElements } from "./elements.js";
import { showText, showToast, translate } from "./words.js";

const NOTE = ".session-note";

/**
 * @param {string} session
 * @param {{ starred?: boolean, note?: string }} change
 * @returns {Promise<boolean>} whether it was saved; if not, a message says so
 */
async function save(session, change) {
  const response = await fetch(`/api/sessions/${encodeURIComponent(session)}/mark`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(change),
  }).catch(() => null);
  if (!response?.ok) showToast(translate("unsaved"));
  return response?.ok ?? false;
}

/** @param {HTMLElement} button */
export async function toggleStar(button) {
  const starred = button.ariaPressed !== "true";
  if (!(await save(button.dataset.star ?? "", { starred }))) return;
  for (const each of listElements(document, "[data-star]")) {
    if (each.dataset.star === button.dataset.star) each.ariaPressed = String(starred);
  }
  document.dispatchEvent(new Event("recollect:marked"));
}

/** @param {HTMLFormElement} form */
async function saveNote(form) {
  const field = getElement(form, "textarea", HTMLTextAreaElement);
  const status = getElement(form, "[role=status]", HTMLElement);
  status.textContent = "";
  if (!(await save(form.dataset.note ?? "", { note: field.value }))) return;
  status.textContent = form.dataset.saved ?? "";
  const label = form.closest(NOTE)?.querySelector("summary span");
  if (label) label.textContent = showText(field.value.trim()) || field.ariaLabel;
}

/**
 * Opens a note to type in it. The browser would open it too, but only announce it later, and take
 * letters that are typed until then for shortcuts.
 * @param {Event} event
 */
function openNote(event) {
  const note = findAround(event, `${NOTE}:not([open]) > summary`)?.parentElement;
  if (!(note instanceof HTMLDetailsElement)) return;
  event.preventDefault();
  note.open = true;
  getElement(note, "textarea", HTMLTextAreaElement).focus();
}

/** @param {KeyboardEvent} event */
function pressInNote(event) {
  const note = findAround(event, NOTE);
  if (!(note instanceof HTMLDetailsElement) || !note.open) return;
  if (event.key === "Escape") {
    note.open = false;
    getElement(note, "summary", HTMLElement).focus();
  } else if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    getElement(note, "form", HTMLFormElement).requestSubmit();
  }
}

export function startMarking() {
  document.addEventListener("click", (event) => {
    const button = findAround(event, "[data-star]");
    if (button) toggleStar(button);
    openNote(event);
  });
  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (!(form instanceof HTMLFormElement) || !form.dataset.note) return;
    event.preventDefault();
    saveNote(form);
  });
  document.addEventListener("keydown", pressInNote);
}
