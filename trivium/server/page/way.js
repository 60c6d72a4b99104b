// The way through the graph from a question to one passage.

import { el, pageOf } from "./dom.js";
import { openExplorer } from "./explorer.js";
import { drawWay, isNarrow } from "./graph.js";
import { openReader } from "./reader.js";

/** An entity in it opens in the graph of the collection, a passage in its document. */
export function way(why, body) {
  const inside = el("div", { class: "graph-body" });
  const box = el("figure", { class: "graph-box" }, el("figcaption", { class: "note" }, "The way from the question to this passage"), inside);
  const draw = () => inside.replaceChildren(drawWay(why.graph, why.uri, body.clientWidth, choose));
  draw();
  let narrow = isNarrow(body.clientWidth);
  new ResizeObserver(() => {
    if (!inside.isConnected || isNarrow(body.clientWidth) === narrow) return;
    narrow = !narrow;
    draw();
  }).observe(inside);
  return box;
}

function choose({ id, kind }) {
  if (kind === "chunk" || kind === "section") openReader(pageOf(id), id);
  else openExplorer(id);
}
