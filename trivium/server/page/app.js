// The page: a thread of questions and answers, and beside it the documents and the graph.

import { hideCard } from "./answer.js";
import { get, giveFeedback, plain, wait } from "./api.js";
import { announce, button, byId, count, el, pageOf, placeOf, tell } from "./dom.js";
import { loadDocuments, openDocuments, prepareDocuments } from "./documents.js";
import { examples, nextQuestions } from "./examples.js";
import { explorePaths, openExplorer, prepareExplorer, suggest } from "./explorer.js";
import { openReader, prepareReader } from "./reader.js";
import { openConversations, prepareConversations } from "./conversations.js";
import { anyOpen, conversation, keep, lasting, newId, openOne, setOpen } from "./keeping.js";
import { listenButton, prepareSpeech } from "./speech.js";
import { Thread, copy, download } from "./thread.js";
import { prepareUploads } from "./uploads.js";
import { drawViews, lookAround, offerModels, searchOptions } from "./views.js";

const field = byId("question");
const submit = byId("ask");
const options = byId("options");

const thread = new Thread({ options: searchOptions, changed: turnChanged, actions: actionsOf });

function notice(text, ...more) {
  byId("notice").replaceChildren(text, ...more);
  byId("notice").hidden = text === "";
}

/** What is done with an answer. */
function actionsOf(turn) {
  const { done, question } = turn;
  const cites = done.citations.length > 0 && done.citations.every((citation) => !citation.live);
  return [
    copyButton("Copy", () => done.markdown ?? done.answer),
    listenButton(done.answer),
    copyButton("Copy link", () => new URL(addressOf(question), location.href).href),
    thumb(turn, true),
    thumb(turn, false),
    cites ? button("Show in the graph", () => turn.paths().then(explorePaths, (error) => tell(plain(error)))) : null,
  ].filter((one) => one !== null);
}

/** Asks for a reason, and sends it with what somebody thinks of an answer. */
function thumb({ done, question }, good) {
  const name = good ? "Good answer" : "Bad answer";
  const placeholder = good ? "Why? (may be empty)" : "What is wrong? (may be empty)";
  const reason = el("input", { type: "text", maxlength: "1000", placeholder, "aria-label": `${name}: why?` });
  const send = async (event) => {
    event.preventDefault();
    const passages = [...new Set(done.citations.filter(({ live }) => !live).map(({ uri }) => uri))];
    try {
      await giveFeedback({ question: done.searched_for ?? question, good, reason: reason.value, passages });
      asked.replaceWith(el("span", { class: "note", role: "status" }, "Thank you. It was kept."));
    } catch (error) {
      tell(plain(error));
    }
  };
  const asked = el("form", { class: "thumb", onsubmit: send }, reason, el("button", { class: "quiet" }, "Send"));
  const ask = button(name, () => ask.replaceWith(asked) ?? reason.focus());
  return ask;
}

function copyButton(text, what) {
  const made = button(text, async () => {
    await copy(what());
    made.textContent = "Copied";
    announce("Copied");
    setTimeout(() => (made.textContent = text), 1500);
  });
  return made;
}

function turnChanged(turn) {
  const busy = thread.turns.some(({ state }) => state === "busy");
  submit.textContent = busy ? "Stop" : "Ask";
  submit.classList.toggle("stop", busy);
  offerSaving();
  if (turn.state === "done") leadOn(turn);
  if (turn.state !== "done" || restoring) return;
  notice("");
  if (collection === null) return;
  const kept = keep(collection, (current ??= newId()), thread.kept());
  if (kept !== lasting() && thread.turns.length === 1) tell(kept);
}

/** Offers what to ask next below the newest answer. */
async function leadOn(turn) {
  turn.next.hidden = true;
  turn.next.replaceChildren(el("h3", {}, "Ask next"));
  const { signal } = turn.running;
  const current = () => !signal.aborted && turn === thread.last && turn.state === "done";
  if (restoring) await null; // which is the last turn is known when all are there
  if (!current() || turn.done.outcome !== "answered" || turn.done.searched_for === null) return;
  const asked = thread.turns.flatMap(({ question, done }) => [question, done?.searched_for]);
  offer(nextQuestions(turn.done, asked, signal), current, turn.next, (one) => one);
}

