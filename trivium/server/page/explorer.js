// The graph of the collection: it opens on what most passages mention; an entity is looked up, or what surrounds it unfolded.

import { entities, neighbours, plain } from "./api.js";
import { announce, button, byId, count, el, pageOf, placeOf, prepareDialog, svg } from "./dom.js";
import { cut, relation } from "./graph.js";
import { arrange } from "./layout.js";
import { panAndZoom } from "./zoom.js";
import { openReader } from "./reader.js";

const AROUND = 16; // neighbours that are unfolded at once; fewer where there is little room
const AROUND_NARROW = 9;
const NARROW = 600;
const MOST = 150;
const STRONGEST = 2; // links that each of them brings at the beginning
const LEGEND = 9; // kinds that are offered
const LEGEND_ROOM = 30;
const SENTENCE = 300; // letters of a sentence on a card
const LETTER = 3.8; // half of what a letter of a name is wide
const KINDS = { question: "Question", page: "Document", entity: "Entity", section: "Section", chunk: "Passage" };

const COLOURED = new Set(["person", "organisation", "place", "work", "event"]);

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
    note.textContent =
      nodes.size === 0 ? "Nothing is mentioned yet. Look something up: a title, a person, a place." : "What most passages mention. Choose one to read what is said of it.";
    announce(note.textContent);
    about.replaceChildren();
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

/** Titles that are offered while one types. */
export function suggest(titles) {
  byId("explorer-titles").replaceChildren(...titles.slice(0, 1000).map((value) => el("option", { value })));
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

const kindOf = (node) => node.type || node.kind;
const kindName = (kind) => KINDS[kind] ?? `${kind.slice(0, 1).toUpperCase()}${kind.slice(1)}`;
const sign = (kind) => `dot-${KINDS[kind] === undefined ? (COLOURED.has(kind) ? kind : "other") : kind}`;

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
  canvas.replaceChildren(...lines.flatMap(drawnLine), ...kept.map(drawnNode));
  drawLegend();
  if (focused !== undefined) canvas.querySelector(`[data-id="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
}

function drawnLine(edge) {
  const [a, b] = [nodes.get(edge.source), nodes.get(edge.target)];
  const near = chosen === edge.source || chosen === edge.target;
  const bright = lit.has(`${edge.source}\n${edge.type}\n${edge.target}`);
  const name = saidOf(edge);
  const line = svg(
    "line",
    { x1: a.x, y1: a.y, x2: b.x, y2: b.y, class: `link${bright ? " lit" : ""}${near ? " near" : ""}` },
    svg("title", {}, `${a.label}: ${name}: ${b.label}`),
  );
  if (edge.passages > 1) line.style.strokeWidth = Math.min(6, 1 + Math.log2(edge.passages));
  if (!near || lines(edge) > 0) return [line];
  return [line, svg("text", { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2, class: "edge-label", dy: "0.3em" }, cut(name, 22))];
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
  const size = node.kind === "question" ? 11 : node.kind === "page" ? 9 : 7;
  const r = node.passages === undefined ? size : Math.min(15, 4 + 1.6 * Math.log2(1 + node.passages));
  return svg(
    "g",
    {
      class: `dot dot-${node.kind} ${sign(kindOf(node))}${lit.has(node.id) ? " lit" : ""}${node.id === chosen ? " chosen" : ""}`,
      transform: `translate(${node.x.toFixed(1)} ${node.y.toFixed(1)})`,
      tabindex: "0",
      role: "button",
      "aria-label": `${kindName(kindOf(node))}: ${node.label}`,
      "data-id": node.id,
      onclick: act,
      onkeydown: (event) => {
        if (event.key !== "Enter" && event.key !== " ") return;
        event.preventDefault();
        act();
      },
    },
    svg("circle", { r }),
    svg("text", { y: Math.max(24, r + 14) }, named(node)),
  );
}

/** What stands below a node: its name; of a passage the document and its own heading, behind a mark. */
function named({ kind, label }) {
  const [title, ...below] = label.split(" › ");
  if (kind !== "chunk") return cut(below.at(-1) ?? title, 26);
  return `¶ ${below.length === 0 ? cut(title, 26) : `${cut(title, 16)} › ${cut(below.at(-1), 16)}`}`;
}

/** What the colours mean, and how many there are of each kind; one that is pressed is shown alone. */
function drawLegend() {
  const numbers = new Map();
  for (const node of nodes.values()) numbers.set(kindOf(node), (numbers.get(kindOf(node)) ?? 0) + 1);
  const offered = kinds === null ? [...numbers] : Object.entries(kinds);
  const press = (kind) => {
    if (kinds !== null) return start(only === kind ? null : kind);
    only = only === kind ? null : kind;
    return draw();
  };
  byId("explorer-legend").replaceChildren(
    ...offered.slice(0, LEGEND).map(([kind, number]) => {
      const dot = svg("svg", { viewBox: "-8 -8 16 16", "aria-hidden": "true" }, svg("circle", { r: 6 }));
      const name = `${kind === "" ? "Documents and others" : kindName(kind)} ${number.toLocaleString("en")}`;
      const pressed = String(only === kind);
      return el("li", { class: sign(kind || "entity") }, el("button", { type: "button", "aria-pressed": pressed, onclick: () => press(kind) }, dot, name));
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
  view.fit([...places, ...places.map((place) => ({ ...place, y: place.y + LEGEND_ROOM }))]);
}
