// The page of a session.

import { addCopyButtons } from "./copying.js";
import { getElement } from "./elements.js";
import { startFinding } from "./finding.js";
import { startFollowing } from "./following.js";
import { startOutline } from "./outline.js";
import { startUnfolding, unfoldAll } from "./unfolding.js";
import { Turns } from "./turns.js";

export function startSession() {
  const article = getElement(document, "article.session", HTMLElement);
  const turns = new Turns(article);
  startUnfolding(article);
  startOutline(article, turns);
  startFinding(article, turns);
  startFollowing(article, turns);
  turns.onChange((part) => addCopyButtons(part));
  const expand = getElement(article, "[data-expand]", HTMLElement);
  expand.addEventListener("click", () => unfoldAll(article, expand));
  const named = decodeURIComponent(location.hash.slice(1));
  const asked = new URLSearchParams(location.search).get("at") ?? "";
  // Several records may have the same uuid: the server knows which one is meant.
  const wanted = !named || named === asked ? article.dataset.at : named;
  if (wanted) turns.show(wanted);
}
