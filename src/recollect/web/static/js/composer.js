// The message box: text with completion of `@` paths and `/` commands, sent with Enter.

import { Chips } from "./chips.js";
import { drawIcon, getElement } from "./elements.js";
import { post } from "./posting.js";
import { showText, translate } from "./words.js";

/** @typedef {{ text: string, note: string, icon: string, take: () => void }} Completion */
/** @typedef {import("./chips.js").Reference} Reference */
/** @typedef {import("./chips.js").Image} Image */
/** @typedef {{ name: string, description?: string, argumentHint?: string }} Command */

const PAUSE = 80;
const MAX_COMPLETIONS = 8;
const COMMAND = /^\/([\w:-]*)$/;
const PATH = /(?:^|\s)@([^\s@]*)$/;

export class Composer {
  /** @param {HTMLElement} article */
  constructor(article) {
    this.form = getElement(article, "[data-composer]", HTMLFormElement);
    this.field = getElement(this.form, "[data-text]", HTMLTextAreaElement);
    this.list = getElement(this.form, "#completions", HTMLElement);
    this.error = getElement(this.form, ".composer-error", HTMLElement);
    this.button = getElement(this.form, "[data-send]", HTMLButtonElement);
    this.address = article.dataset.address ?? "";
    this.nonce = article.dataset.nonce ?? "";
    this.chips = new Chips(article);
    /** @type {Command[]} */
    this.commands = [];
    /** @type {Completion[]} */
    this.completions = [];
    this.selected = 0;
    // The text that they complete: text typed since may need others.
    this.completed = "";
    this.timer = 0;
    /** @type {Promise<unknown>} */
    this.sending = Promise.resolve();
    this.start();
  }

