// Questions to begin with, drawn from what is in the collection.

import { readDocument } from "./api.js";

const READ = 4; // documents whose sections are looked at
const PLAIN_TITLE = /^[\p{L}\p{N}][\p{L}\p{N} '’.\-()&,]{1,60}$/u;
const DULL =
  /^(introduction|overview|summary|contents|references|see also|external links|notes|further reading|bibliography|sources|conclusions?|appendix|abstract|index|faq|main|\d.*)$/i;

/** Documents of the list that are spread over it: the same ones each time, so that people find them again. */
function spread(documents, number) {
  const fit = documents.filter(({ title }) => PLAIN_TITLE.test(title));
  const step = Math.max(1, Math.floor(fit.length / number));
  return fit.filter((_, place) => place % step === 0).slice(0, number);
}

/** Up to six questions. */
export async function examples(documents) {
  const chosen = spread(documents, 2 * READ);
  const read = await Promise.allSettled(chosen.slice(0, READ).map(({ uri }) => readDocument(uri)));
  const ofSections = read
    .filter(({ status }) => status === "fulfilled")
    .map(({ value }) => ofSection(value))
    .filter((question) => question !== null);
  const ofTitles = chosen.slice(READ).map(({ title }) => `Tell me about ${bare(title)}.`);
  return [...new Set(interleaved(ofSections, ofTitles))].slice(0, 6);
}

/** A title without what tells it from others of its name. */
const bare = (title) => title.replace(/ \([^)]*\)$/, "");

/** Headings that fit after "about the". */
const NAMES_A_THING = /^(?!(?:At|In|On|From|To|For|How|Why|What|When|Where|Who|With|By)\b|\p{Lu}\p{Ll}*ing\b)\p{Lu}\p{Ll}+(?: \p{Ll}+){0,3}$/u;

function ofSection({ title, sections, passages }) {
  const full = new Set(passages.map((passage) => passage.section));
  const heads = sections.filter(({ uri }) => full.has(uri)).map(({ headings }) => headings.at(-1));
  const thing = heads.find((head) => NAMES_A_THING.test(head) && !DULL.test(head));
  if (thing !== undefined) return `Tell me about the ${thing[0].toLowerCase()}${thing.slice(1)} of ${bare(title)}.`;
  const any = heads.find((head) => PLAIN_TITLE.test(head) && !DULL.test(head));
  return any === undefined ? `Tell me about ${bare(title)}.` : `What does ${bare(title)} say about “${any}”?`;
}

function interleaved(first, second) {
  return first.flatMap((value, place) => [value, second[place]]).concat(second.slice(first.length)).filter((value) => value !== undefined);
}
