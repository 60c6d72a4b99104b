// An answer as it is written, and its citations.

import { Text, bodyOf, button, byId, el, placeOf } from "./dom.js";
import { thumbnail } from "./thumbnail.js";
import { code, highlighted, stacked, termsOf } from "./text.js";
import { sure } from "./why.js";

const card = byId("card");

export const OUTCOMES = {
  closest: "No sentence states it outright. These passages are closest:",
  absent: "Not in the collection",
};

const ABSENT = {
  collection: "Nothing in the collection is near enough to answer it. Other words may find more.",
  live: "This sounds like something current, which the documents do not have.",
};

const RELATIONS = { earlier: "Earlier version", later: "Later version", unknown: "Another document says otherwise" };

/** Which document says otherwise, and why it is or is not in force. */
export const labelOf = ({ relation, document, reason }) =>
  `${RELATIONS[relation]} (${document}${reason === "" ? "" : `, ${reason}`})`;

/** The answer of a turn, in an element of its own. `open(uri, page)` is called for a citation. */
export class AnswerView {
  constructor(open) {
    this.open = open;
    this.outcome = el("p", { class: "outcome", hidden: true });
    this.text = el("div", { class: "answer-text", "aria-busy": "false" });
    this.note = el("p", { class: "answer-note" });
    const title = el("h3", { class: "hidden" }, "Answer");
    this.box = el("div", { class: "answer" }, title, this.outcome, this.text, this.note);
  }

  begin() {
    this.text.setAttribute("aria-busy", "true");
    this.outcome.hidden = true;
    this.note.textContent = "Looking for passages …";
    hideCard();
  }

  /** The first piece replaces what was there before. */
  add(piece, first) {
    if (first) this.text.replaceChildren();
    this.note.textContent = "";
    this.text.append(piece);
  }

  /** What is being done, until there is something to see. */
  say(words) {
    this.note.textContent = words;
  }

  /** No answer came: why, and a way to try again. */
  fail(words, again) {
    this.text.setAttribute("aria-busy", "false");
    this.note.replaceChildren(el("span", { class: "failed" }, words), " ", button("Try again", again, { class: "quiet again" }));
  }

  /** The whole answer: line by line, sentence by sentence, with citations that can be followed. */
  show(done) {
    this.text.setAttribute("aria-busy", "false");
    const searched = done.searched_for !== null;
    this.text.dataset.outcome = searched ? done.outcome : "answered";
    const said = searched ? OUTCOMES[done.outcome] : undefined;
    this.outcome.textContent = said ?? "";
    this.outcome.hidden = said === undefined;
    const passages = new Map(done.passages.map((hit) => [hit.uri, hit]));
    const marks = new Map(done.citations.map((citation) => [String(citation.number), citation]));
    marks.written = done.form === null; // by a model, which may stress words and quote names of code
    const mark = (citation) => this.#mark(citation, passages.get(citation.uri));
    const lines = paragraphs(done, marks, mark);
    // What the outcome says already is not said twice.
    if (said !== undefined && lines.length > 0) {
      const first = lines[0].textContent;
      if (done.outcome === "absent" ? first.startsWith("Not in the collection") : first.endsWith(":")) lines.shift();
    }
    this.text.replaceChildren(...(tableOf(done, marks, mark) ?? codeOf(done, marks, mark) ?? withLists(lines)));
    this.text.dataset.form = done.form ?? "";
    this.text.hidden = lines.length === 0;
    this.text.append(...(done.disagreements ?? []).map((other) => this.#disagreement(other, passages.get(other.uri))));
    this.note.textContent = noteOf(done, searched);
  }

  /** What another document says instead, with a button that opens it. */
  #disagreement(other, hit) {
    const open = () => this.open(hit, hit);
    return el("p", { class: "otherwise" }, button(labelOf(other), open), ` ${other.text}`);
  }

  #mark(citation, hit) {
    const show = (event) => showCard(event.currentTarget, citation, hit);
    return el(
      "button",
      {
        type: "button",
        class: "cite",
        "aria-label": `Source ${citation.number}: ${placeOf(citation)}`,
        onmouseenter: show,
        onfocus: show,
        onmouseleave: hideCard,
        onblur: hideCard,
        onclick: () => {
          hideCard();
          this.open(citation, hit);
        },
      },
      String(citation.number),
    );
  }
}

