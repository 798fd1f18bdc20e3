// Marks words on the page and brings them to the middle of the window.
//
// Highlights are ranges: the text itself is unchanged, so copying and links still work. A match may
// reach over several elements, because highlighted code is cut into many.

import { openAround } from "./unfolding.js";

const HOLD = 3000;
const OWN_TEXT = "button, .actions, .turn-figures, .prompt-meta, .status, .duration, script";

/**
 * The current highlight, if there is one.
 * @type {{ range: Range, id: string, marks: string } | null}
 */
let shown = null;

/**
 * Marks words in an element, or else in the turn around it, and shows the best place.
 * @param {HTMLElement} target
 * @param {string} marks one word or phrase per line
 * @param {boolean} isScrolled whether the page scrolls there
 */
export async function markWords(target, marks, isScrolled = true) {
  shown = null;
  document.querySelector(".found")?.classList.remove("found");
  const wanted = marks.split("\n").map(normalize).filter(Boolean);
  if (wanted.length === 0) return;
  const scopes = [...document.querySelectorAll(`[id="${CSS.escape(target.id)}"]`)];
  for (const scope of [target, ...scopes, target.closest(".turn")]) {
    if (!(scope instanceof HTMLElement)) continue;
    const first = findMatches(scope, wanted);
    if (first.length === 0) continue;
    const around = chooseBest(first, wanted.length).range.startContainer.parentElement;
    if (around) await openAround(around);
    // Opening a call may replace the text that was found by one with all fields.
    const matches = findMatches(scope, wanted);
    const best = chooseBest(matches.length > 0 ? matches : first, wanted.length);
    highlight(matches.map((match) => match.range), best.range);
    shown = { range: best.range, id: target.id, marks };
    if (isScrolled) hold(best.range);
    return;
  }
  // The words are in an address or a name that the page does not spell out.
  highlight([], null);
  target.classList.add("found");
  if (isScrolled) target.scrollIntoView({ block: "center", behavior: "instant" });
}

/** Marks the words again after their turn has been rendered again. */
export async function restoreMarks() {
  if (!shown?.range.collapsed) return;
  const target = document.getElementById(shown.id);
  if (target) await markWords(target, shown.marks, isHeld);
}

let isHeld = false;
let release = () => {};

/**
 * Keeps a range in the middle while the page around it still grows, until the user scrolls.
 * @param {Range} range
 */
function hold(range) {
  release();
  reveal(range);
  const observer = new ResizeObserver(() => reveal(range));
  const stop = new AbortController();
  isHeld = true;
  release = () => {
    isHeld = false;
    observer.disconnect();
    stop.abort();
  };
  for (const name of ["wheel", "touchstart", "pointerdown", "keydown"]) {
    addEventListener(name, release, { signal: stop.signal, passive: true });
  }
  const timer = setTimeout(release, HOLD);
  stop.signal.addEventListener("abort", () => clearTimeout(timer));
  observer.observe(document.body);
}

/**
 * @param {Range[]} all
 * @param {Range | null} current
 */
function highlight(all, current) {
  if (!CSS.highlights) return;
  CSS.highlights.set("found", new Highlight(...all));
  CSS.highlights.set("current", current ? new Highlight(current) : new Highlight());
}

/** @param {string} text */
function normalize(text) {
  return text.toLowerCase().replace(/\s+/g, " ").trim();
}

/**
 * @typedef {{ range: Range, word: number, at: number }} Match
 */

/**
 * @param {HTMLElement} scope
 * @param {string[]} wanted
 * @returns {Match[]} in the order of the text, without overlaps
 */
function findMatches(scope, wanted) {
  const { text, nodes, starts } = readText(scope);
  /** @type {{ at: number, end: number, word: number }[]} */
  const found = [];
  for (const [word, sought] of wanted.entries()) {
    for (let at = text.indexOf(sought); at >= 0; at = text.indexOf(sought, at + sought.length)) {
      found.push({ at, end: at + sought.length, word });
    }
  }
  found.sort((one, other) => one.at - other.at || other.end - one.end);
  let last = -1;
  const apart = found.filter((each) => {
    if (each.at < last) return false;
    last = each.end;
    return true;
  });
  return apart.map(({ at, end, word }) => ({ range: makeRange(nodes, starts, at, end), word, at }));
}

/**
 * The text of an element, folded as `normalize` does, and where each text node starts in it.
 * @param {HTMLElement} scope
 */
function readText(scope) {
  const walker = document.createTreeWalker(scope, NodeFilter.SHOW_TEXT, (node) =>
    node.parentElement?.closest(OWN_TEXT) ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_ACCEPT,
  );
  /** @type {Text[]} */
  const nodes = [];
  /** @type {number[]} */
  const starts = [];
  let text = "";
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    nodes.push(/** @type {Text} */ (node));
    starts.push(text.length);
    const words = node.nodeValue ?? "";
    const small = words.toLowerCase();
    // Lower case may be longer, as for \u0130: offsets have to stay those of the node.
    text += (small.length === words.length ? small : words).replace(/\s/g, " ");
  }
  return { text, nodes, starts };
}

/**
 * @param {Text[]} nodes
 * @param {number[]} starts
 * @param {number} at
 * @param {number} end
 */
function makeRange(nodes, starts, at, end) {
  const range = new Range();
  const first = findNode(starts, at);
  const last = findNode(starts, end - 1);
  range.setStart(nodes[first], at - starts[first]);
  range.setEnd(nodes[last], end - starts[last]);
  return range;
}

/**
 * @param {number[]} starts
 * @param {number} at
 */
function findNode(starts, at) {
  let low = 0;
  let high = starts.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (starts[middle] <= at) low = middle;
    else high = middle - 1;
  }
  return low;
}

/**
 * The first match after which most of the words follow at once.
 * @param {Match[]} matches
 * @param {number} count
 */
function chooseBest(matches, count) {
  let best = matches[0];
  let most = 0;
  for (const [index, match] of matches.entries()) {
    const near = matches.slice(index, index + 2 * count).filter((each) => each.at - match.at < 400);
    const words = new Set(near.map((each) => each.word)).size;
    if (words > most) [best, most] = [match, words];
    if (most === count) break;
  }
  return best;
}

/**
 * Scrolls everything around a range, and the window, until it is in the middle.
 * @param {Range} range
 */
function reveal(range) {
  for (let at = range.startContainer.parentElement; at; at = at.parentElement) {
    if (at === document.body || at === document.documentElement) break;
    const { overflowX, overflowY } = getComputedStyle(at);
    const box = at.getBoundingClientRect();
    const line = range.getBoundingClientRect();
    if (/auto|scroll/.test(overflowY) && at.scrollHeight > at.clientHeight) {
      at.scrollTop += line.top - box.top - at.clientHeight / 2;
    }
    if (/auto|scroll/.test(overflowX) && (line.left < box.left || line.right > box.right)) {
      at.scrollLeft += line.left - box.left - at.clientWidth / 3;
    }
  }
  const line = range.getBoundingClientRect();
  const middle = line.top + Math.min(line.height, innerHeight / 2) / 2;
  scrollTo({ top: scrollY + middle - innerHeight / 2, behavior: "instant" });
}