  start() {
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.send();
    });
    this.field.addEventListener("input", () => {
      this.fit();
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.complete(), PAUSE);
    });
    this.field.addEventListener("keydown", (event) => this.press(event));
    this.field.addEventListener("paste", (event) => {
      const files = [...(event.clipboardData?.files ?? [])];
      if (files.length === 0) return;
      event.preventDefault();
      this.chips.addImages(files);
    });
    this.form.addEventListener("dragover", (event) => event.preventDefault());
    this.form.addEventListener("drop", (event) => {
      event.preventDefault();
      this.chips.addImages([...(event.dataTransfer?.files ?? [])]);
    });
  }

  /** @param {boolean} isBusy */
  setBusy(isBusy) {
    this.button.textContent = translate(isBusy ? "queue" : "send");
  }

  /**
   * An ended conversation takes no prompts; a draft stays, because it is saved nowhere else.
   * @param {boolean} isEnded
   */
  showEnded(isEnded) {
    this.form.hidden = isEnded && this.isEmpty;
  }

  get isEmpty() {
    return !this.field.value.trim() && this.chips.isEmpty;
  }

  /** @param {KeyboardEvent} event */
  press(event) {
    if (event.isComposing) return;
    const isOpen = this.completions.length > 0 && this.completed === this.before;
    const isTyped = this.completions[this.selected]?.text === this.before;
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (isOpen && step) {
      event.preventDefault();
      this.select(this.selected + step);
    } else if (isOpen && (event.key === "Tab" || (event.key === "Enter" && !isTyped)) && !event.shiftKey) {
      event.preventDefault();
      this.completions[this.selected]?.take();
    } else if (event.key === "Tab" && !event.shiftKey && this.isStale) {
      event.preventDefault();
      this.takeFirst();
    } else if (isOpen && event.key === "Escape") {
      event.preventDefault();
      event.stopPropagation();
      this.show([]);
    } else if (event.key === "Enter" && !event.shiftKey) {
      event.preventDefault();
      this.send();
    }
  }

  /**
   * The box is cleared at once, because restarting a client takes seconds; what could not be sent
   * comes back, before what was typed since.
   */
  async send() {
    const text = this.field.value;
    if (this.isEmpty) return;
    const chips = this.chips.take();
    const body = {
      text,
      contexts: [...chips.references.values()],
      images: [...chips.images.values()],
    };
    this.setText("");
    this.error.hidden = true;
    this.field.focus({ preventScroll: true });
    this.onSend?.();
    // One after the other: a prompt with images must not be overtaken.
    const sent = this.sending.then(() => post(`${this.address}/prompts`, this.nonce, body));
    this.sending = sent.catch(() => {});
    try {
      await sent;
    } catch (failure) {
      this.form.hidden = false;
      this.chips.putBack(chips);
      this.prepend(text);
      this.error.textContent = failure instanceof Error ? showText(failure.message) : "";
      this.error.hidden = false;
    }
  }

  /** @type {(() => void) | null} */
  onSend = null;

  /**
   * A message that was sent can be edited.
   * @param {{ text: string, contexts: Reference[], images: Image[] }} prompt
   */
  putBack(prompt) {
    for (const each of prompt.contexts) this.chips.add(each);
    for (const each of prompt.images) this.chips.addImage(each, translate("image"));
    this.prepend(prompt.text);
    this.field.focus();
    this.field.setSelectionRange(prompt.text.length, prompt.text.length);
  }

  /**
   * Puts a text before what was typed since.
   * @param {string} text
   */
  prepend(text) {
    this.setText([text, this.field.value].filter(Boolean).join("\n"));
  }

  /** @param {string} text */
  setText(text) {
    this.field.value = text;
    this.fit();
    this.show([]);
  }

  fit() {
    this.field.rows = Math.min(Math.max(this.field.value.split("\n").length, 1), 12);
  }

  get before() {
    return this.field.value.slice(0, this.field.selectionStart);
  }

  /** Whether there is text to complete whose completions have not been looked up yet. */
  get isStale() {
    return this.completed !== this.before && (COMMAND.test(this.before) || PATH.test(this.before));
  }

  /** Completes what is being typed, without waiting for a pause. */
  async takeFirst() {
    clearTimeout(this.timer);
    const { before } = this;
    await this.complete();
    if (this.before === before) this.completions[0]?.take();
  }

  async complete() {
    const { before } = this;
    const command = COMMAND.exec(before);
    if (command) return this.show(this.completeCommand(command[1]));
    const path = PATH.exec(before);
    if (!path) return this.show([]);
    const found = await this.chips.findPaths(path[1]).catch(() => []);
    if (this.before === before) this.show(found.slice(0, MAX_COMPLETIONS).map((each) => this.completePath(each, path[1])));
  }

  /** @param {string} typed */
  completeCommand(typed) {
    return this.commands
      .filter((each) => each.name.toLowerCase().includes(typed.toLowerCase()))
      .sort((a, b) => Number(!a.name.startsWith(typed)) - Number(!b.name.startsWith(typed)))
      .slice(0, MAX_COMPLETIONS)
      .map((each) => ({
        text: `/${each.name}`,
        note: each.description ?? "",
        icon: "terminal",
        take: () => this.insert(`/${each.name} `, typed.length + 1),
      }));
  }

  /**
   * A path becomes a chip, and its name stays in the text.
   * @param {{ path: string, is_folder: boolean }} found
   * @param {string} typed
   * @returns {Completion}
   */
  completePath(found, typed) {
    const text = found.path + (found.is_folder ? "/" : "");
    return {
      text,
      note: "",
      icon: found.is_folder ? "folder" : "files",
      take: () => {
        this.insert(`@${text} `, typed.length + 1);
        this.chips.add({ kind: found.is_folder ? "folder" : "file", name: found.path });
      },
    };
  }

  /**
   * @param {string} text
   * @param {number} length of what was typed
   */
  insert(text, length) {
    const at = this.field.selectionStart;
    this.field.setRangeText(text, at - length, at, "end");
    this.show([]);
    this.field.focus();
  }

  /** @param {Completion[]} completions */
  show(completions) {
    this.completions = completions;
    this.completed = this.before;
    this.list.replaceChildren(...completions.map((each, place) => this.draw(each, place)));
    this.list.hidden = completions.length === 0;
    this.field.setAttribute("aria-expanded", String(completions.length > 0));
    this.select(0);
  }

  /**
   * @param {Completion} completion
   * @param {number} place
   */
  draw(completion, place) {
    const item = document.createElement("li");
    item.id = `completion-${place}`;
    item.role = "option";
    const text = document.createElement("span");
    text.textContent = showText(completion.text);
    const note = document.createElement("small");
    note.textContent = showText(completion.note);
    item.append(drawIcon(completion.icon), text, note);
    item.addEventListener("mousedown", (event) => {
      event.preventDefault();
      completion.take();
    });
    return item;
  }

  /** @param {number} place */
  select(place) {
    const items = [...this.list.children];
    this.selected = Math.min(Math.max(place, 0), Math.max(items.length - 1, 0));
    for (const [at, item] of items.entries()) {
      item.setAttribute("aria-selected", String(at === this.selected));
    }
    items[this.selected]?.scrollIntoView({ block: "nearest" });
    const chosen = items[this.selected]?.id;
    if (chosen) this.field.setAttribute("aria-activedescendant", chosen);
    else this.field.removeAttribute("aria-activedescendant");
  }
}
