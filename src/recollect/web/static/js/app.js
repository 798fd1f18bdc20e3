// What every page has: the theme, the language, keys, the palette, times, copying. What only some
// pages have is loaded there.

import { startPreferences } from "./preferences.js";
import { startKeys } from "./keys.js";
import { startPalette } from "./palette.js";
import { startTimes } from "./times.js";
import { startCopying } from "./copying.js";

startPreferences();
startKeys();
startPalette();
startTimes();

/** @param {string} selector */
const isThere = (selector) => document.querySelector(selector) !== null;

if (isThere("article.session")) (await import("./session.js")).startSession();
if (isThere("form[data-instant]")) (await import("./sessions.js")).startSessions();
if (isThere("form.search")) (await import("./searching.js")).startSearching();
if (isThere("[data-load]")) (await import("./loading.js")).startLoading();
// Last, because a session first notes how its turns were drawn.
startCopying();

// For whoever drives the page from outside: from here on everything on it answers.
document.documentElement.dataset.ready = "true";
