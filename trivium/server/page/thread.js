// The thread: its turns in their order. The newest one's passages are open, those of earlier ones are folded.

import { labelOf } from "./answer.js";
import { byId, el, reducedMotion } from "./dom.js";
import { Turn } from "./turn.js";

const REMEMBERED = 10; // turns that a question is understood by
const LONGEST = 20000; // characters of an answer that are sent along

export class Thread {
  constructor(hooks) {
    this.hooks = hooks;
    this.turns = [];
    this.box = byId("thread");
  }

  get last() {
    return this.turns.at(-1);
  }

  /** Asks a new question below the others; `alone`: it is not understood by what was asked before. */
  pose(question, alone = false) {
    this.last?.stop();
    for (const turn of this.turns) turn.passages.box.open = false;
    const turn = this.#turn(question, alone);
    for (const earlier of this.turns) earlier.box.classList.add("earlier");
    this.turns.push(turn);
    this.box.append(turn.box);
    this.reveal(turn);
    turn.run();
    return turn;
  }

  #turn(question, alone) {
    const turn = new Turn(question, {
      history: (of) => (of.alone ? [] : this.#before(of)),
      options: this.hooks.options,
      changed: (of) => this.hooks.changed(of),
      actions: this.hooks.actions,
    });
    turn.alone = alone;
    return turn;
  }

  /** Puts turns that were kept (see `kept`) before those that are there. */
  restore(kept) {
    const turns = kept.map(({ question, alone }) => this.#turn(question, alone === true));
    this.turns = [...turns, ...this.turns];
    this.box.prepend(...turns.map(({ box }) => box));
    turns.forEach((turn, place) => {
      const newest = turn === this.last;
      turn.passages.box.open = newest;
      turn.box.classList.toggle("earlier", !newest);
      turn.restore(kept[place]);
    });
  }

  /** What can be kept of the thread: its answered turns. */
  kept() {
    return this.turns.filter(({ done }) => done !== null).map((turn) => ({ ...turn.kept(), alone: turn.alone }));
  }

  #before(turn) {
    const earlier = this.turns.slice(0, this.turns.indexOf(turn)).filter(({ done }) => done !== null);
    return earlier.slice(-REMEMBERED).map(({ question, done }) => ({
      question,
      answer: Array.from(done.answer).slice(0, LONGEST).join(""),
    }));
  }

  /** Scrolls to a turn, with its passages open. */
  reveal(turn) {
    turn.passages.box.open = true;
    turn.box.scrollIntoView({ block: "start", behavior: reducedMotion() ? "auto" : "smooth" });
  }

  find(question) {
    return this.turns.findLast((turn) => turn.question === question);
  }

  clear() {
    for (const turn of this.turns) turn.running.abort();
    this.turns = [];
    this.box.replaceChildren();
  }

  /** Puts the keyboard on the next passage of the newest turn or the one before; says whether there is one. */
  step(by) {
    const list = document.activeElement?.closest?.(".results") ?? this.last?.passages.list;
    if (!list) return false;
    const heads = [...list.querySelectorAll(".head")];
    const place = heads.indexOf(document.activeElement);
    const next = heads[place === -1 ? (by > 0 ? 0 : -1) : place + by];
    if (next === undefined) return false;
    next.focus({ preventScroll: true });
    next.scrollIntoView({ block: "nearest" });
    return true;
  }

  /** The thread as Markdown: questions, answers, and what their citations mean. */
  markdown(place) {
    const parts = this.turns
      .filter(({ done }) => done !== null)
      .map(({ question, done }) => {
        const searched = done.searched_for !== null && done.searched_for !== question ? `*Searched for: ${done.searched_for}*\n\n` : "";
        const sources = done.citations.map((citation) => `- [${citation.number}] ${place(citation)}`).join("\n");
        const warned = done.warnings.map((warning) => `\n*${warning}*\n`).join("");
        const others = (done.disagreements ?? []).map((other) => `\n*${labelOf(other)}:* ${other.text}\n`).join("");
        return `## ${question}\n\n${searched}${done.markdown ?? done.answer}\n${warned}${others}${sources === "" ? "" : `\n${sources}\n`}`;
      });
    return parts.join("\n");
  }

  /** The thread as the server gave it. */
  json() {
    const turns = this.turns.filter(({ done }) => done !== null).map(({ question, done }) => ({ question, ...done }));
    return JSON.stringify({ exported: new Date().toISOString(), turns }, null, 2);
  }
}

/** Hands a text to the reader as a file. */
export function download(name, type, text) {
  const address = URL.createObjectURL(new Blob([text], { type }));
  el("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

/** Puts a text on the clipboard; also where the browser allows that only to secure pages. */
export async function copy(text) {
  if (navigator.clipboard !== undefined) {
    await navigator.clipboard.writeText(text);
    return;
  }
  const field = el("textarea", { class: "hidden" });
  field.value = text;
  document.body.append(field);
  field.select();
  document.execCommand("copy");
  field.remove();
}
