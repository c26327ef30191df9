import { Orgmem } from "orgmem";
import { command, expect, test } from "./service";

const address = (id: string): string => `/console/memory/nodes/${encodeURIComponent(id)}`;

test("a filter is in the address, and the list is what it says", async ({ page, service }) => {
  await service.memory.add(
    [
      { content: "The ferry to Gotland leaves at noon.", title: "Ferry", externalId: "list-ferry" },
      { content: "The lighthouse at Hoburgen was painted white.", title: "Lighthouse", externalId: "list-lighthouse" },
    ],
    { wait: true },
  );
  await page.goto(service.url + "/console/memory/documents");
  const list = page.getByRole("region", { name: "Documents" });
  await expect(list.getByRole("link", { name: "Ferry" })).toBeVisible();
  await page.getByLabel("Words in title or text").fill("hoburgen");
  await expect(page).toHaveURL(/[?&]q=hoburgen/);
  await expect(list.getByRole("link", { name: "Ferry" })).toHaveCount(0);
  await page.reload();
  await expect(list.getByRole("link", { name: "Lighthouse" })).toBeVisible();
  await expect(list.getByRole("link", { name: "Ferry" })).toHaveCount(0);

  await page.getByLabel("State").selectOption("tombstoned");
  await expect(page.getByText("Nothing fits these filters.")).toBeVisible();
  await page.getByRole("button", { name: "Clear filters" }).click();
  await list.getByRole("link", { name: "Ferry" }).click();
  await expect(page.getByRole("heading", { level: 1, name: "Ferry" })).toBeFocused();
  await expect(page.getByText("leaves at noon")).toBeVisible();
});

