// Small graphs, drawn in layers from a start.

import { svg } from "./dom.js";

const NODE = { width: 158, height: 44 };
const GAP = { along: 96, across: 16 };
const LANE = 26;
const NARROW = 560;
const LETTERS = 22;
const MARGIN = 8;

/** The way to a passage: from the question on one side to the passage on the other. */
export function drawWay(graph, goal, width, chosen) {
  const start = graph.nodes.find((node) => node.kind === "question").id;
  const layers = layered(graph, start, goal);
  const layerOf = new Map(layers.flatMap((layer, depth) => layer.map((id) => [id, depth])));
  const spans = (edge) => Math.abs(layerOf.get(edge.target) - layerOf.get(edge.source)) > 1;
  // Lines that go around begin at the side they go around on.
  const goesAround = (id) => graph.edges.some((edge) => spans(edge) && (edge.source === id || edge.target === id));
  for (const layer of layers) layer.sort((a, b) => goesAround(a) - goesAround(b));
  const upright = isNarrow(width) || layers.length * NODE.width + (layers.length - 1) * GAP.along > 1.15 * width;
  const along = (upright ? NODE.height : NODE.width) + (upright ? 44 : GAP.along);
  const across = (upright ? NODE.width : NODE.height) + GAP.across;
  const widest = Math.max(...layers.map((layer) => layer.length));
  const places = new Map();
  layers.forEach((layer, depth) => {
    layer.forEach((id, row) => {
      const side = (row - (layer.length - 1) / 2 + (widest - 1) / 2) * across;
      const forth = depth * along;
      places.set(id, upright ? { x: side, y: forth } : { x: forth, y: side });
    });
  });
  return drawing(graph, places, chosen, upright, spans);
}

/** Nodes by the longest way from the start, so that lines lead forward; the goal is by itself at the end. */
function layered(graph, start, goal) {
  const depth = new Map([[start, 0]]);
  const reach = (id, seen) => {
    for (const edge of graph.edges) {
      if (edge.source !== id || edge.target === goal || seen.has(edge.target)) continue;
      if ((depth.get(edge.target) ?? -1) > depth.get(id)) continue;
      depth.set(edge.target, depth.get(id) + 1);
      reach(edge.target, new Set([...seen, edge.target]));
    }
  };
  reach(start, new Set([start]));
  const last = Math.max(...depth.values()) + 1;
  depth.set(goal, last);
  const layers = Array.from({ length: last + 1 }, () => []);
  for (const node of graph.nodes) layers[depth.get(node.id) ?? 1].push(node.id);
  return layers.filter((layer) => layer.length > 0);
}

function drawing(graph, places, chosen, upright, spans) {
  const xs = [...places.values()].map((place) => place.x);
  const ys = [...places.values()].map((place) => place.y);
  // What passes a layer by goes around it, on a lane of its own beside all nodes.
  const side = (upright ? Math.max(...xs) + NODE.width / 2 : Math.max(...ys) + NODE.height / 2) + LANE;
  let lanes = 0;
  const lines = graph.edges.map((edge) => {
    const from = places.get(edge.source);
    const to = places.get(edge.target);
    return spans(edge) ? around(edge, from, to, side + LANE * lanes++, upright) : between(edge, from, to, upright);
  });
  const beside = lanes === 0 ? 0 : LANE * lanes + LANE / 2;
  const left = Math.min(...xs) - NODE.width / 2 - MARGIN;
  const top = Math.min(...ys) - NODE.height / 2 - MARGIN;
  const width = Math.max(...xs) - left + NODE.width / 2 + MARGIN + (upright ? beside : 0);
  const height = Math.max(...ys) - top + NODE.height / 2 + MARGIN + (upright ? 0 : beside);
  const picture = svg("svg", { class: "graph", viewBox: `${left} ${top} ${width} ${height}`, role: "group" });
  picture.style.maxWidth = `${Math.round(width)}px`;
  picture.append(...lines.map(([line]) => line));
  for (const node of graph.nodes) picture.append(drawnNode(node, places.get(node.id), chosen));
  picture.append(...lines.flatMap(([, ...labels]) => labels));
  return picture;
}

/** The head of an arrow, as the end of a path. */
export function tip({ x, y }, angle, scale = 1) {
  const side = (turn) => `${x - 8 * scale * Math.cos(angle + turn)} ${y - 8 * scale * Math.sin(angle + turn)}`;
  return `M${side(0.45)}L${x} ${y}L${side(-0.45)}`;
}

