import { expect, test } from "vitest";
import { commands, type Call } from "../src/lib/commands";

const call: Call = {
  method: "POST",
  path: "/v1/search",
  body: { query: "who's \"in\" charge?", filters: { kind: "document" } },
  subject: "ann lee/ü",
  verb: "search",
  argument: "who's \"in\" charge?",
  options: { topK: 25, includeSuperseded: true, mode: "", filters: { kind: "document", asOf: "2026-05-03T21:59:59.999Z", domainId: "d1", metadata: { author: "Ann", draft: false, page: 3 } } },
};
const text = (name: string, of: Call = call, origin = "http://127.0.0.1:8080"): string => commands(of, origin).find((c) => c.name === name)!.text;

test("a subject is percent-encoded in the header, and a quote ends no argument of the shell", () => {
  expect(text("curl")).toContain("X-Svc-Subject: ann%20lee%2F%C3%BC'");
  expect(text("curl")).toContain(`"who'\\''s \\"in\\" charge?"`);
});

test("the clients get the subject as it is", () => {
  for (const name of ["TypeScript", "Python", "Go"]) expect(text(name).toLowerCase()).toContain('subject("ann lee/ü")');
});

test("Python has its own names and truths", () => {
  expect(text("Python")).toContain("top_k=25, include_superseded=True, filters=");
  expect(text("Python")).toContain('"metadata": {"author": "Ann", "draft": False, "page": 3}');
});

test("Go has structs, times and maps", () => {
  expect(text("Go")).toContain("Search(context.Background(), orgmem.SearchRequest{Query: ");
  expect(text("Go")).toContain("IncludeSuperseded: true, Filters: orgmem.SearchFilters{Kind: \"document\", AsOf: time.Date(2026, 5, 3, 21, 59, 59, 999000000, time.UTC), DomainID: \"d1\"");
  expect(text("Go")).toContain('Metadata: map[string]any{"author": "Ann", "draft": false, "page": 3}');
});

test("what was not chosen is not written", () => {
  for (const name of ["TypeScript", "Python", "Go"]) expect(text(name)).not.toMatch(/\bmode\b/i);
  const bare = { ...call, options: { filters: {} } };
  expect(text("TypeScript", bare)).toContain(`search("who's \\"in\\" charge?");\n`);
});

test("a client is told to go over plain HTTP where the console did, and only there", () => {
  expect(text("TypeScript", call, "http://memory.example:8080")).toContain("allowInsecure: true");
  expect(text("TypeScript")).not.toContain("allowInsecure");
});

test("the key is never written out", () => {
  for (const { text } of commands(call, "http://127.0.0.1:8080")) expect(text).toContain("ORGMEM_API_KEY");
});

test("what names one thing takes its id alone, in Go too", () => {
  const get: Call = { method: "GET", path: "/v1/graph/nodes/ingest%3Aa", verb: "get", argument: "ingest:a" };
  expect(text("Go", get)).toContain('memory.Get(context.Background(), "ingest:a")\n');
  expect(text("TypeScript", get)).toContain('memory.get("ingest:a");\n');
  expect(text("Python", get)).toContain('memory.get("ingest:a")\n');
});

test("what nobody sees is written as its number", () => {
  const odd = { ...call, body: { query: "\ufeffa\u200b\u202eb\u2028\u{1f680}" }, argument: "\ufeffa\u200b\u202eb\u2028\u{1f680}" };
  for (const name of ["curl", "TypeScript", "Python", "Go"]) expect(text(name, odd)).toContain('"\\ufeffa\\u200b\\u202eb\\u2028\u{1f680}"');
});

test("a field may have the name of what an object inherits from", () => {
  const odd = { ...call, options: { filters: { metadata: JSON.parse('{"__proto__": "x"}') as Record<string, string> } } };
  expect(text("TypeScript", odd)).toContain('metadata: { ["__proto__"]: "x" }');
});

test("a program of Go imports what it uses, and no more", () => {
  expect(text("Go")).toContain('\t"time"\n');
  expect(text("Go", { ...call, options: { topK: 3 } })).not.toContain('"time"');
});
