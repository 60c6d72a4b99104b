// What each view added to a score, as one stacked bar: to the right of the middle what spoke for a passage, to the left
// what spoke against it.

import { el, headings, svg } from "./dom.js";
import { relation } from "./graph.js";
import { VIEWS } from "./views.js";

const HALF = 100; // width of a side, in the drawing's own units
const HEIGHT = 10;

/** The longest side of any bar: all are drawn on its scale. */
export function scaleOf(hits) {
  return Math.max(1e-9, ...hits.flatMap((hit) => sides(hit.contributions)));
}

function sides(contributions) {
  let up = 0;
  let down = 0;
  for (const value of Object.values(contributions)) {
    if (value > 0) up += value;
    else down -= value;
  }
  return [up, down];
}

export function bar(contributions, scale) {
  const drawing = svg("svg", {
    class: "bar",
    viewBox: `${-HALF} 0 ${2 * HALF} ${HEIGHT}`,
    preserveAspectRatio: "none",
    role: "img",
    "aria-label": spoken(contributions),
  });
  let right = 0;
  let left = 0;
  const largestFirst = Object.keys(VIEWS)
    .filter((name) => name in contributions)
    .sort((a, b) => Math.abs(contributions[b]) - Math.abs(contributions[a]));
  for (const name of largestFirst) {
    const value = contributions[name];
    const width = (Math.abs(value) / scale) * HALF;
    if (width < 0.4) continue;
    if (value < 0) left += width;
    const x = value < 0 ? -left : right;
    if (value > 0) right += width;
    drawing.append(
      svg(
        "rect",
        { class: `part part-${name}`, x, y: 0, width, height: HEIGHT },
        svg("title", {}, `${name} ${signed(value)}`),
      ),
    );
  }
  drawing.append(svg("line", { x1: 0, x2: 0, y1: -1, y2: HEIGHT + 1, class: "axis" }));
  return drawing;
}

/** View by view: what it added, where it ranks the passage by itself, and what led there. */
export function contributionTable(why) {
  const names = Object.keys(why.views).sort(
    (a, b) => (why.contributions[b] ?? 0) - (why.contributions[a] ?? 0),
  );
  const rows = names.map((name) => {
    const { rank, source_node: source, path } = why.views[name];
    const added = why.contributions[name];
    return el(
      "tr",
      {},
      el("th", { scope: "row", class: `view-${name}` }, el("span", { class: "swatch", "aria-hidden": "true" }), name),
      el("td", {}, added === undefined ? "–" : signed(added)),
      el("td", {}, rank === null ? "–" : `${rank}.`),
      el("td", { class: "source" }, path === null ? through(name, source) : along(path)),
    );
  });
  const heads = ["view", "added", "its rank", "found through"];
  return el(
    "div",
    { class: "scroll", tabindex: "0", role: "group", "aria-label": "What each view made of it" },
    el(
      "table",
      { class: "contributions" },
      el("thead", {}, el("tr", {}, ...heads.map((head) => el("th", { scope: "col" }, head)))),
      el("tbody", {}, ...rows),
      why.baseline === null ? null : sums(why),
    ),
  );
}

/** What the views add to, and what comes of it. */
function sums(why) {
  const line = (name, value, note) =>
    el("tr", {}, el("th", { scope: "row" }, name), el("td", {}, signed(value)), el("td", {}), el("td", { class: "source" }, note));
  return el(
    "tfoot",
    {},
    line("baseline", why.baseline, "an average passage"),
    line("score", why.score, "baseline and what the views added"),
  );
}

function through(view, source) {
  if (source === null) return "";
  if (source === "") return view === "walk" ? "links" : "directly";
  return headings(source).join(" › ");
}

function along({ nodes, relations }) {
  const [first, ...others] = nodes.map((uri) => headings(uri).join(" › "));
  return [first, ...others.flatMap((title, step) => [relation(relations[step]), title])].join(" → ");
}

export const signed = (value) => `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(2)}`;

function spoken(contributions) {
  const parts = Object.entries(contributions).sort((a, b) => Math.abs(b[1]) - Math.abs(a[1]));
  return parts.map(([name, value]) => `${name} ${signed(value)}`).join(", ") || "not taken apart";
}
