// Requests from the client: cards that the server renders, and the answers to them. Only buttons
// inside the card container count, Enter presses none of them, and every answer names its request.

import { addCopyButtons } from "./copying.js";
import { findAround, getElement, listElements } from "./elements.js";
import { fetchFragment } from "./fragments.js";
import { post, RequestError } from "./posting.js";
import { showText, showToast, translate } from "./words.js";

/** Milliseconds before a card that has just appeared can be answered. */
const ANSWER_DELAY = 400;

export class Cards {
  /**
   * @param {HTMLElement} article
   */
  constructor(article) {
    this.place = getElement(article, "[data-asks]", HTMLElement);
    this.address = article.dataset.address ?? "";
    this.nonce = article.dataset.nonce ?? "";
    /** @type {Set<string>} */
    this.settled = new Set();
    this.place.addEventListener("click", (event) => this.click(event));
    this.place.addEventListener("keydown", (event) => this.press(event));
    this.place.addEventListener("input", (event) => this.choose(event));
    for (const card of listElements(this.place, ".ask")) this.disableBriefly(card);
  }

  /** @param {string} id */
  find(id) {
    return listElements(this.place, ".ask").find((card) => card.dataset.request === id);
  }

  get isOpen() {
    return this.place.querySelector(".ask") !== null;
  }

  /** @param {string} id */
  async add(id) {
    if (this.find(id)) return;
    const path = id.split("/").map(encodeURIComponent).join("/");
    const fragment = await fetchFragment(`${this.address}/requests/${path}`);
    // Not a card if the request was settled in the meantime: an event reports that, before or later.
    const card = fragment.querySelector(".ask");
    if (!(card instanceof HTMLElement) || this.find(id) || this.settled.has(id)) return;
    this.place.append(card);
    addCopyButtons(card);
    this.disableBriefly(card);
  }

  /** @param {string} id */
  remove(id) {
    this.settled.add(id);
    const card = this.find(id);
    if (card?.contains(document.activeElement)) this.onLeft?.();
    card?.remove();
  }

  /** @type {(() => void) | null} */
  onLeft = null;

  /**
   * Disables buttons for a moment, so that nobody presses one that has just appeared.
   * @param {HTMLElement} card
   */
  disableBriefly(card) {
    const buttons = card.querySelectorAll("button");
    for (const button of buttons) button.disabled = true;
    setTimeout(() => {
      for (const button of buttons) button.disabled = false;
    }, ANSWER_DELAY);
  }

  /** @param {Event} event */
  click(event) {
    const card = findAround(event, ".ask");
    const button = findAround(event, ".ask footer button");
    if (!card || !(button instanceof HTMLButtonElement) || button.disabled) return;
    if ("edit" in button.dataset) this.edit(card);
    else if (button.dataset.decision) this.answer(card, button);
  }

  /** @param {KeyboardEvent} event */
  press(event) {
    const card = findAround(event, ".ask");
    if (!card) return;
    const isText = findAround(event, "textarea, input:not([type=radio], [type=checkbox])");
    if (event.key === "Enter" && !(event.target instanceof HTMLTextAreaElement)) {
      event.preventDefault();
      return;
    }
    if (isText || event.ctrlKey || event.metaKey || event.altKey) return;
    const key = event.key.toLowerCase();
    const button = card.querySelector(`footer button[data-key="${CSS.escape(key)}"]`);
    if (!(button instanceof HTMLButtonElement) || button.hidden) return;
    event.preventDefault();
    event.stopPropagation();
    button.click();
  }

  /**
   * Free text and a choice are mutually exclusive where only one answer counts.
   * @param {Event} event
   */
  choose(event) {
    const field = findAround(event, "fieldset[data-question] input");
    const set = findAround(event, "fieldset[data-question]");
    if (!(field instanceof HTMLInputElement) || !set) return;
    if (field.type === "text" && field.value) {
      for (const radio of set.querySelectorAll("input[type=radio]")) {
        if (radio instanceof HTMLInputElement) radio.checked = false;
      }
    } else if (field.type === "radio") {
      getElement(set, "[data-own]", HTMLInputElement).value = "";
    }
  }

  /** @param {HTMLElement} card */
  edit(card) {
    getElement(card, "[data-fields]", HTMLElement).hidden = false;
    getElement(card, "[data-edited]", HTMLElement).hidden = false;
    getElement(card, "[data-edit]", HTMLElement).hidden = true;
    card.querySelector("textarea")?.focus();
  }

  /**
   * @param {HTMLElement} card
   * @param {HTMLButtonElement} button
   */
  async answer(card, button) {
    const buttons = card.querySelectorAll("button");
    for (const each of buttons) each.disabled = true;
    try {
      await post(`${this.address}/answers`, this.nonce, readAnswer(card, button));
      this.remove(card.dataset.request ?? "");
    } catch (failure) {
      // Answered in another tab: the event that says so removes the card.
      if (failure instanceof RequestError && failure.status === 409) card.remove();
      const error = getElement(card, ".ask-error", HTMLElement);
      error.textContent = failure instanceof Error ? showText(failure.message) : "";
      error.hidden = false;
      for (const each of buttons) each.disabled = false;
    }
  }
}

/**
 * @param {HTMLElement} card
 * @param {HTMLButtonElement} button
 */
function readAnswer(card, button) {
  const { decision, suggestion } = button.dataset;
  const words = card.querySelector("[data-words]");
  const isEdited = "edited" in button.dataset;
  return {
    request: card.dataset.request,
    decision,
    ...(suggestion ? { suggestion: Number(suggestion) } : {}),
    ...(decision === "deny" && words instanceof HTMLInputElement ? { message: words.value } : {}),
    ...(decision === "answer" ? (card.dataset.kind === "elicitation" ? readForm : readChoices)(card) : {}),
    ...(isEdited ? { fields: readFields(card) } : {}),
  };
}

/** @param {HTMLElement} card */
function readFields(card) {
  /** @type {Record<string, string>} */
  const fields = {};
  for (const field of listElements(card, "textarea[data-field]")) {
    if (!(field instanceof HTMLTextAreaElement) || field.value === field.defaultValue) continue;
    fields[field.dataset.field ?? ""] = field.value;
  }
  return fields;
}

/** @param {HTMLElement} card a form of an MCP server; fields and choices by their positions */
function readForm(card) {
  /** @type {Record<string, number[]>} */
  const answers = {};
  /** @type {Record<string, string>} */
  const fields = {};
  for (const field of listElements(card, "[data-form]")) {
    const place = field.dataset.form ?? "";
    if (field instanceof HTMLSelectElement) answers[place] = field.value ? [Number(field.value)] : [];
    else if (!(field instanceof HTMLInputElement)) answers[place] = readChecked(field);
    else fields[place] = field.type === "checkbox" ? String(field.checked) : field.value;
  }
  return { answers, fields };
}

/** @param {HTMLElement} set */
function readChecked(set) {
  const chosen = [...set.querySelectorAll("input:checked")];
  return chosen.map((each) => Number(each instanceof HTMLInputElement && each.value));
}

/** @param {HTMLElement} card */
function readChoices(card) {
  /** @type {Record<string, number[]>} */
  const answers = {};
  /** @type {Record<string, string>} */
  const fields = {};
  for (const set of listElements(card, "fieldset[data-question]")) {
    const place = set.dataset.question ?? "";
    answers[place] = readChecked(set);
    const own = getElement(set, "[data-own]", HTMLInputElement).value;
    if (own) fields[place] = own;
  }
  return { answers, fields };
}
