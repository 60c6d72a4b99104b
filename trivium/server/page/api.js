// The API, as the page asks it.

import { byId } from "./dom.js";
import { session } from "./storage.js";

const KEY = "trivium-key";

/** Whether this server has been sent a key. */
export const hasKey = () => session.get(KEY) !== null;

export class ApiError extends Error {
  constructor(status, code, message, seconds = null) {
    super(message);
    this.status = status;
    this.code = code;
    this.seconds = seconds; // after which to try again
  }
}

const PLAIN = {
  unreachable: "The server cannot be reached. It may have been stopped, or the connection is down.",
  cut: "The connection broke off before the answer was complete.",
  busy: "The server is busy: too many questions are waiting.",
  timeout: "This took the server too long.",
  too_many_requests: "That was more than this server allows in a minute.",
  empty: "Nothing can be found yet: the collection is empty, or still being prepared.",
  model: "The language model did not answer.",
  read_only: "Documents cannot be changed on this server.",
  no_space: "The server's disk is nearly full; nothing was kept.",
  disk_full: "The server's disk is nearly full; nothing was kept.",
  internal: "Something is wrong with the server. Its log has the details.",
};

/** What went wrong, in plain words, and when to try again. */
export function plain(error) {
  const words = error.code === "unauthorized" ? "This server asks for an API key." : (PLAIN[error.code] ?? error.message);
  const also = error.code === "model" ? ` (${error.message})` : "";
  const again = error.seconds !== null && error.seconds !== undefined ? ` Try again in ${error.seconds} s.` : "";
  return `${words}${also}${again}`;
}

async function send(path, options = {}, waiting = undefined) {
  for (;;) {
    const headers = new Headers(options.headers);
    const key = session.get(KEY);
    if (key !== null) headers.set("X-API-Key", key);
    let answer;
    try {
      answer = await fetch(path, { ...options, headers });
    } catch (error) {
      if (options.signal?.aborted) throw error;
      throw new ApiError(0, "unreachable", "the server cannot be reached");
    }
    if (answer.ok) return answer;
    const error = described(answer.status, await answer.text(), answer.headers.get("Retry-After"));
    if (error.status === 401) await askForKey();
    else if (error.code === "starting") {
      waiting?.();
      await wait(1000, options.signal);
    } else throw error;
  }
}

function described(status, body, retry) {
  const seconds = /^\d+$/.test(retry ?? "") ? Number(retry) : null;
  try {
    const { error } = JSON.parse(body);
    return new ApiError(status, error.code, error.message, seconds);
  } catch {
    return new ApiError(status, "error", `the server answered ${status}`, seconds);
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
          session.set(KEY, field.value);
          resolve();
        }
      },
      { once: true },
    );
    box.showModal();
  });
  return asking;
}

export function wait(milliseconds, signal) {
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

export async function get(path) {
  return (await send(path)).json();
}

/** What an image shows: its address; where a key is needed, which images do not send, the picture itself. */
export async function pictureSource(address) {
  if (!hasKey()) return address;
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

/** What was read of the documents is read anew: they have changed. */
export const forgetDocuments = () => documents.clear();

export const neighbours = (entity, limit) => get(`/entities/${encodeURIComponent(entity)}/neighbours?limit=${limit}`);

/** What most passages mention: of all kinds, or of some. */
export const entities = (limit, kinds = []) => get(`/entities?${new URLSearchParams([["limit", limit], ...kinds.map((kind) => ["kind", kind])])}`);

export async function removeDocument(uri) {
  return (await send(`/documents/${encodeURIComponent(uri)}`, { method: "DELETE" })).json();
}

/** Sends files as one change; `progress(share)` is called while they travel. Resolves to the job. */
export async function upload(files, progress) {
  for (;;) {
    try {
      return await uploadOnce(files, progress);
    } catch (error) {
      if (error.status !== 401) throw error;
      await askForKey();
    }
  }
}

function uploadOnce(files, progress) {
  // fetch() does not tell how much of a body has been sent.
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    const form = new FormData();
    for (const file of files) form.append("files", file, file.name);
    request.open("POST", "/documents");
    const key = session.get(KEY);
    if (key !== null) request.setRequestHeader("X-API-Key", key);
    request.upload.addEventListener("progress", (event) => {
      if (event.lengthComputable) progress(event.loaded / event.total);
    });
    request.addEventListener("error", () => reject(new ApiError(0, "unreachable", "the server cannot be reached")));
    request.addEventListener("load", () => {
      if (request.status === 202) resolve(JSON.parse(request.responseText));
      else reject(described(request.status, request.responseText, request.getResponseHeader("Retry-After")));
    });
    request.send(form);
  });
}

/** The job when it has ended; `seen` is told how far it is. */
export async function finished(job, seen = () => {}) {
  for (let latest = job; ; latest = await get(`/jobs/${job.id}`)) {
    if (latest.state !== "queued" && latest.state !== "running") return latest;
    seen(latest);
    await wait(400);
  }
}

/** The text of what was said into a microphone. */
export async function transcribe(sound) {
  return (await send("/transcribe", { method: "POST", headers: { "Content-Type": sound.type.split(";")[0] }, body: sound })).json();
}

/** A text as sound. */
export async function speak(text, signal) {
  return (await send("/speak", json({ text }, signal))).arrayBuffer();
}

/** Tells the server what somebody thinks of an answer: {question, good, reason, passages}. */
export const giveFeedback = (given) => send("/feedback", json(given));

export async function changeLive(mode) {
  return (await send("/live", json({ mode }))).json();
}

/** An answer that nobody watches being written. */
export async function wholeAnswer(given, signal) {
  return (await send("/ask", json(given, signal))).json();
}

/** Calls `on[event](data)` for every event of an answer being written, and `on.waiting()` while the server starts. */
export async function ask(given, on, signal) {
  const answer = await send("/ask", json({ ...given, stream: true }, signal), on.waiting);
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  let ended = false;
  for (;;) {
    let read;
    try {
      read = await reader.read();
    } catch (error) {
      if (signal?.aborted) throw error;
      throw new ApiError(0, "cut", "the connection broke off");
    }
    if (read.done) break;
    rest += read.value;
    const blocks = rest.split("\n\n");
    rest = blocks.pop();
    for (const block of blocks) {
      const name = /^event: (.*)$/m.exec(block)?.[1];
      const data = /^data: (.*)$/m.exec(block)?.[1];
      if (name === undefined || data === undefined) continue;
      const value = JSON.parse(data);
      if (name === "error") throw new ApiError(200, value.error.code, value.error.message);
      ended ||= name === "done";
      on[name]?.(value);
    }
  }
  if (!ended) throw new ApiError(0, "cut", "the connection broke off");
}