/** Shows questions in a box, one after the other; none that could not be tried. */
async function offer(questions, current, box, wrap, outside = box) {
  try {
    for await (const question of questions) {
      if (!current()) return;
      box.append(wrap(example(question)));
      outside.hidden = false;
    }
  } catch {
    // The server is gone or busy: the rest is not offered.
  }
}

/** What is offered where there is something to keep. */
function offerSaving() {
  byId("saving").hidden = byId("new-thread").hidden = !thread.turns.some(({ done }) => done !== null);
}

let collection = null; // a name of what the server holds, once it is known
let current = null; // the id of the conversation that is open, once it has one
let restoring = false;
let begun = false;

/** Shows the conversation that was open, before what is there already. */
function restore() {
  const kept = collection === null ? null : conversation(collection, openOne(collection));
  if (kept === null) return false;
  current = kept.id;
  restoring = true;
  try {
    thread.restore(kept.turns);
  } finally {
    restoring = false;
  }
  showThread(true);
  return true;
}

/** Shows another conversation. */
function change(id) {
  thread.clear();
  current = id;
  setOpen(collection, id);
  return restore();
}

/** The thread that was kept and the question of the address; once. */
function begin() {
  if (begun) return;
  begun = true;
  const restored = restore();
  if (restored && location.hash === "") history.replaceState({ conversation: current }, "", addressOf(thread.last.question));
  fromAddress();
}

const addressOf = (question) => `#${new URLSearchParams({ q: question })}`;

/** Either the thread is shown or the welcome. */
function showThread(shown) {
  byId("welcome").hidden = shown;
  byId("thread-title").hidden = !shown;
}

function pose(question, alone = false) {
  document.title = `${question} · Trivium`;
  showThread(true);
  thread.pose(question, alone);
}

/** What an address says after its #: a question (`q`), or the uri of a passage to show (`source`). */
function fromAddress() {
  const address = new URLSearchParams(location.hash.slice(1));
  const source = address.get("source") ?? "";
  if (source !== "") return void openReader(pageOf(source), source);
  const question = address.get("q") ?? "";
  if (question.trim() !== "") {
    const of = history.state?.conversation ?? current;
    if (of !== current) change(of); // of another conversation, to which one went back
    else if (thread.turns.length === 0) restore();
    const earlier = thread.find(question);
    document.title = `${question} · Trivium`;
    if (earlier === undefined) pose(question, true); // an address means the same for everybody
    else thread.reveal(earlier);
    return;
  }
  thread.clear();
  notice("");
  document.title = "Trivium";
  showThread(false);
  offerSaving();
  submit.textContent = "Ask";
  field.value = "";
  grow();
  field.focus();
}

function send() {
  if (thread.last?.state === "busy" && submit.classList.contains("stop") && field.value.trim() === "") {
    thread.last.stop();
    return;
  }
  const question = field.value.trim();
  if (question === "") return;
  field.value = "";
  grow();
  if (matchMedia("(pointer: coarse)").matches) field.blur(); // the keyboard of a phone would hide the answer
  if (thread.turns.length === 0) current = null; // from the welcome another one is begun
  current ??= newId();
  history.pushState({ conversation: current }, "", addressOf(question));
  pose(question);
}

/** As high as what is written in it. */
function grow() {
  field.style.height = "auto";
  field.style.height = `${Math.min(field.scrollHeight, 200)}px`;
}

let welcomed = 0;

/** What the collection holds, and questions to begin with. Of several at once the latest counts. */
async function welcome() {
  const mine = (welcomed += 1);
  try {
    const stats = await get("/stats");
    prepareSpeech(stats.speech, (text) => {
      field.value = text;
      grow();
      if (text.trim() !== "") send();
    });
    offerModels(stats.models);
    if (collection === null) {
      collection = stats.collection;
      if (begun) restore();
    }
    begin();
    const { documents, total } = await loadDocuments();
    if (mine !== welcomed) return;
    byId("count").textContent = total.toLocaleString("en");
    byId("facts").textContent = [
      count(total, "document"),
      count(stats.nodes.Chunk ?? 0, "passage"),
      stats.model === null ? "answers are quoted" : `answers by ${stats.model}`,
    ].join(" · ");
    suggest(documents);
    byId("start").hidden = total > 0;
    offerExamples(documents);
  } catch (error) {
    begin();
    if (mine !== welcomed) return;
    notice(plain(error), " ", button("Try again", () => notice("") ?? welcome()));
    if (error.code === "unreachable") whenBack();
  }
}

