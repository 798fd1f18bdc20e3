// The only place where text becomes elements: HTML from our own server, escaped and sanitised.

const policy = window.trustedTypes?.createPolicy("recollect", { createHTML: (text) => text });

/**
 * @param {string} address
 * @param {AbortSignal} [signal]
 */
export async function fetchFragment(address, signal) {
  const answer = await fetch(address, { signal, headers: { accept: "text/html" } });
  if (!answer.ok) throw new Error(`${answer.status} for ${address}`);
  const text = await answer.text();
  const template = document.createElement("template");
  template.innerHTML = policy ? policy.createHTML(text) : text;
  return template.content;
}

/**
 * @param {string} address
 * @param {AbortSignal} [signal]
 */
export async function fetchJson(address, signal) {
  const answer = await fetch(address, { signal });
  if (!answer.ok) throw new Error(`${answer.status} for ${address}`);
  return answer.json();
}
