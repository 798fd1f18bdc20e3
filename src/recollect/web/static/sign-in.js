// Exchanges the one-time token in the fragment for the cookie. Browsers do not send fragments, so
// the token is in no log. Without a token there may still be a cookie: browsers withhold it when a
// link from another site leads here, and send it with requests of our own page.

const message = /** @type {HTMLElement} */ (document.getElementById("message"));
const token = new URLSearchParams(location.hash.slice(1)).get("t");

function enter() {
  const address = new URL(location.href);
  if (token !== null) address.hash = "";
  location.replace(address.href);
}

async function exchange() {
  history.replaceState(null, "", location.pathname + location.search);
  const answer = await fetch("/sign-in", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ token }),
  });
  if (answer.ok) enter();
  else message.textContent = message.dataset.used ?? "";
}

async function tryCookie() {
  const answer = await fetch("/api/openapi.json", { method: "HEAD" });
  if (answer.ok) location.reload();
}

if (token !== null) await exchange();
else await tryCookie();
