// One turn of the thread: a question, what was searched for, the answer and its passages, which always belong together.

import { ask, explain, plain, search } from "./api.js";
import { AnswerView } from "./answer.js";
import { announce, button, el, tell } from "./dom.js";
import { PassagesView } from "./passages.js";
import { openReader } from "./reader.js";
import { termsOf } from "./text.js";

const SHOWN = 6; // what an answer is made from
const MORE = 20;
const SLOW = 6000; // milliseconds after which one is told that it takes long
const UNSEARCHED = { small_talk: "Taken for small talk: nothing was searched for.", conversation: "About this conversation: nothing was searched for." };

let numbered = 0;

export class Turn {
  /** `hooks.history()` are the turns before, `hooks.options()` how to search, `hooks.changed()` is told of a new state, and
   * `hooks.actions(turn)` are buttons for a whole answer. */
  constructor(question, hooks) {
    this.question = question;
    this.hooks = hooks;
    this.done = null;
    this.state = "new";
    this.running = new AbortController();
    const id = `turn-${(numbered += 1)}`;
    this.answer = new AnswerView((citation, hit) => this.#openCitation(citation, hit));
    this.passages = new PassagesView();
    this.searched = el("p", { class: "searched", hidden: true });
    this.title = el("h2", { id, tabindex: "-1" }, question);
    this.actions = el("div", { class: "actions", hidden: true });
    this.more = button("More passages", () => this.#showMore(), { class: "quiet more", hidden: true });
    this.passages.box.append(this.more);
    this.passages.box.addEventListener("toggle", () => this.#explainOnce());
    this.next = el("div", { class: "next", hidden: true });
    this.answer.box.append(this.actions);
    this.box = el(
      "article",
      { class: "turn", "aria-labelledby": id },
      el("header", {}, this.title, this.searched),
      el("div", { class: "turn-body" }, el("div", { class: "said" }, this.answer.box, this.next), this.passages.box),
    );
  }

  /** Asks, or asks anew: `rewrite` false for the words as they are, `intent` where it is not to be guessed. */
  async run({ rewrite = true, intent = undefined } = {}) {
    this.running.abort();
    this.running = new AbortController();
    this.last = { rewrite, intent };
    const { signal } = this.running;
    const options = this.hooks.options();
    const given = { question: this.question, history: this.hooks.history(this), rewrite, ...(intent ? { intent } : {}), ...options };
    this.#become("busy");
    this.found = null;
    this.searching = {};
    this.unexplained = false;
    this.actions.hidden = true;
    this.next.hidden = true;
    this.more.hidden = true;
    this.answer.begin();
    let first = true;
    let whole = null;
    const slow = setTimeout(() => this.answer.say("Still at it: the server is busy. You can wait, or stop it and try again later."), SLOW);
    try {
      await ask(
        { k: SHOWN, ...given },
        {
          found: (found) => this.#showFound(found, options, signal),
          waiting: () => this.answer.say("The server is starting …"),
          piece: ({ text }) => {
            clearTimeout(slow);
            this.answer.add(text, first);
            first = false;
          },
          done: (done) => {
            whole = done;
          },
        },
        signal,
      );
      if (signal.aborted) return;
      this.#showDone(whole);
      announce(`Answer: ${whole.answer}`);
    } catch (error) {
      if (!signal.aborted) this.#fail(error);
    } finally {
      clearTimeout(slow);
    }
  }

  /** Shows what was asked and answered before; the reasons of its passages are asked for when these are looked at. */
  restore({ done, given, last }) {
    this.last = last;
    this.given = given;
    if (given !== undefined) this.passages.show(done.passages, given);
    this.#showSearched(done.searched_for, done.recall_query);
    this.unexplained = given !== undefined;
    this.#showDone(done);
    this.#explainOnce();
  }

  /** As `restore` takes it. */
  kept() {
    return { question: this.question, done: this.done, given: this.done.searched_for === null ? undefined : this.given, last: this.last };
  }

  #explainOnce() {
    if (!this.unexplained || !this.passages.box.open) return;
    this.unexplained = false;
    this.#explain({ ...this.given, explain: true }, this.running.signal);
  }

  /** Ends what is under way; what was written stays. */
  stop() {
    if (this.state !== "busy") return;
    this.running.abort();
    this.#become("failed");
    this.answer.fail("Stopped.", () => this.run(this.last));
  }

  #become(state) {
    this.state = state;
    this.box.dataset.state = state;
    this.box.classList.toggle("has-passages", !this.passages.box.hidden);
    this.hooks.changed(this);
  }

  #showFound({ passages, searched_for: searched, recall_query: recall }, options, signal) {
    this.found = { passages, searched };
    this.#showSearched(searched, recall);
    if (searched === null) {
      this.passages.hide();
      this.#become("busy");
      return;
    }
    const { retrievers, where, sources, rerank, cut, k = SHOWN } = options;
    this.given = {
      question: searched,
      k,
      ...(recall ? { recall_query: recall } : {}),
      ...(retrievers ? { retrievers } : {}),
      ...(where ? { where } : {}),
    };
    // What a search takes and an explanation does not.
    this.searching = Object.fromEntries(Object.entries({ sources, rerank, cut }).filter(([, value]) => value !== undefined));
    this.passages.show(passages, this.given);
    this.box.dataset.fresh = "true"; // they are those of this question: no longer dimmed
    this.answer.say("Reading the passages …");
    this.#become("busy");
    this.#explain({ ...this.given, ...this.searching, explain: true }, signal);
  }

