// What the model is writing: blocks of text as it arrives, until the server has rendered the
// finished record. Always as text, never as markup.

import { showText, translate } from "./words.js";

/**
 * @typedef {{ message: string, index: number, agent: string | null, kind: string,
 *   tool: string | null, text: string }} BlockEvent
 */

const MAX_INPUT = 2000;

/** @param {{ message: string | null, index: number | null, agent: string | null }} event */
function nameBlock(event) {
  return JSON.stringify([event.agent, event.message, event.index]);
}

/**
 * Line ends stay; everything else that could hide or reorder text is shown.
 * @param {string} text
 */
function showLines(text) {
  return text.split("\n").map(showText).join("\n");
}

export class Streaming {
  /** @param {HTMLElement} place */
  constructor(place) {
    this.place = place;
    /** @type {Map<string, HTMLElement>} */
    this.blocks = new Map();
  }

  /** @param {BlockEvent} event */
  add(event) {
    if (event.kind === "other") return;
    const name = nameBlock(event);
    const block = this.blocks.get(name) ?? this.open(name, event);
    const text = block.querySelector(".streamed");
    if (!text || !event.text) return;
    if (event.kind === "tool" && (text.textContent?.length ?? 0) > MAX_INPUT) return;
    text.append(showLines(event.text));
  }

  /**
   * @param {string} name
   * @param {BlockEvent} event
   */
  open(name, event) {
    const block = document.createElement("div");
    block.className = `streaming-block ${event.kind}`;
    if (event.agent) block.classList.add("from-agent");
    if (event.kind !== "text") {
      const label = document.createElement("span");
      label.className = "label";
      label.textContent = event.kind === "tool" ? showText(event.tool ?? "") : translate("thinking");
      block.append(label);
    }
    const text = document.createElement(event.kind === "tool" ? "code" : "p");
    text.className = "streamed";
    block.append(text);
    this.place.append(block);
    this.blocks.set(name, block);
    return block;
  }

  /**
   * Removes a block once its record is on the page.
   * @param {{ message: string | null, index: number | null, agent: string | null }} event
   */
  remove(event) {
    const name = nameBlock(event);
    this.blocks.get(name)?.remove();
    this.blocks.delete(name);
  }

  clear() {
    this.place.replaceChildren();
    this.blocks.clear();
  }
}
