// Candidate questions, shown one by one with their passages, to be accepted or rejected.

import { decide, get, plain } from "./api.js";
import { announce, button, byId, el, prepareDialog } from "./dom.js";

const dialog = byId("review");
const body = byId("review-body");
const actions = byId("review-actions");
const note = byId("review-note");

let questions = [];
let counts = { keep: 0, kept: 0, waiting: 0 };
let at = 0;
let decided = []; // places, in the order they were decided on here
let busy = false;

export function prepareReview() {
  prepareDialog(dialog, byId("review-close"));
  byId("open-review").addEventListener("click", openReview);
  dialog.addEventListener("keydown", pressed);
}

async function openReview() {
  if (!dialog.open) dialog.showModal();
  try {
    const state = await get("/review");
    ({ questions } = state);
    counts = state;
    decided = [];
    at = nextWaiting(-1);
    draw();
  } catch (error) {
    fail(error);
  }
}

/** The place of the next question that nobody decided on, from the beginning again; the length where there is none. */
function nextWaiting(from) {
  for (let step = 1; step <= questions.length; step += 1) {
    const place = (from + step) % questions.length;
    if (questions[place].decision === null) return place;
  }
  return questions.length;
}

function draw() {
  note.textContent = `${counts.kept} kept of ${counts.keep}, ${counts.waiting} to decide on`;
  const one = questions[at];
  actions.replaceChildren(...buttons(one));
  if (one === undefined) {
    const done = questions.length === 0 ? "There is no question to decide on." : "Every question is decided on.";
    body.replaceChildren(el("p", { class: "lead" }, done));
    body.focus();
    return;
  }
  const scores = Object.entries(one.scores).map(([name, score]) => `${name.replaceAll("_", " ")} ${score}`);
  body.replaceChildren(
    el("p", { class: "review-question" }, one.question),
    el("p", {}, el("span", { class: "note" }, "Answer "), el("mark", { class: "answer-mark" }, one.answer)),
    one.about === "" ? "" : el("p", {}, el("span", { class: "note" }, "About "), el("mark", { class: "name-mark" }, one.about)),
    el("p", { class: "note" }, scores.length === 0 ? "not scored" : scores.join(", ")),
    one.decision === null ? "" : el("p", { class: `decision ${one.decision}` }, one.decision === "accept" ? "Accepted" : "Rejected"),
    ...one.cautions.map((caution) => el("p", { class: "caution" }, `Careful: ${caution}`)),
    ...one.passages.map((passage) =>
      el("section", { class: "review-passage" }, el("h3", {}, passage.headings), el("p", {}, ...marked(passage.text, one))),
    ),
  );
  body.scrollTop = 0;
  body.focus();
}

function buttons(one) {
  const back = button("Undo (U)", undo, { id: "review-undo", disabled: !canUndo() });
  const turn = [button("‹", () => turnBy(-1), { "aria-label": "The question before" }), button("›", () => turnBy(1), { "aria-label": "The next question" })];
  if (one === undefined) return [back, turn[0]];
  return [
    button("Accept (A)", () => take("accept"), { id: "review-accept", class: "primary" }),
    button("Reject (R)", () => take("reject"), { id: "review-reject" }),
    button("Edit (E)", () => edit(one), { id: "review-edit" }),
    back,
    ...turn,
  ];
}

/** A passage with the answer and the names of what the question is about in their colours. */
function marked(text, one) {
  const found = [
    ...spans(text, one.quote === "" ? [] : [one.quote], "quote-mark"),
    ...spans(text, [one.answer], "answer-mark"),
    ...spans(text, one.names, "name-mark"),
  ];
  const inside = found.filter((span) => span.kind !== "quote-mark");
  const quotes = found.filter((span) => span.kind === "quote-mark");
  const cuts = new Set([0, text.length, ...found.flatMap(({ start, end }) => [start, end])]);
  const edges = [...cuts].sort((left, right) => left - right);
  return edges.slice(0, -1).map((start, place) => {
    const piece = text.slice(start, edges[place + 1]);
    const covers = (span) => span.start <= start && span.end >= edges[place + 1];
    const kinds = [...inside.filter(covers), ...quotes.filter(covers)].map(({ kind }) => kind);
    return kinds.length === 0 ? piece : el("mark", { class: [...new Set(kinds)].join(" ") }, piece);
  });
}

/** Where phrases stand in a text as whole words, whatever punctuation is between them. */
function spans(text, phrases, kind) {
  return phrases.flatMap((phrase) => {
    const words = phrase.match(/[\p{L}\p{N}]+/gu);
    if (words === null) return [];
    const pattern = new RegExp(`(?<![\\p{L}\\p{N}])${words.join("[^\\p{L}\\p{N}]+")}(?![\\p{L}\\p{N}])`, "giu");
    return [...text.matchAll(pattern)].map((match) => ({ start: match.index, end: match.index + match[0].length, kind }));
  });
}

async function send(given) {
  if (busy) return false;
  busy = true;
  try {
    const outcome = await decide(given);
    counts = outcome;
    questions[questions.findIndex(({ id }) => id === given.id)] = outcome.question;
    return true;
  } catch (error) {
    fail(error);
    return false;
  } finally {
    busy = false;
  }
}

async function take(decision) {
  const place = at;
  if (!(await send({ id: questions[place].id, decision }))) return;
  decided = [...decided.filter((other) => other !== place), place];
  announce(decision === "accept" ? "Accepted" : "Rejected");
  at = nextWaiting(place);
  draw();
}

const canUndo = () => decided.length > 0 || (questions[at] !== undefined && questions[at].decision !== null);

/** Takes back the last decision made here, or the one on the question that is shown. */
async function undo() {
  const shown = questions[at]?.decision != null ? at : undefined;
  const place = shown ?? decided.at(-1);
  if (place === undefined || !(await send({ id: questions[place].id, decision: "undo" }))) return;
  decided = decided.filter((other) => other !== place);
  announce("Taken back");
  at = place;
  draw();
}

function turnBy(step) {
  at = Math.min(Math.max(at + step, 0), questions.length);
  draw();
}

function edit(one) {
  const question = el("textarea", { rows: 3, maxlength: 1000, id: "review-new-question" });
  const answer = el("input", { type: "text", maxlength: 1000, id: "review-new-answer" });
  question.value = one.question;
  answer.value = one.answer;
  const form = el(
    "form",
    { class: "review-form" },
    el("label", { for: "review-new-question" }, "Question"),
    question,
    el("label", { for: "review-new-answer" }, "Answer"),
    answer,
    el("p", {}, el("button", { type: "submit", class: "primary" }, "Save"), " ", button("Leave it", draw)),
  );
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const given = { id: one.id, decision: "edit", question: question.value.trim(), answer: answer.value.trim() };
    if (given.question === "" || given.answer === "") return;
    if (await send(given)) draw();
  });
  body.prepend(form);
  question.focus();
}

function fail(error) {
  const words = error.status === 403 ? error.message : plain(error);
  body.querySelector(".failed")?.remove();
  body.prepend(el("p", { class: "failed", role: "alert" }, words));
}

function pressed(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || /^(?:input|textarea)$/i.test(event.target.tagName)) return;
  const does = { a: "review-accept", r: "review-reject", e: "review-edit", u: "review-undo" }[event.key.toLowerCase()];
  if (does !== undefined) {
    event.preventDefault();
    byId(does)?.click();
  } else if (event.key === "ArrowRight" || event.key === "ArrowLeft") {
    event.preventDefault();
    turnBy(event.key === "ArrowRight" ? 1 : -1);
  }
}
