// References of a prompt: chips above the text, images among them, and the dialog that adds them.

import { drawIcon, getElement, listElements } from "./elements.js";
import { fetchJson } from "./fragments.js";
import { showText, showToast, translate } from "./words.js";

/** @typedef {{ kind: string, name?: string, text?: string }} Reference */
/** @typedef {{ media_type: string, data: string }} Image */

const ICONS = /** @type {Record<string, string>} */ ({
  file: "files", folder: "folder", web: "globe", selection: "copy", terminal: "terminal",
  problems: "warn", changes: "git", commit: "git", image: "image",
});
const IMAGES = ["image/png", "image/jpeg", "image/gif", "image/webp"];
const MAX_BYTES = 8 * 1024 * 1024;

export class Chips {
  /** @param {HTMLElement} article */
  constructor(article) {
    this.place = getElement(article, "[data-chips]", HTMLElement);
    this.address = article.dataset.address ?? "";
    /** @type {Map<HTMLElement, Reference>} */
    this.references = new Map();
    /** @type {Map<HTMLElement, Image>} */
    this.images = new Map();
    this.startDialog(article);
  }

  get isEmpty() {
    return this.references.size === 0 && this.images.size === 0;
  }

  /** @param {Reference} reference */
  add(reference) {
    const known = [...this.references.values()];
    const isKnown = (/** @type {Reference} */ each) =>
      !reference.text && each.kind === reference.kind && each.name === reference.name;
    if (known.some(isKnown)) return;
    this.references.set(this.draw(reference.kind, label(reference)), reference);
  }

  /** @param {Iterable<File>} files */
  async addImages(files) {
    for (const file of files) {
      if (!IMAGES.includes(file.type)) showToast(translate("notImage"));
      else if (file.size > MAX_BYTES) showToast(translate("imageTooLarge"));
      else {
        const address = await readAddress(file);
        const data = address.slice(address.indexOf(",") + 1);
        this.addImage({ media_type: file.type, data }, file.name || translate("image"));
      }
    }
  }

  /**
   * @param {Image} image
   * @param {string} name
   */
  addImage(image, name) {
    const chip = this.draw("image", name, `data:${image.media_type};base64,${image.data}`);
    this.images.set(chip, image);
  }

  /**
   * @param {string} kind
   * @param {string} text
   * @param {string} [preview]
   */
  draw(kind, text, preview) {
    const chip = document.createElement("span");
    chip.className = "mark-chip reference";
    chip.dataset.kind = kind;
    if (preview) {
      const image = document.createElement("img");
      image.src = preview;
      image.alt = "";
      chip.append(image);
    } else chip.append(drawIcon(ICONS[kind] ?? "files"));
    const words = document.createElement("span");
    words.textContent = showText(text);
    const remove = document.createElement("button");
    remove.type = "button";
    remove.className = "plain";
    remove.setAttribute("aria-label", `${translate("remove")} ${showText(text)}`);
    remove.append(drawIcon("failed"));
    remove.addEventListener("click", () => {
      chip.remove();
      this.references.delete(chip);
      this.images.delete(chip);
    });
    chip.append(words, remove);
    this.place.insertBefore(chip, this.place.querySelector("[data-add-context]"));
    return chip;
  }

  /** Removes all chips and returns them. */
  take() {
    const taken = { references: new Map(this.references), images: new Map(this.images) };
    for (const chip of [...this.references.keys(), ...this.images.keys()]) chip.remove();
    this.references.clear();
    this.images.clear();
    return taken;
  }

  /** @param {{ references: Map<HTMLElement, Reference>, images: Map<HTMLElement, Image> }} taken */
  putBack({ references, images }) {
    const before = this.place.firstElementChild;
    for (const chip of [...references.keys(), ...images.keys()]) {
      this.place.insertBefore(chip, before);
    }
    this.references = new Map([...references, ...this.references]);
    this.images = new Map([...images, ...this.images]);
  }

  /** @param {HTMLElement} article */
  startDialog(article) {
    const dialog = getElement(article, "#add-context", HTMLDialogElement);
    const form = getElement(dialog, "form", HTMLFormElement);
    const kind = getElement(form, "[name=kind]", HTMLSelectElement);
    const update = () => {
      for (const part of listElements(form, "[data-for]")) {
        part.hidden = !(part.dataset.for ?? "").split(" ").includes(kind.value);
      }
      if (kind.value === "commit") this.fillCommits(form);
    };
    kind.addEventListener("change", update);
    getElement(form, "[name=path]", HTMLInputElement).addEventListener("input", (event) =>
      this.fillPaths(form, event.target instanceof HTMLInputElement ? event.target.value : ""),
    );
    getElement(this.place, "[data-add-context]", HTMLElement).addEventListener("click", () => {
      form.reset();
      update();
      this.fillPaths(form, "");
      dialog.showModal();
    });
    getElement(form, "[data-close]", HTMLElement).addEventListener("click", () => dialog.close());
    form.addEventListener("submit", () => this.addFrom(new FormData(form)));
  }

  /** @param {FormData} data */
  addFrom(data) {
    const kind = String(data.get("kind"));
    const name = { file: "path", web: "address", commit: "commit" }[kind];
    const value = name ? String(data.get(name) ?? "").trim() : "";
    if (kind === "image") {
      const files = data.getAll("image").filter((each) => each instanceof File);
      this.addImages(files.filter((each) => each.size > 0));
    } else if (name) {
      if (value) this.add({ kind: value.endsWith("/") ? "folder" : kind, name: value.replace(/\/$/, "") });
    } else if (kind === "changes") this.add({ kind });
    else {
      const text = String(data.get("text") ?? "");
      if (text.trim()) this.add({ kind, text });
    }
  }

  /**
   * @param {HTMLElement} form
   * @param {string} query
   */
  async fillPaths(form, query) {
    const found = await this.findPaths(query).catch(() => []);
    const options = found.map((each) => new Option(each.path, each.path + (each.is_folder ? "/" : "")));
    getElement(form, "datalist", HTMLElement).replaceChildren(...options);
  }

  /**
   * @param {string} query
   * @returns {Promise<{ path: string, is_folder: boolean }[]>}
   */
  findPaths(query) {
    return fetchJson(`${this.address}/paths?${new URLSearchParams({ query })}`);
  }

  /** @param {HTMLElement} form */
  async fillCommits(form) {
    const { commits } = await fetchJson(`${this.address}/git`).catch(() => ({ commits: [] }));
    const options = commits.map(
      (/** @type {{ hash: string, subject: string }} */ each) =>
        new Option(`${each.hash.slice(0, 8)} ${showText(each.subject)}`, each.hash),
    );
    getElement(form, "[name=commit]", HTMLElement).replaceChildren(...options);
  }
}

/** @param {Reference} reference */
function label({ kind, name, text }) {
  if (text) return `${translate(kind)} (${translate("lines", { count: text.split("\n").length })})`;
  if (kind === "commit") return `${translate("commit")} ${(name ?? "").slice(0, 8)}`;
  return name || translate(kind);
}

/**
 * @param {File} file
 * @returns {Promise<string>}
 */
function readAddress(file) {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.addEventListener("load", () => resolve(String(reader.result)));
    reader.addEventListener("error", () => reject(reader.error));
    reader.readAsDataURL(file);
  });
}
