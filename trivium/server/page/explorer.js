// The graph of the collection: it opens on what most passages mention; an entity is looked up, or what surrounds it unfolded.

import { entities, neighbours, plain } from "./api.js";
import { announce, button, byId, count, el, pageOf, placeOf, prepareDialog, svg } from "./dom.js";
import { cut, relation, tip } from "./graph.js";
import { arrange } from "./layout.js";
import { placeNames } from "./names.js";
import { kindName, kindOf, named, radius, shape, sign } from "./nodes.js";
import { panAndZoom } from "./zoom.js";
import { openReader } from "./reader.js";

const AROUND = 16; // neighbours that are unfolded at once; fewer where there is little room
const AROUND_NARROW = 9;
const NARROW = 600;
const MOST = 150;
const STRONGEST = 2; // links that each of them brings at the beginning
const LEGEND = 9; // kinds that are offered
const NAME_ROOM = 30; // pixels below a node
const LEGEND_ROOM = 20;
const SENTENCE = 300; // letters of a sentence on a card
const LETTER = 3.8; // half of what a letter of a name is wide

const dialog = byId("explorer");
const canvas = byId("explorer-canvas");
const note = byId("explorer-note");
const about = byId("explorer-about");
let nodes = new Map();
let edges = new Map();
let lit = new Set();
let chosen = null;
let kinds = null; // of the whole collection, where it is shown from the start
let only = null; // the one that is let through
let known = new Map(); // what surrounds an entity, once it was asked for
let latest = 0; // of several requests at once the last one counts
let view = null;
let documents = [];
let drawn = { dots: [], lines: [] }; // what is drawn, to be placed anew when it is shown larger or smaller

export function prepareExplorer() {
  prepareDialog(dialog, byId("explorer-close"));
  view = panAndZoom(canvas, place);
  byId("explorer-form").addEventListener("submit", (event) => {
    event.preventDefault();
    const name = byId("explorer-name").value.trim();
    if (name !== "") lookUp(name);
  });
  byId("explorer-in").addEventListener("click", () => view.zoom(0.8));
  byId("explorer-out").addEventListener("click", () => view.zoom(1.25));
  byId("explorer-fit").addEventListener("click", fit);
  byId("explorer-start").addEventListener("click", () => start());
  byId("explorer-relation").addEventListener("change", draw);
}

/** Opens it; with an entity in the middle, where one is given. */
export function openExplorer(entity) {
  if (!dialog.open) dialog.showModal();
  if (entity !== undefined) lookUp(entity);
  else if (nodes.size === 0) start();
}

/** What most passages mention, of one kind or of all, and what is mentioned together. */
async function start(kind = null) {
  const mine = begin();
  try {
    const found = await entities(2 * around(), kind === null ? [] : [kind]);
    if (mine !== latest) return;
    clear();
    [kinds, only] = [found.kinds, kind];
    for (const { uri, name, kind: type, page, passages } of found.entities) {
      nodes.set(uri, { id: uri, kind: page ? "page" : "entity", label: name, type, passages });
    }
    const links = new Map();
    for (const { source, target, passages } of found.shared) {
      const number = (id) => links.get(id) ?? 0;
      if (Math.min(number(source), number(target)) >= STRONGEST) continue; // all of them would hide each other
      for (const id of [source, target]) links.set(id, number(id) + 1);
      add({ nodes: [], edges: [{ source, target, type: "mentioned together", passages }] });
    }
    // Where nothing is mentioned there still are the documents.
    if (nodes.size === 0) add({ nodes: documents.slice(0, 2 * around()), edges: [] });
    note.textContent =
      found.entities.length === 0 ? "The documents: no passage mentions what another one does." : "What most passages mention.";
    announce(note.textContent);
    about.replaceChildren(
      el("p", { class: "note" }, "Choose one to read what is said of it."),
      el("ol", {}, ...[...nodes.values()].sort((a, b) => b.passages - a.passages).map(entry)),
    );
    settle();
    fit();
  } catch (error) {
    if (mine === latest) note.textContent = plain(error);
  }
}

