// The graph of the collection: an entity is looked up, what surrounds it unfolded step by step.

import { neighbours, plain } from "./api.js";
import { announce, button, byId, count, el, pageOf, prepareDialog, svg } from "./dom.js";
import { cut, relation } from "./graph.js";
import { arrange } from "./layout.js";
import { panAndZoom } from "./zoom.js";
import { openReader } from "./reader.js";

const AROUND = 16; // neighbours that are unfolded at once; fewer where there is little room
const AROUND_NARROW = 9;
const NARROW = 600;
const MOST = 150;
const LETTER = 3.8; // half of what a letter of a name is wide
const KINDS = { question: "Question", page: "Document", entity: "Entity", section: "Section", chunk: "Passage" };

const dialog = byId("explorer");
const canvas = byId("explorer-canvas");
const note = byId("explorer-note");
const about = byId("explorer-about");
let nodes = new Map();
let edges = new Map();
let lit = new Set();
let chosen = null;
let view = null;

export function prepareExplorer() {
  prepareDialog(dialog, byId("explorer-close"));
  view = panAndZoom(canvas);
  byId("explorer-form").addEventListener("submit", (event) => {
    event.preventDefault();
    const name = byId("explorer-name").value.trim();
    if (name !== "") lookUp(name);
  });
  byId("explorer-in").addEventListener("click", () => view.zoom(0.8));
  byId("explorer-out").addEventListener("click", () => view.zoom(1.25));
  byId("explorer-fit").addEventListener("click", fit);
  byId("explorer-kind").addEventListener("change", draw);
  byId("explorer-relation").addEventListener("change", draw);
}

/** Opens it; with an entity in the middle, where one is given. */
export function openExplorer(entity) {
  if (!dialog.open) dialog.showModal();
  if (entity !== undefined) lookUp(entity);
  else if (nodes.size === 0) note.textContent = "Look something up: a title, a person, a place.";
}

/** Titles that are offered while one types. */
export function suggest(titles) {
  byId("explorer-titles").replaceChildren(...titles.slice(0, 1000).map((value) => el("option", { value })));
}

/** Draws the ways from a question to what its answer rests on, lit up. */
export function explorePaths(graphs) {
  openExplorer();
  clear();
  for (const graph of graphs) add(graph);
  lit = new Set([...nodes.keys(), ...edges.keys()]);
  // Before anything is fitted: its lines take room.
  note.textContent = "The ways from the question to the passages that are cited. Choose a node to unfold what surrounds it.";
  settle();
  fit();
  const question = [...nodes.values()].find((node) => node.kind === "question");
  if (question !== undefined) choose(question.id);
}

const around = () => (canvas.clientWidth < NARROW ? AROUND_NARROW : AROUND);

function clear() {
  nodes = new Map();
  edges = new Map();
  lit = new Set();
  chosen = null;
}

async function lookUp(name) {
  note.textContent = "Looking …";
  try {
    const found = await neighbours(name, around());
    clear();
    add(found.graph);
    say(found);
    settle();
    fit();
    choose(found.entity);
  } catch (error) {
    note.textContent = error.status === 404 ? `Nothing in the collection is called “${name}”.` : plain(error);
    announce(note.textContent);
  }
}

async function unfold(id) {
  if (nodes.size >= MOST) {
    note.textContent = `That is as much as can be drawn (${MOST}). Look something up to begin anew.`;
    return;
  }
  try {
    const found = await neighbours(id, around());
    add(found.graph);
    say(found);
    settle();
    fit();
    choose(id);
  } catch (error) {
    note.textContent = plain(error);
  }
}

function say({ more }) {
  note.textContent = `${count(nodes.size, "node")}${more ? "; of the last one only the nearest neighbours" : ""}.`;
  announce(note.textContent);
}

function add(graph) {
  for (const node of graph.nodes) if (!nodes.has(node.id)) nodes.set(node.id, { ...node });
  for (const edge of graph.edges) edges.set(`${edge.source}\n${edge.type}\n${edge.target}`, edge);
}

/** Gives everything a place, and the filters what there is. */
function settle() {
  arrange([...nodes.values()], [...edges.values()], canvas.clientWidth < canvas.clientHeight * 1.2);
  options(byId("explorer-kind"), "All kinds", [...nodes.values()].map(({ kind }) => [kind, KINDS[kind]]));
  options(byId("explorer-relation"), "All relations", [...edges.values()].map(({ type }) => [relation(type), relation(type)]));
  draw();
}

function options(select, all, pairs) {
  const kept = select.value;
  const named = [...new Map(pairs)].sort((a, b) => a[1].localeCompare(b[1]));
  select.replaceChildren(el("option", { value: "" }, all), ...named.map(([value, name]) => el("option", { value }, name)));
  select.value = named.some(([value]) => value === kept) ? kept : "";
}

/** What the filters let through; the chosen node always stays. */
function shown() {
  const kind = byId("explorer-kind").value;
  const type = byId("explorer-relation").value;
  const lines = [...edges.values()].filter((edge) => type === "" || relation(edge.type) === type);
  const linked = new Set(lines.flatMap(({ source, target }) => [source, target]));
  const kept = [...nodes.values()].filter(
    (node) => node.id === chosen || ((kind === "" || node.kind === kind) && (type === "" || linked.has(node.id))),
  );
  const ids = new Set(kept.map(({ id }) => id));
  return [kept, lines.filter(({ source, target }) => ids.has(source) && ids.has(target))];
}

