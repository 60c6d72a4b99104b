// The page of the PDF that a passage was read from, as a picture beside the text, with the passage marked on it.

import { get, pictureSource, plain } from "./api.js";
import { byId, button, el, svg } from "./dom.js";

const reader = byId("reader");
const box = byId("original");
const body = byId("original-body");
let asked = 0;
let at = null; // the document, the page and the passage that are shown

byId("original-before").addEventListener("click", () => turnTo(at.page - 1));
byId("original-after").addEventListener("click", () => turnTo(at.page + 1));
byId("original-larger").addEventListener("click", (event) => {
  const larger = body.classList.toggle("larger");
  event.currentTarget.setAttribute("aria-pressed", String(larger));
  toMark();
});

/** Shows the page on which a passage of a document stands, its first one without a passage; of a PDF whose file is not
 * there, says in `note` why not. `moved` is called when the text has got another width. */
export async function showOriginal(found, target, note, moved) {
  hide();
  const passage = found.passages.find(({ uri }) => uri === target) ?? found.passages.find(({ pages }) => pages.length > 0);
  if (found.format !== "pdf" || passage === undefined || passage.pages.length === 0) return;
  at = { uri: found.uri, page: passage.pages[0], passage: target };
  const mine = asked;
  const shown = await load();
  if (mine !== asked || shown === null) return;
  if (shown.image === null) {
    note.append(el("span", { class: "no-original" }, shown.reason));
    return;
  }
  const toggle = button("Hide the page", () => switchTo(box.hidden), { "aria-controls": "original", "aria-expanded": "true" });
  const switchTo = (visible) => {
    box.hidden = !visible;
    reader.classList.toggle("with-original", visible);
    toggle.textContent = visible ? "Hide the page" : "Show the page";
    toggle.setAttribute("aria-expanded", String(visible));
    moved();
    if (visible) toMark();
  };
  note.append(toggle);
  switchTo(true);
  for (const number of byId("reader-text").querySelectorAll(".page-number")) {
    const go = () => {
      switchTo(true);
      turnTo(Number(number.dataset.page));
    };
    number.replaceChildren(button(number.textContent, go, { title: "Show this page" }));
  }
}

function hide() {
  asked += 1;
  at = null;
  box.hidden = true;
  reader.classList.remove("with-original");
  body.replaceChildren();
}

async function turnTo(page) {
  asked += 1;
  at = { ...at, page };
  await load();
}

/** Draws the page, unless another one was asked for meanwhile; returns what the server says of it. */
async function load() {
  const mine = asked;
  const { uri, page, passage } = at;
  const query = new URLSearchParams({ page, ...(passage === undefined ? {} : { passage }) });
  try {
    const shown = await get(`/originals/${encodeURIComponent(uri)}?${query}`);
    const source = shown.image === null ? "" : await pictureSource(shown.image);
    if (mine !== asked) return null;
    if (shown.image === null) body.replaceChildren(el("p", { class: "note" }, shown.reason));
    else draw(shown, source);
    return shown;
  } catch (error) {
    if (mine === asked) body.replaceChildren(el("p", { class: "failed" }, plain(error)));
    return null;
  }
}

function draw(shown, source) {
  const { page, pages, width, height, marks } = shown;
  byId("original-page").textContent = `Page ${page} of ${pages}`;
  byId("original-before").disabled = page <= 1;
  byId("original-after").disabled = page >= pages;
  const said = marks.length === 0 ? "" : ", with the passage marked";
  const picture = el("img", { alt: `Page ${page} of ${byId("reader-title").textContent} as it is printed${said}` });
  if (source.startsWith("blob:")) picture.addEventListener("load", () => URL.revokeObjectURL(source), { once: true });
  picture.src = source;
  const places = marks.map((mark) =>
    svg("rect", { x: mark.left * width, y: mark.top * height, width: mark.width * width, height: mark.height * height, rx: 1.5 }),
  );
  const paper = el(
    "div",
    { class: "paper" },
    picture,
    svg("svg", { viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: "none", "aria-hidden": "true" }, ...places),
  );
  paper.style.aspectRatio = `${width} / ${height}`; // nothing moves when the picture has come
  body.replaceChildren(paper);
  toMark();
}

/** Has the marked place in view, or the beginning of the page. */
function toMark() {
  const mark = body.querySelector("rect");
  body.scrollTop = 0;
  if (mark === null) return;
  const [place, frame] = [mark.getBoundingClientRect(), body.getBoundingClientRect()];
  body.scrollTop = place.top - frame.top - frame.height / 4;
  body.scrollLeft = Math.max(0, place.left - frame.left - 24);
}
