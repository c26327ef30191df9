import type { Domain, Edge, Node } from "orgmem";
import { describe, expect, test } from "vitest";
import { known, keep } from "../src/views/graph/layout";
import { graphOf, linesByNode, neighbourhood, search, shortestPath, shownOf, startPositions, timespan } from "../src/views/graph/model";
import { coloursOf, dark, grey, legend, light } from "../src/views/graph/palette";
import { overTime } from "../src/views/memory/parts/overtime";
import { moment } from "../src/views/memory/parts/words";

const at = (day: string): string => `${day}T00:00:00.000Z`;
function node(id: string, more: Partial<Node> = {}): Node {
  return {
    id, kind: "document", title: id, domainId: null, subject: null, authority: 0.5, confidence: 1, status: "live", supersededBy: null, degree: 1, metadata: {},
    source: { type: "ingest", jobId: null, externalId: null, externalIds: [] }, validFrom: at("2026-01-01"), validTo: null, createdAt: at("2026-01-01"), updatedAt: at("2026-01-01"),
    tombstonedAt: null, restorableUntil: null, ...more,
  };
}
function edge(source: string, target: string, more: Partial<Edge> = {}): Edge {
  return {
    id: `${source}-${target}`, source, target, type: "mentions", weight: 0.5, confidence: 0.5, origin: "ingest", evidence: [], note: null, status: "live", subject: null,
    validFrom: at("2026-01-01"), validTo: null, createdAt: at("2026-01-01"), updatedAt: at("2026-01-01"), tombstonedAt: null, ...more,
  };
}
const names = (graph: ReturnType<typeof graphOf>, of: Iterable<number>): string[] => [...of].map((i) => graph.nodes[i]!.id).sort();
const where = (bytes: Uint8Array): number[] => [...bytes.keys()].filter((i) => bytes[i]);

