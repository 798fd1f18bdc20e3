// Restore a version of a file: show the diff against the current one, then ask.

import { findAround, getElement } from "./elements.js";
import { post } from "./posting.js";
import { showText, translate } from "./words.js";

const ADDRESS = "/file/restore";

/** @param {HTMLElement} button */
async function restore(button) {
  const { path = "", nonce = "", restore: version = "" } = button.dataset;
  const body = { path, version: Number(version) };
  const found = await post(ADDRESS, nonce, body);
  if (!found.diff) return translate("restoreEqual", { path: found.target });
  if (!(await ask(found.target, found.diff))) return "";
  const { target, copy } = await post(ADDRESS, nonce, { ...body, present: found.present });
  return copy
    ? translate("restoredCopy", { path: target, copy })
    : translate("restored", { path: target });
}

/**
 * Resolves to whether the user confirms. Closing the dialog or pressing Enter does not.
 * @param {string} target
 * @param {string} diff
 * @returns {Promise<boolean>}
 */
function ask(target, diff) {
  const dialog = getElement(document, "#restore", HTMLDialogElement);
  const confirm = getElement(dialog, "[data-restore-confirm]", HTMLButtonElement);
  const cancel = getElement(dialog, "[data-restore-cancel]", HTMLButtonElement);
  getElement(dialog, "[data-restore-target]", HTMLElement).textContent = showText(target);
  getElement(dialog, "[data-restore-diff]", HTMLElement).textContent = diff
    .split("\n")
    .map(showText)
    .join("\n");
  dialog.returnValue = "";
  return new Promise((resolve) => {
    confirm.onclick = () => dialog.close("yes");
    cancel.onclick = () => dialog.close();
    dialog.addEventListener("close", () => resolve(dialog.returnValue === "yes"), { once: true });
    dialog.showModal();
    cancel.focus();
  });
}

export function startRestoring() {
  const status = getElement(document, "[data-restore-status]", HTMLElement);
  document.addEventListener("click", async (event) => {
    const button = findAround(event, "button[data-restore]");
    if (!button) return;
    try {
      status.textContent = showText(await restore(button));
    } catch (failure) {
      status.textContent = failure instanceof Error ? showText(failure.message) : "";
    }
  });
}
