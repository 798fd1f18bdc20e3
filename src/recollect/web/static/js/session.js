// A session: its parts put together.

import { addCopyButtons } from "./copying.js";
import { startFinding } from "./finding.js";
import { startFollowing } from "./following.js";
import { startOutline } from "./outline.js";
import { startUnfolding, unfoldAll } from "./unfolding.js";
import { Turns } from "./turns.js";

export function startSession() {
  const article = document.querySelector("article.session");
  const turns = new Turns(article);
  startUnfolding(article);
  startOutline(article, turns);
  startFinding(article, turns);
  startFollowing(article, turns);
  turns.onChange((part) => addCopyButtons(part));
  article.querySelector("[data-expand]").addEventListener("click", (event) => {
    unfoldAll(article, event.currentTarget);
  });
  const wanted = decodeURIComponent(location.hash.slice(1)) || article.dataset.at;
  if (wanted) turns.show(wanted);
}
