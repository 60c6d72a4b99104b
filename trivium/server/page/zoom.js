// A drawing that is moved with the mouse, a finger or arrow keys, and made larger with the wheel, two fingers or + and -.

const STEP = 60;
const ROOM = 30; // around what is shown
const SLACK = 4; // pixels a click may wander

/** Makes an <svg> so. `fit(places, below)` shows all of them ({x, y, half}: of the width of its name, in pixels), with as many
 * pixels below. `box` is what is seen, `scale()` how many units of the drawing writing takes for a pixel, `dots()` nodes;
 * `moved()` is called when these have changed. */
export function panAndZoom(canvas, moved) {
  const box = { x: -300, y: -200, width: 600, height: 400 };
  const pointers = new Map();
  let wandered = 0;
  const scale = () => box.width / Math.max(1, canvas.clientWidth);
  const grown = () => Math.min(6, Math.max(0.5, scale()));
  const dots = () => Math.min(2, grown()); // larger ones would lie on each other
  let soon = 0;
  const apply = () => {
    canvas.setAttribute("viewBox", `${box.x} ${box.y} ${box.width} ${box.height}`);
    canvas.style.setProperty("--scale", grown().toFixed(3));
    canvas.style.setProperty("--dots", dots().toFixed(3));
    cancelAnimationFrame(soon);
    soon = requestAnimationFrame(moved);
  };

  /** Makes everything smaller by a factor, around a point of the drawing. */
  const zoom = (factor, at = { x: box.x + box.width / 2, y: box.y + box.height / 2 }) => {
    const wide = Math.min(8000, Math.max(120, box.width * factor));
    const by = wide / box.width;
    box.x = at.x - (at.x - box.x) * by;
    box.y = at.y - (at.y - box.y) * by;
    box.width = wide;
    box.height *= by;
    apply();
  };
  const pan = (x, y) => {
    box.x += x;
    box.y += y;
    apply();
  };
  const point = (event) => {
    const frame = canvas.getBoundingClientRect();
    return { x: box.x + (event.clientX - frame.left) * scale(), y: box.y + (event.clientY - frame.top) * scale() };
  };
  const fit = (places, below) => {
    const wide = Math.max(1, canvas.clientWidth);
    const high = Math.max(1, canvas.clientHeight);
    if (places.length === 0) return;
    const ys = places.map(({ y }) => y);
    // Names keep their size: how much of the drawing they take is known when it is known how large it is shown.
    let growth = 1;
    for (let round = 0; round < 6; round += 1) {
      const left = Math.min(...places.map(({ x, half }) => x - Math.max(ROOM, growth * half)));
      const right = Math.max(...places.map(({ x, half }) => x + Math.max(ROOM, growth * half)));
      const [top, bottom] = [Math.min(...ys) - ROOM, Math.max(...ys) + ROOM + growth * below];
      const width = Math.max(right - left, ((bottom - top) * wide) / high, 0.8 * wide);
      const height = (width * high) / wide;
      Object.assign(box, { x: (left + right) / 2 - width / 2, y: (top + bottom) / 2 - height / 2, width, height });
      growth = grown();
    }
    apply();
  };

  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    zoom(event.deltaY > 0 ? 1.12 : 1 / 1.12, point(event));
  });
  canvas.addEventListener("pointerdown", (event) => {
    pointers.set(event.pointerId, event);
    wandered = 0;
  });
  canvas.addEventListener("pointermove", (event) => {
    const before = pointers.get(event.pointerId);
    if (before === undefined) return;
    const others = [...pointers.values()].filter(({ pointerId }) => pointerId !== event.pointerId);
    if (others.length === 1) {
      const gap = (a, b) => Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY);
      zoom(gap(before, others[0]) / Math.max(1, gap(event, others[0])), point(event));
    } else {
      pan((before.clientX - event.clientX) * scale(), (before.clientY - event.clientY) * scale());
    }
    wandered += Math.abs(before.clientX - event.clientX) + Math.abs(before.clientY - event.clientY);
    pointers.set(event.pointerId, event);
    if (wandered > SLACK && !canvas.hasPointerCapture(event.pointerId)) canvas.setPointerCapture(event.pointerId);
  });
  for (const name of ["pointerup", "pointercancel"]) {
    canvas.addEventListener(name, (event) => pointers.delete(event.pointerId));
  }
  // What was moved was not pressed.
  canvas.addEventListener("click", (event) => wandered > SLACK && event.stopPropagation(), { capture: true });
  const KEYS = {
    ArrowLeft: () => pan(-STEP * scale(), 0),
    ArrowRight: () => pan(STEP * scale(), 0),
    ArrowUp: () => pan(0, -STEP * scale()),
    ArrowDown: () => pan(0, STEP * scale()),
    "+": () => zoom(0.8),
    "=": () => zoom(0.8),
    "-": () => zoom(1.25),
  };
  canvas.addEventListener("keydown", (event) => {
    if (KEYS[event.key] === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    KEYS[event.key]();
  });
  new ResizeObserver(() => {
    box.height = (box.width * Math.max(1, canvas.clientHeight)) / Math.max(1, canvas.clientWidth);
    apply();
  }).observe(canvas);
  return { zoom, fit, box, dots, scale: grown };
}
