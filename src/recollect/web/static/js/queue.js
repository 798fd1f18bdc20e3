// Messages that wait until Claude Code takes them: each can be taken back, to be edited or dropped.

import { getElement, listElements } from "./elements.js";
import { post } from "./posting.js";
import { showText, showToast, translate } from "./words.js";

/** @typedef {import("./composer.js").Composer} Composer */

export class Queue {
  /**
   * @param {HTMLElement} article
   * @param {Composer} composer
   */
  constructor(article, composer) {
    this.list = getElement(article, "[data-queue]", HTMLElement);
    this.address = article.dataset.address ?? "";
    this.nonce = article.dataset.nonce ?? "";
    this.composer = composer;
    for (const item of this.items) this.addButtons(item);
    composer.field.addEventListener("keydown", (event) => this.press(event));
  }

  get items() {
    return listElements(this.list, "[data-prompt]");
  }

  /** @param {{ uuid: string, state: string, text: string }} event */
  show(event) {
    const shown = this.items.find((each) => each.dataset.prompt === event.uuid);
    if (event.state === "queued" && !shown) this.list.append(this.draw(event));
    if (event.state === "queued" || !shown) return;
    if (shown.contains(document.activeElement)) this.composer.field.focus();
    shown.remove();
  }

  /** @param {{ uuid: string, text: string }} prompt */
  draw(prompt) {
    const item = document.createElement("li");
    item.dataset.prompt = prompt.uuid;
    const label = document.createElement("small");
    label.textContent = translate("queued");
    const text = document.createElement("span");
    text.className = "cut";
    text.textContent = showText(prompt.text);
    item.append(label, text);
    this.addButtons(item);
    return item;
  }

  /** @param {HTMLElement} item */
  addButtons(item) {
    const words = getElement(item, ".cut", HTMLElement).textContent ?? "";
    const add = (/** @type {string} */ name, /** @type {() => void} */ act) => {
      const button = document.createElement("button");
      button.type = "button";
      button.className = "plain";
      button.textContent = translate(name);
      button.setAttribute("aria-label", `${translate(name)}: ${words}`);
      button.addEventListener("click", act);
      item.append(button);
    };
    add("editQueued", () => this.edit(item));
    add("withdraw", () => this.ask("withdraw", item));
  }

  /**
   * As in a shell, the arrow brings back what was sent last.
   * @param {KeyboardEvent} event
   */
  press(event) {
    const last = this.items.at(-1);
    const isFree = this.composer.field.value === "" && !event.defaultPrevented;
    if (event.key !== "ArrowUp" || !last || !isFree) return;
    event.preventDefault();
    this.edit(last);
  }

  /** @param {HTMLElement} item */
  async edit(item) {
    const prompt = await this.ask("edit", item);
    if (prompt) this.composer.putBack(prompt);
  }

  /**
   * @param {string} action
   * @param {HTMLElement} item
   */
  async ask(action, item) {
    try {
      return await post(`${this.address}/${action}`, this.nonce, { name: item.dataset.prompt });
    } catch (failure) {
      if (failure instanceof Error) showToast(showText(failure.message));
      return null;
    }
  }
}
