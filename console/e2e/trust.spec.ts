import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer, connect, type AddressInfo, type Socket } from "node:net";
import { createHash } from "node:crypto";
import type { Page } from "@playwright/test";
import { Orgmem, Unauthorized } from "orgmem";
import { routes } from "../src/routes";
import { settled } from "./addresses";
import { violations } from "./axe";
import { command, expect, startService, test as shared, watch, type Service } from "./service";

// A service of its own: some of these tests need an empty memory.
const test = shared.extend<object, { apart: string }>({ apart: ["trust", { scope: "worker", auto: true }] });

const view = (service: Service, path: string): string => service.url + "/console" + path;
const client = (service: Service, apiKey: string): Orgmem => new Orgmem({ baseUrl: service.url, apiKey });

test("a key is made with fewer scopes, shown once, used, and revoked", async ({ page, service }) => {
  await page.goto(view(service, "/trust/keys"));
  await expect(page.getByText("this key", { exact: true })).toBeVisible();
  await page.getByRole("button", { name: "Make a key" }).click();
  const dialog = page.getByRole("dialog", { name: "Make a key" });
  await expect(dialog.getByRole("button", { name: "Make it" })).toBeDisabled();
  await dialog.getByLabel("What it is for").fill("the till");
  await dialog.getByLabel("Choose").check();
  await dialog.getByRole("checkbox", { name: /^Read read/ }).check();
  await dialog.getByRole("button", { name: "Make it" }).click();

  const card = page.getByRole("region", { name: "Your new key" });
  const key = (await card.locator("code").first().innerText()).trim();
  await expect(card.getByLabel("Command")).toContainText(`export ORGMEM_API_KEY=${key}`);
  expect((await client(service, key).me()).scopes).toEqual(["read"]);
  await card.getByRole("button", { name: "I have kept it" }).click();
  expect(await page.content(), "the key is nowhere in the page any more").not.toContain(key);

  await expect(page.getByRole("row", { name: /the till/ }).getByRole("listitem")).toHaveText(["read"]);
  await page.getByRole("button", { name: "Revoke the till" }).click();
  await page.getByRole("dialog", { name: "Revoke this key?" }).getByRole("button", { name: "Revoke" }).click();
  await expect(page.getByText("Revoked: the till")).toBeVisible();
  await expect(page.getByRole("button", { name: "Revoke the till" })).toHaveCount(0);
  await expect(client(service, key).me()).rejects.toThrow(Unauthorized);
  await page.getByText("With revoked ones").click();
  await expect(page.getByRole("row", { name: /the till.*Revoked/ })).toBeVisible();
});

test("a key that may only read is told what it may not do, and why", async ({ page, service }) => {
  const { apiKey } = await service.memory.keys.create({ label: "only reads", scopes: ["read"] });
  await page.addInitScript((key) => sessionStorage.setItem("orgmem.key", key), apiKey);
  await page.goto(view(service, "/trust/keys"));
  await expect(page.getByRole("button", { name: "Make a key" })).toBeDisabled();
  await expect(page.getByText("This key may not make keys: it lacks the scope admin.")).toBeVisible();
  for (const [path, scope] of [["/trust/audit", "admin"], ["/trust/usage", "usage:read"], ["/trust/purge", "admin"]] as const) {
    await page.goto(view(service, path));
    await expect(page.getByText("This key may not see this.")).toBeVisible();
    await expect(page.getByText(scope, { exact: true })).toBeVisible();
  }
  await page.goto(view(service, "/trust/webhooks"));
  await expect(page.getByText("it lacks the scope write")).toBeVisible();
  await page.goto(view(service, "/trust/settings"));
  await expect(page.getByLabel("Thorough")).toBeDisabled();
});

