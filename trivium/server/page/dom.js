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

export const withoutChunk = (uri) => uri.replace(/#chunk-\d+$/, "");

export const reducedMotion = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

/** Pages of a paginated document as people name them; empty for none. */
export function pageNumbers(pages) {
  if (pages.length === 0) return "";
  return pages.length === 1 ? `p. ${pages[0]}` : `pp. ${pages[0]}-${pages.at(-1)}`;
}
