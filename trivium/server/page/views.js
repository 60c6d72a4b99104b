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
    ...(byId("model").selectedIndex > 0 ? { model: byId("model").value } : {}),
  };
}

/** Lets one choose who answers, where there is a choice; the first is the usual one. */
export function offerModels(models) {
  const field = byId("model");
  byId("model-choice").hidden = models.length < 2;
  if (models.join("\n") === [...field.options].map(({ value }) => value).join("\n")) return;
  field.replaceChildren(
    ...models.map((name) => el("option", { value: name }, name === "none" ? "quoted from the passages" : `written by ${name}`)),
  );
}

/** Shows the live sources where the server has any; asked once, when somebody looks. */
export async function lookForLive() {
  if (looked) return;
  looked = true;
  try {
    live = await get("/live");
    drawLive();
  } catch {
    // This server has none.
  }
}

function drawLive() {
  const box = byId("live");
  const switched = el("input", { type: "checkbox", checked: live.mode !== "off" });
  switched.addEventListener("change", async () => {
    try {
      live = await changeLive(switched.checked ? "allow" : "off");
    } catch (error) {
      announce(plain(error));
      byId("live-note").textContent = plain(error);
      switched.checked = live.mode !== "off";
      return;
    }
    drawLive();
  });
  // A source that another name stands for is offered once.
  const twice = new Set(live.sources.filter((one) => one.ready && one.stands_for !== one.name).map((one) => one.stands_for));
  const usable = live.sources.filter((one) => one.ready && !twice.has(one.name));
  const sources =
    live.mode === "off"
      ? []
      : usable.map(({ name, stands_for: what }) =>
          el("label", { class: "view" }, el("input", { type: "checkbox", name: "source", value: name }), what === name ? name : `${name} (${what})`),
        );
  box.replaceChildren(
    el("legend", {}, "Live sources"),
    el("label", { class: "view" }, switched, "May be asked (for everybody who uses this server)"),
    ...sources,
    el("p", { class: "note", id: "live-note" }, usable.length === 0 ? "None is configured." : ""),
  );
  box.hidden = live.sources.length === 0;
}
