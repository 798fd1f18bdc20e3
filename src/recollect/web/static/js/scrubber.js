// The trace of the whole session across the page: a tick for each step, and behind them
// how full the context was. A box shows which turns are on the screen and can be dragged, a click or
// an arrow key goes to a turn, and triangles below show where something was found.

import { getElement, listElements, SVG } from "./elements.js";

const HEIGHT = 40;
const BASE = 30;
const MAX_PITCH = 16;
const PIN = 4;
// Pixels of a turn that do not count as seen: what is scrolled to is not flush with the bar.
const SLACK = 12;
// Transcripts do not say which context window a model had.
const WINDOWS = [200_000, 1_000_000];
/** @type {Record<string, string>} */
const CLASSES = { y: "you", t: "text", c: "call", f: "change", a: "agent", x: "failed" };

/**
 * @typedef {{ number: number, trace: string, segment: number, context_tokens: number }} TracedTurn
 */

export class Scrubber {
  /**
   * @param {HTMLElement} article
   * @param {import("./turns.js").Turns} turns
   */
  constructor(article, turns) {
    this.article = article;
    this.turns = turns;
    this.place = getElement(article, "[data-scrubber]", HTMLElement);
    /** @type {number[]} the first step of each turn, and the number of all steps */
    this.starts = [0];
    this.view = document.createElementNS(SVG, "rect");
    this.pins = drawPath("pin", "");
    /** @type {number[]} turns with a hit, counted from 1 */
    this.found = [];
    document.addEventListener("recollect:found", (event) => {
      this.found = event.detail.hits.flatMap(({ turn }) => turn ?? []);
      this.pin();
    });
    /** @type {number | null} the turn to go to as soon as the page is at the one before */
    this.wanted = null;
    this.here = -1;
    this.isMoving = false;
    this.startDragging();
    this.place.addEventListener("keydown", (event) => this.press(event));
  }

