import { Orgmem } from "orgmem";
import { addresses, settled } from "./addresses";
import { fill } from "./corpus";
import { command, test, type Service } from "./service";

const rounds = Number(process.env["ROUNDS"] ?? 5);
const only = process.env["VIEWS"]?.split(","); // names of views, for a look at few of them
const median = (values: number[]): number => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]!;

interface Marks {
  /** Milliseconds from the navigation's beginning until the view had nothing left to load. */
  usable: number;
  /** From the last answer of the service until then. */
  afterData: number;
  /** Bytes of scripts as they came over the wire. */
  script: number;
}

/** The same service, asked by an organization whose plan has no rate limit: hundreds of loads would wait for their turn, and that would be measured. */
async function unhurried(service: Service): Promise<Service> {
  const made = await command("org", "create", "--json", "--data", service.data, "--operator", service.operatorUrl, "--name", "Marks", "--owner-email", "marks@example.com", "--personal", "--plan", "unlimited");
  const { apiKey } = JSON.parse(made) as { apiKey: string };
  return { ...service, key: apiKey, memory: new Orgmem({ baseUrl: service.url, apiKey }) };
}

test("how long views take", async ({ browser, service: quickstart }) => {
  const service = await unhurried(quickstart);
  const corpus = await fill(service);
  const lines: string[] = [];
  for (const { name, path } of addresses(corpus).filter((a) => !only || only.includes(a.name))) {
    const seen: Marks[] = [];
    for (let round = 0; round < rounds; round++) {
      const context = await browser.newContext({ viewport: { width: 1280, height: 860 } }); // an empty cache
      await context.addInitScript((key) => {
        sessionStorage.setItem("orgmem.key", key);
        // The last time that the page changed: when that was the view, it was shown. How far a picture's arranging is, which is
        // told on top of it, is no change of the view.
        const marks = window as unknown as { changed: number };
        marks.changed = 0;
        const told = (node: Node): boolean => (node instanceof Element ? node : node.parentElement)?.closest(".arranging") !== null;
        new MutationObserver((changes) => {
          if (!changes.every((c) => told(c.target) || [...c.addedNodes, ...c.removedNodes].some(told))) marks.changed = performance.now();
        }).observe(document, { subtree: true, childList: true, characterData: true });
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
