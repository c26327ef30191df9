// People and programs whose keys may less than everything: what they cannot do is out of reach and told with its reason,
// no view asks for what it would be refused, and what is refused all the same is shown as the problem that it is.
import type { Page } from "@playwright/test";
import { routes } from "../src/routes";
import { acts, asks, changes, nowhere, quiet, usable, wordsOf } from "./acts";
import { addresses } from "./addresses";
import { violations } from "./axe";
import { fill, type Corpus } from "./corpus";
import { inEveryMode } from "./modes";
import { expect, test as shared, watch, type Service } from "./service";

// A service of its own: a memory that was thought over, and in which nothing is decided but what is decided here.
const test = shared.extend<object, { apart: string }>({ apart: ["rights", { scope: "worker", auto: true }] });
test.use({ signedIn: false });

type Scope = "read" | "write" | "admin" | "graph:write" | "memory:forget" | "subjects:provision" | "usage:read";
const every: readonly Scope[] = ["read", "write", "admin", "graph:write", "memory:forget", "subjects:provision", "usage:read"];
const within: Record<string, readonly string[]> = { write: ["graph:write", "memory:forget"], admin: ["subjects:provision", "usage:read"] };
const grants = (held: readonly string[], scope: string): boolean => held.includes(scope) || held.some((one) => within[one]?.includes(scope));

// Each scope that narrows what a key does beside reading, and each alone: reading is a grant like the others.
const holders: readonly (readonly Scope[])[] = [
  ["read"],
  ...every.slice(1).map((scope): Scope[] => ["read", scope]),
  ...every.slice(1).map((scope) => [scope]),
];

const together: readonly (readonly [title: string, content: string])[] = [
  ["Ferry", "Oskar Lindqvist missed the ferry to Gotland, so Wilma Krook waited at the quay."],
  ["Invoice", "Wilma Krook sent the invoice for the scaffolding, and Oskar Lindqvist paid it."],
  ["Choir", "At the choir's concert Oskar Lindqvist sang bass and Wilma Krook played the organ."],
  ["Beehive", "Farid Haddad inherited a beehive, and Greta Olsen built a fence around it."],
  ["Tax", "Greta Olsen filed the tax return that Farid Haddad had signed."],
  ["Telescope", "Through the telescope Farid Haddad showed Greta Olsen the rings of Saturn."],
];

let corpus: Corpus;
test.beforeAll(async ({ service }) => {
  test.setTimeout(240_000);
  corpus = await fill(service);
  await service.memory.subjects.put("newcomer");
  // Two people who are told of together, in texts that are like no others: what proposals are made of. One is accepted.
  await service.memory.add(together.map(([title, content]) => ({ title, content })), { wait: true });
  const open = () => service.memory.proposals.list({ status: "open" }).take(3);
  await expect.poll(async () => (await open()).length, { timeout: 60_000 }).toBe(3);
  await service.memory.proposals.accept((await open())[0]!.id);
});

/** A page that is signed in by a key, and what it was refused without having been asked to by a person. */
async function as(page: Page, service: Service, key: string): Promise<string[]> {
  await page.addInitScript((key) => sessionStorage.setItem("orgmem.key", key), key);
  const refused: string[] = [];
  page.on("response", (response) => {
    if (response.status() === 403) refused.push(`${new URL(page.url()).pathname} asked ${response.request().method()} ${new URL(response.url()).pathname}, and was refused`);
  });
  await page.goto(service.url + "/console/");
  return refused;
}

/** Every view, and every other address at which something is done. */
function places(): { pattern: string; path: string }[] {
  const patterned = addresses(corpus).map(({ path }, i) => ({ path, pattern: routes[i]?.path ?? path.split("?")[0]! }));
  const more = acts.map((act) => act.path(corpus)).filter((path) => !patterned.some((place) => place.path === path));
  return [...patterned, ...[...new Set(more)].map((path) => ({ path, pattern: patternOf(path) }))];
}
function patternOf(path: string): string {
  const bare = path.split("?")[0]!;
  return routes.find((route) => new RegExp(`^${route.path.replace(/:\w+/g, "[^/]+")}$`).test(bare))?.path ?? bare;
}

