// Translated texts for scripts; the server puts them into the page.

import { getElement } from "./elements.js";

const words = getElement(document, "#words", HTMLElement).dataset;

/**
 * @param {string} key
 * @param {Record<string, number | string>} values
 */
export function translate(key, values = {}) {
  return Object.entries(values).reduce(
    (text, [name, value]) => text.replace(`{${name}}`, () => String(value)),
    words[key] ?? "",
  );
}

// Joiners and selectors are needed by many writing systems; those of ideographs only after one.
const HIDDEN =
  /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]|(?![\u200c\u200d])\p{Cf}|(?<!\p{Ideographic})[\u{e0100}-\u{e01ef}]/gu;

/**
 * Makes characters visible that reorder or hide text; JSON has them as in the transcript.
 * @param {string} text
 */
export function showText(text) {
  return text.replace(HIDDEN, (character) => {
    const number = Number(character.codePointAt(0)).toString(16).toUpperCase().padStart(4, "0");
    return /[\n\t]/.test(character) ? " " : `‹U+${number}›`;
  });
}

let timer = 0;

/**
 * Shows a message at the bottom of the screen for a moment.
 * @param {string} text
 */
export function showToast(text) {
  document.querySelector(".toast")?.remove();
  const toast = document.createElement("p");
  toast.className = "toast";
  toast.setAttribute("role", "status");
  toast.textContent = text;
  document.body.append(toast);
  clearTimeout(timer);
  timer = setTimeout(() => toast.remove(), 2500);
}
