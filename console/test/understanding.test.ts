import { describe, expect, it } from "vitest";
import { endOf } from "../src/views/understanding/asof";
import { alike } from "../src/views/understanding/compare";
import { disagreeing } from "../src/views/understanding/disagree";
import { authorOf } from "../src/views/understanding/nodes";
import { distinct, fit, labels, lines, monthName, monthsWith, mostlyIn, reach, step } from "../src/views/understanding/plot";
import { layout, moment, monthsOf, occurrences, perMonth, place, ticks } from "../src/views/understanding/timeline";
import { formality, habits, measure, times } from "../src/views/understanding/voice";

const day = 86_400_000;
const at = (iso: string): number => Date.parse(iso);
const dates = (found: number[]): string[] => found.map((d) => new Date(d).toISOString().slice(0, 10));

describe("layout", () => {
  const span = { from: at("2026-01-01"), until: at("2026-01-11") };
  const how = { least: 10, lanes: 2, gap: 2 };
  it("puts what overlaps into lanes, and gives a lane back when it is free", () => {
    const { placed, more } = layout(
      [
        { at: "2026-01-01T00:00:00Z", until: "2026-01-05T00:00:00Z" },
        { at: "2026-01-02T00:00:00Z", until: "2026-01-03T00:00:00Z" },
        { at: "2026-01-06T00:00:00Z" },
      ],
      span,
      1000,
      how,
    );
    expect(placed.map((p) => [p.start, p.end, p.lane])).toEqual([
      [0, 400, 0],
      [100, 200, 1],
      [500, 510, 0],
    ]);
    expect(more).toBe(0);
  });
  it("counts what finds no lane, leaves out what lies outside, and stays within the picture", () => {
    const same = { at: "2026-01-10T23:59:00Z" };
    const { placed, more } = layout([same, same, same, { at: "2025-12-01T00:00:00Z" }, { at: "no date" }, { at: "2025-12-01T00:00:00Z", until: "2026-02-01T00:00:00Z" }], span, 1000, how);
    expect(more).toBe(2);
    expect(placed).toHaveLength(2);
    for (const p of placed) {
      expect(p.start).toBeGreaterThanOrEqual(0);
      expect(p.end).toBeLessThanOrEqual(1000);
    }
  });
  it("places a time in proportion", () => expect(place(at("2026-01-06"), span, 1000)).toBe(500));
});

describe("the sentences that disagree", () => {
  const filler = (from: number): string => Array.from({ length: 20 }, (_, i) => `Paragraph ${from + i} tells of the ${["crane", "quay", "tide", "dock"][i % 4]} and its keeper. `).join("");
  it("are found in the middle of long texts, with a sentence around them", () => {
    const a = `${filler(0)}The boiler of the north hall was replaced in 2019 by Weber. Nobody minded.`;
    const b = `Some other text begins here. The boiler of the north hall was replaced in 2021 by Weber. ${filler(100)}`;
    const found = disagreeing(a, b)!;
    expect(found.a.sentence).toContain("replaced in 2019");
    expect(found.b.sentence).toContain("replaced in 2021");
    expect(found.a.before).toContain("Paragraph 19");
    expect(found.a.after).toBe("Nobody minded.");
    expect([found.a.cut, found.b.cut]).toEqual([
      { before: true, after: false },
      { before: false, after: true },
    ]);
  });
  it("are those that the explanation names, also among texts of one pattern", () => {
    const a = `${filler(0)}The kiln is fired to 1260 degrees.`;
    const b = `${filler(30)}The kiln is fired to 1180 degrees.`;
    expect(disagreeing(a, b, "The passages differ in what they say of it: “1260” in one, “1180” in the other.")!.a.sentence).toContain("1260");
  });
  it("are marked in short texts that say much else, with nothing left out", () => {
    const a = "# Handbook\n\nThe workshop is open from 7:00 to 16:00. Everyone wears hearing protection at the planer.";
    const b = "We build furniture of solid wood. The workshop is open from 8:00 to 16:00. Ask for Lena.";
    const found = disagreeing(a, b)!;
    expect([found.a, found.b].map((p) => p.before + p.sentence + p.after)).toEqual([a, b]);
    expect([found.a.sentence.trim(), found.b.sentence.trim()]).toEqual(["The workshop is open from 7:00 to 16:00.", "The workshop is open from 8:00 to 16:00."]);
    expect([found.a.cut, found.b.cut]).toEqual(Array(2).fill({ before: false, after: false }));
  });
  it("are not those that say the same, and there are none without a common word", () => {
    expect(disagreeing("The gate is green. Ships wait.", "The gate is green. Ships wait not.")!.a.sentence).toBe("Ships wait.");
    expect(disagreeing("Alpha beta.", "Gamma delta.")).toBeUndefined();
    expect(disagreeing("", "Gamma.")).toBeUndefined();
  });
});