/** Looks at one place, and says what is wrong with what a key's scopes make of it. */
async function look(page: Page, service: Service, held: readonly string[], place: { pattern: string; path: string }): Promise<string[]> {
  const found: string[] = [];
  await page.goto(`${service.url}/console${place.path}`);
  await quiet(page);
  let words = await wordsOf(page);
  const needs = routes.find((route) => route.path === patternOf(place.path))?.scope;
  if (needs && !grants(held, needs)) {
    if (!(await page.getByText("This key may not see this.").isVisible()) || !words.has(needs)) found.push(`does not say that it takes ${needs}`);
    return found;
  }
  for (const problem of await page.locator(".problem").allInnerTexts()) found.push(`shows a problem: ${problem.slice(0, 200)}`);
  for (const act of acts.filter((one) => one.path(corpus) === place.path)) {
    const lacks = [act.scope, ...(act.reads ? ["read"] : [])].filter((scope) => !grants(held, scope));
    const may = lacks.length === 0;
    if (act.before) {
      await act.before(page);
      await quiet(page);
      words = await wordsOf(page);
    }
    const can = await act.control(page).first().waitFor({ timeout: may ? 5_000 : 1 }).then(() => usable(act.control(page)), () => false);
    if (can !== may) found.push(`${act.route} is ${can ? "within" : "out of"} reach`);
    if (!may && !lacks.some((scope) => words.has(scope))) found.push(`${act.route} is out of reach, and ${lacks.join(", ")} is not named`);
    await page.unrouteAll({ behavior: "ignoreErrors" });
  }
  return found;
}

test("each act that a scope decides about is walked, or it is said why not", async () => {
  const known = new Set([...acts.map((act) => act.route), ...Object.keys(nowhere)]);
  const there = await changes();
  expect({ unknown: there.filter((route) => !known.has(route)), gone: [...known].filter((route) => !there.includes(route)) }).toEqual({ unknown: [], gone: [] });
});

for (const held of holders) {
  const reads = held.length === 1 && held[0] === "read";
  test(`a key with ${held.join(" and ")} sees what it may, and is told what not, in every view${reads ? "" : " @long"}`, async ({ page, service }) => {
    test.setTimeout(400_000);
    const { apiKey, id } = await service.memory.keys.create({ label: held.join(", "), scopes: [...held] });
    const refused = await as(page, service, apiKey);
    const found: string[] = [];
    for (const place of places()) {
      found.push(...(await look(page, service, held, place)).map((what) => `${place.path}: ${what}`));
      found.push(...(await violations(page)).map((what) => `${place.path}: ${what}`));
    }
    expect([...found, ...refused]).toEqual([]);
    await service.memory.keys.revoke(id);
  });
}

test("a sandbox key and a member's key of an empty organization are refused nothing that a view asks for by itself", async ({ browser, service }) => {
  test.setTimeout(200_000);
  const sandbox = await service.memory.sandbox.keys.create({ label: "trying" });
  const post = async (path: string, body: unknown): Promise<Record<string, string>> => {
    const headers = { Authorization: `Bearer ${service.operatorToken}`, "Content-Type": "application/json" };
    return (await (await fetch(service.operatorUrl + path, { method: "POST", headers, body: JSON.stringify(body) })).json()) as Record<string, string>;
  };
  const { orgId } = await post("/operator/orgs", { name: "A team", ownerEmail: "owner@x.example" });
  const { userId } = await post(`/operator/orgs/${orgId}/members`, { email: "member@x.example", role: "member" });
  const member = await post(`/operator/orgs/${orgId}/keys`, { userId, scopes: ["read", "write"], label: "a member's" });
  for (const [who, key] of [["sandbox", sandbox.apiKey], ["member", member["apiKey"]!]] as const) {
    const context = await browser.newContext({ viewport: { width: 1280, height: 860 } });
    const page = await context.newPage();
    const watched = watch(page, service.url);
    const refused = await as(page, service, key);
    const found: string[] = [];
    for (const { path } of routes.filter((route) => !route.path.includes(":"))) {
      await page.goto(`${service.url}/console${path}`);
      await quiet(page);
      found.push(...(await page.locator(".problem").allInnerTexts()).map((text) => `${path} shows a problem: ${text.slice(0, 200)}`));
      found.push(...(await violations(page)).map((what) => `${path}: ${what}`));
    }
    expect([...found, ...refused, ...watched.complaints], who).toEqual([]);
    if (who === "sandbox") {
      await page.goto(`${service.url}/console/trust/settings`);
      await expect(page.getByRole("button", { name: "Delete my account…" })).toBeDisabled();
      await expect(page.getByText("A key of the sandbox cannot delete an account.")).toBeVisible();
    }
    await context.close();
  }
});

