// A document as it is stored: its sections in order, and a passage marked, in view.

import { ApiError, plain, readDocument } from "./api.js";
import { Text, bodyOf, byId, el, headings, pageNumbers, pageOf, prepareDialog } from "./dom.js";
import { showOriginal } from "./original.js";
import { block, outside, rich } from "./text.js";
import { thumbnail } from "./thumbnail.js";

const dialog = byId("reader");
const article = byId("reader-text");
let exploring = () => {};
let settling = new AbortController();
let opened = 0;

/** `explore(entity)` is called for a link to what has no document. */
export function prepareReader(explore) {
  exploring = explore;
  prepareDialog(dialog, byId("reader-close"));
}

/** Opens a document, at a section or with a passage marked, in which the terms of a question stand out. */
export async function openReader(page, target, terms = new Set()) {
  byId("reader-title").textContent = headings(page)[0];
  byId("reader-note").textContent = "Reading …";
  settling.abort();
  const mine = (opened += 1);
  article.replaceChildren();
  byId("reader-outline").replaceChildren();
  if (!dialog.open) dialog.showModal();
  let found;
  try {
    found = await readDocument(page);
  } catch (error) {
    if (mine !== opened) return;
    if (error instanceof ApiError && error.status === 404) {
      dialog.close();
      exploring(page);
    } else byId("reader-note").textContent = plain(error);
    return;
  }
  if (mine === opened) show(found, target, terms); // else another document was opened meanwhile
}

function show(found, target, terms) {
  const text = new Text(found.text);
  byId("reader-title").textContent = found.title;
  byId("reader-note").replaceChildren(...origin(found));
  const places = new Map([[found.uri, article]]);
  const page = { text, target, terms, number: "" };
  const parts = [...passagesOf(found, found.uri, page)];
  for (const section of found.sections) {
    const heading = el(`h${Math.min(6, section.level + 2)}`, { tabindex: "-1" }, section.headings.at(-1));
    places.set(section.uri, heading);
    parts.push(heading, ...passagesOf(found, section.uri, page));
  }
  article.replaceChildren(...parts);
  byId("reader-outline").replaceChildren(...found.sections.map((section) => entry(section, places)));
  const marked = article.querySelector(".marked");
  const place = marked ?? (target === undefined || target === found.uri ? null : places.get(target));
  if (place === null || place === undefined) {
    article.scrollTop = 0;
    article.focus({ preventScroll: true });
    showOriginal(found, target, byId("reader-note"), () => {});
    return;
  }
  const toPlace = () => {
    // Long ones from their beginning, others in the middle.
    const tall = place.offsetHeight > 0.8 * article.clientHeight;
    place.scrollIntoView({ block: marked === null || tall ? "start" : "center" });
  };
  place.focus({ preventScroll: true });
  toPlace();
  settle(toPlace);
  showOriginal(found, target, byId("reader-note"), toPlace);
}

/** Pictures move the place when they have come: it is gone to again, until somebody moves the text. */
function settle(toPlace) {
  settling.abort();
  settling = new AbortController();
  const mine = settling;
  article.addEventListener("load", toPlace, { capture: true, signal: mine.signal });
  for (const moves of ["wheel", "pointerdown", "touchmove", "keydown"]) {
    dialog.addEventListener(moves, () => mine.abort(), { passive: true, signal: mine.signal });
  }
}

function origin({ source, path, revision, format, modified }) {
  const address = /^https?:\/\//.test(source);
  const parts = [
    address ? outside(source, "Open the original") : el("span", {}, path === "" ? source : path),
    format === "" ? null : el("span", {}, format),
    modified === null ? null : el("span", {}, modified.slice(0, 10)),
    revision === null ? null : el("span", {}, `revision ${revision}`),
  ];
  return parts.filter((part) => part !== null);
}

function entry(section, places) {
  const go = () => {
    const heading = places.get(section.uri);
    heading.focus({ preventScroll: true });
    heading.scrollIntoView({ block: "start" });
  };
  return el("button", { type: "button", class: `level-${Math.min(4, section.level)}`, onclick: go }, section.headings.at(-1));
}

function* passagesOf(found, section, page) {
  for (const passage of found.passages) {
    if (passage.section !== section) continue;
    const number = pageNumbers(passage.pages);
    if (number !== "" && number !== page.number) yield el("p", { class: "page-number", "data-page": passage.pages[0] }, number);
    page.number = number;
    yield drawn(passage, page);
  }
}

function drawn(passage, { text, target, terms }) {
  const words = bodyOf(text.slice(passage.start, passage.end), passage.section);
  const marked = passage.uri === target;
  const titles = linksOf(passage);
  const write = (part) => rich(part, marked ? terms : new Set(), titles);
  return el(
    "div",
    {
      class: `passage kind-${passage.kind}${marked ? " marked" : ""}`,
      tabindex: marked ? "-1" : null,
      "aria-current": marked ? "location" : null,
    },
    thumbnail(passage.thumbnail, words),
    block(passage.kind, words, write),
  );
}

/** What the passage cites, by the names under which it may be mentioned. */
function linksOf(passage) {
  const links = new Map();
  for (const cited of passage.cites) {
    const title = headings(cited)[0];
    const open = () => openReader(pageOf(cited), cited.includes("#") ? cited : undefined);
    for (const name of [title, title.replace(/ \([^)]*\)$/, "")]) if (name.length > 2) links.set(name, open);
  }
  return links;
}
