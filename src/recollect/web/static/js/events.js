// Server-sent events. Every connection sends the id of the last event, so that nothing is missed;
// events without an id are not repeated. Browsers give up when a connection is refused, as happens
// after a restart until the user has signed in again: here it is retried until it works.

const PAUSE = 2000;

/**
 * @param {string} address
 * @param {Record<string, (data: any) => void>} handlers by the name of the event
 * @param {{ onLost?: (isLost: boolean) => void, lastId?: string, whileHidden?: boolean }} options
 */
export function listen(address, handlers, { onLost, lastId = "", whileHidden = false } = {}) {
  /** @type {EventSource | null} */
  let source = null;
  let timer = 0;

  function connect() {
    clearTimeout(timer);
    source?.close();
    const opened = new EventSource(lastId ? addQuery(address, { last_id: lastId }) : address);
    source = opened;
    for (const [name, handle] of Object.entries(handlers)) {
      opened.addEventListener(name, (event) => {
        lastId = event.lastEventId || lastId;
        handle(JSON.parse(event.data));
      });
    }
    opened.addEventListener("open", () => onLost?.(false));
    opened.addEventListener("error", () => {
      onLost?.(true);
      if (opened.readyState === EventSource.CLOSED) timer = setTimeout(connect, PAUSE);
    });
  }

  function disconnect() {
    clearTimeout(timer);
    source?.close();
  }

  // Browsers open at most six connections to a server, for all tabs together.
  if (!whileHidden) {
    document.addEventListener("visibilitychange", () => (document.hidden ? disconnect() : connect()));
  }
  addEventListener("pagehide", disconnect);
  addEventListener("pageshow", (event) => {
    if (event.persisted) connect();
  });
  connect();
}

/**
 * @param {string} address
 * @param {Record<string, string>} values
 */
function addQuery(address, values) {
  return `${address}${address.includes("?") ? "&" : "?"}${new URLSearchParams(values)}`;
}
