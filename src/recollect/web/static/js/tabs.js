// A row of tabs, one of which shows its panel. Empty tabs are hidden, and so is a row with only one
// tab left.

import { getElement, listElements } from "./elements.js";

export class Tabs {
  /** @param {HTMLElement} row the element with the role of a tab list */
  constructor(row) {
    this.row = row;
    this.tabs = listElements(row, "[data-tab]");
    row.addEventListener("click", (event) => {
      const tab = this.tabs.find((each) => event.composedPath().includes(each));
      if (tab) this.select(tab);
    });
    row.addEventListener("keydown", (event) => {
      const shown = this.tabs.filter((tab) => !tab.hidden);
      const at = shown.findIndex((tab) => tab === document.activeElement);
      const last = shown.length - 1;
      const next = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: last }[event.key];
      if (at < 0 || next === undefined) return;
      event.preventDefault();
      const tab = shown[(next + shown.length) % shown.length];
      this.select(tab);
      tab.focus();
    });
  }

  /**
   * @param {string} name
   * @param {number} count
   */
  setCount(name, count) {
    const tab = this.tabs.find((each) => each.dataset.tab === name);
    if (!tab) return;
    getElement(tab, "[data-count]", HTMLElement).textContent = count.toLocaleString("en");
    tab.hidden = count === 0;
    this.row.hidden = this.tabs.filter((each) => !each.hidden).length < 2;
    if (tab.hidden && tab.getAttribute("aria-selected") === "true") this.select(this.tabs[0]);
  }

  /** @param {HTMLElement} chosen */
  select(chosen) {
    for (const tab of this.tabs) {
      const isChosen = tab === chosen;
      tab.setAttribute("aria-selected", String(isChosen));
      tab.tabIndex = isChosen ? 0 : -1;
      const panel = document.getElementById(tab.getAttribute("aria-controls") ?? "");
      if (panel) panel.hidden = !isChosen;
    }
  }
}
