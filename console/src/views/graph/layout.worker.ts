// Arranges a graph off the page's thread, by ForceAtlas2 (Jacomy, Venturini, Heymann and Bastian, PLoS ONE 9(6), 2014).
import defaults from "graphology-layout-forceatlas2/defaults.js";
import iterate from "graphology-layout-forceatlas2/iterate.js";
import type { Arranged, Arrangement } from "./layout";

// The library's own matrices, whose layout its helpers.js has: it iterates over these, and a graph of objects is not needed.
const perNode = 10; // x, y, dx, dy, old dx, old dy, mass, convergence, size, fixed
const perEdge = 3; // the node's place in the matrix of nodes, the other's, weight
const roundFor = 120; // milliseconds between two looks at how it goes
const exactUpTo = 1_000; // nodes; above it far ones repel as one (Barnes and Hut)

onmessage = ({ data }: MessageEvent<Arrangement>): void => {
  const count = data.positions.length / 2;
  const nodes = new Float32Array(count * perNode);
  for (let i = 0; i < count; i++) {
    const at = i * perNode;
    nodes[at] = data.positions[i * 2]!;
    nodes[at + 1] = data.positions[i * 2 + 1]!;
    nodes[at + 6] = 1;
    nodes[at + 7] = 1;
    nodes[at + 8] = 1;
  }
  const edges = new Float32Array(data.weights.length * perEdge);
  data.weights.forEach((weight, i) => {
    const a = data.ends[i * 2]! * perNode;
    const b = data.ends[i * 2 + 1]! * perNode;
    edges.set([a, b, weight], i * perEdge);
    nodes[a + 6]! += weight;
    nodes[b + 6]! += weight;
  });
  const settings = {
    ...defaults,
    barnesHutOptimize: count > exactUpTo,
    barnesHutTheta: 0.9,
    gravity: 0.08,
    strongGravityMode: true,
    scalingRatio: 10,
    slowDown: 1 + Math.log(count + 1),
  };
  let done = 0;
  const round = (): void => {
    const end = performance.now() + roundFor;
    do {
      iterate(settings, nodes, edges);
      done++;
    } while (done < data.iterations && performance.now() < end);
    const positions = new Float32Array(count * 2);
    for (let i = 0; i < count; i++) {
      positions[i * 2] = nodes[i * perNode]!;
      positions[i * 2 + 1] = nodes[i * perNode + 1]!;
    }
    postMessage({ positions, done } satisfies Arranged, { transfer: [positions.buffer] });
    if (done < data.iterations) setTimeout(round);
  };
  if (count > 0) round();
};
