// The passages of one turn, in their order, with the reasons for it.

import { explain, plain } from "./api.js";
import { contributionTable } from "./bars.js";
import { bodyOf, button, count, el, headings, pageNumbers, reducedMotion } from "./dom.js";
import { way } from "./way.js";
import { openReader } from "./reader.js";
import { block, highlighted, outside, stacked, termsOf } from "./text.js";
import { thumbnail } from "./thumbnail.js";
import { inWords, percent, wordsFor } from "./why.js";

const SNIPPET = 240;
const ROWS = 4; // of a table
const LINES = 6; // of code
const PERCENTAGES =
  "How likely a passage is to answer the question, from how well its words, its meaning and its links fit: sure from 80 % on, likely from 50 %, unlikely below 5 %. " +
  "Where several passages share the answer, each is one of these. A right one may have a small percentage if it says it in other words than the question. “How sure” below an answer is judged from the sentences that it quotes.";
const UNRANKED = { rank: null };

/** The passages of a turn. Of the same turn asked anew: what moved is moved, and says so. */
export class PassagesView {
  constructor() {
    this.title = el("summary", {}, "Passages");
    this.list = el("ol", { class: "results" });
    this.empty = el("p", { class: "note", hidden: true }, "Nothing was found.");
    this.legend = el(
      "details",
      { class: "legend", hidden: true },
      el("summary", {}, "What do “sure” and “maybe” mean?"),
      el("p", {}, PERCENTAGES),
    );
    this.box = el("details", { class: "sources", open: true, hidden: true }, this.title, this.empty, this.list, this.legend);
    this.ranks = new Map();
  }

