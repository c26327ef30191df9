import { describe, expect, it } from "vitest";
import { difference } from "../src/lib/diff";
import { ago, bytes, percent } from "../src/lib/format";
import { marked } from "../src/lib/marked";
import { match, type Route } from "../src/lib/match";

describe("marked", () => {
  const hits = (text: string, query: string) => marked(text, query).filter((p) => p.hit).map((p) => p.text);

  it("marks words of the query and their forms, without case or accents", () => {
    expect(hits("The boilers were serviced in Zürich.", "boiler service zurich")).toEqual(["boilers", "serviced", "Zürich"]);
  });
  it("does not mark words that only begin alike", () => {
    expect(hits("a carpet in the car", "car")).toEqual(["car"]);
  });
  it("does not mark words that every text has", () => {
    expect(hits("The car is in the yard.", "where is the car?")).toEqual(["car"]);
  });
  it("loses nothing of the text", () => {
    for (const text of ["", "a", "<b>car</b> \u202ecar", "x".repeat(30_000), "car".repeat(3)])
      expect(marked(text, "car b").map((p) => p.text).join("")).toBe(text);
  });
  it("marks nothing for a query without words", () => expect(hits("what?", "??")).toEqual([]));
});

describe("difference", () => {
  const joined = (before: string, after: string, not: "gone" | "new") =>
    difference(before, after).filter((r) => r.kind !== not).map((r) => r.text).join("");

  it("shows the words that differ", () => {
    expect(difference("The limit is 5,000.", "The limit is 10,000.").filter((r) => r.kind !== "same")).toEqual([
      { kind: "gone", text: "5,000" },
      { kind: "new", text: "10,000" },
    ]);
  });
  it("has both texts in it, whatever they are", () => {
    const texts = ["", "a", "a b c", "c b a", "the same\n\nwith more", "漢字 かな", "🙂🙂", "word ".repeat(3_000)];
    for (const before of texts)
      for (const after of texts) {
        expect(joined(before, after, "new")).toBe(before);
        expect(joined(before, after, "gone")).toBe(after);
      }
  });
});

describe("match", () => {
  const view = async () => ({ default: (() => undefined) as never });
  const routes: Route[] = [
    { path: "/", title: "Start", view },
    { path: "/memory/nodes", title: "Nodes", view },
    { path: "/memory/nodes/:id", title: "Node", view },
  ];

  it("finds the view of an address and its parameters", () => {
    expect(match(routes, "/")?.route.title).toBe("Start");
    expect(match(routes, "/memory/nodes/")?.route.title).toBe("Nodes");
    expect(match(routes, "/memory/nodes/ingest%3Aa%2Fb%20c")?.params).toEqual({ id: "ingest:a/b c" });
  });
  it("finds none for others", () => {
    for (const path of ["/memory", "/memory/nodes/a/b", "/memory/nodes/%", "/Memory/nodes"]) expect(match(routes, path)).toBeUndefined();
  });
});

describe("formats", () => {
  it("says how long ago", () => {
    const now = Date.parse("2026-11-27T12:00:00Z");
    expect(ago("2026-11-27T11:58:00Z", now)).toBe("2 minutes ago");
    expect(ago("2026-11-28T12:00:00Z", now)).toBe("tomorrow");
    expect(ago("2026-11-27T12:00:01Z", now)).toBe("now");
  });
  it("shortens sizes and shares", () => {
    expect([bytes(0), bytes(1023), bytes(1536), bytes(200 * 1024 ** 2)]).toEqual(["0 B", "1023 B", "1.5 KiB", "200 MiB"]);
    expect([percent(0), percent(0.034), percent(0.5)]).toEqual(["0 %", "3.4 %", "50 %"]);
  });
});
