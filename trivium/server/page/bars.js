// Which views moved a passage up or down, as bars: the longest is what mattered most.

import { el, svg } from "./dom.js";
import { reason } from "./why.js";

const SLIGHT = 0.05; // of what mattered most: what moved it less is left out

/** View by view: how far it moved the passage, and why. */
export function contributionTable(why, provenance, named = []) {
  const largest = Math.max(0, ...Object.values(why.contributions).map(Math.abs));
  const share = (name) => (largest === 0 ? 0 : (why.contributions[name] ?? 0) / largest);
  const names = Object.keys(why.views)
    .filter((name) => (largest === 0 ? why.views[name].rank !== null : Math.abs(share(name)) > SLIGHT))
    .sort((a, b) => share(b) - share(a));
  const rows = names.map((name) => {
    const swatch = el("span", { class: "swatch", "aria-hidden": "true" });
    const words = share(name) < 0 ? "less than others" : reason(name, provenance, named);
    return el(
      "tr",
      {},
      el("th", { scope: "row", class: "source" }, words),
      el("td", { class: "moved" }, ...moved(name, share(name))),
      el("td", { class: `named view-${name}` }, swatch, name),
    );
  });
  const caption = largest === 0 ? "The views that found it" : "What moved it up or down, compared with the other passages found";
  return el("table", { class: "contributions" }, el("caption", {}, caption), el("tbody", {}, ...rows));
}

function moved(name, share) {
  if (share === 0) return [];
  const drawing = { class: "bar", viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": "true" };
  const bar = svg("svg", drawing, svg("rect", { class: `part-${name}`, width: Math.max(3, 100 * Math.abs(share)), height: 10 }));
  return [share > 0 ? "up" : "down", bar];
}
