// The page: one question at a time, its passages and its answer.

import { addPiece, beginAnswer, failAnswer, hideCard, showAnswer } from "./answer.js";
import { ask, get, search } from "./api.js";
import { byId, el } from "./dom.js";
import { openReader, prepareReader } from "./reader.js";
import { closeHits, showHits, step } from "./results.js";
import { chosenViews, drawViews } from "./views.js";

const SHOWN = 10;
const TURNS = 10;
const field = byId("question");
let posed = ""; // the question that was asked
let current = ""; // what was searched for: the question whose passages are shown
let searching = new AbortController();
let asking = new AbortController();
let turns = [];

function notice(text) {
  byId("notice").textContent = text;
  byId("notice").hidden = text === "";
}

/** What passages must fulfil, where the reader says something. */
function condition() {
  const where = byId("filter").value.trim();
  return where === "" ? {} : { where };
}

async function rank(question, again) {
  searching.abort();
  searching = new AbortController();
  const { signal } = searching;
  const given = { question, k: SHOWN, explain: true, ...chosenViews(), ...condition() };
  try {
    const hits = await search(given, signal);
    showHits(hits, given, again);
    notice(hits.length === 0 ? "Nothing was found." : "");
  } catch (error) {
    if (!signal.aborted) notice(error.message);
  }
}

/** Say what was searched for where it is not what was asked, and offer to search for that instead. */
function showSearched(question, searched) {
  const box = byId("searched");
  box.hidden = searched === null || searched === question;
  if (box.hidden) return;
  box.replaceChildren(
    `Searched for “${searched}”. `,
    el("button", { type: "button", class: "quiet", onclick: () => pose(question, false) }, "Search as asked"),
  );
}

/** The passages of an answer: those of the question that it was answered from, none where nothing was searched for. */
function showFound(question, searched) {
  showSearched(question, searched);
  byId("passages").hidden = searched === null;
  current = searched ?? "";
  if (searched !== null) rank(searched, false);
}

async function answer(question, rewrite) {
  asking.abort();
  asking = new AbortController();
  const { signal } = asking;
  beginAnswer();
  let found = false;
  try {
    let whole = null;
    await ask(
      { question, history: turns, rewrite, ...chosenViews(), ...condition() },
      {
        found: ({ searched_for: searched }) => {
          found = true;
          showFound(question, searched);
        },
        piece: ({ text }) => addPiece(text),
        done: (done) => {
          whole = done;
        },
        error: ({ error }) => {
          throw new Error(error.message);
        },
      },
      signal,
    );
    if (whole === null || signal.aborted) return;
    showAnswer(whole);
    turns = [...turns, { question, answer: whole.answer }].slice(-TURNS);
    byId("forget").hidden = false;
  } catch (error) {
    if (signal.aborted) return;
    failAnswer(error.message);
    if (!found) showFound(question, question); // passages need no answer
  }
}

function pose(question, rewrite = true) {
  posed = question;
  current = "";
  field.value = question;
  document.title = `${question} · Trivium`;
  byId("welcome").hidden = true;
  byId("columns").hidden = false;
  byId("searched").hidden = true;
  closeHits();
  answer(question, rewrite);
}

function fromAddress() {
  const question = new URLSearchParams(location.hash.slice(1)).get("q") ?? "";
  if (question.trim() !== "") {
    if (question !== posed) pose(question);
    return;
  }
  posed = "";
  current = "";
  searching.abort();
  asking.abort();
  notice("");
  document.title = "Trivium";
  field.value = "";
  byId("welcome").hidden = false;
  byId("columns").hidden = true;
  field.focus();
}

async function welcome() {
  try {
    const [stats, { documents, total }] = await Promise.all([get("/stats"), get("/documents?limit=24")]);
    const count = (number, noun) => `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;
    byId("facts").textContent = [
      count(stats.nodes.Page, "document"),
      count(stats.nodes.Chunk, "passage"),
      stats.model ?? "quotes, no language model",
    ].join(" · ");
    byId("titles").replaceChildren(
      ...documents.map(({ uri, title }) =>
        el("li", {}, el("button", { type: "button", class: "title", onclick: () => openReader(uri) }, title)),
      ),
      ...(total > documents.length ? [el("li", { class: "note" }, `and ${(total - documents.length).toLocaleString("en")} more`)] : []),
    );
  } catch (error) {
    notice(error.message);
  }
}

function typing(target) {
  return target instanceof HTMLInputElement && target.type !== "checkbox";
}

document.addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
  if (document.querySelector("dialog[open]") !== null) return; // Esc closes it, the rest is its own
  if (event.key === "/" && !typing(event.target)) {
    event.preventDefault();
    field.focus();
    field.select();
  } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
    if (step(event.key === "ArrowDown" ? 1 : -1)) event.preventDefault();
    else if (event.key === "ArrowUp" && !typing(event.target)) field.focus();
  } else if (event.key === "Escape") {
    if (!hideCard() && !closeHits() && typing(event.target)) event.target.blur();
  }
});

byId("form").addEventListener("submit", (event) => {
  event.preventDefault();
  const question = field.value.trim();
  if (question === "") return;
  const address = `#${new URLSearchParams({ q: question })}`;
  if (location.hash === address) pose(question); // asked once more
  else location.hash = address;
});
byId("filter-form").addEventListener("submit", (event) => {
  event.preventDefault();
  if (posed !== "") pose(posed);
});
byId("forget").addEventListener("click", () => {
  turns = [];
  byId("forget").hidden = true;
  field.focus();
  field.select();
});
byId("home").addEventListener("click", () => {
  turns = [];
  byId("forget").hidden = true;
});
addEventListener("hashchange", fromAddress);
addEventListener("scroll", hideCard, { passive: true });
if (matchMedia("(max-width: 60rem)").matches) byId("views-box").open = false;

drawViews(() => {
  if (current !== "") rank(current, true);
});
prepareReader();
welcome();
fromAddress();
