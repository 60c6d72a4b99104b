// Questions to begin with and to go on with: drawn from headings and definitions, and tried before they are offered.

import { readDocument, wholeAnswer } from "./api.js";
import { Text, bodyOf } from "./dom.js";

const EXAMPLES = 4;
const DOCUMENTS = 4; // that are looked at for examples
const NEXT = 3;
const TRIES = 2; // for each document
const LOOKED = 60; // passages of a document that may define something
const PLAIN_TITLE = /^[\p{L}\p{N}][\p{L}\p{N} '’.\-()&,]{1,60}$/u;
const DULL =
  /^(introduction|overview|summary|contents|references|see also|external links|notes|further reading|bibliography|sources|conclusions?|appendix|abstract|index|faq|main|\d.*)$/i;
/** Headings that fit after "about the". */
const NAMES_A_THING =
  /^(?!(?:At|In|On|From|To|For|How|Why|What|When|Where|Who|With|By)\b|\p{Lu}\p{Ll}*ing\b)\p{Lu}\p{Ll}+(?: \p{Ll}+){0,3}$/u;
const DEFINES = /^(An? |The |(?=\p{Lu}))([\p{L}\p{N}-]+(?: \p{Ll}[\p{L}\p{N}-]*){0,3}) (is|are) (?:an?|the|one) /u;
const POINTS =
  /^(?:The|An?|This|These|That|Those|It|They|There|Here|He|She|We|You|I|What|Which|Each|All|One|If|When|In|On|At|By|For|From|To|With|Of|Under|Over|Among|Between|After|Before|During|Since|As|But|And|Or|So|Not|Only|Now)\b/;

/** Documents of the list that are spread over it: the same ones each time, so that people find them again. */
function spread(documents) {
  const plain = documents.filter(({ title }) => PLAIN_TITLE.test(title));
  const words = plain.filter(({ title }) => !/\d/.test(title)); // a number is rather part of a file's name
  const fit = words.length < DOCUMENTS ? plain : words;
  const step = Math.max(1, Math.floor(fit.length / DOCUMENTS));
  return fit.filter((_, place) => place % step === 0).slice(0, DOCUMENTS);
}

/** Yields up to four questions to begin with. */
export async function* examples(documents) {
  let found = 0;
  for (const { uri } of spread(documents)) {
    for await (const question of tried(uri, new Set(), 1)) {
      yield question;
      if ((found += 1) === EXAMPLES) return;
    }
  }
}

/** Yields up to three questions that lead on from an answer: about other sections of what it cites and of what was found. */
export async function* nextQuestions(done, asked, signal) {
  const seen = new Set(done.citations.map(({ section }) => section));
  const known = new Set(asked);
  let found = 0;
  const pages = new Set([...done.citations, ...done.passages].filter(({ live }) => !live).map(({ page }) => page));
  for (const page of [...pages].slice(0, NEXT)) {
    for await (const question of tried(page, seen, pages.size === 1 ? NEXT : TRIES, signal)) {
      if (known.has(question)) continue;
      known.add(question);
      yield question;
      if ((found += 1) === NEXT) return;
    }
  }
}

/** Yields questions about a document that the collection answers from it, at most `most`, none about the sections `seen`. */
async function* tried(page, seen, most, signal) {
  let found = 0;
  const candidates = [...questionsOf(await readDocument(page))].filter(({ section }) => !seen.has(section));
  for (const { question } of candidates.slice(0, most + TRIES - 1)) {
    // Quoted, by itself, without asking a language model.
    const { outcome, citations } = await wholeAnswer({ question, model: "none", rewrite: false }, signal);
    if (outcome !== "answered" || !citations.some((citation) => citation.page === page)) continue;
    yield question;
    if ((found += 1) === most) return;
  }
}

/** A title without what tells it from others of its name. */
const bare = (title) => title.replace(/ \([^)]*\)$/, "");

/** Yields {question, section}: what is defined, what sections are about, the whole. */
function* questionsOf({ uri, title, text, sections, passages }) {
  const written = new Text(text);
  for (const { start, end, section, kind } of passages.slice(0, LOOKED)) {
    if (kind !== "paragraph") continue;
    const [, article, thing, verb] = DEFINES.exec(bodyOf(written.slice(start, end), section)) ?? [];
    if (thing === undefined || POINTS.test(thing)) continue;
    yield { question: `What ${verb} ${article.toLowerCase()}${thing}?`, section };
  }
  const full = new Set(passages.map((passage) => passage.section));
  for (const section of sections.filter((one) => full.has(one.uri))) {
    const head = section.headings.at(-1).replace(/^The (.)/, (_, first) => first.toUpperCase());
    if (DULL.test(head)) continue;
    if (head.endsWith("?")) yield { question: head, section: section.uri };
    else if (NAMES_A_THING.test(head)) {
      yield { question: `Tell me about the ${head[0].toLowerCase()}${head.slice(1)} of ${bare(title)}.`, section: section.uri };
    } else if (PLAIN_TITLE.test(head)) yield { question: `What does ${bare(title)} say about “${head}”?`, section: section.uri };
  }
  yield { question: `Tell me about ${bare(title)}.`, section: uri };
}
