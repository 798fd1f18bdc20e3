// Typed element lookup, and the small elements that several scripts draw. A page that lacks what its
// script needs fails at once and says what is missing.

export const SVG = "http://www.w3.org/2000/svg";

/**
 * The first matching element, which must exist.
 * @template {Element} T
 * @param {ParentNode} within
 * @param {string} selector
 * @param {{ new (): T }} type
 * @returns {T}
 */
export function getElement(within, selector, type) {
  const found = within.querySelector(selector);
  if (!(found instanceof type)) throw new Error(`No element matches ${selector}.`);
  return found;
}

/**
 * All matching elements.
 * @param {ParentNode} within
 * @param {string} selector
 * @returns {HTMLElement[]}
 */
export function listElements(within, selector) {
  return [...within.querySelectorAll(selector)].filter((found) => found instanceof HTMLElement);
}

/**
 * The nearest matching ancestor of a click or key press.
 * @param {Event} event
 * @param {string} selector
 * @returns {HTMLElement | null}
 */
export function findAround(event, selector) {
  return event.target instanceof Element ? event.target.closest(selector) : null;
}

/**
 * @param {string} name as in the template of icons
 * @param {string} label accessible name, unless text beside it says the same
 */
export function drawIcon(name, label = "") {
  const icon = document.createElementNS(SVG, "svg");
  icon.setAttribute("class", "icon");
  if (label) {
    icon.setAttribute("role", "img");
    icon.setAttribute("aria-label", label);
  } else icon.setAttribute("aria-hidden", "true");
  const use = document.createElementNS(SVG, "use");
  use.setAttribute("href", `#i-${name}`);
  icon.append(use);
  return icon;
}

/**
 * @param {string} name
 * @param {string} text
 */
export function drawText(name, text) {
  const span = document.createElement("span");
  span.className = name;
  span.textContent = text;
  return span;
}
