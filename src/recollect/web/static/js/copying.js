// Copy code, messages, links to a message and the resume command. Nothing is ever run.

import { findAround, getElement, listElements } from "./elements.js";
import { translate, showToast } from "./words.js";

const narrow = matchMedia("(max-width: 46rem)");

/** @param {string} text */
export async function copyText(text) {
  await navigator.clipboard.writeText(text);
  showToast(translate("copied"));
}

/**
 * @param {Element} place
 * @param {string} label
 * @param {() => string} getText
 */
function addButton(place, label, getText) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy";
  button.textContent = label;
  button.addEventListener("click", () => copyText(getText()));
  place.append(button);
}

/**
 * Only the code itself is copied: line numbers and signs come from the style sheet.
 * @param {ParentNode} within
 */
export function addCopyButtons(within) {
  // What is wider than its box must be scrollable with the keyboard, too.
  for (const box of listElements(within, "pre, .diff")) box.tabIndex = 0;
  const blocks = "pre.code, pre.output, pre.plain, pre.raw, figure.diff";
  for (const block of listElements(within, blocks)) {
    if (block.parentElement?.classList.contains("copyable")) continue;
    const frame = document.createElement("div");
    frame.className = "copyable";
    block.replaceWith(frame);
    frame.append(block);
    const isDiff = block.matches(".diff");
    addButton(frame, translate("copy"), () => (isDiff ? readDiff(block) : (block.textContent ?? "")));
  }
  for (const section of listElements(within, ".said[id], .prompt[id]")) {
    const place = section.querySelector(":scope > .actions") ?? addActions(section);
    if (place.querySelector(".copy")) continue;
    addButton(place, translate("copy"), () => readText(section));
    addButton(place, translate("link"), () => linkTo(section.id));
    if (narrow.matches) makeTouchable(place);
  }
}

/**
 * A diff as a patch has it.
 * @param {HTMLElement} diff
 */
function readDiff(diff) {
  const lines = listElements(diff, "tr").map((row) => {
    const text = row.textContent ?? "";
    if (row.matches(".gap")) return text;
    if (row.matches(".remark")) return `\\ ${text}`;
    return (row.querySelector(".sign")?.getAttribute("data-sign") || " ") + text;
  });
  return `${lines.join("\n")}\n`;
}

/**
 * Where there is no room for the buttons, a touch shows them.
 * @param {Element} place
 */
function makeTouchable(place) {
  place.setAttribute("tabindex", "0");
  place.setAttribute("role", "group");
  place.setAttribute("aria-label", translate("actions"));
}

/** @param {Element} section */
function addActions(section) {
  const place = document.createElement("span");
  place.className = "actions";
  section.append(place);
  return place;
}

/** @param {HTMLElement} section */
function readText(section) {
  const selector = ":scope > .prose, :scope > .words, :scope > div > .prose";
  const parts = listElements(section, selector);
  return parts.map((part) => part.innerText).join("\n\n") || section.innerText;
}

/**
 * A permanent link to the message: the server finds it by its uuid, on whichever page it is.
 * @param {string} uuid
 */
export function linkTo(uuid) {
  const { address } = getElement(document, "article[data-address]", HTMLElement).dataset;
  return `${location.origin}${address}?at=${encodeURIComponent(uuid)}#${encodeURIComponent(uuid)}`;
}

export function startCopying() {
  addCopyButtons(document);
  document.addEventListener("click", (event) => {
    const button = findAround(event, "[data-copy-text]");
    if (button) copyText(button.dataset.copyText ?? "");
  });
}
