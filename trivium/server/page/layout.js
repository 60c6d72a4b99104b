// Places for the nodes of a graph: what is linked is near, nothing lies on anything else (Fruchterman and Reingold, 1991).

const IDEAL = 110; // how long a line would like to be
const ROUNDS = 160;
const WIDE = 0.5; // labels are wider than high: distances to the side count half
const UPRIGHT = 0.85; // at most, where there is less room to the side
const SETTLED = 0.12; // how readily a node that has its place gives way

/** Moves `nodes` ({id, x, y, fixed}) that `edges` ({source, target}) link. New ones have no x yet. The same graph always gets
 * the same places for the same `shape`: height by width. */
export function arrange(nodes, edges, shape = WIDE) {
  const wide = Math.min(UPRIGHT, Math.max(WIDE, shape));
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const links = edges.map(({ source, target }) => [byId.get(source), byId.get(target)]).filter(([a, b]) => a && b && a !== b);
  begin(nodes, links);
  for (let round = 0; round < ROUNDS; round += 1) {
    const step = IDEAL * 0.5 * (1 - round / ROUNDS) ** 1.5 + 0.5;
    for (const node of nodes) Object.assign(node, { dx: -0.012 * node.x, dy: -0.012 * node.y });
    for (let i = 0; i < nodes.length; i += 1) {
      for (let j = i + 1; j < nodes.length; j += 1) push(nodes[i], nodes[j], wide);
    }
    for (const [a, b] of links) pull(a, b, wide);
    for (const node of nodes) {
      const far = Math.hypot(node.dx, node.dy);
      if (far === 0) continue;
      const by = (Math.min(far, step) / far) * (node.settled ? SETTLED : 1);
      node.x += node.dx * by;
      node.y += node.dy * by;
    }
  }
  for (const node of nodes) node.settled = true;
}

/** New nodes begin around what they are linked to, in a spiral. */
function begin(nodes, links) {
  let turn = 0;
  for (const node of nodes) {
    if (node.x !== undefined) continue;
    const link = links.find(([a, b]) => (a === node && b.x !== undefined) || (b === node && a.x !== undefined));
    const near = link === undefined ? { x: 0, y: 0 } : link[0] === node ? link[1] : link[0];
    const angle = 2.399963 * (turn += 1); // the golden angle
    const far = nodes.length === 1 ? 0 : IDEAL * (0.6 + 0.05 * turn);
    node.x = near.x + far * Math.cos(angle) * 1.5;
    node.y = near.y + far * Math.sin(angle);
    node.settled = false;
  }
}

function push(a, b, wide) {
  const x = (a.x - b.x) * wide || 0.1;
  const y = a.y - b.y || 0.1;
  const square = Math.max(16, x * x + y * y);
  if (square > 16 * IDEAL * IDEAL) return;
  const force = (IDEAL * IDEAL) / square;
  a.dx += x * force;
  a.dy += y * force;
  b.dx -= x * force;
  b.dy -= y * force;
}

function pull(a, b, wide) {
  const x = (a.x - b.x) * wide;
  const y = a.y - b.y;
  const force = Math.hypot(x, y) / IDEAL;
  a.dx -= x * force;
  a.dy -= y * force;
  b.dx += x * force;
  b.dy += y * force;
}
