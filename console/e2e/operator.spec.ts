import { once } from "node:events";
import { readdir, writeFile } from "node:fs/promises";
import { request } from "node:http";
import path from "node:path";
import { Orgmem } from "orgmem";
import { violations } from "./axe";
import { inEveryMode } from "./modes";
import { command, expect, serve, temporary, test, watch } from "./service";

test.use({ signedIn: false });

test.beforeEach(async ({ page, service }) => {
  await page.goto(service.operatorUrl + "/console/orgs");
  await page.getByLabel("Operator token").fill(service.operatorToken);
  await page.getByRole("button", { name: "Sign in" }).click();
  await expect(page.getByRole("heading", { name: "Organizations" })).toBeVisible();
});

test("a wrong token is said to be wrong, and a right one stays in the tab's memory", async ({ page, service }) => {
  expect(await page.evaluate(() => JSON.stringify([sessionStorage, localStorage]))).not.toContain(service.operatorToken);
  await page.reload();
  expect(await violations(page)).toEqual([]);
  await page.getByLabel("Operator token").fill("wrong");
  await page.getByRole("button", { name: "Sign in" }).click();
  await expect(page.getByText("This is not the token of this node.")).toBeVisible();
});

test("an organization is made, its first key works, and it is removed by its typed name", async ({ page, service }) => {
  await page.getByRole("button", { name: "New organization" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Name").fill("Boat <b>yard</b>");
  await dialog.getByLabel("e-mail").fill("ann@nowhere");
  await dialog.getByLabel("Plan").selectOption("scale");
  await dialog.getByRole("button", { name: "Make it" }).click();
  const apiKey = (await dialog.locator("pre").innerText()).trim();
  const me = await new Orgmem({ baseUrl: service.url, apiKey }).me();
  expect(me.plan).toBe("scale");

  await dialog.getByRole("link", { name: "Go to it" }).click();
  await expect(page.getByRole("heading", { name: "Boat <b>yard</b>" })).toBeVisible();
  expect(await page.content(), "the key is not in the page any more").not.toContain(apiKey);
  await page.getByLabel("Plan").selectOption("free");
  await expect(page.getByText("holds from the next request on")).toBeVisible();
  expect((await new Orgmem({ baseUrl: service.url, apiKey }).me()).plan).toBe("free");

  await page.getByRole("button", { name: "Add a member" }).click();
  await page.getByRole("dialog").getByLabel("E-mail").fill("bo@nowhere.example");
  await page.getByRole("dialog").getByRole("button", { name: "Add" }).click();
  await expect(page.getByRole("row").filter({ hasText: "bo@nowhere.example" })).toBeVisible();
  await page.getByRole("button", { name: "Make a key for bo@nowhere.example" }).click();
  await page.getByRole("dialog").getByLabel("What it is for").fill("a laptop");
  await page.getByRole("dialog").getByRole("checkbox", { name: "write", exact: true }).uncheck();
  await page.getByRole("dialog").getByRole("button", { name: "Make the key" }).click();
  const second = (await page.getByRole("dialog").locator("pre").innerText()).trim();
  expect((await new Orgmem({ baseUrl: service.url, apiKey: second }).me()).scopes).toEqual(["read"]);
  await page.getByRole("dialog").getByRole("button", { name: "Done" }).click();
  expect(await violations(page)).toEqual([]);
  await page.getByRole("button", { name: "Remove bo@nowhere.example" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Remove the member" }).click();
  await expect(page.getByRole("row").filter({ hasText: "bo@nowhere.example" })).toHaveCount(0);

  await page.getByRole("button", { name: "Remove the organization" }).click();
  const last = page.getByRole("dialog");
  const remove = last.getByRole("button", { name: "Remove everything" });
  await expect(remove).toBeDisabled();
  await last.getByLabel(/^Type /).fill((await last.locator("label").innerText()).replace(/^Type (.+) to confirm$/, "$1"));
  await remove.click();
  await expect(page).toHaveURL(/\/console\/orgs$/);
  await expect(page.getByText("Boat <b>yard</b>", { exact: true })).toHaveCount(0);
  await expect(new Orgmem({ baseUrl: service.url, apiKey }).me()).rejects.toThrow();
});

test("a field that the service refuses is said at the field", async ({ page }) => {
  await page.getByRole("button", { name: "New organization" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Name").fill("Quay");
  await dialog.getByLabel("e-mail").fill("a@b@c");
  await dialog.locator("form").evaluate((form: HTMLFormElement) => (form.noValidate = true));
  await dialog.getByRole("button", { name: "Make it" }).click();
  await expect(dialog.getByLabel("e-mail")).toHaveAccessibleDescription(/is not an e-mail address/);
});

test("a node alone is drawn as one, its requests are counted, and nothing is amiss", async ({ page, service }) => {
  await service.memory.me();
  await page.getByRole("link", { name: "Nodes" }).click();
  await expect(page.getByRole("heading", { name: "This node is alone" })).toBeVisible();
  await expect(page.getByRole("img", { name: /shards, all on this node/ })).toBeVisible();
  await page.getByRole("link", { name: "Requests" }).click();
  await expect(page.getByRole("row").filter({ hasText: "GET /v1/me" })).toBeVisible();
  await page.getByRole("link", { name: "Configuration" }).click();
  await expect(page.getByRole("listitem").filter({ hasText: "disk space" })).toContainText("good");
  await page.getByLabel("Find a setting").fill("min-free");
  await expect(page.getByRole("row")).toHaveCount(2);
});

test("a slow request is listed with where its time went, and with nothing that it said", async ({ page, service }) => {
  await page.getByRole("link", { name: "Requests" }).click();
  await expect(page.getByText("No request took 1.0 s or longer since the start.")).toBeVisible();
  const { port, hostname } = new URL(service.url);
  const body = JSON.stringify({ content: "The boiler whispers private words." });
  const headers = { "Content-Type": "application/json", "Content-Length": body.length, "X-Svc-API-Key": service.key, "X-Request-Id": "walk-1" };
  const slow = request({ port, hostname, method: "POST", path: "/v1/ingest?private=1", headers });
  const answered = once(slow, "response");
  // Half of the body, and the rest when a second has passed: the node has not heard of it for as long.
  slow.write(body.slice(0, 10));
  await page.waitForTimeout(1_100);
  slow.end(body.slice(10));
  (await answered)[0].resume();
  const table = page.getByRole("region", { name: "Slow requests" });
  const row = table.getByRole("row").filter({ hasText: "walk-1" });
  await expect(row).toContainText("POST /v1/ingest");
  await expect(row).toContainText(/the body 1\.\d s/);
  await expect(row.getByRole("link")).toHaveAttribute("href", new RegExp(`/orgs/${service.org}$`));
  await expect(table).not.toContainText("private");
  await table.getByRole("button", { name: "Took" }).click();
  await expect(table.getByRole("columnheader", { name: "Took" })).toHaveAttribute("aria-sort", "descending");
  expect(await inEveryMode(page, "operator-slow")).toEqual([]);
});

test("a backup is made and verified, one that is damaged is said to be, and the command finds the same", async ({ browser }) => {
  const { folder, remove } = await temporary();
  const [vault, key] = [path.join(folder, "vault"), path.join(folder, "backup.key")];
  await command("backup", "keygen", key);
  const { told, operatorToken, stop } = await serve(path.join(folder, "data"), ["--quickstart", "--backup-vault", vault, "--backup-key-file", key]);
  const page = await (await browser.newContext()).newPage();
  const watched = watch(page, told.operatorUrl);
  try {
    await new Orgmem({ baseUrl: told.baseUrl, apiKey: told.apiKey }).add("The boiler was serviced in May.", { wait: true });
    await page.goto(told.operatorUrl + "/console/backups");
    await page.getByLabel("Operator token").fill(operatorToken);
    await page.getByRole("button", { name: "Sign in" }).click();
    await expect(page.getByText("No backup was finished in this vault yet.")).toBeVisible();
    await page.getByRole("button", { name: "Back up now" }).click();
    const table = page.getByRole("region", { name: "Backups in the vault" });
    await expect(table.getByRole("row")).toHaveCount(2);
    await expect(table).toContainText("not since the node's start");
    await table.getByRole("button", { name: /^Verify / }).click();
    await expect(table).toContainText("whole");
    expect(JSON.parse(await command("backup", "verify", vault, "--key", key, "--json"))).toMatchObject({ snapshot: await table.locator("td.name").innerText() });
    expect(await inEveryMode(page, "operator-backups")).toEqual([]);

    const [blob] = (await readdir(path.join(vault, "blobs"), { recursive: true })).filter((name) => name.endsWith(".zst"));
    await writeFile(path.join(vault, "blobs", blob!), "something else");
    await table.getByRole("button", { name: /^Verify / }).click();
    await expect(table).toContainText("failed");
    await expect(table, "which file to delete").toContainText(blob!);
    expect(await inEveryMode(page, "operator-backups-damaged")).toEqual([]);
    expect(watched.complaints).toEqual([]);
  } finally {
    await page.context().close();
    await stop();
    await remove();
  }
});

test("without a vault the page says how to get one, and gives the commands", async ({ page }) => {
  await page.getByRole("link", { name: "Backups" }).click();
  await expect(page.getByText("This node's configuration names no vault.")).toBeVisible();
  await expect(page.getByText("orgmem backup verify /mnt/vault --key backup.key")).toBeVisible();
  await expect(page.getByRole("button", { name: "Back up now" })).toHaveCount(0);
  expect(await inEveryMode(page, "operator-backups-none")).toEqual([]);
});

test("every view of the operator's follows the rules of accessibility", async ({ page }) => {
  for (const [link, heading] of Object.entries({ Overview: "Overview", Nodes: "Nodes and shards", Requests: "Requests", Storage: "Storage and queues", Backups: "Backups", Configuration: "Configuration", Organizations: "Organizations" })) {
    await page.getByRole("navigation").getByRole("link", { name: link }).click();
    await expect(page.getByRole("heading", { name: heading, level: 1 })).toBeVisible();
    await expect(page.locator(".loading")).toHaveCount(0);
    expect(await inEveryMode(page, `operator-${link.toLowerCase()}`)).toEqual([]);
    await expect(page.locator(".problem"), link).toHaveCount(0);
  }
});

test("an organization with ordinary names, and signing in, follow the rules of accessibility in every mode", async ({ page, service }) => {
  const headers = { Authorization: `Bearer ${service.operatorToken}`, "Content-Type": "application/json" };
  const post = async (at: string, body: unknown): Promise<Record<string, string>> => {
    const answer = await fetch(service.operatorUrl + at, { method: "POST", headers, body: JSON.stringify(body) });
    expect(answer.status, at).toBe(201);
    return (await answer.json()) as Record<string, string>;
  };
  const { orgId } = await post("/operator/orgs", { name: "Harbour Works", ownerEmail: "nora.bright@harbour.example" });
  for (const [email, role] of [["odd.nansen@harbour.example", "admin"], ["ines.costa@harbour.example", "member"]]) await post(`/operator/orgs/${orgId}/members`, { email, role });
  try {
    // A page that is loaded anew has no token, and asks for it where it is.
    await page.goto(`${service.operatorUrl}/console/orgs/${orgId}`);
    await expect(page.getByLabel("Operator token")).toBeVisible();
    expect(await inEveryMode(page, "operator-sign-in")).toEqual([]);
    await page.getByLabel("Operator token").fill("wrong");
    await page.getByRole("button", { name: "Sign in" }).click();
    await expect(page.getByText("This is not the token of this node.")).toBeVisible();
    expect(await inEveryMode(page, "operator-sign-in-refused")).toEqual([]);

    await page.getByLabel("Operator token").fill(service.operatorToken);
    await page.getByRole("button", { name: "Sign in" }).click();
    await expect(page.getByRole("heading", { name: "Harbour Works", level: 1 })).toBeVisible();
    await expect(page.getByRole("row").filter({ hasText: "ines.costa@harbour.example" })).toBeVisible();
    expect(await inEveryMode(page, "operator-org")).toEqual([]);
    await expect(page.locator(".problem")).toHaveCount(0);
  } finally {
    await fetch(`${service.operatorUrl}/operator/orgs/${orgId}`, { method: "DELETE", headers });
  }
});

test("data that could not be asked for again name the request", async ({ page }) => {
  await page.getByRole("link", { name: "Requests" }).click();
  await expect(page.getByText("Requests a second")).toBeVisible();
  await page.route("**/metrics", (route) =>
    route.fulfill({ status: 403, contentType: "application/problem+json", body: JSON.stringify({ title: "Permission denied", status: 403, code: "permission_denied", detail: "Not now.", requestId: "req_stale", errors: [] }) }),
  );
  await expect(page.getByText(/What is shown is of .* Not now\./)).toBeVisible();
  await expect(page.getByText("Request req_stale")).toBeVisible();
  expect(await violations(page)).toEqual([]);
});

test("while the node cannot be reached the page says how old it is, and goes on by itself", async ({ page }) => {
  await page.getByRole("link", { name: "Requests" }).click();
  await expect(page.getByText("Requests a second")).toBeVisible();
  let reached = false;
  await page.route("**/metrics", (route) => (reached ? route.continue() : route.abort()));
  await expect(page.getByText(/What is shown is of .* cannot be reached/)).toBeVisible();
  reached = true;
  await expect(page.getByText(/What is shown is of/)).toHaveCount(0, { timeout: 30_000 });
});
