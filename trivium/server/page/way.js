// The way through the graph from a question to one passage.

import { neighbours } from "./api.js";
import { el, pageOf } from "./dom.js";
import { drawAround, drawWay, isNarrow } from "./graph.js";
import { openReader } from "./reader.js";

/** An entity in it shows its neighbours, a passage its document. */
export function way(why, body) {
  const caption = "The way from the question to this passage";
  const title = el("p", { class: "note" }, caption);
  const inside = el("div", { class: "graph-body" });
  const back = el("button", { type: "button", class: "quiet", hidden: true }, "Back to the way");
  const box = el("figure", { class: "graph-box" }, el("figcaption", {}, title, back), inside);
  let shown = null; // what draws the picture of the moment, in a width
  const show = (picture) => {
    shown = picture;
    inside.replaceChildren(picture(body.clientWidth));
  };
  const draw = () => {
    title.textContent = caption;
    back.hidden = true;
    show((width) => drawWay(why.graph, why.uri, width, choose));
  };
  const choose = async (node) => {
    if (node.kind === "chunk" || node.kind === "section") {
      await openReader(pageOf(node.id), node.id);
      return;
    }
    const around = await neighbours(node.id);
    title.textContent = `What surrounds ${node.label}${around.more ? " (the nearest)" : ""}`;
    back.hidden = false;
    show((width) => drawAround(around.graph, around.entity, width, again(node)));
  };
  // The one in the middle is opened, the others become the middle.
  const again = (centre) => (node) => (node.id === centre.id && node.kind === "page" ? openReader(node.id) : choose(node));
  back.addEventListener("click", draw);
  draw();
  let narrow = isNarrow(body.clientWidth);
  new ResizeObserver(() => {
    if (!inside.isConnected || isNarrow(body.clientWidth) === narrow) return;
    narrow = !narrow;
    show(shown);
  }).observe(inside);
  return box;
}