describe("ticks", () => {
  it("stand on Mondays, months or years, as there is room", () => {
    const weeks = ticks({ from: at("2026-11-01"), until: at("2027-01-10") }, 900);
    expect(weeks.length).toBeGreaterThan(3);
    for (const t of weeks) expect(new Date(t.at).getUTCDay()).toBe(1);
    expect(ticks({ from: at("2026-01-15"), until: at("2026-12-20") }, 400).map((t) => t.label)).toEqual(["Apr 2026", "Jul 2026", "Oct 2026"]);
    expect(ticks({ from: at("1990-06-01"), until: at("2026-06-01") }, 500).map((t) => t.label)).toEqual(["2000", "2010", "2020"]);
  });
  it("are never closer than they may be, and few over any time", () => {
    for (const days of [1, 10, 100, 1_000, 100_000, 3_000_000]) {
      const found = ticks({ from: at("2000-01-01") - days * day, until: at("2000-01-01") }, 700);
      expect(found.length).toBeLessThanOrEqual(11);
    }
  });
});

describe("occurrences", () => {
  const span = { from: at("2026-11-27"), until: at("2027-01-10") };
  const none = { since: null, until: null };
  it("are the days that the words name", () => {
    expect(dates(occurrences({ every: { unit: "week", interval: 1, weekdays: ["tuesday", "thursday"] }, ...none }, { from: at("2026-11-27"), until: at("2026-12-08") }))).toEqual(["2026-12-01", "2026-12-03", "2026-12-08"]);
    expect(dates(occurrences({ every: { unit: "month", interval: 1, monthDays: [-1] }, ...none }, span))).toEqual(["2026-11-30", "2026-12-31"]);
    expect(dates(occurrences({ every: { unit: "month", interval: 1, weekdays: ["monday"], nth: [1] }, ...none }, span))).toEqual(["2026-12-07", "2027-01-04"]);
    expect(dates(occurrences({ every: { unit: "month", interval: 1, weekdays: ["friday"], nth: [-1] }, ...none }, span))).toEqual(["2026-11-27", "2026-12-25"]);
    expect(dates(occurrences({ every: { unit: "year", interval: 1, months: [1], monthDays: [3] }, ...none }, span))).toEqual(["2027-01-03"]);
  });
  it("keep to exceptions, beginnings and ends", () => {
    const daily = occurrences({ every: { unit: "day", interval: 1, except: { text: "Sunday", weekdays: ["sunday"] } }, ...none }, { from: at("2026-11-27"), until: at("2026-11-30") });
    expect(dates(daily)).toEqual(["2026-11-27", "2026-11-28", "2026-11-30"]);
    expect(dates(occurrences({ every: { unit: "week", interval: 1, weekdays: ["monday"] }, since: "2026-12-08T00:00:00Z", until: "2026-12-21T00:00:00Z" }, span))).toEqual(["2026-12-14"]);
    expect(dates(occurrences({ every: { unit: "week", interval: 2, weekdays: ["friday"] }, since: "2026-12-04T00:00:00Z", until: null }, span))).toEqual(["2026-12-04", "2026-12-18", "2027-01-01"]);
  });
  it("are none where no day is known", () => {
    const unknown: Parameters<typeof occurrences>[0]["every"][] = [
      { unit: "year", interval: 1, times: 2 },
      { unit: "week", interval: 2, weekdays: ["friday"] },
      { unit: "month", interval: 1 },
      { unit: "hour", interval: 1 },
    ];
    for (const every of unknown) expect(occurrences({ every, ...none }, span)).toEqual([]);
  });
  it("are bounded", () => expect(occurrences({ every: { unit: "day", interval: 1 }, ...none }, { from: 0, until: at("2027-01-01") }, 5)).toHaveLength(5));
});

