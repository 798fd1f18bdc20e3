// The words that the script says, in the language of the page: the server puts them into it.

const words = document.getElementById("words").dataset;

export function say(key, values = {}) {
  return Object.entries(values).reduce(
    (text, [name, value]) => text.replace(`{${name}}`, value),
    words[key] ?? "",
  );
}

let timer = 0;

// A line at the bottom of the screen that goes by itself.
export function tell(text) {
  document.querySelector(".toast")?.remove();
  const toast = document.createElement("p");
  toast.className = "toast";
  toast.setAttribute("role", "status");
  toast.textContent = text;
  document.body.append(toast);
  clearTimeout(timer);
  timer = setTimeout(() => toast.remove(), 2500);
}