function begin() {
  note.textContent = "Looking …";
  return (latest += 1);
}

function entry({ id, label, passages }) {
  const said = passages === undefined ? null : el("span", { class: "note" }, ` in ${count(passages, "passage")}`);
  return el("li", {}, el("button", { type: "button", class: "crumb", onclick: () => choose(id) }, label), said);
}

/** The documents of the collection, whose titles are offered while one types. */
export function suggest(all) {
  documents = all.map(({ uri, title }) => ({ id: uri, kind: "page", label: title, type: "" }));
  byId("explorer-titles").replaceChildren(...all.slice(0, 1000).map(({ title }) => el("option", { value: title })));
}

/** Draws the ways from a question to what its answer rests on, lit up. */
export function explorePaths(graphs) {
  if (!dialog.open) dialog.showModal();
  latest += 1;
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
  kinds = null;
  only = null;
  known = new Map();
}

/** An entity, what is said of it, and its neighbours; asked for once. */
function surroundings(id) {
  if (!known.has(id)) {
    const asked = neighbours(id, around());
    asked.catch(() => known.delete(id));
    known.set(id, asked);
  }
  return known.get(id);
}

async function lookUp(name) {
  const mine = begin();
  try {
    const found = await neighbours(name, around());
    if (mine !== latest) return;
    clear();
    known.set(found.entity, Promise.resolve(found));
    add(found.graph);
    say(found);
    settle();
    fit();
    choose(found.entity);
  } catch (error) {
    if (mine !== latest) return;
    note.textContent = plain(error);
    announce(note.textContent);
  }
}

