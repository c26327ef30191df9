import { describe, expect, it } from "vitest";
import { moved } from "../src/views/brain/compare";
import { rivals } from "../src/views/brain/figures";
import { askedBy, fieldsOf, instant, partsOf, seen, shown, valueOf } from "../src/views/search/ask";
import { chosen, plainReason } from "../src/views/start/files";

const from = (query: Record<string, string>) => askedBy((name) => query[name] ?? "");

describe("a search that the address names", () => {
  it("asks for nothing that was not chosen", () => expect(from({ q: " pool ", why: "x" })).toEqual({ query: "pool", options: {} }));
  it("includes both days of a span, and an as-of day to its end", () => {
    const { filters } = from({ q: "x", after: "2026-05-03", before: "2026-05-03", asof: "2026-05-03" }).options;
    const hours = (a: string, b: string) => (Date.parse(b) - Date.parse(a)) / 3_600_000;
    expect(hours(filters!.createdAfter!, filters!.createdBefore!)).toBe(24);
    expect(Date.parse(filters!.createdBefore!) - Date.parse(filters!.asOf!)).toBe(1);
  });
  it("passes over what the service would refuse", () => {
    expect(from({ q: "x", kind: "banana", mode: "magic", k: "-4", meta: "{not json", after: "yesterday" }).options).toEqual({});
    expect(from({ q: "x", k: "5000" }).options.topK).toBe(100);
    expect(from({ q: "x", scope: "org", as: "ann" }).options.scope, "of a subject the whole organization is not searched").toBeUndefined();
  });
  it("keeps the kinds of values of provenance", () => {
    for (const value of ["Ann", "true", "3", '"3"', "-2.5"]) expect(shown(valueOf(value))).toBe(value);
    expect(valueOf("3")).toBe(3);
    expect(valueOf('"3"')).toBe("3");
    expect(fieldsOf('{"a":1,"b":{"c":2},"d":"x"}')).toEqual({ a: 1, d: "x" });
    expect(fieldsOf("[1]")).toEqual({});
  });
  it("knows no day that is none", () => expect([instant(""), instant("2026-5-3"), instant("x")]).toEqual([undefined, undefined, undefined]));
});

describe("why a hit stands where it does", () => {
  const parts = { meaning: 0.5, words: 0.3, phrases: 0, neighbours: 0, time: 0, brevity: -0.02, reading: 0 };
  it("tells the parts that count, and always both arms", () => {
    expect(partsOf({ parts, total: 0.78 }).map((p) => [p.name, p.value])).toEqual([["meaning", 0.5], ["words", 0.3], ["short text", -0.02]]);
    expect(partsOf({ parts: { ...parts, words: 0, brevity: 0 }, total: 0.5 }).map((p) => p.value)).toEqual([0.5, 0]);
  });
  it("adds what the brain changed, and draws what it takes as such", () => {
    const brain = { rank: 1, known: true, walk: 0.2, meaning: 0.05, words: -0.15, near: 0, change: 0.1, total: 0.88 };
    const all = partsOf({ parts, total: 0.78, brain });
    expect(all.reduce((sum, p) => sum + p.value, 0)).toBeCloseTo(0.88);
    expect(all.slice(-2).map((p) => p.tone)).toEqual(["brain", "less"]);
  });
  it("says what a gate saw in words, also what it does not know", () => {
    expect(seen({ sign: "names", seen: 0.5, pull: 1 })).toBe("the question names 2 things that the memory knows");
    expect(seen({ sign: "cover", seen: 0.3, pull: 1 })).toBe("such names are 30 % of its words");
    expect(seen({ sign: "later" as "best", seen: 0.3, pull: 1 })).toBe("later");
  });
});

it("what the brain moved is told against search", () => {
  const place = (nodeId: string) => ({ nodeId, title: "", score: 0 });
  expect([...moved([place("c"), place("a"), place("z")], [place("a"), place("b"), place("c")])]).toEqual([["c", 2], ["a", -1], ["z", "new"]]);
});

it("a training that judged nothing beats nobody", () => {
  expect(rivals({})).toBeUndefined();
  expect(rivals({ recall10: 0.9, mrr: 0.8, judged: 10, questions: 50, searchRecall10: 0.8, searchMrr: 0.7, searchWon: 3, searchLost: 1 })!.rivals).toEqual([
    { name: "Search", recall: 0.8, mrr: 0.7, won: 3, lost: 1 },
  ]);
});

describe("files that were chosen", () => {
  const file = (name: string, size = 1) => Object.defineProperty(new File(["x"], name), "size", { value: size });
  it("leaves out what holds no text, and says why", () => {
    const { found, left } = chosen([file("a.md"), file("b.PNG"), file(".env"), file("huge.pdf", 64 << 20)]);
    expect(found.map((f) => f.path)).toEqual(["a.md"]);
    expect(left.map((l) => l.count)).toEqual([1, 1, 1]);
  });
  it("takes at most so many and so much", () => {
    expect(chosen(Array.from({ length: 2_005 }, (_, i) => file(`n${i}.txt`))).found).toHaveLength(2_000);
    const big = chosen(Array.from({ length: 12 }, (_, i) => file(`n${i}.pdf`, 60 << 20)));
    expect(big.found).toHaveLength(8);
    expect(big.left).toEqual([{ why: "files beyond 512 MiB: drop the rest afterwards", count: 4 }]);
  });
  it("says reasons in plain words", () => {
    expect(plainReason("file holds binary data; what can be read is listed in docs/imports.md")).toBe("This is no text and no document that can be read.");
    expect(plainReason("file is encrypted")).toBe("The file is encrypted.");
  });
});
