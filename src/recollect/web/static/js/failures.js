// What failed in a session: a list in the outline, and keys that go from one to the next, also to
// those that are not on the page yet.

import { drawText, listElements } from "./elements.js";
import { showText, translate } from "./words.js";

/**
 * A call or a request that failed; `turn` is counted from 1.
 * @typedef {{ uuid: string | null, tool: string, line: string, turn: number }} Failure
 */

const TOP = 160;

export class Failures {
  /**
   * @param {HTMLElement} article
   * @param {import("./turns.js").Turns} turns
   */
  constructor(article, turns) {
    this.article = article;
    this.turns = turns;
    /** @type {Failure[]} */
    this.all = [];
    // The one that was shown last.
    this.shown = "";
    document.addEventListener("recollect:failure", (event) => this.go(event.detail.step));
  }

  /**
   * @param {HTMLElement} list
   * @param {Failure[]} failures
   */
  draw(list, failures) {
    this.all = failures.filter((each) => each.uuid);
    list.replaceChildren(...this.all.map((each) => this.drawLine(each)));
  }

  /** @param {Failure} failure */
  drawLine(failure) {
    const item = document.createElement("li");
    const link = document.createElement("a");
    link.href = `#${failure.uuid}`;
    link.title = showText(failure.line);
    link.append(
      drawText("number", String(failure.turn)),
      drawText("kind", showText(failure.tool) || translate("request")),
      drawText("line", link.title),
    );
    link.addEventListener("click", (event) => {
      event.preventDefault();
      this.show(failure);
    });
    item.append(link);
    return item;
  }

  /** @param {Failure} failure */
  show(failure) {
    this.shown = failure.uuid ?? "";
    return this.turns.show(this.shown);
  }

  /** @param {number} step */
  go(step) {
    const at = this.findPlace();
    const next = step > 0 ? Math.floor(at + 1) : Math.ceil(at - 1);
    const failure = this.all[Math.min(Math.max(next, 0), this.all.length - 1)];
    if (failure) this.show(failure);
  }

  // The index of the one that was shown last, while it is in sight; else between those above and
  // below the top of the window.
  findPlace() {
    const last = document.getElementById(this.shown);
    if (last && isInSight(last)) return this.all.findIndex(({ uuid }) => uuid === this.shown);
    const next = this.all.findIndex((each) => this.isBelow(each));
    return (next < 0 ? this.all.length : next) - 0.5;
  }

  /** @param {Failure} failure */
  isBelow(failure) {
    const place = document.getElementById(failure.uuid ?? "");
    if (place) return place.getBoundingClientRect().top > TOP;
    const [first] = listElements(this.article, "#turns > .turn");
    return failure.turn > Number(first?.dataset.turn ?? 0);
  }
}

/** @param {Element} element */
function isInSight(element) {
  const { top, bottom } = element.getBoundingClientRect();
  return bottom > 0 && top < innerHeight;
}
