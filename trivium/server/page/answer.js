// The answer as it is written, and its citations.

import { Text, byId, el, headings, pageNumbers } from "./dom.js";
import { openReader } from "./reader.js";
import { openHit } from "./results.js";
import { thumbnail } from "./thumbnail.js";

const box = byId("answer-text");
const note = byId("answer-note");
const card = byId("card");

export function beginAnswer() {
  byId("answer").hidden = false;
  box.setAttribute("aria-busy", "true");
  box.replaceChildren();
  note.textContent = "Reading the passages …";
  hideCard();
}

export function addPiece(text) {
  note.textContent = "";
  box.append(text);
}

export function failAnswer(message) {
  box.setAttribute("aria-busy", "false");
  box.replaceChildren();
  note.textContent = `No answer: ${message}`;
}

/** The whole answer: sentence by sentence, with citations that can be followed. */
export function showAnswer(done) {
  box.setAttribute("aria-busy", "false");
  const text = new Text(done.answer);
  const cited = new Map(done.citations.map((citation) => [String(citation.number), citation]));
  const texts = new Map(done.passages.map((hit) => [hit.uri, hit.text]));
  const parts = [];
  let from = 0;
  for (const statement of done.statements) {
    parts.push(text.slice(from, statement.start));
    const said = text.slice(statement.start, statement.end);
    const sentence = [...linked(said, cited, texts), ...unnamed(said, statement, cited, texts)];
    parts.push(
      statement.supported
        ? el("span", { class: "statement" }, ...sentence)
        : el("span", { class: "statement unsupported", title: "The passages do not bear this out." }, ...sentence),
    );
    from = statement.end;
  }
  parts.push(...linked(text.slice(from), cited, texts));
  box.replaceChildren(...parts);
  const quoted = done.outcome === "answered" && done.intent === "collection";
  const unsupported = done.statements.some((statement) => !statement.supported);
  note.textContent = [
    done.model !== null ? `Written by ${done.model}.` : quoted ? "Sentences of the passages, word for word." : "",
    unsupported ? "What is underlined with dots is not borne out by the passages." : "",
  ]
    .filter((sentence) => sentence !== "")
    .join(" ");
}

/** Text in which marks like [1] are buttons. */
function linked(text, cited, texts) {
  return text.split(/(\[\d+\])/).map((part) => {
    const citation = cited.get(/^\[(\d+)\]$/.exec(part)?.[1]);
    return citation === undefined ? part : mark(citation, texts.get(citation.uri));
  });
}

/** Citations of a sentence that it does not name itself: they were found for it. */
function unnamed(said, statement, cited, texts) {
  return statement.citations
    .filter((number) => !said.includes(`[${number}]`))
    .map((number) => cited.get(String(number)))
    .filter((citation) => citation !== undefined)
    .map((citation) => mark(citation, texts.get(citation.uri)));
}

function mark(citation, text) {
  const show = (event) => showCard(event.currentTarget, citation, text);
  return el(
    "button",
    {
      type: "button",
      class: "cite",
      "aria-describedby": "card",
      "aria-label": `Citation ${citation.number}: ${[...headings(citation.section), pageNumbers(citation.pages)].filter((part) => part !== "").join(", ")}`,
      onmouseenter: show,
      onfocus: show,
      onmouseleave: hideCard,
      onblur: hideCard,
      onclick: () => {
        hideCard();
        if (!openHit(citation.uri)) openReader(citation.page, citation.uri);
      },
    },
    String(citation.number),
  );
}

function placeOf(citation) {
  return [headings(citation.section).join(" › "), pageNumbers(citation.pages)].filter((part) => part !== "").join(", ");
}

function showCard(anchor, citation, text) {
  card.replaceChildren(
    el("p", { class: "card-place" }, placeOf(citation)),
    el("p", {}, thumbnail(citation.thumbnail, text ?? ""), text ?? ""),
  );
  card.hidden = false;
  const at = anchor.getBoundingClientRect();
  const width = Math.min(420, document.documentElement.clientWidth - 16);
  card.style.width = `${width}px`;
  card.style.left = `${Math.max(8, Math.min(at.left, document.documentElement.clientWidth - width - 8))}px`;
  const below = at.bottom + 8 + card.offsetHeight < innerHeight;
  card.style.top = `${below ? at.bottom + 8 : Math.max(8, at.top - card.offsetHeight - 8)}px`;
}

/** Says whether one was shown. */
export function hideCard() {
  const shown = !card.hidden;
  card.hidden = true;
  return shown;
}
