// Secrets are masked in the page. A click on a chip asks the server for one; another hides it again.

import { post } from "./posting.js";
import { translate, showToast } from "./words.js";

/** @param {HTMLElement} chip */
function hideSecret(chip) {
  const tag = chip.querySelector(".tag");
  if (tag) tag.textContent = `${chip.dataset.kind} #${chip.dataset.number}`;
  delete chip.dataset.revealed;
}

/**
 * @param {HTMLElement} chip
 * @param {string} address
 */
async function revealSecret(chip, address) {
  const { kind, number } = chip.dataset;
  const page = chip.closest("[data-nonce]");
  const nonce = page instanceof HTMLElement ? page.dataset.nonce : "";
  try {
    const answer = await post(address, nonce ?? "", { kind, number: Number(number) });
    const tag = chip.querySelector(".tag");
    if (tag) tag.textContent = answer.value;
    chip.dataset.revealed = "true";
  } catch {
    showToast(translate("unrevealed"));
  }
}

/** Chips come with every part of a session that is loaded, so the document handles all clicks. */
export function startSecrets() {
  document.addEventListener("click", async (event) => {
    const button = event.target instanceof Element ? event.target.closest(".secret button") : null;
    const chip = button?.closest(".secret");
    if (!(button instanceof HTMLElement) || !(chip instanceof HTMLElement)) return;
    event.preventDefault();
    if (chip.dataset.revealed) hideSecret(chip);
    else await revealSecret(chip, button.dataset.address ?? "");
    button.textContent = translate(chip.dataset.revealed ? "hide" : "reveal");
  });
}
