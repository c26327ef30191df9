import type { Service } from "./service";
import { expect, test } from "./service";

const notes = [
  ["g-anna", "Anna Keller repairs the pump in Malmö."],
  ["g-pump", "The pump in Malmö belongs to Nordvatten."],
  ["g-nord", "Nordvatten has its seat in Lund."],
  ["g-cake", "A cake needs sugar."],
] as const;

async function fill({ memory }: Service): Promise<Record<string, string>> {
  await memory.add(notes.map(([externalId, content], i) => ({ externalId, content, title: externalId.slice(2), occurredAt: `202${i}-06-01T00:00:00Z` })), { wait: true });
  const ids: Record<string, string> = {};
  for (const [externalId] of notes) ids[externalId] = (await memory.find(externalId))!.id;
  await memory.edges.assert({ source: ids["g-anna"]!, target: ids["g-pump"]!, type: "repairs" });
  await memory.edges.assert({ source: ids["g-nord"]!, target: ids["g-pump"]!, type: "owns" });
  // What is drawn was derived: the graph is empty until the first cycle has run.
  await expect.poll(async () => (await memory.recall.graph()).nodes.length, { timeout: 40_000 }).toBeGreaterThan(4);
  return ids;
}

let ids: Record<string, string>;
test.beforeAll(async ({ service }) => {
  test.setTimeout(90_000);
  ids = await fill(service);
});

test("a node is found, focused on and left for its page", async ({ page, service }) => {
  await page.goto(service.url + "/console/graph");
  await expect(page.getByRole("application", { name: /Graph of \d+ nodes and \d+ edges/ })).toBeVisible();
  await page.getByLabel("Find a node").fill("pump");
  await page.getByLabel("Find a node").press("Enter");
  const panel = page.getByRole("region", { name: "The chosen node" });
  await expect(panel.getByRole("heading", { name: "pump" })).toBeVisible();
  await panel.getByText("1 step around it").click();
  await expect(page).toHaveURL(/focus=/);
  await expect(page.getByText("Only what is near one node.")).toBeVisible();
  await page.getByText("As a list").click();
  const list = page.getByRole("region", { name: "The graph as a list" });
  await expect(list.getByRole("link", { name: "anna", exact: true })).toBeVisible();
  await expect(list.getByRole("link", { name: "cake", exact: true })).toHaveCount(0);
  await panel.getByRole("link", { name: "Open its page" }).click();
  await expect(page.getByRole("heading", { level: 1, name: "pump" })).toBeVisible();
});

test("a path leads from one node to another, by the keyboard and the list alone", async ({ page, service }) => {
  await page.goto(service.url + `/console/graph?node=${encodeURIComponent(ids["g-anna"]!)}`);
  await page.getByRole("button", { name: "Path from here" }).press("Enter");
  await page.getByText("As a list").click();
  await page.getByRole("button", { name: "Choose nord", exact: true }).press("Enter");
  await page.getByRole("button", { name: "Path to here" }).press("Enter");
  const path = page.getByRole("region", { name: "Path" });
  await expect(path.getByText("2 steps")).toBeVisible();
  await expect(path.getByRole("listitem")).toHaveCount(3);
  await page.reload();
  await expect(path.getByText("2 steps")).toBeVisible();
  await page.getByRole("application").focus();
  await page.keyboard.press("Escape");
  await expect(page.getByRole("region", { name: "The chosen node" })).toHaveCount(0);
});

test("the slider shows what held at a time", async ({ page, service }) => {
  await page.goto(service.url + "/console/graph?asOf=2021-12-31");
  await page.getByText("As a list").click();
  const list = page.getByRole("region", { name: "The graph as a list" });
  await expect(list.getByRole("link", { name: "anna", exact: true })).toBeVisible();
  await expect(list.getByRole("link", { name: "cake", exact: true })).toHaveCount(0);
  await page.getByRole("button", { name: "Today" }).click();
  await expect(list.getByRole("link", { name: "cake", exact: true })).toBeVisible();
  await page.getByLabel(/What held on/).press("Home");
  await expect(list.getByRole("link", { name: "cake", exact: true })).toHaveCount(0);
  await expect(page).toHaveURL(/asOf=2020-0[56]/);
});

test("without WebGL it says so, and the list is there", async ({ page, service }) => {
  await page.addInitScript(() => {
    const before = HTMLCanvasElement.prototype.getContext;
    HTMLCanvasElement.prototype.getContext = function (this: HTMLCanvasElement, kind: string, ...rest: unknown[]) {
      return kind.includes("webgl") ? null : (before as (...a: unknown[]) => unknown).call(this, kind, ...rest);
    } as typeof before;
  });
  await page.goto(service.url + "/console/graph");
  await expect(page.getByText("draws no WebGL")).toBeVisible();
  await expect(page.getByRole("region", { name: "The graph as a list" }).getByRole("link", { name: "pump", exact: true })).toBeVisible();
});

test("what is gone meanwhile is not drawn when one comes back", async ({ page, service }) => {
  const { memory } = service;
  await memory.subjects.put("g-gone");
  const theirs = memory.subject("g-gone");
  await theirs.add([{ externalId: "g-well", title: "well", content: "The well in Ystad is deep." }], { wait: true });
  await expect.poll(async () => (await theirs.recall.graph()).nodes.length, { timeout: 40_000 }).toBeGreaterThan(0);
  await page.goto(service.url + "/console/graph?as=g-gone");
  await page.getByText("As a list").click();
  const well = page.getByRole("link", { name: "well", exact: true });
  await expect(well).toBeVisible();
  await page.getByRole("navigation").getByRole("link", { name: "Documents" }).click();
  await expect(page.getByRole("heading", { level: 1, name: "Documents" })).toBeVisible();
  await memory.subjects.erase("g-gone");
  await page.goBack();
  await expect(page.getByRole("alert")).toContainText(/not.*(provisioned|exist|there)/i);
  await expect(well).toHaveCount(0);
});

test("the keyboard skips to the content", async ({ page, service }) => {
  await page.goto(service.url + "/console/search");
  await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
  const skip = page.getByRole("link", { name: "Skip to the content" });
  await skip.focus();
  await page.keyboard.press("Enter");
  await expect(page.locator("main")).toBeFocused();
});
