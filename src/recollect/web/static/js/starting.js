// Start a conversation: from the form, from a session, or from one of its replies.

import { findAround, getElement, listElements } from "./elements.js";
import { post } from "./posting.js";
import { showText, showToast } from "./words.js";

/**
 * @param {string} nonce
 * @param {Record<string, unknown>} body
 */
async function start(nonce, body) {
  const { id } = await post("/c", nonce, body);
  location.href = `/c/${encodeURIComponent(id)}`;
}

/** @param {HTMLFormElement} form */
function startForm(form) {
  const error = getElement(form, ".composer-error", HTMLElement);
  const button = getElement(form, "[type=submit]", HTMLButtonElement);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    button.disabled = true;
    error.hidden = true;
    try {
      await start(form.dataset.nonce ?? "", Object.fromEntries(new FormData(form)));
    } catch (failure) {
      error.textContent = failure instanceof Error ? showText(failure.message) : "";
      error.hidden = false;
      button.disabled = false;
    }
  });
}

/** @param {Event} event */
function findStart(event) {
  const button = findAround(event, "button[data-start-conversation]");
  if (button) return { button, body: describe(button) };
  // Replies have no separate nonce: the session's nonce works for all of them.
  const fork = findAround(event, "article.session .actions > button[data-fork]");
  const [own] = listElements(document, "button[data-start-conversation]");
  if (!fork || !own) return null;
  return { button: own, body: { ...describe(own), fork: true, at: fork.dataset.fork } };
}

/** @param {HTMLElement} button */
function describe(button) {
  const { session, project } = button.dataset;
  return { session, ...(project ? { project } : {}) };
}

export function startStarting() {
  for (const form of listElements(document, "form[data-new-conversation]")) {
    if (form instanceof HTMLFormElement) startForm(form);
  }
  document.addEventListener("click", async (event) => {
    const found = findStart(event);
    if (!found) return;
    try {
      await start(found.button.dataset.nonce ?? "", found.body);
    } catch (failure) {
      if (failure instanceof Error) showToast(showText(failure.message));
    }
  });
}
