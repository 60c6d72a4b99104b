// The eight views: their names and colours, and which are switched on.

import { byId, el } from "./dom.js";

/** In the order the server lists them, with what each one asks. */
export const VIEWS = {
  vector: "is the content relevant?",
  page: "is the document?",
  section: "is the section?",
  entity: "are the things it cites?",
  path: "is it on the right path?",
  lexical: "do the words match?",
  diffusion: "is it central among the best?",
  walk: "where do the links lead?",
};

const boxes = new Map();

/** Draws the panel; `changed` is called when a view was switched. */
export function drawViews(changed) {
  const list = byId("views");
  for (const [name, asks] of Object.entries(VIEWS)) {
    const box = el("input", { type: "checkbox", name: "view", value: name, checked: true });
    boxes.set(name, box);
    list.append(
      el(
        "li",
        {},
        el(
          "label",
          { class: `view view-${name}` },
          box,
          el("span", { class: "swatch", "aria-hidden": "true" }),
          el("span", { class: "view-name" }, name),
          el("span", { class: "view-asks" }, asks),
        ),
      ),
    );
    box.addEventListener("change", () => {
      if (chosen().length === 0) box.checked = true; // somebody has to be asked
      byId("all-views").hidden = allOn();
      changed();
    });
  }
  byId("all-views").addEventListener("click", () => {
    for (const box of boxes.values()) box.checked = true;
    byId("all-views").hidden = true;
    changed();
  });
}

const chosen = () => [...boxes.values()].filter((box) => box.checked).map((box) => box.value);
const allOn = () => chosen().length === boxes.size;

/** What a search is told: nothing where all are on. */
export function chosenViews() {
  return allOn() ? {} : { retrievers: chosen() };
}