  startDragging() {
    const { place } = this;
    place.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      place.setPointerCapture(event.pointerId);
      this.go(this.findTurn(event.clientX));
    });
    // Otherwise the browser would start to drag the picture itself.
    place.addEventListener("mousedown", (event) => {
      event.preventDefault();
      place.focus({ preventScroll: true });
    });
    place.addEventListener("pointermove", (event) => {
      if (place.hasPointerCapture(event.pointerId)) this.go(this.findTurn(event.clientX));
    });
  }

  /** @param {KeyboardEvent} event */
  press(event) {
    const last = this.starts.length - 2;
    const here = Number(this.place.getAttribute("aria-valuenow")) - 1;
    const next = {
      ArrowLeft: here - 1, ArrowDown: here - 1, ArrowRight: here + 1, ArrowUp: here + 1,
      PageUp: here - 10, PageDown: here + 10, Home: 0, End: last,
    }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    this.go(Math.min(Math.max(next, 0), last));
  }

  /**
   * @param {number} across in pixels from the left of the window
   * @returns {number} the turn that is drawn there
   */
  findTurn(across) {
    const { left, width } = getElement(this.place, "svg", SVGSVGElement).getBoundingClientRect();
    const step = ((across - left) / width) * (this.starts.at(-1) ?? 0);
    const turn = this.starts.filter((start) => start <= step).length - 1;
    return Math.min(Math.max(turn, 0), this.starts.length - 2);
  }

  /**
   * Turns that are only passed on the way are not loaded: each may take a request.
   * @param {number} turn
   */
  async go(turn) {
    this.wanted = turn;
    if (this.isMoving) return;
    this.isMoving = true;
    try {
      while (this.wanted !== null) {
        const next = this.wanted;
        this.wanted = null;
        if (next !== this.here) await this.turns.showTurn(next);
        this.here = next;
        this.mark();
      }
    } finally {
      this.isMoving = false;
      this.here = -1;
    }
  }

  /** @param {TracedTurn[]} turns all of the session, in order */
  draw(turns) {
    this.starts = [0];
    /** @type {Map<string, string>} */
    const ticks = new Map();
    let place = 0;
    for (const { trace } of turns) {
      for (let at = 0; at < trace.length; at += 2, place += 1) {
        const name = CLASSES[trace[at]];
        if (name) ticks.set(name, (ticks.get(name) ?? "") + drawTick(place, trace[at], trace[at + 1]));
      }
      this.starts.push(place);
    }
    const picture = document.createElementNS(SVG, "svg");
    picture.setAttribute("class", "trace");
    picture.setAttribute("viewBox", `0 0 ${Math.max(place, 1)} ${HEIGHT}`);
    picture.setAttribute("preserveAspectRatio", "none");
    picture.setAttribute("width", String(place * MAX_PITCH));
    picture.setAttribute("aria-hidden", "true");
    picture.append(drawPath("context", traceContext(turns, this.starts)));
    picture.append(drawPath("base", `M0 ${BASE}H${place}`));
    for (const [name, path] of ticks) picture.append(drawPath(name, path));
    this.view.setAttribute("class", "view");
    this.view.setAttribute("height", String(HEIGHT - 1));
    picture.append(this.view, this.pins);
    this.place.replaceChildren(picture);
    this.place.hidden = place === 0;
    this.pin();
    this.mark();
  }

  // The turns in which something was found.
  pin() {
    const steps = Math.max(this.starts.at(-1) ?? 0, 1);
    // The picture is stretched, its triangles are not.
    const half = PIN / Math.min(MAX_PITCH, Math.max(this.place.clientWidth, 1) / steps);
    const turns = [...new Set(this.found)];
    const path = turns.map((turn) => {
      const across = (this.starts[turn - 1] ?? 0) + 0.5;
      return `M${across} ${HEIGHT - 6}L${across + half} ${HEIGHT}H${across - half}Z`;
    });
    this.pins.setAttribute("d", path.join(""));
  }

  // The turns that are on the screen.
  mark() {
    // The trace is in the bar at the top, which covers what has been scrolled past.
    const edge = Math.max(this.place.getBoundingClientRect().bottom, 0);
    const shown = listElements(this.article, "#turns > .turn").filter((turn) => {
      const { top, bottom } = turn.getBoundingClientRect();
      return bottom > edge + SLACK && top < innerHeight;
    });
    const first = this.starts[Number(shown[0]?.dataset.turn ?? 0)] ?? 0;
    const end = this.starts[Number(shown.at(-1)?.dataset.turn ?? 0) + 1] ?? first;
    const turn = Number(shown[0]?.dataset.turn ?? 0) + 1;
    this.place.setAttribute("aria-valuemax", String(Math.max(this.starts.length - 1, 1)));
    this.place.setAttribute("aria-valuenow", String(turn));
    this.view.setAttribute("x", String(first));
    this.view.setAttribute("width", String(Math.max(end - first, 0.5)));
  }
}

/**
 * The area below the context: it grows within a turn, and a compaction empties it.
 * @param {TracedTurn[]} turns
 * @param {number[]} starts the first step of each turn, and the number of all steps
 */
function traceContext(turns, starts) {
  const most = Math.max(...turns.map((turn) => turn.context_tokens), 1);
  const room = WINDOWS.find((size) => most <= size) ?? most;
  let path = `M0 ${BASE}`;
  let height = BASE;
  for (const [at, turn] of turns.entries()) {
    const isCompacted = at > 0 && turn.segment > turns[at - 1].segment;
    if (isCompacted) path += `V${BASE}`;
    if (turn.context_tokens > 0) height = BASE - (BASE * turn.context_tokens) / room;
    path += `${isCompacted ? `H${starts[at]}` : ""}L${starts[at + 1]} ${height.toFixed(1)}`;
  }
  return `${path}V${BASE}Z`;
}

/**
 * @param {number} place
 * @param {string} kind
 * @param {string} digit how long it took, 0 to 9
 */
function drawTick(place, kind, digit) {
  const across = place + 0.5;
  if (kind === "x") return `M${across} ${BASE}v${3 + Math.min(Number(digit), 6)}`;
  const height = kind === "y" ? BASE - 2 : kind === "t" ? 4 : 5 + 2 * Number(digit);
  return `M${across} ${BASE}v-${height}`;
}

/**
 * @param {string} name
 * @param {string} path
 */
function drawPath(name, path) {
  const element = document.createElementNS(SVG, "path");
  element.setAttribute("class", name);
  element.setAttribute("d", path);
  return element;
}