it("says a moment as exactly as its text does", () => {
  const said = (e: Parameters<typeof moment>[0]): string => moment(e);
  expect(said({ at: "2026-12-07T15:30:00.000Z", until: "2026-12-07T15:31:00.000Z", precision: "minute" })).toBe("Mon, Dec 7, 2026, 15:30");
  expect(said({ at: "2026-12-04T00:00:00.000Z", until: "2026-12-05T00:00:00.000Z", precision: "day" })).toBe("Fri, Dec 4, 2026");
  expect(said({ at: "2026-12-04T00:00:00.000Z", until: "2026-12-07T00:00:00.000Z", precision: "day" })).toBe("Fri, Dec 4, 2026 to Sun, Dec 6, 2026");
  expect(said({ at: "2026-11-22T23:59:59.999Z", until: "2026-11-23T00:00:00.000Z", precision: "week" })).toBe("week of Nov 16, 2026");
  expect(said({ at: "2027-01-01T00:00:00.000Z", until: "2027-02-01T00:00:00.000Z", precision: "month" })).toBe("January 2027");
  expect(said({ at: "2026-04-01T00:00:00.000Z", until: "2026-07-01T00:00:00.000Z", precision: "quarter" })).toBe("second quarter of 2026");
  expect(said({ at: "1990-01-01T00:00:00.000Z", until: "2000-01-01T00:00:00.000Z", precision: "decade" })).toBe("the 1990s");
  expect(said({ at: "2026-12-01T00:00:00.000Z", bound: "latest" })).toBe("by Tue, Dec 1, 2026");
  expect(said({ at: "2026-06-01T00:00:00.000Z", bound: "earliest" })).toBe("from Mon, Jun 1, 2026 on");
});

it("counts by months, over the turn of a year", () => {
  const months = monthsOf(at("2026-11-27"), at("2027-02-01"), 24);
  expect(months).toEqual(["2026-11", "2026-12", "2027-01", "2027-02"]);
  expect(monthsOf(at("2020-01-01"), at("2027-02-01"), 2)).toEqual(["2027-01", "2027-02"]);
  expect(perMonth(["2026-12-31T23:00:00Z", "2026-12-01T00:00:00Z", "2027-02-03T00:00:00Z", "2019-01-01T00:00:00Z"], months)).toEqual([0, 2, 0, 1]);
});

describe("the plot of an identity", () => {
  const spread = { major: 0.4, minor: 0.1, angle: 0.6 };
  const basins = [
    { id: "basin-1", label: "Lake, paddling", share: 0.6, current: true, x: -0.3, y: 0.1, spread },
    { id: "basin-2", label: "", share: 0.3, current: false, x: 0.5, y: -0.2, spread },
    { id: "basin-3", label: "Bread", share: 0.1, current: false, x: 0.5, y: -0.2, spread: { major: 0, minor: 0, angle: 0 } },
  ];
  const point = (basin: string, x: number, y: number, at: string) => ({ nodeId: "n", title: "", basin, x, y, at: `${at}T00:00:00.000Z` });
  const points = [point("basin-1", -0.6, 0.4, "2026-05-02"), point("basin-1", -0.2, 0, "2026-06-02"), point("basin-2", 0.5, 0, "2026-06-01"), point("basin-2", 0.5, 0, "2026-06-03")];
  const axes = [{ share: 0.4 }, { share: 0.2 }];

  for (const width of [320, 900])
    it(`has all of it in ${width} pixels, at one scale`, () => {
      const f = fit({ axes, basins, points }, width);
      for (const p of points) {
        expect(f.x(p.x)).toBeGreaterThanOrEqual(33);
        expect(f.x(p.x)).toBeLessThanOrEqual(width - 33);
        expect(f.y(p.y)).toBeGreaterThanOrEqual(29);
        expect(f.y(p.y)).toBeLessThanOrEqual(f.height - 39);
      }
      expect(f.x(1) - f.x(0)).toBeCloseTo(f.y(0) - f.y(1));
      for (const b of basins) expect(f.x(b.x) + reach(b.spread).x * f.unit).toBeLessThanOrEqual(width - 33);
    });
  it("is a strip where all lies on a line, and there where there is nothing", () => {
    const line = points.map((p) => ({ ...p, y: 0 }));
    const f = fit({ axes: axes.slice(1), basins: [], points: line }, 600);
    expect(f.height).toBeLessThan(200);
    expect(new Set(line.map((p) => f.y(p.y))).size).toBe(1);
    expect(Number.isFinite(fit({ axes, basins: [], points: [] }, 600).x(0))).toBe(true);
    expect(Number.isFinite(fit({ axes, basins: [], points: [point("basin-1", 0.2, 0.2, "2026-05-02")] }, 600).y(0.2))).toBe(true);
  });
  it("reaches as far as its ellipse", () => {
    expect(reach({ major: 2, minor: 1, angle: 0 })).toEqual({ x: 2, y: 1 });
    expect(reach({ major: 2, minor: 1, angle: Math.PI / 2 }).y).toBeCloseTo(2);
  });
  it("puts no label over another", () => {
    const put = labels(basins, fit({ axes, basins, points }, 600));
    expect(put.map((l) => l.text)).toEqual(["Lake, paddling", "Without a name", "Bread"]);
    expect(Math.abs(put[1]!.y - put[2]!.y)).toBeGreaterThanOrEqual(17);
  });
  it("goes from point to point by the arrow keys", () => {
    expect(step(points, 0, "ArrowRight")).toBe(1);
    expect(step(points, 1, "ArrowRight")).toBe(2);
    expect(step(points, 2, "ArrowRight"), "a point upon another").toBe(3);
    expect(step(points, 3, "ArrowRight")).toBeUndefined();
    expect(step(points, 1, "ArrowUp")).toBe(0);
    expect(step(points, 2, "Home")).toBe(0);
    expect(step(points, 0, "End")).toBe(3);
    expect(step(points, 0, "a")).toBeUndefined();
    expect(step([], 0, "ArrowUp")).toBeUndefined();
  });
  it("tells month by month where most lies", () => {
    expect(monthsWith(points)).toEqual(["2026-05", "2026-06"]);
    expect(monthName("2026-06")).toBe("June 2026");
    expect(mostlyIn({ basins, points }, "2026-06")).toMatchObject({ basin: { id: "basin-2" }, of: 2, all: 3 });
    expect(mostlyIn({ basins, points }, "2025-01")).toBeUndefined();
  });
});

