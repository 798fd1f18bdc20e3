// For every page: theme, language, keyboard shortcuts, palette, times, copying. Modules that only
// some pages need are loaded on demand.

import { startPreferences } from "./preferences.js";
import { startKeys } from "./keys.js";
import { startPalette } from "./palette.js";
import { startTimes } from "./times.js";
import { startCopying } from "./copying.js";
import { startMarking } from "./marking.js";

startPreferences();
startKeys();
startPalette();
startTimes();
startMarking();

/** @param {string} selector */
const isThere = (selector) => document.querySelector(selector) !== null;

if (isThere("article.session")) (await import("./session.js")).startSession();
if (isThere("article.thread")) (await import("./thread.js")).startThread();
if (isThere("article.chat")) (await import("./conversation.js")).startConversation();
if (isThere("[data-new-conversation], [data-start-conversation]")) {
  (await import("./starting.js")).startStarting();
}
if (isThere("body[data-allow-run]")) (await import("./running.js")).startRunning();
if (isThere("form[data-instant]")) (await import("./sessions.js")).startFilters();
/** @type {NodeListOf<HTMLFormElement>} */
const applied = document.querySelectorAll("form[data-apply]");
for (const form of applied) form.addEventListener("change", () => form.requestSubmit());
if (isThere("[data-changed]")) (await import("./sessions.js")).followList();
if (isThere("form.search")) (await import("./searching.js")).startSearching();
if (isThere("[data-panel]")) (await import("./panels.js")).startPanels();
if (isThere("[data-restore]")) (await import("./restoring.js")).startRestoring();
if (isThere("form[data-busy]")) (await import("./submitting.js")).startSubmitting();
if (isThere("[data-load]")) (await import("./loading.js")).startLoading();
// Last, because a session first remembers how its turns were rendered.
startCopying();

// For tests and other tools: from here on the page is ready.
document.documentElement.dataset.ready = "true";
