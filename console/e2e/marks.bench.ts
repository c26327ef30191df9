import { addresses, settled } from "./addresses";
import { fill } from "./corpus";
import { test } from "./service";

const rounds = 5;
const median = (values: number[]): number => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]!;

interface Marks {
  /** Milliseconds from the navigation's beginning until the view had nothing left to load. */
  usable: number;
  /** From the last answer of the service until then. */
  afterData: number;
  /** Bytes of scripts as they came over the wire. */
  script: number;
}

test("how long views take", async ({ browser, service }) => {
  const corpus = await fill(service);
  const lines: string[] = [];
  for (const { name, path } of addresses(corpus)) {
    const seen: Marks[] = [];
    for (let round = 0; round < rounds; round++) {
      const context = await browser.newContext({ viewport: { width: 1280, height: 860 } }); // an empty cache
      await context.addInitScript((key) => {
        sessionStorage.setItem("orgmem.key", key);
        // The last time that the page changed: when that was the view, it was shown.
        const marks = window as unknown as { changed: number };
        marks.changed = 0;
        new MutationObserver(() => (marks.changed = performance.now())).observe(document, { subtree: true, childList: true, characterData: true });
      }, service.key);
      const page = await context.newPage();
      await page.goto(service.url + "/console" + path);
      await settled(page);
      seen.push(
        await page.evaluate(() => {
          const all = performance.getEntriesByType("resource") as PerformanceResourceTiming[];
          const answered = Math.max(0, ...all.filter((e) => e.initiatorType === "fetch").map((e) => e.responseEnd));
          const { changed } = window as unknown as { changed: number };
          return {
            usable: changed,
            afterData: Math.max(0, changed - answered),
            script: all.filter((e) => e.name.endsWith(".js")).reduce((sum, e) => sum + e.encodedBodySize, 0),
          };
        }),
      );
      await context.close();
    }
    const of = (mark: keyof Marks) => median(seen.map((s) => s[mark]));
    lines.push(`${name.padEnd(36)} usable ${of("usable").toFixed(0).padStart(5)} ms   after its data ${of("afterData").toFixed(0).padStart(4)} ms   ${(of("script") / 1024).toFixed(0).padStart(4)} KiB of scripts`);
  }
  console.log(`medians of ${rounds} loads with an empty cache\n${lines.join("\n")}`);
});
