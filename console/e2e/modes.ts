import { mkdir } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import type { Page } from "@playwright/test";
import { violations } from "./axe";

const pictures = fileURLToPath(new URL("out/views/", import.meta.url));
const wide = { width: 1280, height: 860 };
const modes = {
  light: { colorScheme: "light", viewport: wide },
  dark: { colorScheme: "dark", viewport: wide },
  narrow: { colorScheme: "light", viewport: { width: 390, height: 844 } },
} as const;

/**
 * Looks at what a page shows in light, in dark and on a narrow screen, and says what breaks a rule of accessibility or is
 * wider than the window. `make e2e` keeps a picture of each.
 */
export async function inEveryMode(page: Page, name: string): Promise<string[]> {
  const found: string[] = [];
  for (const [mode, { colorScheme, viewport }] of Object.entries(modes)) {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize(viewport);
    found.push(...(await violations(page)).map((v) => `${name}, ${mode}: ${v}`));
    if (await page.evaluate(() => document.documentElement.scrollWidth > innerWidth)) found.push(`${name}, ${mode}: is wider than the window`);
    if (!process.env["E2E_LONG"]) continue;
    await page.evaluate(() => scrollTo(0, 0));
    await mkdir(pictures, { recursive: true });
    await page.screenshot({ path: `${pictures}${name}-${mode}.png`, fullPage: true });
  }
  await page.emulateMedia({ colorScheme: "light" });
  await page.setViewportSize(wide);
  return found;
}
