// Spoken questions and answers, where the server has them.

import { plain, speak, transcribe } from "./api.js";
import { button, byId, tell } from "./dom.js";

const TYPES = ["audio/webm", "audio/ogg", "audio/mp4"];
let able = { transcribe: false, speak: false, seconds: 60 };
let sounding = null;

/** `stats.speech` of the server; without it there is neither. `heard(text)` gets what was said. */
export function prepareSpeech(speech, heard) {
  able = { ...able, ...(speech ?? {}) };
  const microphone = byId("microphone");
  microphone.hidden = !able.transcribe || navigator.mediaDevices === undefined || globalThis.MediaRecorder === undefined;
  let recorder = null;
  microphone.onclick = async () => {
    if (recorder !== null) {
      recorder.stop();
      return;
    }
    microphone.disabled = true; // until the browser has asked whether it may be used
    try {
      recorder = await record(able.seconds, async (sound) => {
        recorder = null;
        microphone.setAttribute("aria-pressed", "false");
        microphone.disabled = true;
        tell("Making out what was said …");
        try {
          const { text } = await transcribe(sound);
          if (text.trim() === "") tell("No words were made out. Press the microphone and speak again.");
          else {
            tell("");
            heard(text);
          }
        } catch (error) {
          tell(plain(error));
        } finally {
          microphone.disabled = false;
        }
      });
      microphone.setAttribute("aria-pressed", "true");
      tell("Listening. Press the microphone again when you have asked.");
    } catch {
      tell("The microphone cannot be used.");
    } finally {
      microphone.disabled = false;
    }
  };
}

async function record(seconds, ended) {
  const stream = await navigator.mediaDevices.getUserMedia({ audio: true });
  const type = TYPES.find((name) => MediaRecorder.isTypeSupported(name));
  const recorder = new MediaRecorder(stream, type === undefined ? {} : { mimeType: type });
  const pieces = [];
  recorder.addEventListener("dataavailable", ({ data }) => pieces.push(data));
  recorder.addEventListener("stop", () => {
    for (const track of stream.getTracks()) track.stop();
    ended(new Blob(pieces, { type: recorder.mimeType }));
  });
  recorder.start();
  setTimeout(() => recorder.state === "recording" && recorder.stop(), seconds * 1000);
  return recorder;
}

/** A button that reads a text aloud and stops doing so, or null where the server cannot. */
export function listenButton(text) {
  if (!able.speak) return null;
  const listen = button("Listen", async () => {
    if (sounding !== null) {
      sounding.end();
      return;
    }
    const stopping = new AbortController();
    const context = new AudioContext();
    sounding = {
      end: () => {
        stopping.abort();
        context.close();
        sounding = null;
        listen.textContent = "Listen";
      },
    };
    listen.textContent = "Stop";
    const mine = sounding;
    try {
      // Not an audio element: the policy of the page plays nothing that way.
      const source = context.createBufferSource();
      source.buffer = await context.decodeAudioData(await speak(text, stopping.signal));
      source.connect(context.destination);
      source.addEventListener("ended", () => sounding === mine && mine.end());
      source.start();
    } catch (error) {
      if (sounding === mine) mine.end();
      if (!stopping.signal.aborted) tell(plain(error));
    }
  });
  return listen;
}
