import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import type { Page } from "@playwright/test";
import type { AxeResults } from "axe-core";

const source = readFile(fileURLToPath(new URL("../node_modules/axe-core/axe.min.js", import.meta.url)), "utf8");

/** What axe finds wrong with the page as it is shown now: one line for each rule and element. */
export async function violations(page: Page): Promise<string[]> {
  await page.evaluate(await source); // by the debugger, which the page's policy does not bind
  const found = await page.evaluate(() => (window as unknown as { axe: { run(): Promise<AxeResults> } }).axe.run());
  return found.violations.flatMap((v) => v.nodes.map((n) => `${v.id} (${v.impact}): ${v.help}: ${n.html.slice(0, 160)}`));
}
