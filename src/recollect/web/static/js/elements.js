// Typed element lookup. A page that lacks what its script needs fails at once and says what is
// missing.

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
  if (!(found instanceof type)) throw new Error(`There is no ${selector} here.`);
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
