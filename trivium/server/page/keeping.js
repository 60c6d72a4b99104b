// The thread of each collection, kept in the browser: it is there again when the page is opened, until a new one is begun.

import { hasKey } from "./api.js";
import { local, session } from "./storage.js";

const PREFIX = "trivium-thread-";
const VERSION = 1;
const TURNS = 30;
const CHARACTERS = 1_000_000;
const COLLECTIONS = 5;

// What was answered with a key is not kept longer than the key.
const place = () => (hasKey() ? session : local);

/** The turns kept of a collection, oldest first: {question, done, given, last}. */
export function keptTurns(collection) {
  try {
    const { version, turns } = JSON.parse(place().get(PREFIX + collection) ?? "{}");
    return version === VERSION ? turns.filter(isWhole) : [];
  } catch {
    return [];
  }
}

const isWhole = (turn) =>
  typeof turn?.question === "string" &&
  typeof turn.done?.answer === "string" &&
  [turn.done.citations, turn.done.statements, turn.done.passages].every(Array.isArray);

/** Whether there may be a thread: of some collection there is one. */
export const anyKept = () => [...local.keys(), ...session.keys()].some((key) => key.startsWith(PREFIX));

/** Keeps the newest turns that fit; says for how long, for people. */
export function keepTurns(collection, turns) {
  const parts = [];
  let room = CHARACTERS;
  for (const turn of turns.slice(-TURNS).reverse()) {
    const part = JSON.stringify(turn);
    room -= part.length;
    if (room < 0) break;
    parts.unshift(part);
  }
  const written = () => `{"version":${VERSION},"saved":${Date.now()},"turns":[${parts.join(",")}]}`;
  while (parts.length > 0 && !place().set(PREFIX + collection, written())) parts.shift(); // there is no room for all
  if (parts.length === 0) {
    forgetTurns(collection);
    return "This browser keeps nothing: the conversation ends with this page.";
  }
  forgetOldest(PREFIX + collection);
  return hasKey() ? "Kept until this tab is closed." : "Kept in this browser until you begin a new conversation.";
}

export function forgetTurns(collection) {
  local.remove(PREFIX + collection);
  session.remove(PREFIX + collection);
}

function forgetOldest(own) {
  const saved = (key) => Number(/"saved":(\d+)/.exec(local.get(key) ?? "")?.[1] ?? 0);
  const keys = local.keys().filter((key) => key.startsWith(PREFIX) && key !== own);
  for (const key of keys.sort((a, b) => saved(b) - saved(a)).slice(COLLECTIONS - 1)) local.remove(key);
}
