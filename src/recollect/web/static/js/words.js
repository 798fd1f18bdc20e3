// The words that the script says, in the language of the page: the server puts them into it.

import { getElement } from "./elements.js";

const words = getElement(document, "#words", HTMLElement).dataset;

/**
 * @param {string} key
 * @param {Record<string, number>} values
 */
export function say(key, values = {}) {
  return Object.entries(values).reduce(
    (text, [name, value]) => text.replace(`{${name}}`, String(value)),
    words[key] ?? "",
  );
}

// Joiners and selectors belong to many scripts, those of ideographs only behind one.
const HIDDEN =
  /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]|(?![\u200c\u200d])\p{Cf}|(?<!\p{Ideographic})[\u{e0100}-\u{e01ef}]/gu;

/**
 * A text with the characters that reorder or hide text by name: JSON has it as the transcript does.
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
 * A line at the bottom of the screen that goes by itself.
 * @param {string} text
 */
export function tell(text) {
  document.querySelector(".toast")?.remove();
  const toast = document.createElement("p");
  toast.className = "toast";
  toast.setAttribute("role", "status");
  toast.textContent = text;
  document.body.append(toast);
  clearTimeout(timer);
  timer = setTimeout(() => toast.remove(), 2500);
}
