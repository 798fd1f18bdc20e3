// The only place that asks the server to do something: POST with the nonce of the page.

/**
 * Sends a request and returns the server's response; throws an error with its message.
 * @param {string} address
 * @param {string} nonce
 * @param {Record<string, unknown>} body
 * @returns {Promise<any>}
 */
export async function post(address, nonce, body = {}) {
  const answer = await fetch(address, {
    method: "POST",
    headers: { "content-type": "application/json", "x-recollect-nonce": nonce },
    body: JSON.stringify(body),
  });
  const found = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new RequestError(answer.status, found.error?.message ?? `${answer.status}`);
  return found;
}

export class RequestError extends Error {
  /**
   * @param {number} status
   * @param {string} message
   */
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}
