// Elements made from data. Text is always text: nothing here reads markup.

const SVG = "http://www.w3.org/2000/svg";

/** An element with properties (`class`, `on…` listeners, attributes) and children (nodes or text). */
export function el(tag, properties = {}, ...children) {
  return fill(document.createElement(tag), properties, children);
}

/** The same in a drawing. */
export function svg(tag, properties = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), properties, children);
}

function fill(element, properties, children) {
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

export const byId = (id) => document.getElementById(id);

/** A button that looks like text in a frame. */
export function button(text, onclick, properties = {}) {
  return el("button", { type: "button", class: "quiet", onclick, ...properties }, text);
}

/** Asks once more whether something is to be deleted, in place of the button `remove`; `act(box)` does so. */
export function askOnce(remove, name, act) {
  const keep = button("Keep it", () => {
    box.replaceWith(remove);
    remove.focus();
  });
  const box = el(
    "span",
    { class: "confirm", role: "group", "aria-label": `Delete ${name}?` },
    "Delete it? ",
    button("Delete", () => act(box), { class: "quiet danger" }),
    " ",
    keep,
  );
  remove.replaceWith(box);
  keep.focus();
}

/** Says something to screen readers, once. */
export function announce(text) {
  byId("announce").textContent = text;
}

const TOLD = 8000; // milliseconds for which a message stays
let forgetting = 0;

/** Says something to everybody, above the question, for a while. */
export function tell(text) {
  const box = byId("notice");
  box.replaceChildren(text);
  box.hidden = text === "";
  clearTimeout(forgetting);
  forgetting = setTimeout(() => (box.hidden = true), TOLD);
}

/** Opens a box of its own; what is beside it closes it, and so does Escape. */
export function prepareDialog(dialog, closer) {
  closer.addEventListener("click", () => dialog.close());
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close();
  });
}

/** Characters as Python counts them, by code points. */
export class Text {
  constructor(text) {
    this.characters = Array.from(text);
  }

  slice(start, end) {
    return this.characters.slice(start, end).join("");
  }
}

/** The headings that a uri leads down, readable. */
export function headings(section) {
  return section.split("#").map(unescape);
}

/** A title or heading as it was before it became part of a uri. */
function unescape(part) {
  return part.replace(/%(?:25)*23/g, (found) => (found === "%23" ? "#" : `%${found.slice(3)}`));
}

/** The text of a passage without the headings that it begins with, where its place is shown beside it. */
export function bodyOf(text, section) {
  const above = headings(section).map(plainly);
  const blocks = text.split("\n\n");
  const written = blocks.slice(0, above.length).map(plainly);
  for (let number = Math.min(above.length, blocks.length - 1); number > 0; number -= 1) {
    const named = above.slice(-number);
    const same = (name, place) => name === written[place] || (name.startsWith(`${written[place]} (`) && name.endsWith(")"));
    if (named.every(same)) return blocks.slice(number).join("\n\n");
  }
  return text;
}

const plainly = (heading) => heading.replace(/[\s_]+/g, " ").trim();

export const withoutChunk = (uri) => uri.replace(/#chunk-\d+$/, "");
export const pageOf = (uri) => withoutChunk(uri).split("#")[0];

export const reducedMotion = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

/** Pages of a paginated document as people name them; empty for none. */
export function pageNumbers(pages) {
  if (pages.length === 0) return "";
  return pages.length === 1 ? `p. ${pages[0]}` : `pp. ${pages[0]}-${pages.at(-1)}`;
}

/** Where a passage or citation stands: title, headings, pages. */
export function placeOf({ section, pages }) {
  return [headings(section).join(" › "), pageNumbers(pages)].filter((part) => part !== "").join(", ");
}

export const count = (number, noun) => `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;