  async #explain(given, signal) {
    try {
      const hits = await search(given, signal);
      if (!signal.aborted) this.passages.explainAll(hits);
    } catch {
      // The passages are there; only their reasons are missing, and asking for one says why.
    }
  }

  /** What was searched for in place of the question; `recall` are other words by which passages were looked for, too. */
  #showSearched(searched, recall) {
    const other = recall === null || recall === undefined ? [] : [" and, to find more, for ", el("q", {}, recall)];
    this.searched.hidden = searched === null || (searched === this.question && other.length === 0);
    if (this.searched.hidden) return;
    this.searched.replaceChildren(
      "Searched for ",
      el("q", {}, searched),
      ...other,
      " ",
      button("Search as asked", () => this.run({ rewrite: false })),
    );
  }

  #showDone(done) {
    this.done = done;
    delete this.box.dataset.fresh;
    this.box.dataset.outcome = done.searched_for === null ? "talk" : done.outcome;
    this.answer.show(done);
    this.passages.cite(done.citations);
    if (done.outcome === "absent" && done.searched_for !== null) this.passages.name("Nearest passages");
    if (done.searched_for === null) {
      this.searched.hidden = false;
      this.searched.replaceChildren(
        UNSEARCHED[done.intent] ?? "Nothing was searched for.",
        " ",
        button("Search the collection", () => this.run({ intent: "collection" })),
      );
    }
    const asked = this.given?.k ?? SHOWN;
    this.more.hidden = done.searched_for === null || done.passages.length < asked || asked >= MORE;
    this.actions.replaceChildren(...this.hooks.actions(this));
    this.actions.hidden = false;
    this.#become("done");
  }

  #fail(error) {
    // Passages that were found need no answer; those of an attempt before stay dimmed.
    const words = plain(error);
    this.answer.fail(words, () => this.run(this.last));
    if (this.found === null && this.done === null) this.passages.hide();
    this.#become("failed");
    announce(words);
  }

  async #showMore() {
    const given = { ...this.given, k: MORE };
    this.more.disabled = true;
    try {
      const hits = await search({ ...given, ...this.searching, explain: true }, this.running.signal);
      this.passages.show(hits, given);
      this.passages.explainAll(hits);
      this.passages.cite(this.done.citations);
      this.more.hidden = true;
    } catch (error) {
      if (!this.running.signal.aborted) tell(plain(error));
    } finally {
      this.more.disabled = false;
    }
  }

  #openCitation(citation, hit) {
    const address = (citation.live ?? hit?.live)?.address;
    if (address !== undefined && /^https?:\/\//.test(address)) window.open(address, "_blank", "noopener");
    else openReader(citation.page, citation.uri, termsOf(this.done?.searched_for ?? this.question));
  }

  /** The ways through the graph to what the answer cites, in one drawing. */
  async paths() {
    const uris = [...new Set(this.done.citations.map((citation) => citation.uri))].slice(0, 4);
    const whys = await Promise.all(uris.map((uri) => explain({ ...this.given, uri })));
    return whys.map((why) => why.graph);
  }
}
