// The conversations that were kept: looked through, opened again, named, deleted.

import { announce, askOnce, button, byId, count, el, prepareDialog } from "./dom.js";
import { conversations, forget, keep, lasting } from "./keeping.js";

const dialog = byId("conversations");
const list = byId("conversations-list");
const search = byId("conversations-search");
let hooks = {};

/** `hooks.collection()` and `hooks.current()` say with what and which one is open, `hooks.open(id)` opens one, and
 * `hooks.deleted(id)` is told. */
export function prepareConversations(given) {
  hooks = given;
  prepareDialog(dialog, byId("conversations-close"));
  search.addEventListener("input", draw);
}

export function openConversations() {
  search.value = "";
  draw();
  dialog.showModal();
}

function draw() {
  const all = hooks.collection() === null ? [] : conversations(hooks.collection());
  const words = search.value.toLowerCase().split(/\s+/);
  const found = all.filter(({ name, turns }) => {
    const text = [name, ...turns.flatMap(({ question, done }) => [question, done.answer])].join("\n").toLowerCase();
    return words.every((word) => text.includes(word));
  });
  byId("conversations-note").textContent =
    all.length === 0 ? "No conversation is kept." : `${count(found.length, "conversation")}. ${lasting()}`;
  list.replaceChildren(...found.map(row));
}

function row({ id, name, saved, turns }) {
  const open = el("button", { type: "button", class: "title", onclick: () => dialog.close() ?? hooks.open(id) }, name);
  if (id === hooks.current()) open.setAttribute("aria-current", "true");
  const day = new Date(saved).toLocaleDateString(undefined, { dateStyle: "medium" });
  const item = el("li", {}, open, el("span", { class: "note" }, `${count(turns.length, "question")} · ${day}`));
  const rename = button("Rename", () => edit(id, name, turns, open), { "aria-label": `Rename ${name}` });
  const remove = button("Delete", () => askOnce(remove, name, () => carryOut(id, name)), { "aria-label": `Delete ${name}` });
  item.append(el("span", { class: "remove" }, rename, " ", remove));
  return item;
}

function edit(id, name, turns, open) {
  const write = () => keep(hooks.collection(), id, turns, field.value.trim()) && draw();
  const properties = { type: "text", maxlength: "200", value: name, "aria-label": `Name of the conversation ${name}` };
  const field = el("input", { ...properties, onchange: write, onblur: draw });
  open.replaceWith(field);
  field.select();
}

function carryOut(id, name) {
  forget(hooks.collection(), id);
  hooks.deleted(id);
  announce(`${name} was deleted`);
  draw();
  search.focus();
}
