// The API, as the page asks it.

import { byId } from "./dom.js";

const KEY = "trivium-key";

export class ApiError extends Error {
  constructor(status, code, message) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

async function send(path, options = {}) {
  for (;;) {
    const headers = new Headers(options.headers);
    const key = sessionStorage.getItem(KEY);
    if (key !== null) headers.set("X-API-Key", key);
    const answer = await fetch(path, { ...options, headers });
    if (answer.ok) return answer;
    const error = await described(answer);
    if (error.status === 401) await askForKey();
    else if (error.code === "starting") await wait(1000, options.signal);
    else throw error;
  }
}

async function described(answer) {
  try {
    const { error } = await answer.json();
    return new ApiError(answer.status, error.code, error.message);
  } catch {
    return new ApiError(answer.status, "error", `the server answered ${answer.status}`);
  }
}

let asking = null;

function askForKey() {
  // Several requests may find out at once; one question is enough.
  asking ??= new Promise((resolve, reject) => {
    const box = byId("key-box");
    const field = byId("key");
    field.value = "";
    box.returnValue = "";
    box.addEventListener(
      "close",
      () => {
        asking = null;
        if (box.returnValue === "") reject(new ApiError(401, "unauthorized", "this server asks for an API key"));
        else {
          sessionStorage.setItem(KEY, field.value);
          resolve();
        }
      },
      { once: true },
    );
    box.showModal();
  });
  return asking;
}

function wait(milliseconds, signal) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, milliseconds);
    signal?.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });
}

const json = (body, signal) => ({
  method: "POST",
  headers: { "Content-Type": "application/json" },
  body: JSON.stringify(body),
  signal,
});

export async function search(given, signal) {
  return (await (await send("/search", json(given, signal))).json()).hits;
}

export async function explain(given, signal) {
  return (await send("/explain", json(given, signal))).json();
}

export async function get(path, signal) {
  return (await send(path, { signal })).json();
}

/** What an image shows: its address; where a key is needed, which images do not send, the picture itself. */
export async function pictureSource(address) {
  if (sessionStorage.getItem(KEY) === null) return address;
  return URL.createObjectURL(await (await send(address)).blob());
}

const documents = new Map();

/** A document with its sections and passages; asked for once. */
export function readDocument(page) {
  if (!documents.has(page)) {
    const asked = get(`/documents/${encodeURIComponent(page)}`);
    asked.catch(() => documents.delete(page));
    documents.set(page, asked);
  }
  return documents.get(page);
}

export const neighbours = (entity, signal) => get(`/entities/${encodeURIComponent(entity)}/neighbours`, signal);

/** Calls `on[event](data)` for every event of an answer being written. */
export async function ask(given, on, signal) {
  const answer = await send("/ask", json({ ...given, stream: true }, signal));
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    rest += value;
    const blocks = rest.split("\n\n");
    rest = blocks.pop();
    for (const block of blocks) {
      const name = /^event: (.*)$/m.exec(block)?.[1];
      const data = /^data: (.*)$/m.exec(block)?.[1];
      if (name !== undefined && data !== undefined) on[name]?.(JSON.parse(data));
    }
  }
}
