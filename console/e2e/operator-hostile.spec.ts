// What people and machines have named, in the operator's views: it is text and nothing else. Plans have no names of
// anybody's; the names of nodes of a cluster are in cluster.spec.ts.
import { once } from "node:events";
import { mkdir } from "node:fs/promises";
import { request } from "node:http";
import path from "node:path";
import { routes } from "../src/views/operator/routes";
import { long, requestId, texts, traces, words } from "./hostile";
import { inEveryMode } from "./modes";
import { command, expect, serve, temporary, test, watch } from "./service";

test.use({ signedIn: false });

// What the service takes for a name: printable, and not without end.
const names = [...texts, ...words, long(200)].filter((t) => /[\p{L}\p{N}\p{P}\p{S}]/u.test(t) && !/\p{Cc}/u.test(t) && [...t].length <= 200);
const emails: readonly ((i: number) => string)[] = [(i) => `${"m".repeat(60)}${i}@${"x".repeat(60)}.example`, (i) => `"<img data-hostile src=x onerror=alert(${i})>"@x.example`];
const most = 60; // organizations of one page are 50: one more page is there

/** What must be read in each view, by what the walk below has put there. */
const seen: Readonly<Record<string, string>> = {
  "/orgs": "the organizations",
  "/orgs/:id": "the organization",
  "/requests": "the request's id",
  "/backups": "the vault",
  "/configuration": "the node's name",
};
/** Views that have room for nobody's text, and why. */
const bare: Readonly<Record<string, string>> = {
  "/": "Figures of the node, and findings of ours where something is amiss.",
  "/cluster": "A node that is alone is not named; names of several are read in cluster.spec.ts.",
  "/storage": "Figures.",
};

test("each view of the operator's says what hostile text is read in it, or why there can be none", () => {
  expect([...Object.keys(seen), ...Object.keys(bare)].sort()).toEqual(routes.map((r) => r.path).sort());
});

/** A request that takes a second and a half, by an id of the caller's. */
async function slow(base: string, key: string): Promise<void> {
  const { hostname, port } = new URL(base);
  const sent = request({ hostname, port, method: "POST", path: "/v1/search", headers: { "X-Svc-API-Key": key, "X-Request-Id": requestId, "Content-Type": "application/json", "Content-Length": "20" } });
  const answered = once(sent, "response");
  sent.write("{");
  await new Promise((resolve) => setTimeout(resolve, 1_500)); // it is what makes it slow
  sent.end(" ".repeat(18) + "}");
  const [response] = (await answered) as [{ resume(): void }];
  response.resume();
}

test("names that are hostile are text in every view of the operator's, and break no layout", async ({ browser }) => {
  test.setTimeout(180_000);
  const { folder, remove } = await temporary();
  const vault = path.join(folder, "vault <b data-hostile>\u202egnp.\u202c\u200b");
  const key = path.join(folder, "key");
  const nodeName = `"><img src=x data-hostile>\u202e`;
  await mkdir(vault);
  await command("backup", "keygen", key);
  const serving = await serve(path.join(folder, "data"), ["--node-name", nodeName, "--backup-vault", vault, "--backup-key-file", key]);
  try {
    const { operatorUrl } = serving.told;
    const headers = { Authorization: `Bearer ${serving.operatorToken}`, "Content-Type": "application/json" };
    const post = async (at: string, body: unknown): Promise<Record<string, string>> => {
      const answer = await fetch(operatorUrl + at, { method: "POST", headers, body: JSON.stringify(body) });
      expect(answer.status, `${at} ${JSON.stringify(body)}`).toBe(201);
      return (await answer.json()) as Record<string, string>;
    };
    const kept = names.slice(0, most);
    const ids = new Map<string, string>();
    for (const [i, name] of kept.entries()) {
      const { orgId, apiKey } = await post("/operator/orgs", { name, ownerEmail: `o${i}@x.example` });
      ids.set(name, orgId!);
      if (i === 0) await slow(serving.told.baseUrl, apiKey!);
      if (i < 3) for (const email of emails) await post(`/operator/orgs/${orgId}/members`, { email: email(i), role: "member" });
    }

    const page = await (await browser.newContext()).newPage();
    const watched = watch(page, operatorUrl);
    await page.goto(operatorUrl + "/console/orgs");
    await page.getByLabel("Operator token").fill(serving.operatorToken);
    await page.getByRole("button", { name: "Sign in" }).click();
    await expect(page.getByRole("region", { name: "Organizations" })).toBeVisible();
    const more = page.getByRole("button", { name: "Show more", exact: true });
    while ((await more.count()) > 0) {
      await more.click();
      await expect(page.locator(".loading")).toHaveCount(0);
    }
    const main = page.locator("main");
    const shown = (await main.evaluate((e) => e.textContent)) ?? "";
    expect(kept.filter((name) => !shown.includes(name))).toEqual([]);
    const found: string[] = [...(await page.evaluate(traces)), ...(await inEveryMode(page, "operator-hostile-orgs"))];

    for (const name of kept) {
      await main.locator(`a[href$="/orgs/${ids.get(name)}"]`).click();
      await expect(page.getByRole("region", { name: "Members" })).toBeVisible();
      expect(await page.locator("h1").textContent()).toBe(name);
      if (name === kept[0]) await expect(main).toContainText("<img data-hostile src=x onerror=alert(0)>");
      found.push(...(await page.evaluate(traces)).map((what) => `${name}: ${what}`));
      if ([kept[0], long(200), kept.at(-1)].includes(name) || /\u202e|\u0300/.test(name)) found.push(...(await inEveryMode(page, `operator-hostile-org-${kept.indexOf(name)}`)));
      // What is asked before it is removed has its name, too.
      await page.getByRole("button", { name: "Remove the organization" }).click();
      await expect(page.getByRole("dialog")).toContainText(name.trim().slice(0, 5));
      found.push(...(await page.evaluate(traces)).map((what) => `${name}, asked: ${what}`));
      await page.keyboard.press("Escape");
      await page.getByRole("link", { name: "All organizations" }).click();
      await expect(page.getByRole("region", { name: "Organizations" })).toBeVisible();
      while ((await more.count()) > 0) {
        await more.click();
        await expect(page.locator(".loading")).toHaveCount(0);
      }
    }

    for (const view of ["Overview", "Nodes", "Requests", "Storage", "Backups", "Configuration"]) {
      await page.getByRole("navigation").getByRole("link", { name: view }).click();
      await expect(page.locator(".loading")).toHaveCount(0);
      await expect(page.locator("h1")).toBeVisible();
      const wanted = { Requests: requestId, Backups: vault, Configuration: nodeName }[view];
      if (wanted) await expect(main.getByText(wanted).first(), view).toBeVisible();
      found.push(...(await page.evaluate(traces)).map((what) => `${view}: ${what}`), ...(await inEveryMode(page, `operator-hostile-${view.toLowerCase()}`)));
    }
    expect(found).toEqual([]);
    expect(watched.complaints).toEqual([]);
    await page.context().close();
  } finally {
    await serving.stop();
    await remove();
  }
});
