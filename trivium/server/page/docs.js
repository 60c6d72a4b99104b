// The API as the server describes it, for people: what can be asked, with what, and what is answered.

import { get, plain } from "./api.js";
import { byId, el } from "./dom.js";

const REFERENCE = "#/components/schemas/";
const METHODS = ["get", "post", "put", "delete"];
let schemas = {};

const description = (text) => (text ?? "").split(/\n\s*\n/).map((part) => el("p", {}, ...coded(part.trim())));

/** Names between backquotes stand out. */
function coded(text) {
  return text.split(/`([^`]+)`/).map((part, place) => (place % 2 === 1 ? el("code", {}, part) : part));
}

/** What a value may be, in words; the names of types lead to them. */
function kindOf(schema) {
  if (schema === undefined) return [];
  if (schema.$ref !== undefined) {
    const name = schema.$ref.replace(REFERENCE, "");
    return [el("a", { href: `#type-${name}` }, name)];
  }
  const several = schema.anyOf ?? schema.oneOf;
  if (several !== undefined) return several.flatMap((one, place) => [...(place > 0 ? [" or "] : []), ...kindOf(one)]);
  if (schema.enum !== undefined) return [schema.enum.map((value) => JSON.stringify(value)).join(", ")];
  if (schema.const !== undefined) return [JSON.stringify(schema.const)];
  if (schema.type === "array") return ["list of ", ...kindOf(schema.items)];
  return [[schema.type ?? "any value", limits(schema)].filter((part) => part !== "").join(" ")];
}

function limits({ minimum, maximum, maxLength, maxItems }) {
  const numbers = minimum !== undefined && maximum !== undefined ? `${minimum} to ${maximum}` : "";
  const most = maxLength ?? maxItems;
  return numbers === "" && most !== undefined ? `of at most ${most.toLocaleString("en")}` : numbers;
}

/** Rows of [name, schema, whether it has to be there, what it says of itself]. */
function table(rows) {
  if (rows.length === 0) return [];
  const body = rows.map(([name, schema, needed, said]) =>
    el(
      "tr",
      {},
      el("th", { scope: "row" }, el("code", {}, name)),
      el("td", { class: "kind" }, ...kindOf(schema), defaultOf(schema, needed)),
      el("td", {}, ...coded(said ?? schema?.description ?? "")),
    ),
  );
  const heads = ["name", "what it is", ""].map((head) => el("th", { scope: "col" }, head));
  return [el("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": "Fields" }, el("table", { class: "fields" }, el("thead", {}, el("tr", {}, ...heads)), el("tbody", {}, ...body)))];
}

function defaultOf(schema, needed) {
  if (needed) return ", required";
  return schema?.default === undefined || schema.default === null ? "" : `, else ${JSON.stringify(schema.default)}`;
}

function fieldsOf(schema) {
  const found = schema?.$ref === undefined ? schema : schemas[schema.$ref.replace(REFERENCE, "")];
  const required = new Set(found?.required ?? []);
  return { found, rows: Object.entries(found?.properties ?? {}).map(([name, field]) => [name, field, required.has(name)]) };
}

function bodyOf(body, path) {
  return Object.entries(body?.content ?? {}).flatMap(([type, { schema }]) => {
    const { found, rows } = fieldsOf(schema);
    const examples = (found?.examples ?? []).map((example) =>
      el("pre", {}, `curl ${location.origin}${path} -H 'content-type: ${type}' \\\n     -d '${JSON.stringify(example).replaceAll("'", "'\\''")}'`),
    );
    return [el("h3", {}, "Body: ", el("code", {}, type)), ...(rows.length > 0 ? table(rows) : [el("p", {}, ...kindOf(schema))]), ...examples];
  });
}

function answersOf(responses) {
  return Object.entries(responses ?? {}).map(([status, { description: said, content }]) => {
    const kinds = Object.entries(content ?? {}).flatMap(([type, { schema }]) => [" ", el("code", {}, type), " ", ...kindOf(schema)]);
    return el("li", {}, el("b", {}, status), ` ${said}`, ...kinds);
  });
}

function operation(method, path, asked) {
  const parameters = (asked.parameters ?? []).map(({ name, in: where, schema, required, description: said }) => [name, schema, required, where === "path" && said === undefined ? "Part of the path." : said]);
  const [short] = (asked.description ?? asked.summary ?? "").split(/(?<=\.)\s/);
  return el(
    "details",
    { class: "operation", id: asked.operationId },
    el("summary", {}, el("span", { class: "method" }, method.toUpperCase()), " ", el("code", {}, path), el("span", { class: "in-short" }, ...coded(short))),
    el(
      "div",
      {},
      ...description(asked.description),
      ...(parameters.length > 0 ? [el("h3", {}, "Parameters"), ...table(parameters)] : []),
      ...bodyOf(asked.requestBody, path),
      el("h3", {}, "Answers"),
      el("ul", {}, ...answersOf(asked.responses)),
    ),
  );
}

/** Opens what an address names, and shows it. */
function reveal() {
  const place = location.hash === "" ? null : byId(decodeURIComponent(location.hash.slice(1)));
  if (place === null) return;
  place.open = true;
  place.scrollIntoView();
}

async function show() {
  try {
    const api = await get("/openapi.json");
    schemas = api.components?.schemas ?? {};
    byId("introduction").replaceChildren(el("p", {}, `${api.info.title} ${api.info.version}`), ...description(api.info.description));
    const groups = new Map();
    for (const [path, methods] of Object.entries(api.paths)) {
      for (const method of METHODS.filter((name) => methods[name] !== undefined)) {
        const [tag = "other"] = methods[method].tags ?? [];
        groups.set(tag, [...(groups.get(tag) ?? []), operation(method, path, methods[method])]);
      }
    }
    byId("operations").replaceChildren(...[...groups].flatMap(([tag, all]) => [el("h2", {}, `${tag[0].toUpperCase()}${tag.slice(1)}`), ...all]));
    byId("types-title").hidden = false;
    byId("types").replaceChildren(...Object.entries(schemas).map(([name, schema]) => typeOf(name, schema)));
    reveal();
  } catch (error) {
    byId("notice").textContent = plain(error);
    byId("notice").hidden = false;
  }
}

function typeOf(name, schema) {
  const { rows } = fieldsOf(schema);
  return el("details", { class: "type", id: `type-${name}` }, el("summary", {}, el("code", {}, name)), el("div", {}, ...description(schema.description), ...(rows.length > 0 ? table(rows) : [el("p", {}, ...kindOf(schema))])));
}

addEventListener("hashchange", reveal);
show();
