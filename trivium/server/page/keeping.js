// The conversations with each collection, kept in the browser until they are deleted.

import { hasKey } from "./api.js";
import { local, session } from "./storage.js";

const PREFIX = "trivium-thread-";
const OPEN = "trivium-open-";
const VERSION = 2;
const TURNS = 30;
const CHARACTERS = 1_000_000; // of one conversation
const TOGETHER = 3_000_000; // of all
const CONVERSATIONS = 100;

// What was answered with a key is not kept longer than the key.
const place = () => (hasKey() ? session : local);
const keyOf = (collection, id) => `${PREFIX}${collection}-${id}`;

const isWhole = (turn) =>
  typeof turn?.question === "string" &&
  typeof turn.done?.answer === "string" &&
  [turn.done.citations, turn.done.statements, turn.done.passages].every(Array.isArray);

/** A conversation: {id, name, saved, turns}, its turns oldest first ({question, done, given, last}); null for none. */
export function conversation(collection, id) {
  try {
    const { version, saved, name, turns } = JSON.parse(place().get(keyOf(collection, id)));
    const whole = version === VERSION ? turns.filter(isWhole) : [];
    return whole.length === 0 ? null : { id, name: name || whole[0].question, saved, turns: whole };
  } catch {
    return null;
  }
}

/** All conversations with a collection, the newest first. */
export function conversations(collection) {
  const prefix = keyOf(collection, "");
  const ids = place().keys().filter((key) => key.startsWith(prefix)).map((key) => key.slice(prefix.length));
  return ids.map((id) => conversation(collection, id)).filter((one) => one !== null).sort((a, b) => b.saved - a.saved);
}

// crypto.randomUUID() is not there where a page comes over plain HTTP.
export const newId = () => `${Date.now().toString(36)}${Math.random().toString(36).slice(2, 8)}`;

/** Which one is shown when the page is opened; null for none. */
export const openOne = (collection) => place().get(OPEN + collection);
export const setOpen = (collection, id) => (id === null ? place().remove(OPEN + collection) : place().set(OPEN + collection, id));

/** Whether some conversation may be open: then the welcome need not be shown for a moment. */
export const anyOpen = () => [...local.keys(), ...session.keys()].some((key) => key.startsWith(OPEN));

export const lasting = () => (hasKey() ? "Kept until this tab is closed." : "Kept in this browser until you delete them.");

/** Keeps the newest turns that fit; says for how long, for people. Where there is no room the oldest conversations go. */
export function keep(collection, id, turns, name = conversation(collection, id)?.name ?? "") {
  const key = keyOf(collection, id);
  const parts = [];
  let room = CHARACTERS;
  for (const turn of turns.slice(-TURNS).reverse()) {
    const part = JSON.stringify(turn);
    room -= part.length;
    if (room < 0) break;
    parts.unshift(part);
  }
  const head = `{"version":${VERSION},"saved":${Date.now()},"name":${JSON.stringify(name)},"turns":[`;
  while (parts.length > 0 && !place().set(key, `${head}${parts.join(",")}]}`)) if (!forgetOldest(key)) parts.shift();
  if (parts.length === 0) {
    forget(collection, id);
    return "This browser keeps nothing: the conversation ends with this page.";
  }
  while (isTooMuch()) if (!forgetOldest(key)) break;
  setOpen(collection, id);
  return lasting();
}

export function forget(collection, id) {
  place().remove(keyOf(collection, id));
  if (openOne(collection) === id) setOpen(collection, null);
}

const keys = () => place().keys().filter((key) => key.startsWith(PREFIX));
const isTooMuch = () => keys().length > CONVERSATIONS || keys().reduce((sum, key) => sum + place().get(key).length, 0) > TOGETHER;

/** Says whether there was another one than `own`. */
function forgetOldest(own) {
  const saved = (key) => Number(/"saved":(\d+)/.exec(place().get(key) ?? "")?.[1] ?? 0);
  const [oldest] = keys().filter((key) => key !== own).sort((a, b) => saved(a) - saved(b));
  if (oldest !== undefined) place().remove(oldest);
  return oldest !== undefined;
}
