// Exchanges the one-time token in the fragment for the cookie. Browsers do not send fragments, so
// the token is in no log. Without a token there may still be a cookie: browsers withhold it when a
// link from another site leads here, and send it with requests of our own page.
//
// A link of an earlier run leads here too: it is remembered, and followed after signing in.

const WANTED = "recollect-wanted";

const message = /** @type {HTMLElement} */ (document.getElementById("message"));
const form = /** @type {HTMLFormElement} */ (document.getElementById("paste"));
const field = /** @type {HTMLInputElement} */ (document.getElementById("address"));

/** @param {string} hash */
function readToken(hash) {
  return new URLSearchParams(hash.replace(/^#/, "")).get("t");
}

/** The page to open: this one, or the one that was open before another address was pasted. */
function findWanted() {
  const here = location.pathname + location.search;
  const before = sessionStorage.getItem(WANTED);
  return before !== null && here === "/" ? before : here + location.hash;
}

/** @param {string} token */
async function exchange(token) {
  const answer = await fetch("/sign-in", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ token }),
  });
  if (!answer.ok) {
    message.textContent = message.dataset.used ?? "";
    return;
  }
  const wanted = findWanted();
  sessionStorage.removeItem(WANTED);
  // A change of the fragment alone would load nothing.
  if (wanted.split("#")[0] === location.pathname + location.search) {
    history.replaceState(null, "", wanted);
    location.reload();
  } else location.replace(wanted);
}

async function tryCookie() {
  const answer = await fetch("/api/openapi.json", { method: "HEAD" });
  if (answer.ok) location.reload();
}

async function start() {
  const token = readToken(location.hash);
  if (token === null) {
    sessionStorage.setItem(WANTED, location.pathname + location.search + location.hash);
    await tryCookie();
    return;
  }
  const before = sessionStorage.getItem(WANTED) ?? "";
  const here = location.pathname + location.search;
  const hash = before.split("#")[0] === here ? before.slice(here.length) : "";
  history.replaceState(null, "", here + hash);
  await exchange(token);
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  const pasted = field.value.trim();
  const hash = pasted.includes("#") ? pasted.slice(pasted.indexOf("#")) : `#t=${pasted}`;
  const token = readToken(hash);
  // The beginning of an address, or something else, is not a token that has been used.
  if (token && !/[\s/]/.test(token)) exchange(token);
  else message.textContent = message.dataset.incomplete ?? "";
});
// Pasting the new address over that of this page changes only the fragment.
addEventListener("hashchange", start);
await start();
