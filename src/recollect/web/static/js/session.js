// The page of a session.

import { addCopyButtons } from "./copying.js";
import { getElement } from "./elements.js";
import { startFinding } from "./finding.js";
import { startFollowing } from "./following.js";
import { markWords, restoreMarks } from "./highlighting.js";
import { startOutline } from "./outline.js";
import { startUnfolding, unfoldAll } from "./unfolding.js";
import { startSecrets } from "./secrets.js";
import { Turns, readWay } from "./turns.js";

/**
 * Goes where the address points to, and marks the words that were searched for.
 * @param {HTMLElement} article
 * @param {Turns} turns
 * @param {string} wanted
 * @param {boolean} isKnown whether the server has said how to get there
 */
async function showPlace(article, turns, wanted, isKnown) {
  try {
    const marks = article.dataset.mark ?? "";
    const title = getElement(article, "h1", HTMLElement);
    const target = wanted ? await turns.show(wanted, marks, isKnown ? readWay(article) : null) : title;
    if (target && marks) await markWords(target, marks);
    await turns.waiting.catch(() => {});
    await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  } finally {
    article.dataset.landed = "true";
  }
}

/**
 * The sticky header would cover scroll targets if the page did not know its height.
 * @param {HTMLElement} article
 */
function measureHead(article) {
  const head = getElement(article, ".session-head", HTMLElement);
  // Not as a style attribute: pages have none.
  const sheet = new CSSStyleSheet();
  document.adoptedStyleSheets.push(sheet);
  const measure = () => {
    const isSticky = getComputedStyle(head).position === "sticky";
    const height = isSticky ? head.offsetHeight : 0;
    sheet.replaceSync(`:root { --head: ${height}px; }`);
  };
  new ResizeObserver(measure).observe(head);
  measure();
}

export function startSession() {
  const article = getElement(document, "article.session", HTMLElement);
  measureHead(article);
  const turns = new Turns(article);
  startUnfolding(article);
  startSecrets();
  startOutline(article, turns);
  startFinding(article, turns);
  startFollowing(article, turns);
  turns.onChange((part) => addCopyButtons(part));
  document.addEventListener("recollect:grown", restoreMarks);
  const expand = getElement(article, "[data-expand]", HTMLElement);
  expand.addEventListener("click", () => unfoldAll(article, expand));
  const named = decodeURIComponent(location.hash.slice(1));
  const asked = new URLSearchParams(location.search).get("at") ?? "";
  // Several records may have the same uuid: the server knows which one is meant.
  const wanted = !named || named === asked ? article.dataset.at : named;
  showPlace(article, turns, wanted ?? "", wanted === article.dataset.at);
}
