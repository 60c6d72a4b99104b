// How to search: which views are asked, what passages must fulfil, which live sources may be asked.

import { changeLive, get, plain } from "./api.js";
import { announce, byId, el } from "./dom.js";

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

const NAMED = ["rerank", "cut", "prompt"]; // options that are called by a name
const boxes = new Map();
let live = null; // the server's state of its live sources, once known
let looked = false;

/** Draws the panel; `changed` is called when something was switched. */
export function drawViews(changed) {
  for (const [name, asks] of Object.entries(VIEWS)) {
    const box = el("input", { type: "checkbox", name: "view", value: name, checked: true });
    boxes.set(name, box);
    byId("views").append(
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
  byId("model").addEventListener("change", changed);
  byId("filter-form").addEventListener("submit", (event) => {
    event.preventDefault();
    changed();
  });
  for (const name of ["k", ...NAMED]) byId(name).addEventListener("change", () => byId(name).checkValidity() && changed());
  byId("live-switch").addEventListener("change", switchLive);
}

/** Offers the values that the server's own description names; others may be typed. */
async function describe() {
  const { properties } = (await get("/openapi.json")).components.schemas.AskBody;
  for (const name of NAMED) byId(`${name}-known`).append(...properties[name].examples.map((value) => el("option", { value })));
}

const chosen = () => [...boxes.values()].filter((box) => box.checked).map((box) => box.value);
const allOn = () => chosen().length === boxes.size;

/** What a search is told: nothing where all is as usual. */
export function searchOptions() {
  const where = byId("filter").value.trim();
  const sources = [...byId("live").querySelectorAll("input[name=source]:checked")].map((box) => box.value);
  return {
    ...(allOn() ? {} : { retrievers: chosen() }),
    ...(where === "" ? {} : { where }),
    ...(sources.length === 0 ? {} : { sources }),
    ...(byId("k").value === "" || !byId("k").checkValidity() ? {} : { k: byId("k").valueAsNumber }),
    ...Object.fromEntries(NAMED.map((name) => [name, byId(name).value.trim()]).filter(([, value]) => value !== "")),
    ...(byId("model").selectedIndex > 0 ? { model: byId("model").value } : {}),
  };
}

/** Lets one choose who answers, where there is a choice; the first is the usual one. */
export function offerModels(models) {
  const field = byId("model");
  byId("model-choice").hidden = models.length < 2;
  byId("prompt-choice").hidden = models.every((name) => name === "none");
  if (models.join("\n") === [...field.options].map(({ value }) => value).join("\n")) return;
  field.replaceChildren(
    ...models.map((name) => el("option", { value: name }, name === "none" ? "quoted from the passages" : `written by ${name}`)),
  );
}

/** Shows what the server offers, and its live sources where it has any; asked once, when somebody looks. */
export async function lookAround() {
  if (looked) return;
  looked = true;
  describe().catch(() => (looked = false));
  try {
    live = await get("/live");
    drawLive();
  } catch {
    // This server has none.
  }
}

async function switchLive() {
  const box = byId("live-switch");
  try {
    live = await changeLive(box.checked ? "allow" : "off");
  } catch (error) {
    announce(plain(error));
    byId("live-note").textContent = plain(error);
    box.checked = live.mode !== "off";
    return;
  }
  drawLive();
}

/** The switch is beside the documents, which everybody shares; what a question asks of them is among its options. */
function drawLive() {
  // A source that another name stands for is offered once.
  const twice = new Set(live.sources.filter((one) => one.ready && one.stands_for !== one.name).map((one) => one.stands_for));
  const usable = live.sources.filter((one) => one.ready && !twice.has(one.name));
  const source = ({ name, stands_for: what }) =>
    el("label", { class: "view" }, el("input", { type: "checkbox", name: "source", value: name }), what === name ? name : `${name} (${what})`);
  byId("live").replaceChildren(el("legend", {}, "Live sources to ask, too"), ...usable.map(source));
  byId("live").hidden = live.mode === "off" || usable.length === 0;
  byId("live-switch").checked = live.mode !== "off";
  byId("live-note").textContent = usable.length === 0 ? "None is configured." : "";
  byId("everybody").hidden = live.sources.length === 0;
}
