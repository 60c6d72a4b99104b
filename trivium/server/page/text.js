// Words of passages made readable: terms of the question stand out, addresses and titles are links, rows are tables.

import { el } from "./dom.js";

const WORD = /[\p{L}\p{N}]+/gu;
const ADDRESS = /https?:\/\/[^\s<>"']+[^\s<>"'.,;:!?)\]]/g;
const FREQUENT = new Set(
  ("a about an and are as at be been but by can did do does for from had has have he her his how i if in is it its me my of on or" +
    " our she so than that the their them there these they this those to was we were what when where which who whom whose why" +
    " will with would you your said").split(" "),
);

/** The words of a question that are worth finding in a text, without their endings. */
export function termsOf(question) {
  const words = (question.match(WORD) ?? []).map((word) => word.toLowerCase());
  return new Set(words.filter((word) => !FREQUENT.has(word)).map(stem));
}

function stem(word) {
  return word.length > 4 ? word.replace(/(?:ies|ing|ed|es|s|er|y)$/, "") : word;
}

/** The text with the terms as <b class="term">. */
export function highlighted(text, terms) {
  const parts = [];
  let from = 0;
  for (const found of text.matchAll(WORD)) {
    if (!terms.has(stem(found[0].toLowerCase()))) continue;
    parts.push(text.slice(from, found.index), el("b", { class: "term" }, found[0]));
    from = found.index + found[0].length;
  }
  parts.push(text.slice(from));
  return parts.filter((part) => part !== "");
}

/** The text with its terms highlighted, its addresses as links, and the first mention of each title of `titles` (name ->
 * what to do) as a button. */
export function rich(text, terms, titles = new Map()) {
  const parts = [];
  let from = 0;
  for (const found of text.matchAll(ADDRESS)) {
    parts.push(...withTitles(text.slice(from, found.index), terms, titles));
    parts.push(outside(found[0], found[0]));
    from = found.index + found[0].length;
  }
  parts.push(...withTitles(text.slice(from), terms, titles));
  return parts;
}

/** A link to somewhere else. */
export function outside(address, text) {
  return el("a", { href: address, target: "_blank", rel: "noopener noreferrer" }, text);
}

function withTitles(text, terms, titles) {
  const names = [...titles.keys()].sort((a, b) => b.length - a.length);
  if (names.length === 0 || text === "") return highlighted(text, terms);
  const any = new RegExp(`(?<![\\p{L}\\p{N}])(?:${names.map(escaped).join("|")})(?![\\p{L}\\p{N}])`, "gu");
  const parts = [];
  let from = 0;
  for (const found of text.matchAll(any)) {
    const open = titles.get(found[0]);
    if (open === undefined) continue; // it was linked before
    parts.push(...highlighted(text.slice(from, found.index), terms));
    parts.push(el("button", { type: "button", class: "crumb", onclick: open }, ...highlighted(found[0], terms)));
    titles.delete(found[0]);
    from = found.index + found[0].length;
  }
  parts.push(...highlighted(text.slice(from), terms));
  return parts;
}

const escaped = (name) => name.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&");

/** A passage as an element: a table where its lines are rows, a list where they are items. `write` makes text readable. */
export function block(kind, text, write) {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  if (kind === "table") return tableOf(lines, write) ?? paragraph(text, write);
  if (kind === "infobox") return factsOf(lines, write) ?? paragraph(text, write);
  if (kind === "list") return listOf(lines, write);
  if (kind === "code") return code(text, write);
  return paragraph(text, write);
}

const SENTENCE = /^\p{Lu}[^\n]*[.:?!]$/u;
const WORDS = 5; // at least, of a sentence

/** Code, and the sentences between it: which parts of a passage are code is not known but by how they look. */
export function code(text, write) {
  const parts = [];
  for (const part of text.split(/\n{2,}/)) {
    const sentence = SENTENCE.test(part.trim()) && part.split(" ").length >= WORDS;
    if (!sentence && parts.length > 0 && !parts.at(-1).sentence) parts.at(-1).text += `\n\n${part}`;
    else parts.push({ sentence, text: part });
  }
  return el("div", {}, ...parts.map((part) => el(part.sentence ? "p" : "pre", {}, ...write(part.text))));
}

const paragraph = (text, write) => el("p", {}, ...write(text));

/** Lines such as `Name: Phobos; Radius: 11 km`, with or without a caption and a line of heads above. */
function tableOf(lines, write) {
  const rows = [];
  const before = [];
  for (const line of lines) {
    const named = before.find((other) => other.includes(" | "))?.split(" | ");
    const row = cellsOf(line, named);
    if (row !== null) rows.push(row);
    else if (rows.length === 0) before.push(line);
    else return null; // no table that can be trusted
  }
  if (rows.length === 0) return null;
  const named = before.find((line) => line.includes(" | "))?.split(" | ") ?? [];
  const heads = [...new Set([...named, ...rows.flatMap((row) => [...row.keys()])])];
  if (heads.length > 40) return null;
  const caption = before.filter((line) => !line.includes(" | ")).join(" ");
  return el(
    "div",
    { class: "scroll", tabindex: "0", role: "group", "aria-label": caption === "" ? "A table" : caption },
    el(
      "table",
      { class: "rows" },
      caption === "" ? null : el("caption", {}, ...write(caption)),
      el("thead", {}, el("tr", {}, ...heads.map((head) => el("th", { scope: "col" }, head)))),
      el("tbody", {}, ...rows.map((row) => el("tr", {}, ...heads.map((head) => el("td", { "data-head": head }, ...write(row.get(head) ?? "")))))),
    ),
  );
}

/** Makes each cell of the table in `box` a line where the columns do not fit, or always. */
export function stacked(box, always = false) {
  new ResizeObserver(() => {
    box.classList.toggle("stacked", always);
    box.classList.toggle("stacked", always || box.scrollWidth > box.clientWidth);
  }).observe(box);
  return box;
}

/** The cells of a row by their heads, of `named` ones where these are known; a cell may hold a semicolon itself. */
function cellsOf(line, named) {
  const row = new Map();
  let last = null;
  for (const part of line.split("; ")) {
    const [, head, value] = /^([^:;]{1,80}): (.*)$/s.exec(part) ?? [];
    if (head !== undefined && (named === undefined || named.includes(head)) && !row.has(head)) {
      row.set(head, value);
      last = head;
    } else if (last === null) return null;
    else row.set(last, `${row.get(last)}; ${part}`);
  }
  return row;
}

/** Lines such as `Moons: Phobos, Deimos` below a title. */
function factsOf(lines, write) {
  const pairs = lines.map((line) => /^([^:]{1,80}): (.*)$/s.exec(line));
  const titled = pairs.length > 0 && pairs[0] === null;
  if (!pairs.slice(titled ? 1 : 0).every((pair) => pair !== null) || lines.length < 2) return null;
  return el(
    "table",
    { class: "facts-table" },
    titled ? el("caption", {}, ...write(lines[0])) : null,
    el(
      "tbody",
      {},
      ...pairs
        .filter((pair) => pair !== null)
        .map(([, head, value]) => el("tr", {}, el("th", { scope: "row" }, head), el("td", {}, ...write(value)))),
    ),
  );
}

function listOf(lines, write) {
  const item = (line) => {
    const depth = Math.min(3, Math.floor(/^ */.exec(line)[0].length / 2));
    return el("li", { class: `depth-${depth}` }, ...write(line.trim()));
  };
  return el("ul", {}, ...lines.map(item));
}
