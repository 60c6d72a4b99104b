// Adding documents: files are dropped anywhere or chosen; each says how far it is, and what failed and why.

import { finished, plain, upload } from "./api.js";
import { announce, button, byId, count, el } from "./dom.js";
import { documentsChanged, openDocuments } from "./documents.js";

const TOGETHER = 5; // up to as many files are changes of their own; more travel in one
const AT_ONCE = 100; // files of one change
/** What the server calls what it is doing. */
const STAGES = {
  parse: "reading",
  records: "reading",
  embed: "comparing meanings",
  sentences: "comparing meanings",
  pictures: "looking at pictures",
  index: "indexing",
};
const list = byId("uploads");

export function prepareUploads() {
  const field = byId("files");
  byId("choose").addEventListener("click", () => field.click());
  field.addEventListener("change", () => {
    add([...field.files]);
    field.value = "";
  });
  const veil = byId("drop");
  const holds = (event) => event.dataTransfer?.types.includes("Files") ?? false;
  let inside = 0;
  addEventListener("dragenter", (event) => {
    if (!holds(event)) return;
    inside += 1;
    veil.hidden = false;
  });
  addEventListener("dragleave", (event) => {
    if (holds(event)) inside = Math.max(0, inside - 1);
    veil.hidden = inside === 0;
  });
  addEventListener("dragover", (event) => {
    if (holds(event)) event.preventDefault();
  });
  addEventListener("drop", (event) => {
    inside = 0;
    veil.hidden = true;
    if (!holds(event)) return;
    event.preventDefault();
    openDocuments();
    add([...event.dataTransfer.files]);
  });
  // A dialog that is shown lies above everything else, also above the veil.
}

/** Adds files, one change after the other, each with a line in the list. */
async function add(files) {
  if (files.length === 0) return;
  const size = files.length <= TOGETHER ? 1 : AT_ONCE;
  const batches = [];
  for (let from = 0; from < files.length; from += size) batches.push(files.slice(from, from + size));
  const lines = batches.map((batch) => line(batch));
  list.prepend(...lines.map(({ item }) => item));
  let worked = false;
  for (const one of lines) worked = (await one.send()) || worked;
  if (worked) await documentsChanged();
}

/** A line of the list and what carries it out; sent again where that may help. */
function line(batch) {
  const name = batch.length === 1 ? batch[0].name : `${count(batch.length, "file")}: ${batch[0].name} …`;
  const bar = el("progress", { max: "1", value: "0", "aria-label": `Progress of ${name}` });
  const state = el("span", { class: "state" }, "waiting");
  const problems = el("ul", { class: "problems", hidden: true });
  const item = el("li", { class: "upload" }, el("span", { class: "name" }, name), state, bar, problems);
  const say = (kind, words) => {
    item.dataset.state = kind;
    state.replaceChildren(words);
  };
  const send = async () => {
    bar.hidden = false;
    problems.hidden = true;
    try {
      say("sending", "sending");
      const job = await upload(batch, (share) => {
        bar.value = share / 2;
        if (share === 1) state.textContent = "sent";
      });
      const ended = await finished(job, (seen) => {
        bar.value = 0.5 + (seen.total > 0 ? (0.5 * seen.done) / seen.total : 0);
        say("working", seen.state === "queued" ? "waiting for other changes" : `${STAGES[seen.stage] ?? "reading"} …`);
      });
      return settle(ended, batch, { say, problems, bar });
    } catch (error) {
      bar.hidden = true;
      say("failed", plain(error));
      state.append(" ", button("Try again", async () => (await send()) && documentsChanged()));
      announce(`${name}: ${plain(error)}`);
      return false;
    }
  };
  return { item, send };
}

/** Says what came of a change. Says whether documents have changed. */
function settle(job, batch, { say, problems, bar }) {
  bar.hidden = true;
  const report = job.report ?? {};
  const failed = report.problems ?? [];
  const incomplete = report.incomplete ?? [];
  const done = [
    [report.added, "added"],
    [report.replaced, "replaced"],
    [report.unchanged, "already there"],
  ]
    .filter(([number]) => number > 0)
    .map(([number, what]) => (batch.length === 1 && number === 1 ? what : `${number} ${what}`));
  const worked = job.state === "done" && (done.length > 0 || failed.length === 0);
  if (failed.length > 0) done.push(batch.length === 1 ? "could not be read" : `${failed.length} could not be read`);
  if (incomplete.length > 0) done.push(batch.length === 1 ? "without some parts" : `${incomplete.length} without some parts`);
  const words = failed.length === 0 && job.error !== null ? job.error.message : done.join(", ") || "nothing new";
  const told = [...failed, ...incomplete];
  say(worked ? (told.length > 0 ? "partly" : "done") : "failed", words);
  problems.replaceChildren(...told.map(({ location, reason }) => el("li", {}, el("b", {}, location), `: ${reason}`)));
  problems.hidden = told.length === 0;
  announce(`${batch[0].name}: ${words}`);
  return worked;
}