let offered = ""; // the documents from which examples are drawn

function offerExamples(documents) {
  const drawnFrom = JSON.stringify(documents);
  if (drawnFrom === offered) return; // somebody may be about to press one
  offered = drawnFrom;
  byId("try").hidden = true;
  byId("examples").replaceChildren();
  offer(examples(documents), () => drawnFrom === offered, byId("examples"), (one) => el("li", {}, one), byId("try"));
}

const example = (question) =>
  el(
    "button",
    {
      type: "button",
      class: "example",
      onclick: () => {
        field.value = question;
        send();
      },
    },
    question,
  );

/** Asks now and then whether the server is there again. */
async function whenBack() {
  for (;;) {
    await wait(2000);
    try {
      if ((await fetch("/health")).ok) break;
    } catch {
      // not yet
    }
  }
  notice("");
  welcome();
}

const typing = (target) => target instanceof HTMLTextAreaElement || (target instanceof HTMLInputElement && target.type !== "checkbox");

document.addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
  if (document.querySelector("dialog[open]") !== null) return; // Esc closes it, the rest is its own
  if (event.key === "/" && !typing(event.target)) {
    event.preventDefault();
    field.focus();
    field.select();
  } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
    if (event.target === field && field.value.includes("\n")) return;
    if (thread.step(event.key === "ArrowDown" ? 1 : -1)) event.preventDefault();
    else if (event.key === "ArrowUp" && !typing(event.target)) field.focus();
  } else if (event.key === "Escape") {
    escape(event.target);
  }
});

/** Closes one thing: the nearest. */
function escape(target) {
  if (hideCard()) return;
  if (options.open) {
    options.open = false;
    options.querySelector("summary").focus();
    return;
  }
  const why = target.closest?.(".why[open]");
  if (why) why.open = false;
  else if (typing(target)) target.blur();
}

byId("form").addEventListener("submit", (event) => {
  event.preventDefault();
  send();
});
field.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  send();
});
field.addEventListener("input", grow);
byId("skip").addEventListener("click", () => field.focus());
byId("home").addEventListener("click", (event) => {
  event.preventDefault();
  toStart();
});
byId("new-thread").addEventListener("click", () => {
  if (collection !== null) setOpen(collection, null);
  toStart();
});

/** To the welcome. The thread stays kept, so that going back leads to it, until another one is begun. */
function toStart() {
  history.pushState(null, "", location.pathname);
  fromAddress();
}

byId("save-markdown").addEventListener("click", () => download("trivium-thread.md", "text/markdown", thread.markdown(placeOf)));
byId("save-json").addEventListener("click", () => download("trivium-thread.json", "application/json", thread.json()));
byId("open-conversations").addEventListener("click", openConversations);
byId("open-documents").addEventListener("click", () => lookAround() && openDocuments());
byId("add-first").addEventListener("click", () => {
  openDocuments();
  byId("choose").focus();
});
byId("open-graph").addEventListener("click", () => openExplorer());
options.addEventListener("toggle", () => options.open && lookAround());
document.addEventListener("click", (event) => {
  if (options.open && !options.contains(event.target)) options.open = false;
});
addEventListener("popstate", fromAddress);
addEventListener("scroll", hideCard, { passive: true });
drawViews(() => thread.last?.run(thread.last.last));
prepareReader(openExplorer);
prepareDocuments(welcome);
prepareUploads();
prepareExplorer();
prepareConversations({
  collection: () => collection,
  current: () => (thread.turns.length === 0 ? null : current),
  open: (id) => {
    if (!change(id)) return;
    history.pushState({ conversation: id }, "", addressOf(thread.last.question));
    document.title = `${thread.last.question} · Trivium`;
    thread.reveal(thread.last);
  },
  deleted: (id) => id === current && (history.replaceState(null, "", location.pathname) ?? fromAddress()),
});
byId("welcome").hidden = anyOpen(); // not shown for a moment, only to make way for a thread
welcome();
setTimeout(begin, 1500); // a server that starts only now is not waited for
