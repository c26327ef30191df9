import { mkdir } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import type { Page } from "@playwright/test";
import { navigation, routes } from "../src/routes";
import { violations } from "./axe";
import { fill, type Corpus } from "./corpus";
import { expect, test } from "./service";

const pictures = fileURLToPath(new URL("out/views/", import.meta.url));

/** Every address that the console has, with the corpus's ids for parameters. */
function addresses(corpus: Corpus): { name: string; path: string }[] {
  const ids: Record<string, string> = {
    "/memory/nodes/:id": corpus.node,
    "/memory/work/:id": corpus.job,
    "/trust/subjects/:id": corpus.subject,
    "/trust/webhooks/:id": corpus.webhook,
  };
  const all = routes.flatMap((route) => {
    const id = ids[route.path];
    if (route.path.includes(":") && !id) return [];
    return [{ name: route.path.replace(/[/:]+/g, "-").replace(/^-|-$/g, "") || "start", path: route.path.replace(":id", encodeURIComponent(id ?? "")) }];
  });
  return [
    ...all,
    { name: "search-results", path: "/search?q=" + encodeURIComponent("when is the bakery open") },
    { name: "node-superseded", path: "/memory/nodes/" + encodeURIComponent(corpus.superseded) },
    { name: "node-forgotten", path: "/memory/nodes/" + encodeURIComponent(corpus.forgotten) },
    { name: "as-ann", path: "/memory/documents?as=ann" },
  ];
}

/** Nothing is being loaded any more. */
async function settled(page: Page): Promise<void> {
  await expect(page.locator("h1").first()).toBeVisible();
  await expect(page.locator(".loading")).toHaveCount(0);
}

let corpus: Corpus;
test.beforeAll(async ({ service }) => {
  test.setTimeout(120_000);
  corpus = await fill(service);
});

test("every view that the navigation names is there", () => {
  const known = new Set(routes.map((route) => route.path));
  expect(navigation.flatMap((group) => group.links.map((link) => link.path)).filter((path) => !known.has(path))).toEqual([]);
});

test("no view breaks a rule of accessibility, complains, or asks another host", async ({ page, service }) => {
  test.setTimeout(300_000);
  const found: string[] = [];
  for (const { name, path } of addresses(corpus)) {
    await page.goto(service.url + "/console" + path);
    await settled(page);
    found.push(...(await violations(page)).map((v) => `${name}: ${v}`));
    const problem = page.locator(".problem");
    if (await problem.count()) found.push(`${name}: shows a problem: ${(await problem.first().innerText()).slice(0, 200)}`);
  }
  expect(found).toEqual([]);
});

for (const [mode, options] of Object.entries({
  light: { colorScheme: "light" as const },
  dark: { colorScheme: "dark" as const },
  narrow: { colorScheme: "light" as const, viewport: { width: 390, height: 844 } },
}))
  test(`pictures of every view, ${mode} @long`, async ({ browser, service }) => {
    test.setTimeout(600_000);
    await mkdir(pictures, { recursive: true });
    const context = await browser.newContext({ viewport: { width: 1280, height: 860 }, ...options });
    await context.addInitScript((key) => sessionStorage.setItem("orgmem.key", key), service.key);
    const page = await context.newPage();
    const wide: string[] = [];
    const found: string[] = [];
    for (const { name, path } of addresses(corpus)) {
      await page.goto(service.url + "/console" + path);
      await settled(page);
      await page.screenshot({ path: `${pictures}${name}-${mode}.png`, fullPage: true });
      if (mode !== "light") found.push(...(await violations(page)).map((v) => `${name}: ${v}`));
      // A page never scrolls sideways; what is wide scrolls by itself.
      if (await page.evaluate(() => document.documentElement.scrollWidth > innerWidth)) wide.push(name);
    }
    await context.close();
    expect(wide, "views that are wider than the window").toEqual([]);
    expect(found).toEqual([]);
  });
