// Hostile texts, in every view: they are text and nothing else. Views are taken from the table of routes, so that a new
// one is looked at from its first day. That no dialog opens, no other host is asked and nothing is complained of in the
// console is what e2e/service.ts watches in every test.
import type { Page } from "@playwright/test";
import { routes } from "../src/routes";
import { fill, long, texts, traces, type Made } from "./hostile";
import { expect, test as shared, type Service } from "./service";

// A service of its own: what is in here is not for the other tests.
const test = shared.extend<object, { apart: string }>({ apart: ["hostile", { scope: "worker", auto: true }] });

let made: Made;
test.beforeAll(async ({ service }) => {
  test.setTimeout(300_000);
  made = await fill(service);
});

/** An address of each view, with something hostile of its kind where it shows one thing. */
function addresses(): { pattern: string; path: string }[] {
  const ids: readonly [prefix: string, id: string][] = [
    ["/memory/nodes/", made.all.id],
    ["/memory/documents/", made.all.id],
    ["/memory/entities/", made.all.id],
    ["/memory/edges/", made.edge],
    ["/memory/work/", made.job],
    ["/trust/subjects/", made.subjects[0]!],
    ["/trust/webhooks/", made.webhook],
    ["/trust/connectors/", made.connector],
    ["/trust/exports/", made.exported],
  ];
  return routes.map(({ path: pattern }) => {
    // A view of a kind that is not listed is looked at with an id that nobody has, which it has to say as text.
    const id = ids.find(([prefix]) => pattern.startsWith(prefix))?.[1] ?? texts[0]!;
    return { pattern, path: at(pattern, id) };
  });
}
const at = (pattern: string, id: string): string => pattern.replace(/:\w+/g, encodeURIComponent(id));

const mostFolds = 10;

/** Goes there, waits until all is shown, and says what a text has become beside text. */
async function look(page: Page, service: Service, path: string, how: { unfold?: boolean } = {}): Promise<string[]> {
  await page.goto(`${service.url}/console${path}`);
  await expect(page.locator("h1").first(), path).toBeVisible();
  await expect(page.locator(".loading"), path).toHaveCount(0);
  await expect(page.getByText("Nothing has this address."), path).toHaveCount(0);
  const more = page.getByRole("button", { name: "Show more", exact: true });
  for (let i = 0; how.unfold && i < mostFolds && (await more.count()) > 0; i++) {
    await more.first().click();
    await expect(page.locator(".loading"), path).toHaveCount(0);
  }
  return (await page.evaluate(traces)).map((what) => `${path.slice(0, 120)}: ${what}`);
}

const content = (page: Page): Promise<string> => page.locator("main").evaluate((main) => main.textContent ?? "");

test("hostile texts are text in every view", async ({ page, service }) => {
  test.setTimeout(300_000);
  const found: string[] = [];
  for (const { path } of addresses()) found.push(...(await look(page, service, path)));
  expect(found).toEqual([]);
});

test("views that list what people have named show the names as they are", async ({ page, service }) => {
  test.setTimeout(120_000);
  const expected: Record<string, readonly string[]> = {
    "/trust/keys": made.labels,
    "/trust/subjects": made.subjects,
    "/trust/webhooks": made.urls,
    "/trust/connectors": made.connectors,
    "/memory/nodes/:id": texts,
  };
  const missing: string[] = [];
  for (const { pattern, path } of addresses()) {
    const wanted = expected[pattern];
    if (!wanted) continue;
    missing.push(...(await look(page, service, path, { unfold: true })));
    const text = await content(page);
    for (const one of wanted) if (!text.includes(one)) missing.push(`${path.slice(0, 80)}: ${JSON.stringify(one)}`);
  }
  expect(missing).toEqual([]);
});