test("of the settings only what was changed is sent, and a reset says what it does", async ({ page, service }) => {
  await service.memory.settings.update({ learnModeDefault: false });
  await page.goto(view(service, "/trust/settings"));
  await expect(page.getByRole("button", { name: "Save" })).toBeDisabled();
  await page.getByLabel("Thorough").check();
  const [sent] = await Promise.all([page.waitForRequest((r) => r.method() === "PATCH"), page.getByRole("button", { name: "Save" }).click()]);
  expect(sent.postDataJSON()).toEqual({ qualityMode: "thorough" });
  await expect(page.getByText("The settings are saved.")).toBeVisible();
  expect(await service.memory.settings.get()).toEqual({ qualityMode: "thorough", learnModeDefault: false });

  await page.getByRole("button", { name: "Reset to the defaults" }).click();
  const dialog = page.getByRole("dialog", { name: "Reset the settings?" });
  await expect(dialog).toContainText("thorough → balanced");
  await dialog.getByRole("button", { name: "Reset" }).click();
  await expect(page.getByLabel("Balanced")).toBeChecked();
  expect(await service.memory.settings.get()).toEqual({ qualityMode: "balanced", learnModeDefault: true });
});

const pond: readonly (readonly [title: string, content: string])[] = [
  ["A pond of quillwort", "The customer grows quillwort in a pond."],
  ["Depth", "The quillwort tank of the customer is 40 centimetres deep."],
  ["Depth, measured", "The quillwort tank of the customer is 90 centimetres deep."],
  ["Quillwort fair", "The quillwort fair opens on 19 December 2027 at 18:00 in the old mill."],
  ["Quillwort meeting", "Every Wednesday at 10 the quillwort growers meet in the kitchen."],
  ["Quillwort orders", "Ines is responsible for the quillwort orders now."],
  ["Quillwort in shade", "Quillwort stays green in the shade, and its leaves are hollow like quills."],
  ["Quillwort in winter", "In winter the leaves of the quillwort lie under the ice of the tank."],
  ["Quillwort spores", "Quillwort has no flowers: its spores ripen at the foot of the leaves."],
  ["Quillwort water", "The water of the quillwort tank is soft, and is changed in spring."],
];

/** All that a page shows, unfolded or not. */
const told = async (page: Page): Promise<string> => {
  await settled(page);
  const list = page.locator("summary, button, label").filter({ hasText: /^As a list$/ });
  if (await list.count()) await list.first().click();
  return (await page.locator("main").evaluate((main) => main.textContent ?? "")).toLowerCase();
};

