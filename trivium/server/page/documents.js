// The documents of the collection: looked through, added, deleted.

import { finished, forgetDocuments, get, plain, removeDocument } from "./api.js";
import { announce, askOnce, button, byId, count, el, pageOf, prepareDialog } from "./dom.js";
import { openReader } from "./reader.js";

const ONCE = 1000; // documents the server lists in one answer
const MOST = 10_000; // documents that are searched here
const SHOWN = 200;

const dialog = byId("documents");
const list = byId("documents-list");
const note = byId("documents-note");
const search = byId("documents-search");
const format = byId("documents-format");
const conflicts = byId("conflicts");
let documents = [];
let total = 0;
let changed = () => {};

/** `told()` is called when the documents have changed. */
export function prepareDocuments(told) {
  changed = told;
  prepareDialog(dialog, byId("documents-close"));
  search.addEventListener("input", draw);
  format.addEventListener("change", draw);
  conflicts.addEventListener("toggle", () => conflicts.open && loadConflicts());
}

export function openDocuments() {
  if (!dialog.open) dialog.showModal();
  return loadDocuments();
}

/** Reads the list anew; resolves to it and to how many there are. */
export async function loadDocuments() {
  try {
    const read = [];
    let next = null;
    do {
      const after = next === null ? "" : `&after=${encodeURIComponent(next)}`;
      const answer = await get(`/documents?limit=${ONCE}${after}`);
      read.push(...answer.documents);
      ({ next, total } = answer);
    } while (next !== null && read.length < MOST && dialog.open);
    const same = JSON.stringify(read) === JSON.stringify(documents);
    documents = read;
    if (!same || total === 0) draw();
  } catch (error) {
    note.textContent = plain(error);
  }
  return { documents, total };
}

/** What documents say differently about the same. It takes a while, so it is read when it is looked at. */
async function loadConflicts() {
  const told = byId("conflicts-note");
  told.textContent = "Comparing …";
  byId("conflicts-list").replaceChildren();
  try {
    const found = (await get("/conflicts?limit=100")).conflicts;
    byId("conflicts-list").replaceChildren(...found.map(conflict));
    told.textContent = found.length === 0 ? "No two documents were found to state different values of the same thing." : "";
  } catch (error) {
    told.textContent = `${plain(error)}. The command  trivium conflicts  has no time limit.`;
  }
}

function conflict(one) {
  const side = (document, uri, text, status) =>
    el("p", {}, el("button", { type: "button", class: "title", onclick: () => openReader(pageOf(uri), uri) }, document), el("span", { class: "note" }, ` ${status}`), el("br"), text);
  const [first, second] = one.reason === "" ? ["", "not known which is in force"] : [`in force: ${one.reason}`, "older"];
  return el("li", {}, side(one.document, one.uri, one.text, first), side(one.other_document, one.other_uri, one.other_text, second));
}

/** After a change: what was known is forgotten, the list read anew. */
export async function documentsChanged() {
  forgetDocuments();
  conflicts.open = false;
  await loadDocuments();
  changed();
}

function draw() {
  const all = new Set(documents.map((document) => document.format));
  const formats = [...all].filter((name) => name !== "").sort();
  if (formats.join() !== [...format.options].slice(1).map(({ value }) => value).join()) {
    const chosen = format.value;
    format.replaceChildren(el("option", { value: "" }, "All formats"), ...formats.map((name) => el("option", { value: name }, name)));
    format.value = formats.includes(chosen) ? chosen : "";
  }
  format.hidden = all.size < 2;
  conflicts.hidden = total < 2;
  const words = search.value.toLowerCase().split(/\s+/).filter((word) => word !== "");
  const found = documents.filter(
    (document) =>
      (format.value === "" || document.format === format.value) &&
      words.every((word) => `${document.title} ${document.path} ${document.source}`.toLowerCase().includes(word)),
  );
  list.replaceChildren(...found.slice(0, SHOWN).map(row));
  const more = found.length > SHOWN ? `; the first ${SHOWN} are shown` : "";
  const beyond = total > documents.length ? ` of ${total.toLocaleString("en")}` : "";
  note.textContent = total === 0 ? "There are no documents yet. Add some above." : `${count(found.length, "document")}${beyond}${more}`;
}

function row(document) {
  const dates = document.modified ? `of ${document.modified.slice(0, 10)}` : document.added ? `added ${document.added.slice(0, 10)}` : "";
  const facts = [document.path, document.format, count(document.passages, "passage"), dates];
  const said = el("span", { class: "note" }, facts.filter((fact) => fact !== "").join(" · "));
  const open = el("button", { type: "button", class: "title", onclick: () => openReader(document.uri) }, document.title);
  const item = el("li", {}, open, said);
  const ask = () => askOnce(remove, document.title, (box) => carryOut(item, document, box, remove));
  const remove = button("Delete", ask, { class: "quiet remove", "aria-label": `Delete ${document.title}` });
  item.append(remove);
  return item;
}

async function carryOut(item, document, box, remove) {
  item.classList.add("leaving");
  box.replaceChildren("Deleting …");
  try {
    const job = await finished(await removeDocument(document.uri));
    if (job.state !== "done") throw new Error(job.error?.message ?? `the change was ${job.state}`);
    announce(`${document.title} was deleted`);
    await documentsChanged();
    search.focus();
  } catch (error) {
    item.classList.remove("leaving");
    box.replaceChildren(el("span", { class: "failed", role: "alert" }, plain(error)), " ", button("Back", () => box.replaceWith(remove)));
  }
}
