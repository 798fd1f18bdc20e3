// Server-sent events. Every connection says which event was seen last, so that nothing is missed;
// an event without a number is not repeated. A browser gives up when it is refused, as happens
// after a restart until somebody has signed in again: here it is tried until it works.

const PAUSE = 2000;

export function listen(address, handlers, { onLost, lastId = "" } = {}) {
  let source = null;
  let timer = 0;

  function connect() {
    clearTimeout(timer);
    source?.close();
    source = new EventSource(lastId ? addQuery(address, { last_id: lastId }) : address);
    for (const [name, handle] of Object.entries(handlers)) {
      source.addEventListener(name, (event) => {
        lastId = event.lastEventId || lastId;
        handle(JSON.parse(event.data));
      });
    }
    source.addEventListener("open", () => onLost?.(false));
    source.addEventListener("error", (event) => {
      onLost?.(true);
      if (event.target.readyState === EventSource.CLOSED) timer = setTimeout(connect, PAUSE);
    });
  }

  function disconnect() {
    clearTimeout(timer);
    source.close();
  }

  // Browsers open six connections to a server and no more, for all tabs together.
  document.addEventListener("visibilitychange", () => (document.hidden ? disconnect() : connect()));
  addEventListener("pagehide", disconnect);
  addEventListener("pageshow", (event) => {
    if (event.persisted) connect();
  });
  connect();
}

function addQuery(address, values) {
  return `${address}${address.includes("?") ? "&" : "?"}${new URLSearchParams(values)}`;
}
