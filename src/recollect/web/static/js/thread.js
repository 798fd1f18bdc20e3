// The page of sessions that continue each other: its turns are all there, only details are fetched.

import { getElement } from "./elements.js";
import { startSecrets } from "./secrets.js";
import { startUnfolding } from "./unfolding.js";

export function startThread() {
  startUnfolding(getElement(document, "article.thread", HTMLElement));
  startSecrets();
}
