// The page: a thread of questions and answers, and beside it the documents and the graph.

import { hideCard } from "./answer.js";
import { get, plain, wait } from "./api.js";
import { announce, button, byId, count, el, pageOf, placeOf, tell } from "./dom.js";
import { loadDocuments, openDocuments, prepareDocuments } from "./documents.js";
import { examples } from "./examples.js";
import { explorePaths, openExplorer, prepareExplorer, suggest } from "./explorer.js";
import { openReader, prepareReader } from "./reader.js";
import { anyKept, forgetTurns, keepTurns, keptTurns } from "./keeping.js";
import { listenButton, prepareSpeech } from "./speech.js";
import { Thread, copy, download } from "./thread.js";
import { prepareUploads } from "./uploads.js";
import { drawViews, lookForLive, offerModels, searchOptions } from "./views.js";

const field = byId("question");
const submit = byId("ask");
const menu = byId("menu");
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
    cites ? button("Show in the graph", () => turn.paths().then(explorePaths, (error) => tell(plain(error)))) : null,
  ].filter((one) => one !== null);
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
  byId("thread-menu").hidden = !thread.turns.some(({ done }) => done !== null);
  if (turn.state !== "done" || restoring) return;
  notice("");
  if (collection !== null) byId("kept-note").textContent = keepTurns(collection, thread.kept());
}

let collection = null; // a name of what the server holds, once it is known
let restoring = false;
let begun = false;

/** Shows the thread that was kept, before what is there already. */
function restore() {
  const kept = collection === null ? [] : keptTurns(collection);
  if (kept.length === 0) return false;
  restoring = true;
  try {
    thread.restore(kept);
  } finally {
    restoring = false;
  }
  byId("kept-note").textContent = keepTurns(collection, thread.kept());
  showThread(true);
  return true;
}

/** The thread that was kept and the question of the address; once. */
function begin() {
  if (begun) return;
  begun = true;
  const restored = restore();
  if (restored && location.hash === "") history.replaceState(null, "", addressOf(thread.last.question));
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
    if (thread.turns.length === 0) restore();
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
  byId("thread-menu").hidden = true;
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
  history.pushState(null, "", addressOf(question));
  pose(question);
}

/** As high as what is written in it. */
function grow() {
  field.style.height = "auto";
  field.style.height = `${Math.min(field.scrollHeight, 200)}px`;
}

let welcomed = 0;
let offered = "";

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
    byId("try").hidden = total === 0;
    const questions = await examples(documents);
    // Drawn anew only where they are others: somebody may be about to press one.
    if (mine !== welcomed || questions.join("\n") === offered) return;
    offered = questions.join("\n");
    byId("examples").replaceChildren(...questions.map((question) => el("li", {}, example(question))));
  } catch (error) {
    begin();
    if (mine !== welcomed) return;
    notice(plain(error), " ", button("Try again", () => notice("") ?? welcome()));
    if (error.code === "unreachable") whenBack();
  }
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
  const open = [menu, options].find((box) => box.open);
  if (hideCard()) return;
  if (open !== undefined) {
    open.open = false;
    open.querySelector("summary").focus();
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
  if (collection !== null) forgetTurns(collection);
  toStart();
});

/** To the welcome. The thread stays kept, so that going back leads to it, until another one is begun. */
function toStart() {
  menu.open = false;
  history.pushState(null, "", location.pathname);
  fromAddress();
}

byId("save-markdown").addEventListener("click", () => {
  menu.open = false;
  download("trivium-thread.md", "text/markdown", thread.markdown(placeOf));
});
byId("save-json").addEventListener("click", () => {
  menu.open = false;
  download("trivium-thread.json", "application/json", thread.json());
});
byId("open-documents").addEventListener("click", openDocuments);
byId("add-first").addEventListener("click", () => {
  openDocuments();
  byId("choose").focus();
});
byId("open-graph").addEventListener("click", () => openExplorer());
options.addEventListener("toggle", () => options.open && lookForLive());
document.addEventListener("click", (event) => {
  for (const box of [menu, options]) if (box.open && !box.contains(event.target)) box.open = false;
});
addEventListener("popstate", fromAddress);
addEventListener("scroll", hideCard, { passive: true });
drawViews(() => thread.last?.run(thread.last.last));
prepareReader(openExplorer);
prepareDocuments(welcome);
prepareUploads();
prepareExplorer();
byId("welcome").hidden = anyKept(); // not shown for a moment, only to make way for a thread
welcome();
setTimeout(begin, 1500); // a server that starts only now is not waited for