async function unfold(id) {
  if (nodes.size >= MOST) {
    note.textContent = `That is as much as can be drawn (${MOST}). Look something up to begin anew.`;
    return;
  }
  try {
    const found = await surroundings(id);
    if (!nodes.has(id)) return; // another graph is shown by now
    [kinds, only] = [null, null];
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
  arrange([...nodes.values()], [...edges.values()], (0.8 * canvas.clientHeight) / canvas.clientWidth);
  const select = byId("explorer-relation");
  const kept = select.value;
  const types = [...new Set([...edges.values()].map(({ type }) => relation(type)))].sort((a, b) => a.localeCompare(b));
  select.replaceChildren(el("option", { value: "" }, "All relations"), ...types.map((value) => el("option", { value }, value)));
  select.value = types.includes(kept) ? kept : "";
  draw();
}

/** What the filters let through; the chosen node always stays. */
function shown() {
  const type = byId("explorer-relation").value;
  const lines = [...edges.values()].filter((edge) => type === "" || relation(edge.type) === type);
  const linked = new Set(lines.flatMap(({ source, target }) => [source, target]));
  const kept = [...nodes.values()].filter(
    (node) => node.id === chosen || ((kinds !== null || only === null || kindOf(node) === only) && (type === "" || linked.has(node.id))),
  );
  const ids = new Set(kept.map(({ id }) => id));
  return [kept, lines.filter(({ source, target }) => ids.has(source) && ids.has(target))];
}

function draw() {
  const [kept, lines] = shown();
  const focused = canvas.contains(document.activeElement) ? document.activeElement.dataset?.id : undefined;
  drawn = { dots: kept.map(drawnNode), lines: lines.map(drawnLine) };
  const labels = drawn.lines.flatMap(({ label }) => label ?? []);
  canvas.replaceChildren(...drawn.lines.map(({ path }) => path), ...labels, ...drawn.dots.flatMap(({ dot, text }) => [dot, text]));
  place();
  drawLegend();
  if (focused !== undefined) canvas.querySelector(`[data-id="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
}

/** Places what has the same size on the screen however large the drawing is shown: heads of arrows, names. */
function place() {
  const scale = view.scale();
  const radii = new Map(drawn.dots.map(({ node, r }) => [node.id, r * view.dots()]));
  for (const { edge, path } of drawn.lines) {
    const [a, b] = [nodes.get(edge.source), nodes.get(edge.target)];
    const angle = Math.atan2(b.y - a.y, b.x - a.x);
    const short = Math.min(radii.get(b.id) + 2 * scale, Math.hypot(b.x - a.x, b.y - a.y) / 2);
    const end = { x: b.x - short * Math.cos(angle), y: b.y - short * Math.sin(angle) };
    path.setAttribute("d", `M${a.x} ${a.y}L${end.x} ${end.y}${edge.passages === undefined ? tip(end, angle, scale) : ""}`);
  }
  const near = new Set(drawn.lines.flatMap(({ edge: { source, target } }) => ([source, target].includes(chosen) ? [source, target] : [])));
  const ofDots = drawn.dots
    .map(({ node: { id, x, y, ...node }, text }) => {
      const rank = (id === chosen ? 1e9 : lit.has(id) || near.has(id) ? 1e6 : 0) + (node.passages ?? 1);
      return { text, x, y, r: radii.get(id), bold: lit.has(id), always: id === chosen, rank };
    })
    .sort((one, other) => other.rank - one.rank);
  const ofLines = drawn.lines
    .filter(({ label }) => label !== null)
    .map(({ edge, label }) => [label, nodes.get(edge.source), nodes.get(edge.target)])
    .map(([text, a, b]) => ({ text, x: (a.x + b.x) / 2, y: (a.y + b.y) / 2, r: 0 }));
  placeNames([...ofDots, ...ofLines], ofDots, scale, view.box);
}

function drawnLine(edge) {
  const near = chosen === edge.source || chosen === edge.target;
  const bright = lit.has(`${edge.source}\n${edge.type}\n${edge.target}`);
  const name = saidOf(edge);
  const path = svg(
    "path",
    { class: `link${bright ? " lit" : ""}${near ? " near" : ""}` },
    svg("title", {}, `${nodes.get(edge.source).label}: ${name}: ${nodes.get(edge.target).label}`),
  );
  if (edge.passages > 1) path.style.strokeWidth = Math.min(4, 1 + 0.7 * Math.log2(edge.passages));
  const written = near && lines(edge) === 0;
  return { edge, path, label: written ? svg("text", { class: "edge-label", dy: "0.3em" }, cut(name, 22)) : null };
}

const saidOf = ({ type, passages }) => (passages === undefined ? relation(type) : `in ${count(passages, "passage")}`);

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
  const r = radius(node);
  const bright = lit.has(node.id) ? " lit" : "";
  const transform = `translate(${node.x.toFixed(1)} ${node.y.toFixed(1)})`;
  const name = { class: `name${bright}`, transform, dy: "0.33em", "aria-hidden": "true", onclick: act };
  const dot = svg(
    "g",
    {
      class: `dot ${sign(node)}${bright}${node.id === chosen ? " chosen" : ""}`,
      transform,
      tabindex: "0",
      role: "button",
      "aria-label": `${kindName(kindOf(node))}: ${node.label}`,
      "data-id": node.id,
      onclick: act,
      onkeydown: (event) => (event.key === "Enter" || event.key === " ") && (event.preventDefault() ?? act()),
    },
    shape(node.kind, r),
  );
  return { node, r, dot, text: svg("text", name, named(node)) };
}

/** What shapes and colours mean, and how many there are of each kind; one that is pressed is shown alone. */
function drawLegend() {
  const found = new Map();
  for (const node of nodes.values()) found.set(kindOf(node), { node, number: (found.get(kindOf(node))?.number ?? 0) + 1 });
  const offered = kinds === null ? [...found].map(([kind, { number }]) => [kind, number]) : Object.entries(kinds);
  const press = (kind) => {
    if (kinds !== null) return start(only === kind ? null : kind);
    only = only === kind ? null : kind;
    return draw();
  };
  byId("explorer-legend").replaceChildren(
    ...offered.slice(0, LEGEND).map(([kind, number]) => {
      const like = found.get(kind)?.node ?? { kind: "entity", type: kind };
      const picture = svg("svg", { viewBox: "-11 -11 22 22", "aria-hidden": "true" }, shape(like.kind, 7));
      const name = `${kind === "" ? "Documents and others" : kindName(kind)} ${number.toLocaleString("en")}`;
      const pressed = String(only === kind);
      const properties = { type: "button", "aria-pressed": pressed, onclick: () => press(kind) };
      return el("li", { class: `dot ${sign(like)}` }, el("button", properties, picture, name));
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
  const through = lines.filter((edge) => edge.target === id && lit.size > 0).map((edge) => nodes.get(edge.source));
  const between = new Set(through.filter((other) => (other.kind === "entity" || other.kind === "page") && other.id !== pageOf(id)));
  const card = el("div", {});
  about.replaceChildren(
    el("h3", {}, node.label),
    el("p", { class: "note" }, kindName(kindOf(node))),
    node.kind === "chunk" && between.size > 0 ? el("p", {}, `Found through ${[...between].map(({ label }) => label).join(", ")}.`) : "",
    el(
      "p",
      { class: "actions" },
      opens ? button("Open", () => openReader(pageOf(id), place ? id : undefined)) : null,
      place || node.kind === "question" ? null : button("Unfold", () => unfold(id)),
    ),
    card,
    el("ul", {}, ...lines.slice(0, 60).map((edge) => neighbour(edge, id))),
  );
  draw();
  if (!place && node.kind !== "question") describe(node, card);
}

/** Writes down what is said of an entity: other forms of its name, sentences with their passages, relations. */
async function describe({ id, label }, card) {
  try {
    const { forms, others: longer, mentioned, passages, relations, graph } = await surroundings(id);
    const others = forms.filter((form) => form !== label);
    const name = new Map(graph.nodes.map((node) => [node.id, node.label]));
    card.replaceChildren(
      others.length > 0 ? el("p", { class: "note" }, `Also: ${others.join(", ")}`) : "",
      longer.length > 0 ? el("p", { class: "note" }, `May be: ${longer.join(", ")}`) : "",
      el("h4", {}, `Mentioned in ${count(mentioned, "passage")}`),
      el("ul", {}, ...passages.map(mention)),
      el("ul", {}, ...relations.slice(0, 60).map(({ source, type, target, said }) =>
        el("li", {}, [name.get(source) ?? source, relation(type), name.get(target) ?? target].join(" — "), said === null ? "" : el("ul", {}, mention(said))))),
    );
  } catch (error) {
    card.replaceChildren(el("p", { class: "note" }, plain(error)));
  }
}

function mention({ uri, section, pages, sentence }) {
  const open = () => openReader(pageOf(uri), uri);
  return el("li", {}, cut(sentence, SENTENCE), " ", el("button", { type: "button", class: "crumb", onclick: open }, placeOf({ section, pages })));
}

function neighbour(edge, id) {
  const forth = edge.source === id;
  const other = nodes.get(forth ? edge.target : edge.source);
  const name = saidOf(edge);
  const how = edge.passages !== undefined ? `${name} with ` : forth ? `${name} → ` : `← ${name} `;
  return el(
    "li",
    {},
    el("span", { class: "note" }, how),
    el("button", { type: "button", class: "crumb", onclick: () => choose(other.id) }, other.label),
  );
}

/** All that is shown, with the room that its names take, and above what the colours mean. */
function fit() {
  const places = shown()[0].map((node) => ({ x: node.x, y: node.y, half: LETTER * Array.from(named(node)).length }));
  view.fit(places, NAME_ROOM + LEGEND_ROOM);
}
