// The passages in their order, and one of them opened.

import { explain, neighbours } from "./api.js";
import { bar, contributionTable, scaleOf } from "./bars.js";
import { byId, el, headings, pageNumbers, reducedMotion } from "./dom.js";
import { drawAround, drawWay, frame, isNarrow } from "./graph.js";
import { breadcrumbs, openReader, pageOf, sectionOf } from "./reader.js";
import { thumbnail } from "./thumbnail.js";

const SNIPPET = 260;
const list = byId("results");
const items = new Map(); // uri -> its element, for as long as the question is the same
let ranks = new Map();
let asked = null;

/** Shows a ranking. Of the same question as before: what moved is moved, and says so. */
export function showHits(hits, given, again) {
  const before = new Map([...list.children].map((item) => [item.dataset.uri, item.getBoundingClientRect().top]));
  asked = given;
  if (!again) {
    items.clear();
    ranks = new Map();
  }
  const scale = scaleOf(hits);
  list.replaceChildren(...hits.map((hit) => item(hit, scale, again)));
  ranks = new Map(hits.map((hit) => [hit.uri, hit.rank]));
  if (again) slide(before);
}

function item(hit, scale, again) {
  const known = items.get(hit.uri);
  const element = known ?? newItem(hit);
  items.set(hit.uri, element);
  const parts = element.parts;
  parts.rank.textContent = hit.rank;
  const calibrated = hit.probability !== null;
  parts.score.textContent = calibrated ? percentage(hit.probability) : hit.score.toPrecision(3);
  parts.score.title = calibrated ? `log-odds ${hit.score.toFixed(2)}` : "score";
  parts.bar.replaceChildren(bar(hit.contributions, scale));
  parts.move.replaceChildren(...(again ? movement(hit) : []));
  if (again && parts.head.getAttribute("aria-expanded") === "true") fillBody(element, hit);
  return element;
}

function newItem(hit) {
  const rank = el("span", { class: "rank" });
  const move = el("span", { class: "move" });
  const score = el("span", { class: "score" });
  const chart = el("div", { class: "bar-box" });
  const body = el("div", { class: "body", hidden: true });
  const head = el(
    "button",
    { type: "button", class: "head", "aria-expanded": "false" },
    el(
      "span",
      { class: "line" },
      rank,
      el("span", { class: "place" }, place(hit)),
      hit.kind === "paragraph" ? null : el("span", { class: "kind" }, hit.kind),
      move,
      score,
    ),
    el("span", { class: "snippet" }, thumbnail(hit.thumbnail, hit.text), snippet(hit.text)),
  );
  const element = el("li", { class: "hit", "data-uri": hit.uri }, head, chart, body);
  element.parts = { rank, move, score, bar: chart, body, head };
  head.addEventListener("click", () => toggle(element, hit));
  return element;
}

function place(hit) {
  return [headings(hit.section).join(" › "), pageNumbers(hit.pages)].filter((part) => part !== "").join(", ");
}

function snippet(text) {
  const flat = Array.from(text.replace(/\s+/g, " ").trim());
  return flat.length <= SNIPPET ? flat.join("") : `${flat.slice(0, SNIPPET).join("").replace(/\s\S*$/, "")} …`;
}

function percentage(share) {
  if (share < 0.01) return "< 1 %";
  return share > 0.99 ? "> 99 %" : `${Math.round(100 * share)} %`;
}

function movement(hit) {
  const before = ranks.get(hit.uri);
  if (before === undefined) return [el("span", { class: "new" }, "new")];
  const up = before - hit.rank;
  if (up === 0) return [];
  const words = `${up > 0 ? "up" : "down"} ${Math.abs(up)}`;
  return [el("span", { class: up > 0 ? "up" : "down", "aria-label": words }, `${up > 0 ? "▲" : "▼"}${Math.abs(up)}`)];
}

function slide(before) {
  if (reducedMotion()) return;
  for (const element of list.children) {
    const old = before.get(element.dataset.uri);
    const by = old === undefined ? 0 : old - element.getBoundingClientRect().top;
    if (by !== 0) {
      element.animate([{ transform: `translateY(${by}px)` }, { transform: "none" }], { duration: 350, easing: "ease-out" });
    } else if (old === undefined) {
      element.animate([{ opacity: 0 }, { opacity: 1 }], { duration: 350 });
    }
  }
}

/** Opens or closes a passage; one is open at a time. */
function toggle(element, hit) {
  const open = element.parts.head.getAttribute("aria-expanded") !== "true";
  closeHits();
  if (!open) return;
  element.parts.head.setAttribute("aria-expanded", "true");
  element.parts.body.hidden = false;
  fillBody(element, hit);
}

/** Closes what is open; says whether anything was. */
export function closeHits() {
  let any = false;
  for (const element of list.children) {
    const { head, body } = element.parts;
    any ||= head.getAttribute("aria-expanded") === "true";
    head.setAttribute("aria-expanded", "false");
    body.hidden = true;
    body.replaceChildren();
  }
  return any;
}

async function fillBody(element, hit) {
  const { body } = element.parts;
  const given = asked;
  body.replaceChildren(breadcrumbs(hit.section, hit.uri), el("p", { class: "note" }, "Reading …"));
  try {
    const [section, why] = await Promise.all([
      sectionOf(hit),
      explain({ question: given.question, uri: hit.uri, k: given.k, ...(given.retrievers ? { retrievers: given.retrievers } : {}) }),
    ]);
    if (given !== asked || body.hidden) return; // something else is shown by now
    body.replaceChildren(breadcrumbs(hit.section, hit.uri), section, way(why, body), contributionTable(why));
    const mark = section.querySelector("mark");
    if (mark !== null) section.scrollTop = mark.offsetTop - section.offsetTop - 24;
  } catch (error) {
    body.replaceChildren(breadcrumbs(hit.section, hit.uri), el("p", { class: "failed" }, error.message));
  }
}

/** The way through the graph; an entity in it shows its neighbours, a passage its document. */
function way(why, body) {
  const { box, body: inside, title, back } = frame("The way from the question to this passage");
  const caption = title.textContent;
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

/** Opens the passage of that uri where it is in the list, and shows it. */
export function openHit(uri) {
  const element = items.get(uri);
  if (element === undefined || !element.isConnected) return false;
  if (element.parts.head.getAttribute("aria-expanded") !== "true") element.parts.head.click();
  element.scrollIntoView({ block: "start", behavior: reducedMotion() ? "auto" : "smooth" });
  element.parts.head.focus({ preventScroll: true });
  return true;
}

/** Puts the keyboard on the next passage or the one before; says whether there is one. */
export function step(by) {
  const heads = [...list.children].map((element) => element.parts.head);
  const place = heads.indexOf(document.activeElement);
  const next = heads[place === -1 ? (by > 0 ? 0 : -1) : place + by];
  if (next === undefined) return false;
  next.focus({ preventScroll: true });
  next.scrollIntoView({ block: "nearest" });
  return true;
}