test("a subject is provisioned, thought over, erased and then found in no view", async ({ page, service }) => {
  test.setTimeout(300_000);
  const id = "case 17/b";
  const word = "quillwort"; // stands nowhere else
  const as = `as=${encodeURIComponent(id)}`;
  await page.goto(view(service, "/trust/subjects"));
  await page.getByLabel("Its id").fill(id);
  await page.getByRole("button", { name: "Provision" }).click();
  await expect(page.getByRole("link", { name: id, exact: true })).toBeVisible();
  const memory = service.memory.subject(id);
  const job = await memory.add(pond.map(([title, content], i) => ({ title, content, externalId: `${word}-${i}` })), { wait: true });
  const node = (await memory.find(`${word}-0`))!;
  // Erasing what was never derived would prove little.
  const derived = {
    domains: async () => await memory.domains.list().take(5),
    contradictions: async () => await memory.contradictions.list().take(5),
    insights: async () => await memory.recall.insights(),
    timeline: async () => await memory.recall.temporal(),
    identity: async () => await memory.recall.identity(),
    graph: async () => await memory.recall.graph(),
  };
  for (const [what, ask] of Object.entries(derived))
    await expect.poll(async () => JSON.stringify(await ask()).toLowerCase().includes(word), { message: `${what} are derived`, timeout: 60_000 }).toBe(true);
  const domain = (await memory.domains.list().take(5)).find((d) => JSON.stringify(d).toLowerCase().includes(word))!;

  const ids: Record<string, string> = { "/memory/nodes/:id": node.id, "/memory/work/:id": job.id, "/memory/domains/:id": domain.id };
  const at = (path: string): string => path.replace(":id", encodeURIComponent(ids[path] ?? ""));
  const seen: readonly string[] = [
    `/?${as}`,
    `/search?${as}&q=${word}`,
    `/search?scope=org&q=${word}`,
    `/memory/documents?${as}`,
    `/memory/nodes?${as}`,
    `${at("/memory/nodes/:id")}?${as}`,
    `${at("/memory/work/:id")}?${as}`,
    `/memory/domains?${as}`,
    `${at("/memory/domains/:id")}?${as}`,
    `/graph?${as}`,
    `/understanding/contradictions?${as}`,
    `/understanding/insights?${as}`,
    `/understanding/timeline?span=all&${as}`,
    `/understanding/identity?${as}`,
  ];
  for (const path of seen) {
    await page.goto(view(service, path));
    await expect.poll(() => told(page), { message: `${path} shows what is to be erased` }).toContain(path.startsWith("/search") ? "in a pond" : word);
  }

  await page.goto(view(service, "/trust/subjects"));
  await page.getByRole("link", { name: id, exact: true }).click();
  await expect(page.getByRole("definition").filter({ hasText: /^[1-9]/ }).first()).toBeVisible();
  await page.getByRole("button", { name: "Erase…" }).click();
  const dialog = page.getByRole("dialog", { name: "Erase this subject?" });
  await dialog.getByRole("textbox").fill("case 17");
  await expect(dialog.getByRole("button", { name: "Erase for good" })).toBeDisabled();
  await dialog.getByRole("textbox").fill(id);
  await dialog.getByRole("button", { name: "Erase for good" }).click();
  await expect(page.getByText("Erased", { exact: true })).toBeVisible({ timeout: 60_000 });
  await page.reload();
  await expect(page.getByText("Erased", { exact: true }), "the address goes on watching").toBeVisible();
  await expect(page.getByRole("region", { name: "Erasure" })).toContainText("Backups that were made before still have them");

  // Routes with ids have those of the erased subject; a webhook and a connector are the organization's and not of a subject.
  const apart = ["/trust/webhooks/:id", "/trust/connectors/:id", "/trust/subjects/:id"];
  const left: string[] = [];
  const look = async (path: string, ...gone: string[]): Promise<void> => {
    await page.goto(view(service, path));
    const text = await told(page);
    left.push(...gone.filter((one) => text.includes(one)).map((one) => `${path} shows ${one}`));
  };
  for (const { path } of routes.filter((r) => !apart.includes(r.path))) {
    if (path.includes(":") && !ids[path]) throw new Error(`there is no id of the subject for ${path}`);
    await look(at(path), word, "in a pond", id);
    if (path.startsWith("/trust/")) continue; // of the organization, whoever one acts for
    await look(`${at(path)}?${as}`, word, "in a pond");
    // What a person has asked for may be said back.
    if (!path.includes(":")) await look(`${path}?q=${word}`, "in a pond");
  }
  for (const path of seen) await look(path, "in a pond", ...(path.includes("q=") ? [] : [word]));
  await look(`/trust/subjects/${encodeURIComponent(id)}`, word, "in a pond");
  expect(left).toEqual([]);
});

test("the sandbox is reset after a look at what would go, and its keys stay", async ({ page, service }) => {
  await page.goto(view(service, "/trust/sandbox"));
  await page.getByRole("button", { name: "Make a sandbox key" }).click();
  await page.getByRole("dialog").getByLabel(/What it is for/).fill("trying");
  await page.getByRole("dialog").getByRole("button", { name: "Make it" }).click();
  const key = (await page.getByRole("region", { name: "Your new sandbox key" }).locator("code").first().innerText()).trim();
  const inside = client(service, key);
  await inside.add("Nothing but a trial.", { wait: true });

  await page.getByRole("button", { name: "Reset…" }).click();
  const dialog = page.getByRole("dialog", { name: "Reset the sandbox?" });
  await expect(dialog.getByRole("list", { name: "What goes" })).toContainText(/[1-9]\d* nodes?/);
  await dialog.getByRole("button", { name: "Reset the sandbox" }).click();
  await expect(page.getByText("The sandbox is new and empty.")).toBeVisible();
  expect(await inside.list().take(1)).toEqual([]);
  const keys = await service.memory.sandbox.keys.list().take(10);
  expect(keys.filter((k) => k.status === "active").map((k) => k.label), "the key of the look is revoked").toEqual(["trying"]);
});

