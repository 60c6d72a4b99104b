// A document as it is stored: its sections in order, and a passage marked.

import { readDocument } from "./api.js";
import { Text, byId, el, headings, withoutChunk } from "./dom.js";
import { thumbnail } from "./thumbnail.js";

const dialog = byId("reader");

export function prepareReader() {
  byId("reader-close").addEventListener("click", () => dialog.close());
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close(); // beside the box
  });
}

/** Opens a document, at a section or with a passage marked. */
export async function openReader(page, target) {
  const found = await readDocument(page);
  const text = new Text(found.text);
  byId("reader-title").textContent = found.title;
  byId("reader-note").textContent = [found.source, found.revision === null ? "" : `revision ${found.revision}`]
    .filter((part) => part !== "")
    .join(" · ");
  const article = byId("reader-text");
  const places = new Map([[found.uri, article]]);
  const parts = [...passagesOf(found, text, found.uri, target)];
  for (const section of found.sections) {
    const heading = el(`h${Math.min(6, section.level + 2)}`, {}, section.headings.at(-1));
    places.set(section.uri, heading);
    parts.push(heading, ...passagesOf(found, text, section.uri, target));
  }
  article.replaceChildren(...parts);
  byId("reader-outline").replaceChildren(
    ...found.sections.map((section) =>
      el(
        "button",
        {
          type: "button",
          class: `level-${Math.min(4, section.level)}`,
          onclick: () => places.get(section.uri).scrollIntoView({ block: "start" }),
        },
        section.headings.at(-1),
      ),
    ),
  );
  if (!dialog.open) dialog.showModal();
  const mark = article.querySelector("mark");
  if (mark !== null) mark.scrollIntoView({ block: "center" });
  else if (target !== undefined && target !== found.uri) places.get(target)?.scrollIntoView({ block: "start" });
  else article.scrollTop = 0;
  article.focus({ preventScroll: true });
}

function* passagesOf(found, text, section, target) {
  for (const passage of found.passages) {
    if (passage.section === section) yield paragraph(passage, text, passage.uri === target);
  }
}

function paragraph(passage, text, marked) {
  const words = text.slice(passage.start, passage.end);
  const picture = thumbnail(passage.thumbnail, words);
  return el("p", { class: `passage kind-${passage.kind}` }, picture, marked ? el("mark", {}, words) : words);
}

/** The section of a passage with the passage marked. */
export async function sectionOf(hit) {
  const found = await readDocument(hit.page);
  const text = new Text(found.text);
  return el(
    "div",
    { class: "section", tabindex: "0", role: "region", "aria-label": "The section" },
    ...passagesOf(found, text, hit.section, hit.uri),
  );
}

/** Title and headings of a section, each of which opens the document there. */
export function breadcrumbs(section, target) {
  const parts = section.split("#");
  return el(
    "nav",
    { class: "crumbs", "aria-label": "Where it stands" },
    ...headings(section).flatMap((heading, depth) => {
      const uri = parts.slice(0, depth + 1).join("#");
      const last = depth === parts.length - 1;
      const open = () => openReader(parts[0], last ? target : uri);
      const crumb = el("button", { type: "button", class: "crumb", onclick: open }, heading);
      return depth === 0 ? [crumb] : [el("span", { "aria-hidden": "true" }, "›"), crumb];
    }),
  );
}

export const pageOf = (uri) => withoutChunk(uri).split("#")[0];