describe("the graph", () => {
  const nodes = ["a", "b", "c", "d", "e", "alone"].map((id) => node(id));
  const chain = graphOf(nodes, [edge("a", "b"), edge("c", "b"), edge("c", "d"), edge("d", "e"), edge("a", "d")], []);
  const byNode = linesByNode(chain);
  const all = shownOf(chain, byNode, {});
  const i = (id: string): number => chain.index.get(id)!;

  test("leaves out what comes twice and edges whose ends are not loaded", () => {
    const graph = graphOf([node("a"), node("b"), node("a")], [edge("a", "b"), edge("a", "b"), edge("a", "gone")], []);
    expect([graph.nodes.length, graph.lines.length]).toEqual([2, 1]);
  });

  test("knows what is one and two steps away, whichever way edges lead", () => {
    expect(names(chain, neighbourhood(chain, byNode, all.lines, i("b"), 1))).toEqual(["a", "b", "c"]);
    expect(names(chain, neighbourhood(chain, byNode, all.lines, i("b"), 2))).toEqual(["a", "b", "c", "d"]);
    const focused = shownOf(chain, byNode, { focus: "b", steps: 1 });
    expect(names(chain, where(focused.nodes))).toEqual(["a", "b", "c"]);
    expect(focused.lineCount).toBe(2);
  });

  test("finds a path of the fewest steps, and none where there is none", () => {
    const path = shortestPath(chain, byNode, all, i("b"), i("e"))!;
    expect(path.lines).toHaveLength(3);
    expect(path.nodes[0]).toBe(i("b"));
    expect(path.nodes.at(-1)).toBe(i("e"));
    path.lines.forEach((l, k) => expect([chain.lines[l]!.a, chain.lines[l]!.b].sort()).toEqual([path.nodes[k]!, path.nodes[k + 1]!].sort()));
    expect(shortestPath(chain, byNode, all, i("a"), i("alone"))).toBeUndefined();
    expect(shortestPath(chain, byNode, all, i("a"), i("a"))).toEqual({ nodes: [i("a")], lines: [] });
  });

  test("shows at a time what held then, and by default what holds now", () => {
    const graph = graphOf(
      [node("old", { status: "superseded", validTo: at("2026-03-01") }), node("new", { validFrom: at("2026-03-01") }), node("timeless", { validFrom: null })],
      [edge("old", "timeless", { validTo: at("2026-03-01") }), edge("new", "timeless", { validFrom: at("2026-03-01") })],
      [],
    );
    const by = linesByNode(graph);
    const ids = (asOf?: string) => {
      const shown = shownOf(graph, by, asOf === undefined ? {} : { asOf: Date.parse(at(asOf)) });
      return [names(graph, where(shown.nodes)), shown.lineCount];
    };
    expect(ids()).toEqual([["new", "timeless"], 1]);
    expect(ids("2026-02-01")).toEqual([["old", "timeless"], 1]);
    expect(ids("2026-03-01")).toEqual([["new", "timeless"], 1]); // the end is excluded, the beginning is not
    expect(ids("2025-01-01")).toEqual([["timeless"], 0]);
    expect(timespan(graph, Date.parse(at("2026-06-01")))).toEqual([Date.parse(at("2026-01-01")), Date.parse(at("2026-06-01"))]);
  });

  test("filters by kind and by domain, nodes without a domain among them", () => {
    const graph = graphOf([node("a", { domainId: "x" }), node("b", { domainId: "x", kind: "entity" }), node("c")], [edge("a", "b"), edge("a", "c")], []);
    const by = linesByNode(graph);
    expect(names(graph, where(shownOf(graph, by, { kind: "entity" }).nodes))).toEqual(["b"]);
    expect(shownOf(graph, by, { domain: "x" }).lineCount).toBe(1);
    expect(names(graph, where(shownOf(graph, by, { domain: "none" }).nodes))).toEqual(["c"]);
  });

  test("finds nodes by a part of their title, without accents, beginnings first", () => {
    const graph = graphOf([node("1", { title: "In Zürich" }), node("2", { title: "ZURICH airport" }), node("3", { title: "Bern" })], [], []);
    const shown = shownOf(graph, linesByNode(graph), {});
    expect(search(graph, shown, "zurich", 8)).toEqual([1, 0]);
    expect(search(graph, shown, "  ", 8)).toEqual([]);
  });
});

describe("places", () => {
  test("begin where the node's id says, whatever else there is", () => {
    const two = startPositions([{ id: "a" }, { id: "b" }]);
    const swapped = startPositions([{ id: "b" }, { id: "a" }]);
    expect([...swapped.subarray(2)]).toEqual([...two.subarray(0, 2)]);
    expect(two[0]).not.toBe(two[2]);
    const many = startPositions(Array.from({ length: 2_000 }, (_, i) => ({ id: `n${i}` })));
    expect(new Set(many).size).toBeGreaterThan(3_900); // ids that are alike are not near one another
  });

  test("are those from before when the same graph comes back, in whichever order", () => {
    const graph = graphOf([node("kept-a"), node("kept-b")], [edge("kept-a", "kept-b")], []);
    expect(known(graph).complete).toBe(false);
    keep(graph, new Float32Array([1, 2, 3, 4]));
    const back = known(graphOf([node("kept-b"), node("kept-a")], [edge("kept-a", "kept-b")], []));
    expect([back.complete, ...back.positions]).toEqual([true, 3, 4, 1, 2]);
    const grown = known(graphOf([node("kept-b"), node("fresh")], [], []));
    expect([grown.complete, ...grown.positions.subarray(0, 2)]).toEqual([false, 3, 4]);
  });
});

// Relative luminance and contrast of WCAG 2; Oklab (Ottosson 2020); what people without one kind of cones see (Machado,
// Oliveira and Fernandes 2009, severity 1).
const linear = (hex: string): number[] =>
  [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16) / 255).map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