function noteOf(done, searched) {
  const quoted = searched && done.outcome === "answered";
  const unsupported = searched && done.statements.some((statement) => !statement.supported);
  return [
    done.model !== null && done.outcome === "answered" && done.form === null ? `Written by ${done.model}.` : quoted ? (done.form === "row" ? "From a table." : done.form === "computed" ? "Computed from the rows below, not quoted." : "Quoted from the passages, word for word.") : "",
    done.confidence === null ? "" : sure(done.confidence),
    searched && done.outcome === "absent" ? ABSENT[done.intent] ?? ABSENT.collection : "",
    unsupported ? "Underlined with dots is what is not in the documents." : "",
    ...done.warnings.map((warning) => `${warning.charAt(0).toUpperCase()}${warning.slice(1)}.`),
    liveOutcome(done.sources ?? []),
  ]
    .filter((sentence) => sentence !== "")
    .join(" ");
}

/** What the live sources that were asked have given, and which of them failed. */
function liveOutcome(sources) {
  const said = sources.map(({ name, found, error, cached_age: age }) => {
    const parts = [
      error === null ? "" : `failed (${error})`,
      error === null || age !== null ? `found ${found}` : "",
      age === null ? "" : `kept from ${age < 5400 ? `${Math.round(age / 60)} min` : `${Math.round(age / 3600)} h`} ago`,
    ];
    return `${name} ${parts.filter((part) => part !== "").join(", ")}`;
  });
  return said.length === 0 ? "" : `Live sources: ${said.join("; ")}.`;
}

/** Rows of a table as one, with their citations; null for other answers. */
function tableOf(done, marks, mark) {
  const rows = done.outcome === "answered" && (done.form === "row" || done.form === "computed") ? done.parts : [];
  if (rows.length === 0 || rows.some((row) => row.cells.length === 0)) return null;
  const heads = [...new Set(rows.flatMap((row) => row.cells.map(([head]) => head)))];
  const terms = termsOf(done.searched_for ?? "");
  const asked = new Set(heads.filter((head) => highlighted(head, terms).some((part) => part instanceof Element)));
  const cite = (row) => [marks.get(String(row.number))].filter((citation) => citation !== undefined).map(mark);
  const body = rows.map((row) => {
    const cells = new Map(row.cells);
    const cell = (head) => el("td", { "data-head": head, class: asked.has(head) ? "asked" : null }, cells.get(head) ?? "");
    return el("tr", {}, ...heads.map(cell), el("td", { "data-head": "Source" }, ...cite(row)));
  });
  const top = el("tr", {}, ...heads.map((head) => el("th", { scope: "col" }, head)), el("th", { scope: "col" }, "Source"));
  const value = done.form === "computed" ? paragraphs(done, marks, mark).slice(0, 1) : [];
  const box = el("div", { class: "answer-table" }, el("table", {}, el("thead", {}, top), el("tbody", {}, ...body)));
  return [...value, stacked(box, rows.length === 1)];
}