  /** What answers the question that was searched for; `given` is how it was asked. */
  show(hits, given) {
    const before = new Map([...this.list.children].map((item) => [item.dataset.uri, item.getBoundingClientRect().top]));
    const again = before.size > 0;
    this.given = given;
    this.terms = termsOf(given.question);
    this.hits = hits;
    this.box.hidden = false;
    this.empty.hidden = hits.length > 0;
    this.legend.hidden = hits.every(({ probability }) => probability === null);
    this.name("Passages");
    const words = wordsFor(hits.map((hit) => hit.probability ?? 0));
    this.items = new Map(
      hits.map((hit, place) => [hit.uri, this.#item(hit, again ? movement(this.ranks.get(hit.uri), hit.rank) : null, words[place])]),
    );
    this.list.replaceChildren(...this.items.values());
    delete this.list.dataset.explained;
    this.ranks = new Map(hits.map((hit) => [hit.uri, hit.rank]));
    if (again) slide(this.list, before);
  }

  /** The passages of an answer; of none, those that are nearest. */
  name(words) {
    this.title.textContent = this.hits.length === 0 ? words : `${words} (${this.hits.length})`;
  }

  hide() {
    this.box.hidden = true;
    this.list.replaceChildren();
    this.ranks = new Map();
    this.hits = [];
  }

  /** What each view added, once it is known: the same passages, with reasons. */
  explainAll(explained) {
    const known = new Map(explained.map((hit) => [hit.uri, hit]));
    for (const hit of this.hits) {
      hit.contributions = known.get(hit.uri)?.contributions ?? {};
      const { reason } = this.items.get(hit.uri).parts;
      reason.textContent = inWords(hit.contributions, hit.provenance, hit.named);
      reason.hidden = reason.textContent === "";
    }
    this.list.dataset.explained = Object.keys(this.hits[0]?.contributions ?? {}).join(" ");
  }

  /** Which of them the answer cites, by the numbers it gives them. */
  cite(citations) {
    for (const item of this.items?.values() ?? []) item.parts.number.replaceChildren();
    for (const { number, uri } of citations) {
      this.items?.get(uri)?.parts.number.replaceChildren(el("span", { class: "cited", title: `Source ${number} of the answer` }, String(number)));
    }
  }

  #item(hit, move, likely) {
    const number = el("span", { class: "number" });
    const reason = el("p", { class: "reason", hidden: true });
    const body = bodyOf(hit.text, hit.section);
    const drawn = preview(hit.kind, body, this.terms);
    drawn?.addEventListener("click", () => getSelection().isCollapsed && openHit(hit, this.terms));
    const reasons = el("div", { class: "body" });
    const why = el("details", { class: "why" }, el("summary", {}, "Why is it here?"), reasons);
    const head = el(
      "button",
      { type: "button", class: "head", onclick: () => openHit(hit, this.terms) },
      el("span", { class: "line" }, number, el("span", { class: "place" }, ...place(hit)), move, chance(hit, likely)),
      drawn === null ? el("span", { class: "snippet" }, thumbnail(hit.thumbnail, hit.text), ...highlighted(snippet(body), this.terms)) : null,
    );
    const live = hit.live?.address === undefined ? null : liveOrigin(hit.live);
    const item = el("li", { class: "hit", "data-uri": hit.uri }, head, drawn, live, reason, why);
    item.parts = { number, reason, head, why };
    why.addEventListener("toggle", () => {
      if (why.open && reasons.childElementCount === 0) fill(reasons, hit, this.given);
    });
    return item;
  }
}

function openHit(hit, terms) {
  if (hit.live?.address === undefined) return openReader(hit.page, hit.uri, terms);
  return window.open(hit.live.address, "_blank", "noopener");
}

function liveOrigin(live) {
  const { source, address } = live;
  const said = [`From ${source ?? "a live source"}, not from the collection`, dateOf(live)].filter((part) => part !== "").join(", ");
  const safe = /^https?:\/\//.test(address);
  return el("p", { class: "reason live" }, `${said}: `, safe ? outside(address, address) : address);
}

/** When what a live source gave was published, as far as it says; else when it was read. */
function dateOf({ published, retrieved }) {
  const day = (moment) => (/^\d{4}-\d\d-\d\dT/.test(moment) ? moment.slice(0, 10) : moment);
  if (published) return `published ${day(published)}`;
  return retrieved ? `read ${day(retrieved)}` : "";
}

function place(hit) {
  const [title, ...below] = headings(hit.section);
  const rest = [below.join(" › "), pageNumbers(hit.pages), hit.kind === "paragraph" ? "" : hit.kind].filter((part) => part !== "");
  return [el("strong", {}, title), ...(rest.length === 0 ? [] : [el("span", { class: "below" }, ` ${rest.join(" · ")}`)])];
}

function chance(hit, likely) {
  if (hit.probability === null) return null;
  return el("span", { class: "score", title: "How likely it answers the question, judged before it is read" }, likely, " ", el("small", {}, percent(hit.probability)));
}

/** The beginning of code, the rows of a table that have most words of the question; null for what is read as a sentence. */
function preview(kind, text, terms) {
  const lines = text.split("\n").filter((line) => kind === "code" || line.trim() !== "");
  const from = kind === "code" ? 0 : lines.findIndex((line) => line.includes(": "));
  if (!["code", "table", "infobox"].includes(kind) || from === -1) return null;
  const rows = lines.slice(from);
  const found = (line) => highlighted(line, terms).filter((part) => part instanceof Element).length;
  const most = kind === "code" ? LINES : ROWS;
  const best = kind === "code" ? rows : [...rows].sort((a, b) => found(b) - found(a));
  const chosen = new Set(best.slice(0, most));
  const shown = [...lines.slice(0, from), ...rows.filter((line) => chosen.has(line)).slice(0, most)];
  const made = block(kind, shown.join("\n"), (part) => highlighted(part, terms));
  if (made.tagName === "P") return null; // no table after all
  made.removeAttribute("tabindex"); // it never scrolls
  if (kind === "table") stacked(made);
  const more = rows.length > most ? el("p", {}, `… ${count(rows.length - most, kind === "code" ? "more line" : "more row")}`) : null;
  return el("div", { class: "snippet drawn" }, made, more);
}

function snippet(text) {
  const flat = Array.from(text.replace(/\s+/g, " ").trim());
  return flat.length <= SNIPPET ? flat.join("") : `${flat.slice(0, SNIPPET).join("").replace(/\s\S*$/, "")} …`;
}

function movement(before, rank) {
  if (before === undefined) return el("span", { class: "move new" }, "new");
  const up = before - rank;
  if (up === 0) return null;
  const words = `${up > 0 ? "up" : "down"} ${Math.abs(up)}`;
  const shown = `${up > 0 ? "▲" : "▼"}${Math.abs(up)}`;
  return el("span", { class: `move ${up > 0 ? "up" : "down"}`, role: "img", "aria-label": words }, shown);
}

function slide(list, before) {
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

async function fill(body, hit, given) {
  if (hit.live) {
    fillLive(body, hit);
    return;
  }
  body.replaceChildren(el("p", { class: "note" }, "Asking the server …"));
  try {
    const why = await explain({ ...given, uri: hit.uri });
    body.replaceChildren(contributionTable(why, hit.provenance, hit.named), way(why, body));
  } catch (error) {
    body.replaceChildren(
      el("p", { class: "failed" }, plain(error)),
      button("Try again", () => fill(body, hit, given)),
    );
  }
}

/** Of what is not from the collection there is nothing in the graph: only what the views made of it. */
function fillLive(body, hit) {
  const views = Object.keys(hit.contributions ?? {});
  const said =
    views.length === 0
      ? "Its reasons were not kept: ask the question again to see them."
      : "It is not from the collection, so no link leads to it. What the views of links (entity, path, walk) add is that of the collection's passages nearest to it.";
  const table = () => contributionTable({ ...hit, views: Object.fromEntries(views.map((name) => [name, UNRANKED])) }, hit.provenance);
  body.replaceChildren(el("p", { class: "note" }, said), ...(views.length === 0 ? [] : [table()]));
}
