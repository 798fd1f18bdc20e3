// Theme and language, stored in cookies so that the server renders pages accordingly.

import { listElements } from "./elements.js";

const YEAR = 31536000;

/**
 * @param {string} name
 * @param {string} value
 */
function keep(name, value) {
  const age = value === "" ? 0 : YEAR;
  document.cookie = `recollect-${name}=${value}; Path=/; SameSite=Strict; Max-Age=${age}`;
}

// Switches from the system's theme to the other one, and back.
export function switchTheme() {
  const root = document.documentElement;
  const isDark = matchMedia("(prefers-color-scheme: dark)").matches;
  const theme = root.dataset.theme ? "" : isDark ? "light" : "dark";
  if (theme) root.dataset.theme = theme;
  else delete root.dataset.theme;
  keep("theme", theme);
}

export function startPreferences() {
  for (const button of document.querySelectorAll("[data-theme-switch]")) {
    button.addEventListener("click", switchTheme);
  }
  for (const button of listElements(document, "button[data-language]")) {
    button.addEventListener("click", () => {
      keep("language", button.dataset.language ?? "");
      location.reload();
    });
  }
}