/** Has the page believe that its key may everything: what it then does is truly refused by the service. */
async function believe(page: Page): Promise<void> {
  await page.route("**/v1/me", async (route) => {
    if (route.request().method() !== "GET") return route.continue();
    const response = await route.fetch();
    await route.fulfill({ response, json: { ...((await response.json()) as object), scopes: every } });
  });
}

test("what is refused all the same is shown as the problem that it is, and changes nothing", async ({ page, service }) => {
  test.setTimeout(400_000);
  const { apiKey } = await service.memory.keys.create({ label: "reads", scopes: ["read"] });
  await as(page, service, apiKey);
  const found: string[] = [];
  for (const [i, act] of acts.entries()) {
    await believe(page);
    await page.goto(`${service.url}/console${act.path(corpus)}`);
    await quiet(page);
    await act.before?.(page);
    await quiet(page);
    const answer = page.waitForResponse((response) => asks(act.route, response.request()), { timeout: 15_000 });
    try {
      const control = act.control(page).first();
      // A file is chosen in a window of the system's, which is not opened here.
      if (!/Choose files/.test(String(control))) await control.click();
      await act.finish?.(page);
      const response = await answer;
      const { detail, requestId } = (await response.json()) as { detail: string; requestId: string };
      if (response.status() !== 403) found.push(`${act.route} in ${act.path(corpus)} was answered ${response.status()}`);
      const shown = page.getByText(detail).first();
      await shown.waitFor({ timeout: 5_000 }).catch(() => found.push(`${act.route} in ${act.path(corpus)} does not show ${JSON.stringify(detail)}`));
      if (!(await page.getByText(requestId).first().isVisible().catch(() => false))) found.push(`${act.route} in ${act.path(corpus)} does not show the request's id`);
      // A picture of each, where pictures are made.
      if (process.env["E2E_LONG"]) found.push(...(await inEveryMode(page, `refused-${i}`)));
      else found.push(...(await violations(page)).map((what) => `${act.route}: ${what}`));
    } catch (error) {
      found.push(`${act.route} in ${act.path(corpus)}: ${String(error).split("\n")[0]}`);
      void answer.catch(() => undefined);
    }
    await page.unrouteAll({ behavior: "ignoreErrors" });
  }
  expect(found).toEqual([]);
});

test("what was refused for one thing is not told of the next", async ({ page, service }) => {
  const { apiKey } = await service.memory.keys.create({ label: "reads", scopes: ["read"] });
  await as(page, service, apiKey);
  await believe(page);
  await page.goto(`${service.url}/console/trust/webhooks/${corpus.webhook}`);
  const dialog = page.getByRole("dialog", { name: "Delete this webhook?" });
  await page.getByRole("button", { name: "Delete…" }).click();
  await dialog.getByRole("button", { name: "Delete", exact: true }).click();
  await expect(dialog.getByRole("alert")).toContainText("write");
  await dialog.getByRole("button", { name: "Cancel" }).click();
  await page.getByRole("button", { name: "Delete…" }).click();
  await expect(dialog.getByRole("button", { name: "Delete", exact: true })).toBeVisible();
  await expect(dialog.getByRole("alert")).toHaveCount(0);
});

test("a view whose reading is refused shows the problem, and not an empty memory", async ({ page, service }) => {
  test.setTimeout(200_000);
  const { apiKey } = await service.memory.keys.create({ label: "sees usage", scopes: ["usage:read"] });
  await as(page, service, apiKey);
  await believe(page);
  const found: string[] = [];
  for (const { path, pattern } of places()) {
    const needs = routes.find((route) => route.path === patternOf(path))?.scope;
    if (pattern === "/search" && !path.includes("?")) continue; // asks for nothing before it is asked
    if (path === "/trust/sandbox" || path.startsWith("/trust/purge")) continue; // see the acts
    await page.goto(`${service.url}/console${path}`);
    await quiet(page);
    if (!needs || needs === "usage:read") continue;
    const problem = page.locator(".problem").first();
    await problem.waitFor({ timeout: 5_000 }).catch(() => found.push(`${path} shows no problem`));
    if ((await problem.count()) > 0 && !/Request/.test(await problem.innerText())) found.push(`${path} shows a problem without the request's id: ${await problem.innerText()}`);
    found.push(...(await violations(page)).map((what) => `${path}: ${what}`));
  }
  expect(found).toEqual([]);
});