function draw() {
  const [kept, lines] = shown();
  const focused = canvas.contains(document.activeElement) ? document.activeElement.dataset?.id : undefined;
  canvas.replaceChildren(...lines.flatMap(drawnLine), ...kept.map(drawnNode));
  drawLegend(kept);
  if (focused !== undefined) canvas.querySelector(`[data-id="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
}

function drawnLine(edge) {
  const [a, b] = [nodes.get(edge.source), nodes.get(edge.target)];
  const near = chosen === edge.source || chosen === edge.target;
  const bright = lit.has(`${edge.source}\n${edge.type}\n${edge.target}`);
  const name = relation(edge.type);
  const line = svg(
    "line",
    { x1: a.x, y1: a.y, x2: b.x, y2: b.y, class: `link${bright ? " lit" : ""}${near ? " near" : ""}` },
    svg("title", {}, `${a.label}: ${name}: ${b.label}`),
  );
  if (!near || lines(edge) > 0) return [line];
  return [line, svg("text", { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2, class: "edge-label", dy: "0.3em" }, cut(name, 22))];
}

/** How many lines between the same two come before this one: one label is enough. */
function lines(edge) {
  const all = [...edges.values()].filter(
    (other) =>
      (other.source === edge.source && other.target === edge.target) || (other.source === edge.target && other.target === edge.source),
  );
  return all.indexOf(edge);
}

function drawnNode(node) {
  const act = () => (chosen === node.id && node.kind !== "question" ? use(node) : choose(node.id));
  return svg(
    "g",
    {
      class: `dot dot-${node.kind}${lit.has(node.id) ? " lit" : ""}${node.id === chosen ? " chosen" : ""}`,
      transform: `translate(${node.x.toFixed(1)} ${node.y.toFixed(1)})`,
      tabindex: "0",
      role: "button",
      "aria-label": `${KINDS[node.kind]}: ${node.label}`,
      "data-id": node.id,
      onclick: act,
      onkeydown: (event) => {
        if (event.key !== "Enter" && event.key !== " ") return;
        event.preventDefault();
        act();
      },
    },
    svg("circle", { r: node.kind === "question" ? 11 : node.kind === "page" ? 9 : 7 }),
    svg("text", { y: 24 }, named(node)),
  );
}

/** What stands below a node: its name; of a passage the document and its own heading, behind a mark. */
function named({ kind, label }) {
  const [title, ...below] = label.split(" › ");
  if (kind !== "chunk") return cut(below.at(-1) ?? title, 26);
  return `¶ ${below.length === 0 ? cut(title, 26) : `${cut(title, 16)} › ${cut(below.at(-1), 16)}`}`;
}

/** What the signs mean, and how many there are of each. */
function drawLegend(kept) {
  const numbers = new Map(Object.keys(KINDS).map((kind) => [kind, kept.filter((node) => node.kind === kind).length]));
  byId("explorer-legend").replaceChildren(
    ...[...numbers]
      .filter(([, number]) => number > 0)
      .map(([kind, number]) => {
        const sign = svg("svg", { viewBox: "-8 -8 16 16", "aria-hidden": "true" }, svg("circle", { r: 6 }));
        return el("li", { class: `dot-${kind}` }, sign, `${KINDS[kind]} ${number}`);
      }),
  );
}

/** A second press on what is chosen unfolds it, or opens it where it is a place in a document. */
function use(node) {
  if (node.kind === "chunk" || node.kind === "section") openReader(pageOf(node.id), node.id);
  else unfold(node.id);
}

function choose(id) {
  chosen = id;
  const node = nodes.get(id);
  const lines = [...edges.values()].filter((edge) => edge.source === id || edge.target === id);
  const place = node.kind === "chunk" || node.kind === "section";
  const opens = node.kind === "page" || place;
  about.replaceChildren(
    el("h3", {}, node.label),
    el("p", { class: "note" }, KINDS[node.kind]),
    el(
      "p",
      { class: "actions" },
      opens ? button("Open", () => openReader(pageOf(id), place ? id : undefined)) : null,
      place || node.kind === "question" ? null : button("Unfold", () => unfold(id)),
    ),
    el("ul", {}, ...lines.slice(0, 60).map((edge) => neighbour(edge, id))),
  );
  draw();
}

function neighbour(edge, id) {
  const forth = edge.source === id;
  const other = nodes.get(forth ? edge.target : edge.source);
  const name = relation(edge.type);
  return el(
    "li",
    {},
    el("span", { class: "note" }, forth ? `${name} → ` : `← ${name} `),
    el("button", { type: "button", class: "crumb", onclick: () => choose(other.id) }, other.label),
  );
}

/** All that is shown, with the room that its names take. */
function fit() {
  view.fit(shown()[0].map((node) => ({ x: node.x, y: node.y, half: LETTER * Array.from(named(node)).length })));
}
