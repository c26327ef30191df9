import { mkdir } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import type { Page } from "@playwright/test";
import { navigation, routes } from "../src/routes";
import { addresses, settled } from "./addresses";
import { violations } from "./axe";
import { fill, type Corpus } from "./corpus";
import { inEveryMode } from "./modes";
import { expect, test as shared, unhurried, watch, type Service } from "./service";

const pictures = fileURLToPath(new URL("out/views/", import.meta.url));

// The walk asks faster than a person would: by a plan with a rate limit it is told to wait, and the client does.
const test = shared.extend<object, { service: Service }>({
  service: [async ({ service }, use) => use(await unhurried(service)), { scope: "worker", timeout: 60_000 }],
});

let corpus: Corpus;
test.beforeAll(async ({ service }) => {
  test.setTimeout(240_000);
  corpus = await fill(service);
});

/** What a view says went wrong: nothing should, where a key may see everything. */
const problems = async (page: Page): Promise<string[]> =>
  (await page.locator(".problem").allInnerTexts()).map((text) => `shows a problem: ${text.slice(0, 200)}`);

/** What a view asks for and may be refused, and why it asks all the same. */
const refusable = ({ forgotten }: Corpus): string[] => [
  // Whether a node is forgotten is not known before it is asked for: its view asks for the tombstone after that.
  `404 GET /v1/recall/graph/node/${encodeURIComponent(forgotten)}`,
];

/**
 * Notes what the page asks the service for and does not get. The browser's log has a line for each, which `watch` leaves
 * out, since elsewhere a refusal is what is tested.
 */
function refusals(page: Page): string[] {
  const seen: string[] = [];
  page.on("response", (response) => {
    if (response.status() < 400) return;
    const { pathname } = new URL(response.url());
    const line = `${response.status()} ${response.request().method()} ${pathname}`;
    if (!refusable(corpus).includes(line)) seen.push(`${new URL(page.url()).pathname} asked in vain: ${line}`);
  });
  return seen;
}

test("every view that the navigation names is there", () => {
  const known = new Set(routes.map((route) => route.path));
  expect(navigation.flatMap((group) => group.links.map((link) => link.path)).filter((path) => !known.has(path))).toEqual([]);
});

test("no view breaks a rule of accessibility, complains, or asks another host", async ({ page, service }) => {
  test.setTimeout(300_000);
  const found: string[] = [];
  const refused = refusals(page);
  for (const { name, path } of addresses(corpus)) {
    await page.goto(service.url + "/console" + path);
    await settled(page);
    found.push(...(await violations(page)).map((v) => `${name}: ${v}`));
    found.push(...(await problems(page)).map((p) => `${name}: ${p}`));
  }
  expect(found).toEqual([]);
  expect(refused, "what was asked for and not given").toEqual([]);
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
    const seen = watch(page, service.url);
    const wide: string[] = [];
    const found: string[] = [];
    for (const { name, path } of addresses(corpus)) {
      await page.goto(service.url + "/console" + path);
      await settled(page);
      await page.screenshot({ path: `${pictures}${name}-${mode}.png`, fullPage: true });
      found.push(...(await problems(page)).map((p) => `${name}: ${p}`));
      if (mode !== "light") found.push(...(await violations(page)).map((v) => `${name}: ${v}`));
      // A page never scrolls sideways; what is wide scrolls by itself.
      if (await page.evaluate(() => document.documentElement.scrollWidth > innerWidth)) wide.push(name);
    }
    await context.close();
    expect(wide, "views that are wider than the window").toEqual([]);
    expect(found).toEqual([]);
    expect(seen.complaints, "what the page complained of").toEqual([]);
  });

// What an address alone does not show. The trained brain is looked at where one is trained, in e2e/brain.spec.ts.
const opened: readonly { name: string; path(corpus: Corpus): string; open(page: Page): Promise<void> }[] = [
  {
    name: "search-why",
    path: () => "/search?q=" + encodeURIComponent("when is the bakery open"),
    open: async (page) => {
      const first = page.getByRole("article").first();
      await first.getByRole("button", { name: "Why this one?" }).click();
      await expect(first.getByText(/^\d+(st|nd|rd|th), likeness/)).toBeVisible();
    },
  },
  {
    name: "search-answer",
    path: () => "/search?tab=answer&q=" + encodeURIComponent("Who serviced the deck oven in the bakery?"),
    open: async (page) => {
      await expect(page.getByText("Taken from the passage below")).toBeVisible();
      await expect(page.getByRole("list", { name: "What the answer rests on" }).locator("mark").first()).toContainText("Marta Lindqvist");
    },
  },
  {
    name: "graph-node",
    path: (corpus) => "/graph?node=" + encodeURIComponent(corpus.node),
    open: async (page) => {
      await expect(page.getByRole("application", { name: /Graph of \d+ nodes and \d+ edges/ })).toBeVisible();
      await expect(page.getByRole("region", { name: "The chosen node" }).getByRole("heading", { name: "The oven" })).toBeVisible();
    },
  },
  {
    name: "node-forget",
    path: (corpus) => "/memory/nodes/" + encodeURIComponent(corpus.node),
    open: async (page) => {
      await page.getByRole("button", { name: "Forget", exact: true }).click();
      const dialog = page.getByRole("dialog", { name: "Forget this node?" });
      await expect(dialog.getByRole("heading", { name: "Goes out of sight with it" })).toBeVisible();
      await expect(dialog.getByRole("button", { name: "Forget it" })).toBeEnabled();
    },
  },
  {
    name: "trust-purge-counted",
    path: (corpus) => "/trust/purge?subject=" + encodeURIComponent(corpus.subject),
    open: async (page) => {
      await page.getByRole("button", { name: "Show what would go" }).click();
      const counted = page.getByRole("region", { name: "2. What would go" });
      await expect(counted.getByRole("row").nth(1)).toBeVisible();
      await expect(counted.getByRole("button", { name: "Purge for good" })).toBeDisabled();
    },
  },
];
for (const { name, path, open } of opened)
  test(`nothing is wrong with what is opened: ${name}`, async ({ page, service }) => {
    test.setTimeout(90_000);
    const refused = refusals(page);
    await page.goto(service.url + "/console" + path(corpus));
    await settled(page);
    await open(page);
    expect(await inEveryMode(page, name)).toEqual([]);
    expect(await problems(page)).toEqual([]);
    expect(refused, "what was asked for and not given").toEqual([]);
  });

test.describe("signed out", () => {
  test.use({ signedIn: false });
  test("nothing is wrong with signing in, nor with its refusal", async ({ page, service }) => {
    await page.goto(service.url + "/console/");
    await expect(page.getByLabel("API key")).toBeVisible();
    expect(await inEveryMode(page, "sign-in")).toEqual([]);
    await page.getByLabel("API key").fill("svc_prod_nobody");
    await page.getByRole("button", { name: "Sign in" }).click();
    await expect(page.getByText("does not know this key")).toBeVisible();
    expect(await inEveryMode(page, "sign-in-refused")).toEqual([]);
  });
});