test("who was too late to edit sees both, and saves their own over the other", async ({ page, service }) => {
  await service.memory.add({ content: "The gate is opened at eight.", title: "The gate", externalId: "edit-gate" }, { wait: true });
  const node = (await service.memory.find("edit-gate"))!;
  await page.goto(service.url + address(node.id));
  await page.getByRole("button", { name: "Edit" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Text").fill("The gate is opened at nine.");
  await dialog.getByLabel("Why").fill("The timetable says so");
  await service.memory.update(node.id, { title: "The northern gate" });
  await dialog.getByRole("button", { name: "Save" }).click();
  await expect(dialog.getByRole("heading", { name: "Somebody else changed it meanwhile" })).toBeVisible();
  await expect(dialog.locator("ins", { hasText: "nine" })).toBeVisible();
  await dialog.getByRole("button", { name: "Go on with mine" }).click();
  await expect(dialog.getByLabel("Title"), "what the other one wrote").toHaveValue("The northern gate");
  await dialog.getByRole("button", { name: "Save" }).click();

  await expect(page.getByRole("heading", { level: 1, name: "The northern gate" })).toBeVisible();
  const history = page.getByRole("region", { name: "History" });
  await expect(history.getByText("“The timetable says so”")).toBeVisible();
  const [own] = await service.memory.keys.list().take(1);
  await expect(history.getByText(`by the key ${own!.label}`).first(), "one's own keys by their labels").toBeVisible();
  await expect(history.locator("del", { hasText: "eight" })).toBeVisible();
  await expect(history.locator("ins", { hasText: "nine" })).toBeVisible();
  const after = await service.memory.get(node.id);
  expect([after.title, after.content]).toEqual(["The northern gate", "The gate is opened at nine."]);
});

test("what is refused is said at its field", async ({ page, service }) => {
  await service.memory.add({ content: "A field has an owner.", externalId: "edit-field" }, { wait: true });
  const node = (await service.memory.find("edit-field"))!;
  await page.goto(service.url + address(node.id));
  await page.getByRole("button", { name: "Edit" }).click();
  const metadata = page.getByRole("dialog").getByLabel("Metadata, as JSON");
  await metadata.fill("{ broken");
  await page.getByRole("button", { name: "Save" }).click();
  await expect(metadata).toHaveAttribute("aria-invalid", "true");
  await expect(page.getByText("This is no JSON")).toBeVisible();
});

test("forgetting says what goes, and restoring that the content does not come back", async ({ page, service }) => {
  await service.memory.add({ content: "The vault's combination is written on the shelf.", title: "Vault", externalId: "forget-vault" }, { wait: true });
  const vault = (await service.memory.find("forget-vault"))!;
  await service.memory.add({ content: "So the shelf is worth guarding.", title: "Guard the shelf", externalId: "forget-guard", kind: "belief", derivedFrom: [vault.id] }, { wait: true });
  const guard = (await service.memory.find("forget-guard"))!;

  await page.goto(service.url + address(vault.id));
  await expect(page.getByRole("region", { name: "What it rests on" }).getByRole("link", { name: "Guard the shelf" })).toBeVisible();
  await page.getByRole("button", { name: "Forget", exact: true }).click();
  const dialog = page.getByRole("dialog");
  await expect(dialog.getByText("its text of 48 characters")).toBeVisible();
  await expect(dialog.getByRole("link", { name: "Guard the shelf" })).toBeVisible();
  await dialog.getByRole("button", { name: "Forget it" }).click();
  await expect(page.getByRole("heading", { level: 1, name: "A forgotten node" })).toBeVisible();
  await expect(page.locator("main")).not.toContainText("combination");
  await page.reload();
  await expect(page.getByText("nothing brings them back")).toBeVisible();

  await page.goto(service.url + address(guard.id));
  await expect(page.getByText("was forgotten")).toBeVisible();

  await page.goto(service.url + address(vault.id));
  await page.getByRole("button", { name: "Restore its place" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Restore its place" }).click();
  await expect(page.getByText("It has no text.")).toBeVisible();
  expect((await service.memory.get(vault.id)).content ?? "").toBe("");
});

test("one of very many that were forgotten is found by its id, and restored @long", async ({ page, service }) => {
  test.setTimeout(400_000);
  // Of an organization whose plan has no rate limit.
  const made = await command("org", "create", "--json", "--data", service.data, "--operator", service.operatorUrl, "--name", "Forgetful", "--owner-email", "forgetful@example.com", "--personal", "--plan", "unlimited");
  const { apiKey } = JSON.parse(made) as { apiKey: string };
  const memory = new Orgmem({ baseUrl: service.url, apiKey });
  const [first] = (await memory.add({ content: "The oldest of them all.", externalId: "first" }, { wait: true })).result!["items"] as { nodeId: string }[];
  const many = 1_010;
  await memory.add(Array.from({ length: many / 2 }, (_, i) => ({ content: `Number ${i} of the one half.` })), { wait: true });
  await memory.add(Array.from({ length: many / 2 }, (_, i) => ({ content: `Number ${i} of the other half.` })), { wait: true });
  const ids = (await memory.list({ kind: "document", pageSize: 100 }).take(2 * many)).map((n) => n.id);
  expect(ids).toHaveLength(many + 1);
  for (let i = 0; i < ids.length; i += 8) await Promise.all(ids.slice(i, i + 8).map((id) => memory.delete(id)));

  await page.addInitScript((key) => sessionStorage.setItem("orgmem.key", key), apiKey);
  await page.goto(service.url + "/console/memory/documents?status=tombstoned");
  const list = page.getByRole("region", { name: "Documents" });
  await expect(list.getByText(first!.nodeId)).toHaveCount(0);
  await page.getByRole("button", { name: "More filters" }).click();
  await page.getByLabel("Its id here").fill(first!.nodeId);
  await expect(list.getByText(first!.nodeId)).toBeVisible();
  await list.getByRole("link").first().click();
  await expect(page.getByRole("heading", { level: 1, name: "A forgotten node" })).toBeVisible();
  await page.getByRole("button", { name: "Restore its place" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Restore its place" }).click();
  await expect(page.getByText("It has no text.")).toBeVisible();
  expect((await memory.get(first!.nodeId)).status).toBe("live");
});

test("a domain over time counts the newest at once, and all of it on request", async ({ page, service }) => {
  // More nodes than a test can take in: the service's answers are stood in for.
  const [rows, each] = [1_450, 100];
  const at = (i: number): string => new Date(Date.UTC(2026, 9 - Math.floor(i / 145), 15)).toISOString();
  const when = at(0);
  const domain = { id: "d1", label: "Ships", keywords: ["ship"], topNodes: [], nodeCount: rows, edgeCount: 1, cohesion: 0.5, createdAt: when, updatedAt: when };
  await page.route("**/v1/graph/domains/d1", (route) => route.fulfill({ json: domain }));
  let asked = 0;
  await page.route("**/v1/graph/nodes?*", (route) => {
    const query = new URL(route.request().url()).searchParams;
    if (query.get("pageSize") !== String(each)) return route.fulfill({ json: { data: [], hasMore: false } });
    asked++;
    const from = Number(query.get("cursor") ?? 0);
    const data = Array.from({ length: Math.min(each, rows - from) }, (_, k) => ({
      id: `n${from + k}`, kind: "document", title: `Ship ${from + k}`, domainId: "d1", subject: null, authority: 0.5, confidence: 1, status: "live", supersededBy: null, degree: 0,
      metadata: {}, source: { type: "ingest", jobId: null, externalId: null, externalIds: [] }, validFrom: at(from + k), validTo: null, createdAt: when, updatedAt: when,
      tombstonedAt: null, restorableUntil: null,
    }));
    const hasMore = from + each < rows;
    return route.fulfill({ json: { data, hasMore, ...(hasMore ? { nextCursor: String(from + each) } : {}) } });
  });
  await page.goto(service.url + "/console/memory/domains/d1");
  const section = page.getByRole("region", { name: "Over time" });
  await expect(section.getByText("of 1,000 of its 1,450 nodes")).toBeVisible();
  expect(asked).toBe(10);
  await section.getByText("As a table").click();
  await expect(section.getByRole("row")).toHaveCount(8); // a head, and seven months
  await section.getByRole("button", { name: "Count all 1,450" }).click();
  await expect(section.getByRole("button", { name: "Count all 1,450" })).toHaveCount(0);
  await expect(section.getByText("of its 1,450 nodes")).toHaveCount(0);
  await expect(section.getByRole("row")).toHaveCount(11);
  await expect(section.getByRole("row").nth(1)).toContainText("145");
  expect(asked).toBe(15);
});

test("another content takes a node's place, and leads there", async ({ page, service }) => {
  await service.memory.add({ content: "Tea is at four.", title: "Tea", externalId: "supersede-tea" }, { wait: true });
  const tea = (await service.memory.find("supersede-tea"))!;
  await page.goto(service.url + address(tea.id));
  await page.getByRole("button", { name: "Supersede" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("What holds now").fill("Tea is at five.");
  await expect(dialog.getByRole("button", { name: "Supersede" }), "a reason is wanted").toBeDisabled();
  await dialog.getByLabel("Why").fill("Moved");
  await dialog.getByRole("button", { name: "Supersede" }).click();
  await expect(page.getByText("Tea is at five.").first()).toBeVisible();
  await expect(page).not.toHaveURL(new RegExp(encodeURIComponent(tea.id)));
  await page.goto(service.url + address(tea.id));
  await expect(page.getByText("in its place is")).toBeVisible();
  await expect(page.getByRole("button", { name: "Edit" })).toBeDisabled();
});

test("an edge is added to a node that is looked for, and forgotten again", async ({ page, service }) => {
  await service.memory.add(
    [
      { content: "The kiln burns at twelve hundred degrees.", title: "Kiln", externalId: "edge-kiln" },
      { content: "The glaze melts at eleven hundred degrees.", title: "Glaze", externalId: "edge-glaze" },
    ],
    { wait: true },
  );
  const kiln = (await service.memory.find("edge-kiln"))!;
  await page.goto(service.url + address(kiln.id));
  await page.getByRole("button", { name: "Add an edge" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("To or from which node").fill("glaze melts");
  await dialog.getByRole("button", { name: "Glaze Document" }).click();
  await dialog.getByLabel("Relation").fill("3 bad");
  await dialog.getByRole("button", { name: "Add the edge" }).click();
  await expect(dialog.getByLabel("Relation")).toHaveAttribute("aria-invalid", "true");
  await dialog.getByLabel("Relation").fill("melts_first");
  await dialog.getByLabel("Why it is so").fill("Both were measured");
  await dialog.getByRole("button", { name: "Add the edge" }).click();
  const row = page.getByRole("row", { name: /melts first/ });
  await expect(row).toContainText("Both were measured");
  await expect(row.getByRole("link", { name: "Glaze" })).toBeVisible();

  await row.getByRole("button", { name: "Forget" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Forget the edge" }).click();
  await expect(row).toHaveCount(0);
  expect(await service.memory.edges.list({ node: kiln.id, type: "melts_first" }).take(1)).toEqual([]);
});

test("a file is imported, its job ends, and an unreadable one says why", async ({ page, service }) => {
  await page.goto(service.url + "/console/memory/work");
  const files = page.locator("input[type=file]");
  await files.setInputFiles({ name: "harbour.md", mimeType: "text/markdown", buffer: Buffer.from("# Harbour\n\nThe harbour master is Ulla Brandt.") });
  await page.getByRole("link", { name: "harbour.md" }).click();
  await expect(page.getByRole("heading", { level: 1, name: "File imported" })).toBeVisible();
  await expect(page.getByText("Done", { exact: true }).first()).toBeVisible();
  await page.getByRole("region", { name: "Items of the job" }).getByRole("link").first().click();
  await expect(page.getByText("Ulla Brandt").first()).toBeVisible();

  await page.goto(service.url + "/console/memory/work?show=imports");
  await expect(page.getByRole("row", { name: /harbour\.md/ })).toContainText("Markdown");
  await files.setInputFiles({ name: "noise.bin", mimeType: "application/octet-stream", buffer: Buffer.from(Array.from({ length: 4096 }, (_, i) => (i * 151) % 256)) });
  const problem = page.getByRole("list", { name: "Files on their way" }).getByRole("alert");
  await expect(problem).toBeVisible();
  await expect(problem.getByText(/^Request/)).toBeVisible();
});

test("items that failed say why", async ({ page, service }) => {
  const { jobId } = await service.memory.add([{ content: "This one is good." }, { content: "This rests on nothing.", derivedFrom: ["no-such-thing"] }]);
  await page.goto(service.url + `/console/memory/work/${jobId}`);
  await expect(page.getByText("Done", { exact: true }).first()).toBeVisible();
  await page.reload();
  const failed = page.getByRole("row").filter({ hasText: "Failed" });
  await expect(failed).toContainText("derivedFrom[0] names no node and no document");
});

test("a key that may only read sees what it may not do, and why", async ({ page, service }) => {
  await service.memory.add({ content: "Reading is free.", title: "Reading", externalId: "read-only" }, { wait: true });
  const node = (await service.memory.find("read-only"))!;
  const key = await service.memory.keys.create({ label: "reader", scopes: ["read"] });
  await page.addInitScript((k) => sessionStorage.setItem("orgmem.key", k), key.apiKey);
  await page.goto(service.url + address(node.id));
  await expect(page.getByRole("heading", { level: 1, name: "Reading" })).toBeVisible();
  for (const name of ["Edit", "Supersede", "Add an edge", "Forget"]) await expect(page.getByRole("button", { name, exact: true })).toBeDisabled();
  await expect(page.getByText("it lacks graph:write and memory:forget")).toBeVisible();
  await expect(page.getByRole("region", { name: "History" })).toContainText("it lacks the scope graph:write");
  await page.goto(service.url + "/console/memory/work");
  await expect(page.getByRole("button", { name: "Choose files" })).toBeDisabled();
});

test("hostile and very long texts are shown as text, folded", async ({ page, service }) => {
  const long = "<script>alert(1)</script> " + "word ".repeat(5_000);
  await service.memory.add({ content: long, title: "<img src=x onerror=alert(1)>", externalId: "hostile-long" }, { wait: true });
  const node = (await service.memory.find("hostile-long"))!;
  await page.goto(service.url + address(node.id));
  await expect(page.getByRole("heading", { level: 1, name: "<img src=x onerror=alert(1)>" })).toBeVisible();
  await expect(page.getByText("<script>alert(1)</script> word").first()).toBeVisible();
  await expect(page.getByText(/2,400 of 25,0\d\d characters shown/)).toBeVisible();
  await page.getByRole("button", { name: "Show more" }).first().click();
  await expect(page.getByRole("button", { name: "Fold" })).toBeVisible();
});

test("a subject's node is shown in the subject's memory, and nowhere else", async ({ page, service }) => {
  await service.memory.subjects.put("memory-guest");
  const guest: Orgmem = service.memory.subject("memory-guest");
  await guest.add({ content: "The guest sleeps late.", title: "Late", externalId: "guest-late" }, { wait: true });
  const node = (await guest.find("guest-late"))!;
  await page.goto(service.url + address(node.id) + "?as=memory-guest");
  await expect(page.getByText("The guest sleeps late.").first()).toBeVisible();
  await page.goto(service.url + address(node.id));
  await expect(page.getByText("There is no such node in this memory.")).toBeVisible();
});