it("breaks labels into lines that fit", () => {
  expect(lines("Lake, boat, Priya", 11, 3)).toEqual(["Lake, boat,", "Priya"]);
  expect(lines("one two three four", 5, 2).at(-1)).toMatch(/…$/);
  expect(lines("Donaudampfschiff", 6, 1)).toEqual(["Donau…"]);
});

it("says how distinct the places are", () => {
  expect(distinct(0.6, 3)).toContain("clearly apart");
  expect(distinct(0.1, 3)).toContain("run into each other");
  expect(distinct(0, 1)).toContain("one place");
});

describe("voice", () => {
  const style = {
    rhythm: { typicalWords: 16, shortMessages: -4 },
    opening: { lowerCase: 1.4, self: 0.1 },
    words: { the: 3 },
    later: { newThing: 2 },
  };
  it("tells what stands out, and no mean or single word", () => {
    const { more, less } = habits(style, 5);
    expect(more.map((h) => h.words)).toEqual(["new thing", "begins in lower case"]);
    expect(less.map((h) => h.words)).toEqual(["writes messages of a few words"]);
    expect(habits(style, 1).more).toHaveLength(1);
  });
  it("says ratios and levels in words", () => {
    expect([0, 1, -1, 3.4, 0.58].map(times)).toEqual(["as often as others", "2 times as often as others", "1/2 as often as others", "11 times as often as others", "1.5 times as often as others"]);
    expect(measure("words.of")).toBe("uses the word “of”");
    expect(formality(0.2)).toContain("Casual");
    expect(formality(0.9)).toContain("Formal");
  });
});

it("marks what differs only where much is the same", () => {
  expect(alike("The pool is open on Sundays.", "The pool is not open on Sundays.")).toBe(true);
  expect(alike("Training is on Tuesday in the boat house.", "Tomas has one key.")).toBe(false);
  expect(alike("", "")).toBe(false);
});

it("knows who wrote a text by the names that clients use", () => {
  expect(authorOf({ speaker: "  Mara " })).toBe("Mara");
  expect(authorOf({ author: "", from: "Bo", user: "x" })).toBe("Bo");
  expect(authorOf({ author: 7 })).toBe("");
});

it("takes the end of a day, and leaves to the service what is no day", () => {
  expect(Date.parse(endOf("2026-11-27")!) - new Date("2026-11-27T00:00:00").getTime()).toBe(day - 1);
  expect(endOf("")).toBeUndefined();
  expect(endOf("yesterday")).toBe("yesterday");
});
