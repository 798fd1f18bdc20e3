// Short times such as "3 h" or "Wed", with the exact time as a tooltip; updated regularly.

// Day before month, as everywhere else on the pages.
const language = document.documentElement.lang === "en" ? "en-GB" : document.documentElement.lang;
const relative = new Intl.RelativeTimeFormat(language, { numeric: "auto" });
const weekday = new Intl.DateTimeFormat(language, { weekday: "short" });
const day = new Intl.DateTimeFormat(language, { day: "numeric", month: "short" });
const year = new Intl.DateTimeFormat(language, { day: "numeric", month: "short", year: "numeric" });
const isChinese = language.startsWith("zh");

const MINUTE = 60000;
const DAY = 1440 * MINUTE;

/**
 * now, 2 min, 3 h, yesterday, Wed, 13 Nov, 16 Oct 2025: the longer ago, the less precise.
 * @param {Date} moment
 * @param {Date} now
 */
function describe(moment, now) {
  const minutes = Math.floor((now.getTime() - moment.getTime()) / MINUTE);
  if (minutes < 1) return relative.format(0, "second");
  if (minutes < 60) return isChinese ? `${minutes} 分钟` : `${minutes} min`;
  const days = countDays(moment, now);
  if (days < 1) return `${Math.floor(minutes / 60)} ${isChinese ? "小时" : "h"}`;
  if (days < 2) return relative.format(-1, "day");
  if (days < 7) return weekday.format(moment);
  return (moment.getFullYear() === now.getFullYear() ? day : year).format(moment);
}

/**
 * Midnights between two moments.
 * @param {Date} moment
 * @param {Date} now
 */
function countDays(moment, now) {
  const start = new Date(now.getFullYear(), now.getMonth(), now.getDate());
  const from = new Date(moment.getFullYear(), moment.getMonth(), moment.getDate());
  return Math.round((start.getTime() - from.getTime()) / DAY);
}

/**
 * 12 s, 6 min, 2 h 5 min
 * @param {number} seconds
 */
export function describeDuration(seconds) {
  const minutes = Math.floor(seconds / 60);
  if (minutes < 1) return `${Math.floor(seconds)} ${isChinese ? "秒" : "s"}`;
  const rest = `${minutes % 60} ${isChinese ? "分钟" : "min"}`;
  if (minutes < 60) return rest;
  return `${Math.floor(minutes / 60)} ${isChinese ? "小时" : "h"} ${rest}`;
}

/** @param {Date} moment */
export function describeMoment(moment) {
  return describe(moment, new Date());
}

/** @param {ParentNode} within */
export function showTimes(within = document) {
  /** @type {NodeListOf<HTMLTimeElement>} */
  const times = within.querySelectorAll("time[data-relative]");
  for (const time of times) {
    if (!time.title) time.title = time.textContent ?? "";
    const moment = Date.parse(time.dateTime);
    if (!Number.isNaN(moment)) time.textContent = describeMoment(new Date(moment));
  }
}

export function startTimes() {
  showTimes();
  setInterval(() => showTimes(), 30000);
}
