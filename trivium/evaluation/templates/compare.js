"use strict";
// Filter and sort what is already on the page; without this script everything is shown, largest difference first.
(() => {
  const form = document.getElementById("controls");
  const list = document.getElementById("list");
  const count = document.getElementById("count");
  const nothing = document.getElementById("nothing");
  const items = Array.from(list.children);
  const texts = new Map();
  const textOf = (item) => {
    if (!texts.has(item)) texts.set(item, item.textContent.toLowerCase());
    return texts.get(item);
  };
  const place = (item) => Number(item.dataset.place);
  const orders = {
    gain: (a, b) => place(a) - place(b),
    first: (a, b) => b.dataset.first - a.dataset.first || place(a) - place(b),
    second: (a, b) => b.dataset.second - a.dataset.second || place(a) - place(b),
    text: (a, b) =>
      a.querySelector(".question").textContent.localeCompare(b.querySelector(".question").textContent) ||
      place(a) - place(b),
  };
  const filter = () => {
    const words = form.words.value.toLowerCase().split(/\s+/).filter(Boolean);
    const verdict = form.verdict.value;
    let shown = 0;
    for (const item of items) {
      const fits =
        (verdict === "all" || item.dataset.verdict === verdict) &&
        words.every((word) => textOf(item).includes(word));
      item.hidden = !fits;
      shown += fits;
    }
    count.value = `${shown} shown`;
    nothing.hidden = shown > 0;
  };
  const sort = () => list.append(...items.slice().sort(orders[form.order.value]));
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", filter);
  form.order.addEventListener("change", sort);
  // A browser that goes back to the page brings what was chosen with it.
  sort();
  filter();
})();
