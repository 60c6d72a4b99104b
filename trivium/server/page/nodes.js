// What a node looks like: its kind by shape and colour, how much it is mentioned by size, and its name.

import { svg } from "./dom.js";
import { cut } from "./graph.js";

const KINDS = { question: "Question", page: "Document", entity: "Entity", section: "Section", chunk: "Passage" };
const COLOURED = new Set(["person", "organisation", "place", "work", "event"]);

export const kindOf = (node) => node.type || node.kind;
export const kindName = (kind) => KINDS[kind] ?? `${kind.slice(0, 1).toUpperCase()}${kind.slice(1)}`;
/** Classes that colour it: of its kind, and of the type of an entity. */
export const sign = ({ kind, type }) => `dot-${kind}${type ? ` dot-${COLOURED.has(type) ? type : "other"}` : ""}`;

/** Half of what it is wide, in pixels: the more passages mention it the larger. */
export function radius({ kind, passages }) {
  if (passages !== undefined) return Math.min(15, 4 + 1.6 * Math.log2(1 + passages));
  return kind === "question" ? 11 : kind === "page" ? 9 : 7;
}

/** A document is a square, a section a rhombus, a passage as wide as lines of text; all else is round. */
export function shape(kind, r) {
  if (kind === "page") return svg("rect", { class: "shape", x: -r, y: -r, width: 2 * r, height: 2 * r, rx: 2 });
  if (kind === "section") return svg("path", { class: "shape", d: `M0 ${-r - 2}L${r + 2} 0L0 ${r + 2}L${-r - 2} 0Z` });
  if (kind !== "chunk") return svg("circle", { class: "shape", r });
  return svg("path", { class: "shape", d: `M${-r - 3} ${-r}h${2 * r + 6}v${2 * r}h${-2 * r - 6}zm4 5h${2 * r - 2}m${2 - 2 * r} 4h${r}` });
}

/** What stands below a node: its name; of a passage the document and its own heading, behind a mark. */
export function named({ kind, label }) {
  const [title, ...below] = label.split(" › ");
  if (kind !== "chunk") return cut(below.at(-1) ?? title, 26);
  return `¶ ${below.length === 0 ? cut(title, 26) : `${cut(title, 16)} › ${cut(below.at(-1), 16)}`}`;
}