const mul = (m: readonly (readonly number[])[], v: readonly number[]): number[] => m.map((row) => row.reduce((sum, x, i) => sum + x * v[i]!, 0));
const contrast = (a: string, b: string): number => {
  const [x, y] = [a, b].map((c) => mul([[0.2126, 0.7152, 0.0722]], linear(c))[0]!).sort((p, q) => q - p);
  return (x! + 0.05) / (y! + 0.05);
};
const eyes = {
  all: [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
  "no red": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
  "no green": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
  "no blue": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
};
const oklab = (hex: string, eye: readonly (readonly number[])[]): number[] => {
  const seen = mul(eye, linear(hex)).map((c) => Math.min(1, Math.max(0, c)));
  const lms = mul([[0.4122214708, 0.5363325363, 0.0514459929], [0.2119034982, 0.6806995451, 0.1073969566], [0.0883024619, 0.2817188376, 0.6299787005]], seen).map(Math.cbrt);
  return mul([[0.2104542553, 0.793617785, -0.0040720468], [1.9779984951, -2.428592205, 0.4505937099], [0.0259040371, 0.7827717662, -0.808675766]], lms);
};

describe("colours", () => {
  test.each([
    ["light", light, "#ffffff", grey.light],
    ["dark", dark, "#191b1e", grey.dark],
  ] as const)("of the %s theme stand out from the ground and from one another, for every eye", (_, palette, ground, other) => {
    for (const colour of [...palette, other]) expect(contrast(colour, ground), colour).toBeGreaterThanOrEqual(3);
    for (const [name, eye] of Object.entries(eyes))
      [...palette, other].forEach((a, i, all) =>
        all.slice(0, i).forEach((b) => expect(Math.hypot(...oklab(a, eye).map((x, k) => x - oklab(b, eye)[k]!)), `${a} and ${b}, ${name}`).toBeGreaterThan(0.09)),
      );
  });

  test("go to the largest domains, and the rest is grey", () => {
    const domains = Array.from({ length: 10 }, (_, i) => ({ id: `d${i}`, label: `D${i}`, keywords: [] }) as unknown as Domain);
    const nodes = domains.flatMap((d, i) => Array.from({ length: 20 - i }, (_, k) => node(`${d.id}-${k}`, { domainId: d.id })));
    const graph = graphOf([...nodes, node("none")], [], domains);
    const entries = legend(graph, (d) => d.label);
    expect(entries.map((e) => e.label)).toEqual(["D0", "D1", "D2", "D3", "D4", "D5", "D6", "D7", "2 smaller domains", "In no domain"]);
    const colours = coloursOf(graph, entries, false);
    expect(colours[0]).toBe(light[0]);
    expect(colours.at(-1)).toBe(grey.light);
    expect(colours.at(-2)).toBe(grey.light);
  });
});

describe("over time", () => {
  test("counts by months without gaps", () => {
    const bars = overTime([at("2026-01-31"), at("2026-01-01"), at("2026-04-15")]);
    expect(bars.map((b) => [b.label, b.count])).toEqual([["Jan 2026", 2], ["Feb 2026", 0], ["Mar 2026", 0], ["Apr 2026", 1]]);
    expect(bars[3]).toMatchObject({ from: at("2026-04-01"), until: at("2026-05-01") });
  });
  test("counts by longer stretches where those would be too many, and everything once", () => {
    const times = Array.from({ length: 40 }, (_, i) => at(`${1900 + i * 3}-06-01`));
    const bars = overTime(times);
    expect(bars.length).toBeLessThanOrEqual(60);
    expect(bars.reduce((n, b) => n + b.count, 0)).toBe(40);
    expect(overTime(["nonsense"])).toEqual([]);
  });
});

test("a day of the address is a moment for the service, and what is no day is left for it to refuse", () => {
  expect(moment("")).toBeUndefined();
  expect(Date.parse(moment("2026-03-01", true)!) - Date.parse(moment("2026-03-01")!)).toBe(86_399_999);
  expect(moment("soon")).toBe("soon");
});
