// Why a passage is here, in words first: what spoke for it most.

import { headings } from "./dom.js";
import { relation } from "./graph.js";

const MOST = 3;
const SMALLEST = 0.12; // of all that speaks for it
const NUMBERS = ["no", "one", "two", "three", "four", "five", "six"];

/** A sentence such as "Its words match; near in meaning; two links from Mars.", empty where nothing is known. */
export function inWords(contributions, provenance, named = []) {
  const parts = Object.entries(contributions)
    .filter(([, value]) => value > 0)
    .sort((a, b) => b[1] - a[1]);
  const all = parts.reduce((sum, [, value]) => sum + value, 0);
  if (Object.keys(contributions).length === 0) return "";
  const reasons = parts
    .filter(([, value]) => value >= SMALLEST * all)
    .map(([name]) => reason(name, provenance, named))
    .filter((words) => words !== "");
  const said = [...new Set(reasons)].slice(0, MOST).join("; ");
  return said === "" ? "Nothing speaks strongly for it." : `${said[0].toUpperCase()}${said.slice(1)}.`;
}

/** Why one view found it; empty if that would mean nothing to people. */
export function reason(name, provenance, named = []) {
  const source = provenance[name];
  const title = source === undefined || source === "" ? "" : headings(source).at(-1);
  switch (name) {
    case "lexical":
      return "its words match";
    case "vector":
      return "near in meaning";
    case "page":
      return named.length > 0 ? `the question names ${named.join(", ")}` : "its document is about this";
    case "section":
      return title === "" ? "its section is about this" : `its section “${title}” is about this`;
    case "entity":
      return title === "" ? "it speaks of what is asked about" : `it speaks of ${title}`;
    case "path":
      return alongPath(source ?? "");
    case "diffusion":
      return "like the other good passages";
    case "walk":
      return linksOf(provenance.path ?? "") > 0 ? alongPath(provenance.path) : "links lead to it";
    case "image":
      return "its picture is alike";
    default:
      return `found by ${name}`;
  }
}

const STEP = / -\[(.*?)\]-> /g;
const linksOf = (path) => (path.match(STEP) ?? []).length;

/** `A -[relation]-> B` is for people: it is only counted here, and its first name taken. */
function alongPath(source) {
  if (source === "") return "";
  const steps = source.match(STEP) ?? [];
  const start = headings(source.split(" -[")[0]).join(" › ");
  if (steps.length === 0) return `about ${start}`;
  if (steps.length === 1) return `one link (${relation(steps[0].slice(3, -4))}) from ${start}`;
  return `${NUMBERS[steps.length] ?? steps.length} links from ${start}`;
}

const SURE = 0.8;
const LIKELY = 0.5;
const UNLIKELY = 0.05;
const word = (probability) => (probability >= SURE ? "sure" : probability >= LIKELY ? "likely" : "maybe");

/** How sure an answer is, in a word and as a number, which is too low below one half. */
export function sure(confidence) {
  const said = word(confidence);
  return `How sure: ${said}${said === "maybe" ? "" : ` (${percent(confidence)})`}.`;
}

/** In a word for each passage, how likely it answers; where none is but several are together, these share the answer. */
export function wordsFor(probabilities) {
  const together = [];
  let total = 0;
  const bestFirst = probabilities.map((_, place) => place).sort((a, b) => probabilities[b] - probabilities[a]);
  for (const place of bestFirst) {
    if (total >= LIKELY || probabilities[place] < UNLIKELY) break;
    together.push(place);
    total += probabilities[place];
  }
  const shared = total >= LIKELY && together.length > 1 ? together : [];
  return probabilities.map((one, place) => (shared.includes(place) ? "one of these" : one < UNLIKELY ? "unlikely" : word(one)));
}

/** A probability as a percentage. */
export function percent(probability) {
  if (probability < 0.01) return "< 1 %";
  return probability > 0.99 ? "> 99 %" : `${Math.round(100 * probability)} %`;
}
