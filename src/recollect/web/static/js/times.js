// Relative times such as "2 hours ago", with the exact time as a tooltip; updated regularly.

/** @type {[Intl.RelativeTimeFormatUnit, number][]} */
const UNITS = [
  ["year", 31536000],
  ["month", 2592000],
  ["week", 604800],
  ["day", 86400],
  ["hour", 3600],
  ["minute", 60],
];
const format = new Intl.RelativeTimeFormat(document.documentElement.lang, { numeric: "auto" });

/** @param {number} seconds */
function describe(seconds) {
  for (const [unit, size] of UNITS) {
    if (Math.abs(seconds) >= size) return format.format(-Math.floor(seconds / size), unit);
  }
  return format.format(0, "minute");
}

/** @param {ParentNode} within */
export function showTimes(within = document) {
  /** @type {NodeListOf<HTMLTimeElement>} */
  const times = within.querySelectorAll("time[data-relative]");
  for (const time of times) {
    if (!time.title) time.title = time.textContent ?? "";
    const moment = Date.parse(time.dateTime);
    if (!Number.isNaN(moment)) time.textContent = describe((Date.now() - moment) / 1000);
  }
}

export function startTimes() {
  showTimes();
  setInterval(() => showTimes(), 30000);
}
