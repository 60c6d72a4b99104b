// Which names of a drawing are written, and where: beside what they name, and never on another name or node.

const HIGH = 16; // pixels of a line of writing
const GAP = 3;
const SHIFTS = [0, -0.4, 0.4, -0.8, 0.8]; // of half a name, above and below
const pen = document.createElement("canvas").getContext("2d");

/** Gives `names` their places, the most important first: {text, x, y, r, bold, always} with an <svg:text>, the middle and radius
 * of what it names, 0 for a line, and whether it is written even where there is no room. What finds no room has the class
 * `crowded`. `dots` ({x, y, r}) stay free. One pixel is `scale` units of the drawing, of which `view` ({x, y, width, height})
 * is seen: a name that would be cut off is not written. */
export function placeNames(names, dots, scale, view) {
  const inside = ({ left, right, top, bottom }) =>
    left >= view.x && right <= view.x + view.width && top >= view.y && bottom <= view.y + view.height;
  const family = getComputedStyle(document.body).fontFamily;
  const taken = dots.map(({ x, y, r }) => around(x, y, r, r));
  for (const { text, x, y, r, bold, always } of names) {
    pen.font = `${bold ? 600 : 400} 12.5px ${family}`;
    const half = (pen.measureText(text.textContent).width / 2 + GAP) * scale;
    const high = (HIGH / 2) * scale;
    const [down, aside] = [r + GAP * scale + high, r + GAP * scale + half];
    const beside = SHIFTS.flatMap((by) => [[by * half, down], [by * half, -down]]);
    const places = r === 0 ? [[0, 0]] : [...beside.slice(0, 2), [aside, 0], [-aside, 0], ...beside.slice(2)];
    const boxes = places.map(([left, top]) => around(x + left, y + top, half, high));
    const free = boxes.findIndex((box) => inside(box) && !taken.some((other) => meet(box, other)));
    const chosen = Math.max(0, free);
    text.setAttribute("x", (r === 0 ? x : 0) + places[chosen][0]);
    text.setAttribute("y", (r === 0 ? y : 0) + places[chosen][1]);
    const written = free !== -1 || always === true;
    text.classList.toggle("crowded", !written);
    if (written) taken.push(boxes[chosen]);
  }
}

const around = (x, y, half, high) => ({ left: x - half, right: x + half, top: y - high, bottom: y + high });
const meet = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
