// A drawing that is moved with the mouse, a finger or arrow keys, and made larger with the wheel, two fingers or + and -.

const STEP = 60;
const ROOM = 50; // around what is shown
const SLACK = 4; // pixels a click may wander

/** Makes an <svg> so; `fit(places)` shows all of them ({x, y, half}: of the width of its name). */
export function panAndZoom(canvas) {
  const box = { x: -300, y: -200, width: 600, height: 400 };
  const pointers = new Map();
  let moved = 0;
  const scale = () => box.width / Math.max(1, canvas.clientWidth);
  const grown = () => Math.min(1.7, Math.max(1, scale()));
  const apply = () => {
    canvas.setAttribute("viewBox", `${box.x} ${box.y} ${box.width} ${box.height}`);
    // Writing stays legible where much is shown, up to a degree.
    canvas.style.setProperty("--scale", grown().toFixed(2));
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
  const fit = (places) => {
    const wide = Math.max(1, canvas.clientWidth);
    const high = Math.max(1, canvas.clientHeight);
    if (places.length === 0) return;
    const ys = places.map(({ y }) => y);
    const needed = Math.max(...ys) - Math.min(...ys) + 2 * ROOM;
    // Names grow with what is shown, up to a degree: how much room they take is seen when it is known how much that is.
    let growth = 1;
    for (let round = 0; round < 3; round += 1) {
      const left = Math.min(...places.map(({ x, half }) => x - Math.max(ROOM, growth * half)));
      const right = Math.max(...places.map(({ x, half }) => x + Math.max(ROOM, growth * half)));
      const width = Math.max(right - left, (needed * wide) / high, 0.8 * wide);
      const height = (width * high) / wide;
      const middle = (Math.max(...ys) + Math.min(...ys)) / 2;
      Object.assign(box, { x: (left + right) / 2 - width / 2, y: middle - height / 2, width, height });
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
    moved = 0;
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
    moved += Math.abs(before.clientX - event.clientX) + Math.abs(before.clientY - event.clientY);
    pointers.set(event.pointerId, event);
    if (moved > SLACK && !canvas.hasPointerCapture(event.pointerId)) canvas.setPointerCapture(event.pointerId);
  });
  for (const name of ["pointerup", "pointercancel"]) {
    canvas.addEventListener(name, (event) => pointers.delete(event.pointerId));
  }
  // What was moved was not pressed.
  canvas.addEventListener("click", (event) => moved > SLACK && event.stopPropagation(), { capture: true });
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
  apply();
  return { zoom, fit };
}
