// What opens behind a tool call or a subagent is fetched when it is opened for the first time.

import { addCopyButtons } from "./copying.js";
import { fetchFragment } from "./fragments.js";
import { say } from "./words.js";

const MOST_AT_ONCE = 40;

async function fill(details) {
  const body = details.querySelector(":scope > .call-body, :scope > .child-body");
  if (!details.open || !details.dataset.source || body.hasChildNodes()) return;
  const note = document.createElement("p");
  note.className = "loading";
  note.textContent = say("loading");
  body.append(note);
  try {
    const fragment = await fetchFragment(details.dataset.source);
    // The turns of a subagent are numbered from the beginning too.
    for (const turn of fragment.querySelectorAll(".turn")) turn.removeAttribute("id");
    body.replaceChildren(fragment);
    addCopyButtons(body);
  } catch {
    note.textContent = say("failed");
    body.replaceChildren(note);
  }
}

// A branch that was left is one line until somebody wants to see where it went.
function switchBranch(button) {
  const isOpen = button.getAttribute("aria-expanded") !== "true";
  button.setAttribute("aria-expanded", String(isOpen));
}

export function startUnfolding(article) {
  article.addEventListener("click", (event) => {
    const button = event.target.closest("[data-branch]");
    if (button) switchBranch(button);
  });
  article.addEventListener("toggle", (event) => fill(event.target), true);
  for (const details of article.querySelectorAll("details[data-source][open]")) fill(details);
}

// All that is near the screen; a session of ten thousand calls would never end.
export function unfoldAll(article, button) {
  const isOpen = button.getAttribute("aria-pressed") !== "true";
  button.setAttribute("aria-pressed", String(isOpen));
  const calls = [...article.querySelectorAll("details.call, details.thought")];
  const near = isOpen ? calls.filter(isNear).slice(0, MOST_AT_ONCE) : calls;
  for (const details of near) details.open = isOpen;
}

function isNear(element) {
  const { top, bottom } = element.getBoundingClientRect();
  return bottom > -innerHeight && top < innerHeight * 2;
}
