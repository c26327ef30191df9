import type { Browser, Page } from "@playwright/test";
import { routes } from "../src/views/operator/routes";
import { addresses, settled } from "./addresses";
import { fill } from "./corpus";
import { expect, test, unhurried } from "./service";

const rounds = Number(process.env["ROUNDS"] ?? 5);
const only = process.env["VIEWS"]?.split(","); // names of views, for a look at few of them
// What is aimed at, in milliseconds; where a median is not below them, the bench fails.
const usableBound = 1_000;
const afterDataBound = 200;
const median = (values: number[]): number => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]!;

interface Marks {
  /** Milliseconds from the navigation's beginning, or from the pressing of a form's button, until the view had nothing left to load. */
  usable: number;
  /** From the last answer of the service until then; 0 where it asked the service nothing, as a form does. */
  afterData: number;
  /** Bytes of scripts as they came over the wire. */
  script: number;
}

interface Noted {
  changed: number;
  asked: number;
}

/** A page with an empty cache that notes when it changed last, and when something was pressed in it. */
async function fresh(browser: Browser, key: string): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 860 } });
  await context.addInitScript((key) => {
    if (key) sessionStorage.setItem("orgmem.key", key);
    // The last time that the page changed: when that was the view, it was shown. How far a picture's arranging is, which is
    // told on top of it, is no change of the view.
    const marks = window as unknown as Noted;
    [marks.changed, marks.asked] = [0, 0];
    const told = (node: Node): boolean => (node instanceof Element ? node : node.parentElement)?.closest(".arranging") !== null;
    new MutationObserver((changes) => {
      if (!changes.every((c) => told(c.target) || [...c.addedNodes, ...c.removedNodes].some(told))) marks.changed = performance.now();
    }).observe(document, { subtree: true, childList: true, characterData: true });
    addEventListener("submit", () => (marks.asked = performance.now()), { capture: true });
  }, key);
  return await context.newPage();
}

/** What is noted of a page that has nothing left to load: from when it was asked for, or from what was pressed last. */
const noted = (page: Page): Promise<Marks> =>
  page.evaluate(() => {
    const all = performance.getEntriesByType("resource") as PerformanceResourceTiming[];
    const answers = all.filter((e) => e.initiatorType === "fetch").map((e) => e.responseEnd);
    const { changed, asked } = window as unknown as Noted;
    return {
      usable: changed - asked,
      afterData: answers.length ? Math.max(0, changed - Math.max(...answers)) : 0,
      script: all.filter((e) => e.name.endsWith(".js")).reduce((sum, e) => sum + e.encodedBodySize, 0),
    };
  });

interface Told {
  line: string;
  missed: string[];
}

function told(name: string, seen: readonly Marks[]): Told {
  const of = (mark: keyof Marks): number => median(seen.map((s) => s[mark]));
  const [usable, afterData] = [of("usable"), of("afterData")];
  const missed: string[] = [];
  if (!(usable < usableBound)) missed.push(`${name}: usable after ${usable.toFixed(0)} ms, not below ${usableBound}`);
  if (!(afterData < afterDataBound)) missed.push(`${name}: there ${afterData.toFixed(0)} ms after its data, not below ${afterDataBound}`);
  const line = `${name.padEnd(36)} usable ${usable.toFixed(0).padStart(5)} ms   after its data ${afterData.toFixed(0).padStart(4)} ms   ${(of("script") / 1024).toFixed(0).padStart(4)} KiB of scripts`;
  return { line, missed };
}

/** Prints all figures first: which bound was missed is read beside what the other views took. */
function report(heading: string, all: readonly Told[]): void {
  console.log([heading, ...all.map((t) => t.line)].join("\n"));
  expect(all.flatMap((t) => t.missed), "bounds that are missed").toEqual([]);
}

test("how long views take", async ({ browser, service: quickstart }) => {
  const service = await unhurried(quickstart);
  const corpus = await fill(service);
  const lines: Told[] = [];
  for (const { name, path } of addresses(corpus).filter((a) => !only || only.includes(a.name))) {
    const seen: Marks[] = [];
    for (let round = 0; round < rounds; round++) {
      const page = await fresh(browser, service.key);
      await page.goto(service.url + "/console" + path);
      await settled(page);
      seen.push(await noted(page));
      await page.context().close();
    }
    lines.push(told(name, seen));
  }
  report(`medians of ${rounds} loads with an empty cache`, lines);
});

// The operator's token is in the tab's memory alone, so every load begins with the form, and the view follows.
test("how long the operator's views take", async ({ browser, service }) => {
  const forms: Marks[] = [];
  const lines: Told[] = [];
  for (const route of routes) {
    const name = "operator" + (route.path === "/" ? "" : route.path.replace(/[/:]+/g, "-"));
    if (only && !only.includes(name)) continue;
    const seen: Marks[] = [];
    for (let round = 0; round < rounds; round++) {
      const page = await fresh(browser, "");
      await page.goto(`${service.operatorUrl}/console${route.path.replace(":id", service.org)}`);
      const token = page.getByLabel("Operator token");
      await expect(token).toBeVisible();
      forms.push(await noted(page));
      await token.fill(service.operatorToken);
      await page.getByRole("button", { name: "Sign in" }).click();
      await expect(token).toHaveCount(0);
      await settled(page);
      seen.push(await noted(page));
      await page.context().close();
    }
    lines.push(told(name, seen));
  }
  if (forms.length) lines.unshift(told("operator's form", forms));
  report(`medians of ${rounds} loads with an empty cache; views from the pressing of the form's button on`, lines);
});