/** A line to the next layer. */
function between(edge, from, to, upright) {
  const [a, b] = ends(from, to, upright);
  const middle = { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 };
  const path = upright
    ? `M${a.x} ${a.y}C${a.x} ${middle.y} ${b.x} ${middle.y} ${b.x} ${b.y}${tip(b, Math.sign(b.y - a.y) * (Math.PI / 2))}`
    : `M${a.x} ${a.y}C${middle.x} ${a.y} ${middle.x} ${b.y} ${b.x} ${b.y}${tip(b, b.x >= a.x ? 0 : Math.PI)}`;
  return drawnEdge(edge, path, middle);
}

/** A line along a lane. */
function around(edge, from, to, lane, upright) {
  const half = upright ? NODE.width / 2 : NODE.height / 2;
  if (upright) {
    const [y1, y2] = [from.y + 8, to.y - 8];
    const there = `C${lane} ${y1} ${lane} ${y1 + 20} ${lane} ${y1 + 40}V${y2 - 40}`;
    const end = { x: to.x + half, y: y2 };
    const path = `M${from.x + half} ${y1}${there}C${lane} ${y2 - 20} ${lane} ${y2} ${end.x} ${y2}${tip(end, Math.PI)}`;
    return drawnEdge(edge, path, { x: lane - 12, y: (y1 + y2) / 2 });
  }
  const [x1, x2] = [from.x + 20, to.x - 20];
  const there = `C${x1} ${lane} ${x1 + 30} ${lane} ${x1 + 60} ${lane}H${x2 - 60}`;
  const end = { x: x2, y: to.y + half };
  const path = `M${x1} ${from.y + half}${there}C${x2 - 30} ${lane} ${x2} ${lane} ${x2} ${end.y}${tip(end, -Math.PI / 2)}`;
  return drawnEdge(edge, path, { x: (x1 + x2) / 2, y: lane });
}

function drawnEdge(edge, path, middle) {
  const view = edge.views[0];
  const named = relation(edge.type);
  const tip = edge.views.length > 0 ? `${named} (${edge.views.join(", ")})` : named;
  const line = svg("path", { d: path, class: `edge ${view === undefined ? "" : `edge-${view}`}` }, svg("title", {}, tip));
  if (named === "") return [line];
  const label = svg("text", { x: middle.x, y: middle.y, class: "edge-label", dy: "0.32em" }, cut(named, 16));
  return [line, label];
}

/** The other direction of a relation is stored as `is_…_of`. */
export const relation = (type) => type.replace(/^is_(.*)_of$/, "$1 of");

/** Where a line leaves one box and reaches the other. */
function ends(from, to, upright) {
  if (upright) {
    const half = (to.y >= from.y ? 1 : -1) * (NODE.height / 2);
    return [{ x: from.x, y: from.y + half }, { x: to.x, y: to.y - half }];
  }
  const half = (to.x >= from.x ? 1 : -1) * (NODE.width / 2);
  return [{ x: from.x + half, y: from.y }, { x: to.x - half, y: to.y }];
}

function drawnNode(node, place, chosen) {
  const usable = node.kind !== "question";
  const act = usable ? () => chosen(node) : undefined;
  return svg(
    "g",
    {
      class: `node node-${node.kind}`,
      transform: `translate(${place.x} ${place.y})`,
      ...(usable
        ? {
            tabindex: "0",
            role: "button",
            onclick: act,
            onkeydown: (event) => {
              if (event.key === "Enter" || event.key === " ") {
                event.preventDefault();
                event.stopPropagation();
                act();
              }
            },
          }
        : {}),
    },
    svg("title", {}, `${node.type || node.kind}: ${node.label.replace(" › ", ", ")}`),
    svg("rect", { x: -NODE.width / 2, y: -NODE.height / 2, width: NODE.width, height: NODE.height, rx: 8 }),
    ...lines(node.type && !node.label.includes(" › ") ? `${node.label} › ${node.type}` : node.label).map((line, place, all) =>
      svg("text", { y: (place - (all.length - 1) / 2) * 16, dy: "0.33em", class: place > 0 ? "second" : null }, line),
    ),
  );
}

/** A label in one or two lines: a title and what is below it, or as many words as fit. */
function lines(label) {
  const [title, ...below] = label.split(" › ");
  if (below.length > 0) return [cut(title, LETTERS), cut(below.at(-1), LETTERS)];
  if (Array.from(label).length <= LETTERS) return [label];
  const words = label.split(" ");
  let first = words.shift();
  while (words.length > 0 && Array.from(`${first} ${words[0]}`).length <= LETTERS) first += ` ${words.shift()}`;
  return words.length === 0 ? [cut(first, LETTERS)] : [cut(first, LETTERS), cut(words.join(" "), LETTERS)];
}

export function cut(text, letters) {
  const characters = Array.from(text);
  return characters.length <= letters ? text : `${characters.slice(0, letters - 1).join("")}…`;
}

export const isNarrow = (width) => width < NARROW;