/** Code as it is written, below what announces it; null for other answers. */
function codeOf(done, marks, mark) {
  if (done.form !== "code" || !done.markdown) return null;
  const parts = done.markdown.split(/^(`{3,})\n([^]*?)\n\1$/m); // text, fence, code, text ...
  return parts
    .map((part, place) => (place % 3 === 2 ? code(part, (words) => [words]) : el("p", {}, ...linked(place % 3 === 0 ? part.trim() : "", marks, mark))))
    .filter((element) => element.textContent !== "");
}

/** Paragraphs, with the items that follow one another in a list. */
function withLists(lines) {
  const found = [];
  for (const line of lines) {
    if (line.tagName !== "LI") found.push(line);
    else if (found.at(-1)?.tagName === "UL") found.at(-1).append(line);
    else found.push(el("ul", {}, line));
  }
  return found;
}

const ITEM = /^\s*(?:\(?(?:\d{1,3}|[a-z])[.):]|step \d{1,3}\b|[•‣▪◦*–-])\s/i;

const FENCE = /^\s*(`{3,}|~{3,})/;
const ROW = /^\s*\|.*\|\s*$/;
const BELOW_HEADS = /^\s*\|[\s:|-]*-[\s:|-]*\|\s*$/;

/** One paragraph for each line; a sentence may go on over several. Fenced code and tables in what a model wrote are such. */
function paragraphs(done, marks, mark) {
  const text = new Text(done.answer);
  const write = (start, end) => lineOf(text, start, end, done.statements, marks, mark);
  const lines = [];
  let start = 0;
  for (const line of done.answer.split("\n")) {
    lines.push({ line, start, end: start + Array.from(line).length });
    start = lines.at(-1).end + 1;
  }
  const made = [];
  for (let place = 0; place < lines.length; place += 1) {
    const { line, start: from, end } = lines[place];
    const fence = done.form === null ? FENCE.exec(line)?.[1] : undefined;
    if (fence !== undefined) {
      const closed = lines.findIndex((other, later) => later > place && other.line.trim() === fence);
      const last = closed === -1 ? lines.length : closed;
      made.push(el("pre", {}, lines.slice(place + 1, last).map((inside) => inside.line).join("\n")));
      place = last;
    } else if (done.form === null && ROW.test(line) && BELOW_HEADS.test(lines[place + 1]?.line ?? "")) {
      const after = lines.findIndex((other, later) => later > place && !ROW.test(other.line));
      const rows = lines.slice(place, after === -1 ? lines.length : after);
      made.push(writtenTable(rows.filter((_, row) => row !== 1), write));
      place += rows.length - 1;
    } else if (line.trim() !== "") {
      made.push(el(done.outcome === "answered" && ITEM.test(line) ? "li" : "p", {}, ...write(from, end)));
    }
  }
  return made;
}

/** Lines such as `| Phobos | 11 km [1] |` below their heads. */
function writtenTable(rows, write) {
  const cells = ({ line, start }, tag) => {
    const bars = Array.from(line).flatMap((letter, place) => (letter === "|" ? [start + place] : []));
    const name = (place) => (tag === "td" ? names[place]?.trim() : undefined);
    const cell = (bar, place) => el(tag, { "data-head": name(place) }, ...write(bars[place] + 1, bar));
    return el("tr", {}, ...bars.slice(1).map(cell));
  };
  const [heads, ...others] = rows;
  const names = heads.line.split("|").slice(1);
  const table = el("table", {}, el("thead", {}, cells(heads, "th")), el("tbody", {}, ...others.map((row) => cells(row, "td"))));
  return stacked(el("div", { class: "answer-table" }, table));
}

function lineOf(text, start, end, statements, marks, mark) {
  const parts = [];
  let from = start;
  for (const statement of statements) {
    const first = Math.max(statement.start, from);
    const last = Math.min(statement.end, end);
    if (first >= last) continue;
    parts.push(...linked(text.slice(from, first), marks, mark));
    const cites = Math.min(last, Math.max(first, citesFrom(text, statement)));
    const sentence = [
      text.slice(first, cites),
      ...linked(text.slice(cites, last), marks, mark),
      ...(last === statement.end ? unnamed(text, statement, marks, mark) : []),
    ];
    parts.push(
      statement.supported
        ? el("span", { class: "statement" }, ...sentence)
        : el("span", { class: "statement unsupported", title: "Not in the documents" }, ...sentence),
    );
    from = last;
  }
  parts.push(...linked(text.slice(from, end), marks, mark));
  return parts;
}

/** Where the citations of a statement may begin: in quoted code, which may have [1] itself, at the end only. */
function citesFrom(text, { start, end }) {
  const said = text.slice(start, end);
  const own = said.includes("\n") ? / \[\d+\]$/.exec(said) : null;
  return own === null ? start : end - own[0].length;
}

/** Text in which marks like [1] are buttons. */
function linked(text, marks, mark) {
  return text.split(/(\[\d+\])/).map((part) => {
    const citation = marks.get(/^\[(\d+)\]$/.exec(part)?.[1]);
    return citation === undefined ? (marks.written ? stressed(part) : part) : mark(citation);
  }).flat();
}

const stressed = (text) =>
  text.split(/(\*\*[^*\n]+\*\*|`[^`\n]+`)/).map((part, place) => {
    if (place % 2 === 0) return part;
    return part.startsWith("`") ? el("code", {}, part.slice(1, -1)) : el("b", {}, part.slice(2, -2));
  });

/** Citations of a sentence that neither it nor what follows names: they were found for it. */
function unnamed(text, statement, marks, mark) {
  const said = text.slice(statement.start, statement.end + 12 * statement.citations.length);
  return statement.citations
    .filter((number) => !said.includes(`[${number}]`))
    .map((number) => marks.get(String(number)))
    .filter((citation) => citation !== undefined)
    .map((citation) => mark(citation));
}

function showCard(anchor, citation, hit) {
  const text = bodyOf(hit?.text ?? "", citation.section);
  card.replaceChildren(
    el("p", { class: "card-place" }, placeOf(citation)),
    el("p", {}, thumbnail(citation.thumbnail, text), text),
  );
  card.hidden = false;
  const at = anchor.getBoundingClientRect();
  const wide = document.documentElement.clientWidth;
  const width = Math.min(420, wide - 16);
  card.style.width = `${width}px`;
  card.style.left = `${Math.max(8, Math.min(at.left, wide - width - 8))}px`;
  const below = at.bottom + 8 + card.offsetHeight < innerHeight;
  card.style.top = `${below ? at.bottom + 8 : Math.max(8, at.top - card.offsetHeight - 8)}px`;
}

/** Says whether one was shown. */
export function hideCard() {
  const shown = !card.hidden;
  card.hidden = true;
  return shown;
}