test("hostile addresses are said back as text, if at all", async ({ page, service }) => {
  test.setTimeout(300_000);
  const found: string[] = [];
  const ids = [texts[0]!, texts[2]!, texts[12]!, "__proto__", "\u202eabc", "a/b?c#d%zz"];
  for (const { path } of routes.filter((r) => r.path.includes(":"))) for (const id of ids) found.push(...(await look(page, service, at(path, id))));
  // Every name that a view reads from its address, with something that it does not expect.
  const names = "q as kind status domain domainId type types action actor target from to range by step show scope subject job only id node a b at asOf mode sort topK page tab view focus path".split(" ");
  const values = [texts[0]!, texts[19]!, "__proto__", "-1e999"];
  for (const [i, { path }] of addresses().entries()) {
    const value = values[i % values.length]!;
    const query = new URLSearchParams(names.filter((n) => n !== "as" || i % 3 === 0).map((name) => [name, value]));
    found.push(...(await look(page, service, `${path}?${query}`)));
  }
  expect(found).toEqual([]);
});

test("what a person types is text, too", async ({ page, service }) => {
  const text = texts[2]!;
  await page.goto(`${service.url}/console/trust/keys`);
  await page.getByRole("button", { name: "Make a key" }).click();
  await page.getByRole("dialog").getByLabel("What it is for").fill(text);
  await page.getByRole("dialog").getByRole("button", { name: "Make it" }).click();
  const card = page.getByRole("region", { name: "Your new key" });
  await expect(card).toContainText(text);
  await card.getByRole("button", { name: "I have kept it" }).click();
  await page.getByRole("button", { name: `Revoke ${text}` }).first().click();
  const dialog = page.getByRole("dialog", { name: "Revoke this key?" });
  await expect(dialog).toContainText(text);
  await dialog.getByRole("button", { name: "Revoke" }).click();
  await expect(page.getByText(`Revoked: ${text}`), "a toast").toBeVisible();
  await expect(page.locator("[data-hostile]")).toHaveCount(0);
});

test("each hostile text has a page of its own on which it stands @long", async ({ page, service }) => {
  test.skip(!routes.some((r) => r.path === "/memory/nodes/:id"), "nodes have no view yet");
  test.setTimeout(600_000);
  const found: string[] = [];
  for (const node of made.nodes) {
    found.push(...(await look(page, service, at("/memory/nodes/:id", node.id), { unfold: true })));
    const text = await content(page);
    // One of them was forgotten, which is shown too, without what it said.
    const now = await service.memory.get(node.id).catch(() => undefined);
    for (const wanted of [now?.content, now?.title]) if (wanted && !text.includes(wanted)) found.push(`${node.id} does not show ${JSON.stringify(wanted)}`);
  }
  for (const subject of made.subjects) {
    found.push(...(await look(page, service, at("/trust/subjects/:id", subject))));
    if (!(await content(page)).includes(subject)) found.push(`the subject ${JSON.stringify(subject)} is not shown`);
  }
  for (const { path } of addresses()) for (const subject of made.subjects.slice(0, 3)) found.push(...(await look(page, service, `${path}?as=${encodeURIComponent(subject)}`)));
  expect(found).toEqual([]);
});

test("a word of a megabyte hangs no view @long", async ({ page, service }) => {
  test.setTimeout(900_000);
  const word = long(1_000_000);
  await service.memory.add({ content: word, title: long(500), externalId: long(512), metadata: { [long(1_000)]: long(30_000) } }, { wait: true, waitFor: 600_000 });
  const node = (await service.memory.find(long(512)))!;
  const found: string[] = [];
  const slowest = 10_000; // milliseconds for a view to answer, with a megabyte in it
  for (const { path } of [...addresses(), { path: at("/memory/nodes/:id", node.id) }, { path: "/search?q=hostile" }]) {
    if (path.startsWith("/memory/nodes/") && !routes.some((r) => r.path === "/memory/nodes/:id")) continue;
    const began = Date.now();
    found.push(...(await look(page, service, path)));
    await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
    if (Date.now() - began > slowest) found.push(`${path} took ${Date.now() - began} ms`);
    // What is wider than the window scrolls by itself.
    if (await page.evaluate(() => document.documentElement.scrollWidth > innerWidth)) found.push(`${path} is wider than the window`);
  }
  expect(found).toEqual([]);
});
