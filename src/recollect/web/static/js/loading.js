// Pages that come at once and are filled when the server has found out: asked for, then reloaded.

export function startLoading() {
  for (const place of document.querySelectorAll("[data-load]")) {
    fetch(place.dataset.load).then((answer) => {
      if (answer.ok) location.reload();
    });
  }
}