test("a webhook is made, tested, seen to fail with the reason, paused, and its signature checked", async ({ page, service }) => {
  const { receiver } = service;
  await page.goto(view(service, "/trust/webhooks"));
  await page.getByRole("button", { name: "Make a webhook" }).click();
  const dialog = page.getByRole("dialog", { name: "Make a webhook" });
  await dialog.getByLabel("Address").fill("http://localhost/hook");
  await dialog.getByLabel("Only some").check();
  await dialog.getByRole("checkbox", { name: /webhook\.test/ }).check();
  await dialog.getByRole("button", { name: "Make it" }).click();
  await expect(dialog.getByText("must begin with https://"), "said at the field").toBeVisible();
  await dialog.getByLabel("Address").fill(receiver.url);
  await dialog.getByRole("button", { name: "Make it" }).click();
  const card = page.getByRole("region", { name: "The signing secret" });
  const secret = (await card.locator("code").first().innerText()).trim();
  expect(secret).toMatch(/^whsec_/);
  await card.getByRole("button", { name: "I have kept it" }).click();

  await page.getByRole("link", { name: receiver.url }).first().click();
  const before = receiver.deliveries.length;
  await page.getByRole("button", { name: "Send a test" }).click();
  await expect(page.getByText("It arrived")).toBeVisible();
  expect(receiver.deliveries.length).toBe(before + 1);
  const { body, signature } = receiver.deliveries.at(-1)!;

  await page.getByRole("textbox", { name: "Body" }).fill(body);
  await page.getByLabel("X-Svc-Signature").fill(signature);
  await page.getByLabel("Signing secret").fill(secret);
  await page.getByRole("button", { name: "Check" }).click();
  await expect(page.getByText("It fits", { exact: true })).toBeVisible();
  await page.getByRole("textbox", { name: "Body" }).fill(body + " ");
  await page.getByRole("button", { name: "Check" }).click();
  await expect(page.getByText("The signature does not fit.")).toBeVisible();

  // The same from the log: byte for byte what the receiver got, with the signature that it would compute.
  const tests = page.getByRole("listitem").filter({ hasText: "webhook.test" });
  await tests.first().getByText("webhook.test").click();
  await expect(tests.first().getByLabel("Body")).toHaveText(body);
  await expect(tests.first()).toContainText(signature);
  await tests.first().getByRole("button", { name: "Check the signature…" }).click();
  await expect(page.getByRole("textbox", { name: "Body" })).toHaveValue(body);
  await expect(page.getByLabel("Signing secret")).toBeFocused();
  await page.getByRole("button", { name: "Check", exact: true }).click();
  await expect(page.getByText("It fits", { exact: true })).toBeVisible();
  await tests.first().getByRole("button", { name: "Send this test again" }).click();
  await expect.poll(() => receiver.deliveries.length).toBe(before + 2);
  await expect(tests).toHaveCount(2);

  receiver.status = 503;
  try {
    await page.getByRole("button", { name: "Send a test" }).click();
    await expect(page.getByText("It did not arrive")).toBeVisible();
    await expect(page.getByText("The receiver answered 503", { exact: false }).first()).toBeVisible();
    await expect(page.getByRole("listitem").filter({ hasText: "503" }).filter({ hasText: "webhook.test" })).toHaveCount(1);
  } finally {
    receiver.status = 204;
  }
  await page.getByRole("button", { name: "Pause" }).click();
  await expect(page.getByText("Off", { exact: true })).toBeVisible();
  await page.getByRole("button", { name: "Resume" }).click();
  await expect(page.getByText("On", { exact: true })).toBeVisible();
  await page.getByRole("button", { name: "Delete…" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await expect(page.getByText("There is no webhook.")).toBeVisible();
});

test("events come live, stand still while paused, and a cut is told as a gap", async ({ browser, service }) => {
  // Stands between the page and the service, so that the line can be cut.
  const open = new Set<Socket>();
  let up = true;
  const line = createServer((near) => {
    if (!up) return void near.destroy();
    const far = connect(Number(new URL(service.url).port), "127.0.0.1");
    for (const socket of [near, far]) {
      open.add(socket);
      socket.on("error", () => undefined).on("close", () => {
        open.delete(socket);
        near.destroy();
        far.destroy();
      });
    }
    near.pipe(far).pipe(near);
  }).listen(0, "127.0.0.1");
  await once(line, "listening");
  const url = `http://127.0.0.1:${(line.address() as AddressInfo).port}`;
  const context = await browser.newContext();
  try {
    await context.addInitScript((key) => sessionStorage.setItem("orgmem.key", key), service.key);
    const page = await context.newPage();
    const { complaints } = watch(page, url);
    await page.goto(url + "/console/trust/events");
    await expect(page.getByText("Live", { exact: true })).toBeVisible();
    const list = page.getByRole("list", { name: "Events, the newest first" });
    const make = (id: string) => service.memory.subjects.put("events").then(() => service.memory.subject("events").add(`Note ${id}.`, { wait: true }));
    await make("one");
    await expect(list.getByText("job.completed").first()).toBeVisible();

    await page.getByRole("button", { name: "Pause" }).click();
    const before = await list.getByRole("listitem").count();
    await make("two");
    await expect(page.getByRole("button", { name: /Go on \([1-9]/ })).toBeVisible();
    expect(await list.getByRole("listitem").count()).toBe(before);
    await page.getByRole("button", { name: /Go on/ }).click();
    await expect.poll(() => list.getByRole("listitem").count()).toBeGreaterThan(before);

    up = false;
    for (const socket of open) socket.destroy();
    await expect(page.getByText("Connection lost")).toBeVisible();
    up = true;
    await expect(page.getByText("Gap", { exact: true })).toBeVisible({ timeout: 30_000 });
    await expect(page.getByText("Live", { exact: true })).toBeVisible();

    await page.getByText("All types").click();
    await page.getByRole("checkbox", { name: "import.started" }).check();
    await expect(page).toHaveURL(/types=import\.started/);
    await expect(list.getByText("job.completed")).toHaveCount(0);
    await expect(page.getByText("Gap", { exact: true }), "a gap is told whatever is chosen").toBeVisible();
    expect(complaints).toEqual([]);
  } finally {
    await context.close();
    line.close();
  }
});

test("an export is made, watched until it is ready, and downloaded whole", async ({ page, service }) => {
  await service.memory.add("The export holds this.", { wait: true });
  await page.addInitScript(() => Reflect.deleteProperty(window, "showSaveFilePicker"));
  await page.goto(view(service, "/trust/exports"));
  await page.getByLabel("The whole organization").check();
  await page.getByRole("button", { name: "Make an export" }).click();
  const row = page.getByRole("row", { name: /the organization/ }).first();
  await expect(row).toContainText("Ready", { timeout: 30_000 });
  const [download] = await Promise.all([page.waitForEvent("download"), row.getByRole("button", { name: "Download" }).click()]);
  expect(download.suggestedFilename()).toMatch(/^orgmem-organization-.*\.json$/);
  const bytes = await readFile(await download.path());
  const [entry] = await service.memory.exports.list().take(1);
  expect(createHash("sha256").update(bytes).digest("hex")).toBe(entry!.sha256);
  expect(bytes.toString()).toContain("The export holds this.");
});

test("where the browser can write to a file, an export goes there as it arrives", async ({ page, service }) => {
  await service.memory.add("Streamed.", { wait: true });
  // A headless browser asks nobody where to: the file is one that counts what is written to it.
  await page.addInitScript(() => {
    const seen = ((window as unknown as Record<string, unknown>)["written"] = { bytes: 0, closed: false });
    const file = { createWritable: async () => new WritableStream({ write: (chunk: Uint8Array) => void (seen.bytes += chunk.byteLength), close: () => void (seen.closed = true) }) };
    (window as unknown as Record<string, unknown>)["showSaveFilePicker"] = async () => file;
  });
  const { exportId } = await service.memory.exports.create({});
  const { bytes } = await service.memory.exports.wait(exportId);
  await page.goto(view(service, "/trust/exports"));
  await page.getByRole("row", { name: /my memory/ }).first().getByRole("button", { name: "Download" }).click();
  await expect(page.getByText(/^Saved: /)).toBeVisible();
  expect(await page.evaluate(() => (window as unknown as Record<string, unknown>)["written"])).toEqual({ bytes, closed: true });
});

test("a purge whose impact has changed deletes nothing and shows the difference; confirmed again it gives a receipt", async ({ page, service }) => {
  await service.memory.subjects.put("leaver");
  const memory = service.memory.subject("leaver");
  await memory.add("Works in the archive.", { wait: true });
  await page.goto(view(service, "/trust/purge?subject=leaver"));
  await page.getByRole("button", { name: "Show what would go" }).click();
  await expect(page.getByRole("timer")).toHaveText(/^(10:00|9:\d\d)$/);
  await expect(page.getByRole("row", { name: /Nodes \d+/ })).toBeVisible();
  const confirm = page.getByRole("button", { name: "Purge for good" });
  await expect(confirm).toBeDisabled();

  await memory.add("Collects stamps from Faroe.", { wait: true });
  await page.getByLabel("Type “leaver” to confirm").fill("leaver");
  await confirm.click();
  const notice = page.getByRole("alert");
  await expect(notice).toContainText("has changed since you looked, so nothing was deleted");
  await expect(notice.getByText(/^Nodes: \d+ → \d+ \(\+\d+\)$/)).toBeVisible();
  expect((await memory.list().take(50)).length).toBeGreaterThan(1);
  await expect(confirm, "it has to be typed anew").toBeDisabled();

  await page.getByLabel("Type “leaver” to confirm").fill("leaver");
  await confirm.click();
  const receipt = page.getByRole("region", { name: "Receipt of a purge" });
  await expect(receipt).toContainText("leaver");
  await expect(receipt).toContainText("Backups that were made before still have it");
  expect(await memory.list().take(1)).toEqual([]);
  const [download] = await Promise.all([page.waitForEvent("download"), receipt.getByRole("button", { name: "Download as JSON" }).click()]);
  const saved = JSON.parse(await readFile(await download.path(), "utf8")) as { dryRun: boolean; subjectId: string; totalRows: number; organization: string };
  expect(saved).toMatchObject({ dryRun: false, subjectId: "leaver", organization: service.org });
  expect(saved.totalRows).toBeGreaterThan(0);
  expect((await service.memory.subjects.get("leaver")).id).toBe("leaver");
});

test("the audit trail says who did what, filters by the address, and pages", async ({ page, service }) => {
  for (let i = 0; i < 52; i++) await service.memory.purge.preview("org");
  await service.memory.settings.reset();
  await page.goto(view(service, "/trust/audit?action=purge.dry_run"));
  const rows = page.getByRole("table", { name: "Audit trail" }).getByRole("row");
  await expect(rows).toHaveCount(51);
  await expect(rows.nth(1)).toContainText("previewed a purge");
  await expect(rows.nth(1)).toContainText("first key");
  await page.getByRole("button", { name: "Show more" }).click();
  await expect.poll(() => rows.count()).toBeGreaterThan(51);
  await page.getByLabel("What was done").selectOption({ label: "reset settings" });
  await expect(page).toHaveURL(/action=settings\.reset/);
  await expect(rows.filter({ hasText: "previewed a purge" })).toHaveCount(0);
  await expect(rows.nth(1)).toContainText("reset settings");
  await page.getByLabel("From", { exact: true }).fill("2000-01-01");
  await page.getByLabel("To", { exact: true }).fill("2000-01-02");
  await expect(page.getByText("Nothing fits.")).toBeVisible();
});

test("keys of others are named in the trail and in histories, and what is gone or not told is said", async ({ page, service }) => {
  const operator = ["--json", "--data", service.data, "--operator", service.operatorUrl];
  const order = async (...words: string[]): Promise<Record<string, string>> => JSON.parse(await command(...words, ...operator)) as Record<string, string>;
  const { orgId, apiKey } = await order("org", "create", "--name", "Team of three", "--owner-email", "owner@team.example", "--plan", "unlimited");
  const recruit = async (name: string): Promise<{ user: string; memory: Orgmem; key: string }> => {
    const { userId } = await order("member", "add", orgId!, "--email", `${name}@team.example`);
    const made = await order("key", "create", orgId!, "--user", userId!, "--label", `${name}'s <b>laptop</b>`, "--scopes", "read,write");
    return { user: userId!, memory: new Orgmem({ baseUrl: service.url, apiKey: made["apiKey"]! }), key: made["apiKey"]! };
  };
  const [ann, bo] = [await recruit("ann"), await recruit("bo")];
  const own = new Orgmem({ baseUrl: service.url, apiKey: apiKey! });
  await own.subjects.put("shared");
  await own.subject("shared").add({ externalId: "shed", title: "Shed", content: "The key of the shed hangs in the hall." }, { wait: true });
  const { id } = (await own.subject("shared").find("shed"))!;
  await ann.memory.subject("shared").update(id, { title: "Garden shed" });
  await bo.memory.subject("shared").update(id, { title: "Green shed" });
  await command("member", "remove", orgId!, bo.user, ...operator);

  await page.addInitScript((key) => sessionStorage.setItem("orgmem.key", key), apiKey!);
  const asked: string[] = [];
  page.on("request", (request) => {
    if (request.url().includes("/v1/team/keys?ids=")) asked.push(request.url());
  });
  const node = `/memory/nodes/${encodeURIComponent(id)}?as=shared`;
  await page.goto(view(service, node));
  const history = page.getByRole("region", { name: "History" });
  await expect(history).toContainText("by ann@team.example with the key ann's <b>laptop</b>");
  await expect(history).toContainText("by a member who has left with a key that is gone");
  expect(asked, "the keys of a page are asked for together").toHaveLength(1);

  await page.goto(view(service, "/trust/audit?action=node.update"));
  const rows = page.getByRole("table", { name: "Audit trail" }).getByRole("row");
  await expect(rows.nth(1)).toContainText("a member who has left");
  await expect(rows.nth(1)).toContainText("with a key that is gone");
  await expect(rows.nth(2)).toContainText("ann@team.example");
  await expect(rows.nth(2)).toContainText("with the key ann's <b>laptop</b>");
  await page.getByLabel("By whom").selectOption({ label: "ann's <b>laptop</b> (ann@team.example)" });
  await expect(rows).toHaveCount(2);
  expect(await violations(page)).toEqual([]);

  // Who is no admin is told of their own keys alone.
  await page.addInitScript((key) => sessionStorage.setItem("orgmem.key", key), ann.key);
  await page.goto(view(service, node));
  await expect(history).toContainText("by the key ann's <b>laptop</b>");
  await expect(history).toContainText("what they are called is told to a key with the scope admin");
});

test("usage is drawn and says the same in a table", async ({ page, service }) => {
  await service.memory.add("The ferry leaves at nine.", { wait: true });
  for (let i = 0; i < 3; i++) await service.memory.search("ferry");
  await page.goto(view(service, "/trust/usage?range=1d"));
  const units = page.getByRole("region", { name: "Read units" });
  await expect(units.locator("canvas")).toBeVisible();
  const total = Number((await units.locator(".total").innerText()).replaceAll(",", ""));
  expect(total).toBeGreaterThanOrEqual(3);
  await units.getByText("The same as a table").click();
  const cells = await units.getByRole("row").evaluateAll((rows) => rows.slice(1).map((row) => Number(row.lastElementChild?.textContent?.replaceAll(",", ""))));
  expect(cells.reduce((n, v) => n + v, 0)).toBe(total);
  await page.getByText("30 days").click();
  await expect(page).toHaveURL(/range=30d/);
  await expect(page.getByText("Hours", { exact: true })).toHaveCount(0);
});

test("a connector is made, fetches, says what went wrong, and is paused and deleted", async ({ page, service }) => {
  await page.goto(view(service, "/trust/connectors"));
  await page.getByRole("button", { name: "Make a connector" }).click();
  const dialog = page.getByRole("dialog", { name: "Make a connector" });
  await dialog.getByLabel("Name").fill("Notices");
  await dialog.getByLabel("Address").fill("https://10.0.0.1/feed");
  await dialog.getByRole("button", { name: "Make it" }).click();
  await expect(dialog.getByLabel("Address"), "said at the field").toHaveAttribute("aria-invalid", "true");
  await dialog.getByLabel("Address").fill(service.receiver.url);
  await dialog.getByRole("button", { name: "Make it" }).click();
  await expect(page.getByRole("heading", { name: "Connector", exact: true })).toBeVisible();

  // What answers there is no feed.
  await page.getByRole("button", { name: "Fetch now" }).click();
  await expect(page.getByText("Failed", { exact: true })).toBeVisible({ timeout: 30_000 });
  await expect(page.getByRole("term").filter({ hasText: "What was wrong" })).toBeVisible();
  await page.getByRole("button", { name: "Pause" }).click();
  await expect(page.getByText("only when you say so")).toBeVisible();
  await page.getByRole("button", { name: "Delete…" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await expect(page.getByText("There is no connector.")).toBeVisible();
});

test("an account is deleted after what goes was shown and its name was typed", async ({ browser }) => {
  const own = await startService();
  const context = await browser.newContext();
  try {
    await own.memory.subjects.put("left behind");
    await own.memory.add("The keeper's own note.", { wait: true });
    await context.addInitScript((key) => sessionStorage.getItem("begun") ?? (sessionStorage.setItem("begun", "1"), sessionStorage.setItem("orgmem.key", key)), own.key);
    const page = await context.newPage();
    await page.goto(view(own, "/trust/settings"));
    await page.getByRole("button", { name: "Delete my account…" }).click();
    const dialog = page.getByRole("dialog", { name: "Delete your account?" });
    await expect(dialog).toContainText("You are alone in");
    await expect(dialog.getByRole("listitem").filter({ hasText: /^1 subject, each/ })).toBeVisible();
    await expect(dialog.getByRole("listitem").filter({ hasText: /^1 key, this one included/ })).toBeVisible();
    await expect(dialog.getByRole("listitem").filter({ hasText: /^Nodes: \d/ })).toBeVisible();
    expect(await violations(page)).toEqual([]);
    const confirm = dialog.getByRole("button", { name: "Delete for good" });
    await expect(confirm).toBeDisabled();
    const name = (await own.memory.me()).org.displayName;
    await dialog.getByRole("textbox").fill(name);
    await confirm.click();
    await expect(page.getByText("Your account is deleted.")).toBeVisible();
    await expect(own.memory.me()).rejects.toThrow(Unauthorized);
  } finally {
    await context.close();
    await own.stop();
  }
});
