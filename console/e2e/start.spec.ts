// From an empty memory to an answer, as a visitor goes. It has a service of its own, since every other walk fills theirs.
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Page } from "@playwright/test";
import { settled } from "./addresses";
import { violations } from "./axe";
import { expect, startService, test, watch, type Service, type Watch } from "./service";

test.describe.configure({ mode: "serial" });

let own: Service;
let page: Page;
let seen: Watch;
let folder: string;

test.beforeAll(async ({ browser }) => {
  test.setTimeout(90_000);
  own = await startService();
  const context = await browser.newContext({ viewport: { width: 1280, height: 860 } });
  page = await context.newPage();
  seen = watch(page, own.url);
  folder = path.join(await mkdtemp(path.join(tmpdir(), "orgmem-folder-")), "harbour");
  await mkdir(path.join(folder, "old"), { recursive: true });
  for (let i = 0; i < 12; i++) await writeFile(path.join(folder, `crane-${i}.md`), `# Crane ${i}\n\nCrane ${i} lifts ${i + 3} tons and was greased by Nora Bright.`);
  await writeFile(path.join(folder, "lighthouse.txt"), "The keeper of the lighthouse is Odd Nansen.");
  await writeFile(path.join(folder, "old", "kühlraum.txt"), Buffer.from("Der K\xfchlraum wird von Frau Ja\xdfen gewartet.", "latin1"));
  await writeFile(path.join(folder, "old", "empty.txt"), "");
  await writeFile(path.join(folder, "old", "program.dat"), Buffer.from([0, 1, 2, 255, 254, 0, 0, 7]));
  await writeFile(path.join(folder, "old", "picture.png"), "no text");
});

test.afterAll(async () => {
  await page?.context().close();
  await own?.stop();
  await rm(path.dirname(folder), { recursive: true, force: true });
  expect(seen.complaints, "what the page complained of").toEqual([]);
});

const start = async (query = ""): Promise<void> => {
  await page.goto(`${own.url}/console/${query}`);
  await settled(page);
};
const tour = () => page.getByRole("region", { name: "Tour" });

test("the printed address leads to an empty memory, and to a tour that goes by keyboard and stays ended", async () => {
  await page.goto(own.consoleUrl);
  await settled(page);
  await expect(page.getByText("This memory is empty.")).toBeVisible();
  expect(await violations(page)).toEqual([]);
  await expect(tour()).toContainText("step 1 of 6");
  await tour().getByRole("button", { name: "Next" }).focus();
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowRight");
  await expect(tour()).toContainText("step 3 of 6");
  await page.keyboard.press("ArrowLeft");
  await expect(tour()).toContainText("step 2 of 6");
  await page.keyboard.press("Escape");
  await expect(tour()).toHaveCount(0);
  // From here on the walk loads pages anew, before which a visitor who was let in by the address would be asked for the key.
  await page.getByRole("region", { name: "The key of this tab" }).getByRole("button", { name: "Keep it until this tab is closed" }).click();
  await start();
  await expect(tour()).toHaveCount(0);
  await page.getByRole("button", { name: "Take the tour" }).click();
  await expect(tour()).toContainText("step 1 of 6");
});

test("the sample goes in and out with a click each, and takes nothing along", async () => {
  await own.memory.subjects.put("visitor");
  const visitor = own.memory.subject("visitor");
  await start("?as=visitor");
  await page.getByRole("button", { name: "Put sample data in" }).click();
  await expect(page.getByRole("button", { name: "Remove the sample data" })).toBeVisible();
  expect(await visitor.list({ kind: "document" }).take(100)).toHaveLength(30);

  await visitor.add("My own note about the tide.", { title: "Tide", wait: true });
  await start("?as=visitor");
  await page.getByRole("button", { name: "Remove the sample data" }).click();
  await expect(page.getByText("30 notes of the sample are forgotten.")).toBeVisible();
  const left = await visitor.list({ kind: "document", status: "live" }).take(100);
  expect(left.map((node) => node.title)).toEqual(["Tide"]);
});

test("a folder is taken in, and what was refused says why", async () => {
  await start();
  await page.getByTestId("folder").setInputFiles(folder);
  await expect(page.getByText("14 files are in, 2 refused")).toBeVisible();
  const list = page.getByRole("region", { name: "Files that are taken in" });
  await expect(list.getByRole("row", { name: /empty\.txt/ })).toContainText("The file is empty.");
  await expect(list.getByRole("row", { name: /program\.dat/ })).toContainText("no document that can be read");
  await expect(page.getByText("which hold no text (1)")).toBeVisible();
  // Each leads to what it became, with its first heading for a title, also out of an old encoding.
  const titles = (await own.memory.list({ kind: "document" }).take(100)).map((node) => node.title);
  expect(titles).toContain("Crane 7");
  expect(titles).toContain("kühlraum");
  await expect(list.getByRole("link", { name: "harbour/lighthouse.txt" })).toHaveAttribute("href", /\/memory\/nodes\/ingest/);
  expect(await violations(page)).toEqual([]);
});

test("a question is answered in place, with its source and why it was found", async () => {
  await page.getByLabel("Your question").fill("Who keeps the lighthouse?");
  await page.getByRole("button", { name: "Ask", exact: true }).click();
  const asked = page.getByRole("region", { name: "Ask your memory" });
  await expect(asked.getByText("The keeper of the lighthouse is Odd Nansen.").first()).toBeVisible();
  await expect(asked.getByRole("link", { name: "lighthouse" }).first()).toBeVisible();
  await asked.getByText("What was found, and why").click();
  await asked.getByRole("button", { name: /Why this one\? lighthouse/ }).click();
  await expect(asked.getByText("By meaning")).toBeVisible();
  await expect(tour(), "who has asked has done the second step").toContainText("step 3 of 6");
  await expect(asked.getByText(/^1st, likeness/)).toBeVisible();
  await page.reload();
  await expect(asked.getByText("The keeper of the lighthouse is Odd Nansen.").first()).toBeVisible();
  expect(await violations(page)).toEqual([]);
});

test("a question that nothing answers shows what comes nearest", async () => {
  await page.getByLabel("Your question").fill("Which colour has the captain's parrot?");
  await page.getByRole("button", { name: "Ask", exact: true }).click();
  const asked = page.getByRole("region", { name: "Ask your memory" });
  await expect(asked.getByText("Nothing in memory answers this.")).toBeVisible();
  await expect(asked.getByRole("button", { name: "Copy the answer" })).toHaveCount(0);
  await expect(asked.getByRole("button", { name: /Why this one/ }).first()).toBeVisible();
});

test("files that are dropped anywhere go in, and the same again is known", async () => {
  await start();
  const drop = async (): Promise<void> => {
    const data = await page.evaluateHandle(() => {
      const data = new DataTransfer();
      data.items.add(new File(["The ferry leaves at noon."], "ferry.txt"));
      return data;
    });
    await page.dispatchEvent("h1", "drop", { dataTransfer: data });
  };
  await drop();
  const row = page.getByRole("region", { name: "Files that are taken in" }).getByRole("row", { name: /ferry\.txt/ });
  await expect(row.getByRole("link", { name: "ferry.txt" })).toBeVisible();
  await page.getByRole("button", { name: "Close this list" }).click();
  await drop();
  await expect(row).toContainText("was in already");
});

test("a key that may only read is told what it may not", async ({ browser }) => {
  const key = await own.memory.keys.create({ label: "reads", scopes: ["read"] });
  const context = await browser.newContext();
  await context.addInitScript((key) => sessionStorage.setItem("orgmem.key", key), key.apiKey);
  const reader = await context.newPage();
  await reader.goto(own.url + "/console/");
  await settled(reader);
  await expect(reader.getByRole("button", { name: "Choose a folder" })).toBeDisabled();
  await expect(reader.getByText("This key may not put anything in")).toBeVisible();
  await reader.getByLabel("Whose memory is shown").selectOption("visitor");
  await expect(reader).toHaveURL(/as=visitor/);
  await reader.goto(own.url + "/console/brain");
  await settled(reader);
  await expect(reader.getByRole("button", { name: "Train" })).toBeDisabled();
  await expect(reader.getByText("Training takes the scope admin")).toBeVisible();
  await context.close();
});

test("too little to learn from is said plainly; search and meaning can be compared all the same", async () => {
  await page.goto(own.url + "/console/brain?q=" + encodeURIComponent("who greased crane 7"));
  await settled(page);
  await expect(page.getByRole("heading", { name: "No brain serves" })).toBeVisible();
  await expect(page.getByRole("heading", { name: /^Search/ })).toBeVisible();
  await expect(page.getByRole("heading", { name: /^Meaning alone/ })).toBeVisible();
  await expect(page.getByText("No brain has been trained yet.")).toBeVisible();
  await page.getByRole("button", { name: "Train", exact: true }).click();
  await expect(page.getByText("The last training made no brain.")).toBeVisible();
});

test("an evaluation is watched, and reported", async () => {
  await page.getByRole("button", { name: "Evaluate now" }).click();
  await expect(page.getByText("The memory was evaluated.")).toBeVisible();
  const report = page.getByRole("region", { name: "The latest report" });
  await expect(report.getByRole("row", { name: /Found among ten/ })).toContainText("%");
  expect(await violations(page)).toEqual([]);
});

// The browser's own drag of a folder from the desktop: nothing but it makes the entries that a page walks through.
test("a folder that is dropped by mouse goes in whole, whatever is in it", async () => {
  const dropped = path.join(path.dirname(folder), "quay");
  await mkdir(path.join(dropped, "berths", "deep", "deeper"), { recursive: true });
  await mkdir(path.join(dropped, ".git"));
  const many = 130; // a browser gives a folder's entries by the hundred
  for (let i = 0; i < many; i++) await writeFile(path.join(dropped, "berths", `berth-${i}.txt`), `Berth ${i} of the quay takes ships of ${i + 50} metres.`);
  await writeFile(path.join(dropped, "berths", "deep", "deeper", "dredger.md"), "# Dredger\n\nThe dredger Sandwich lies in berth 7.");
  await writeFile(path.join(dropped, ".git", "config"), "hidden");
  await writeFile(path.join(dropped, ".secret"), "hidden");
  await writeFile(path.join(dropped, "map.png"), "no text");
  await writeFile(path.join(dropped, "engine.dat"), Buffer.from([0, 1, 2, 255, 254, 0, 0, 7]));
  await symlink(path.join(dropped, "nowhere"), path.join(dropped, "broken.txt"));

  await start();
  await page.getByRole("group", { name: "Put files in" }).scrollIntoViewIfNeeded();
  const area = (await page.getByRole("group", { name: "Put files in" }).boundingBox())!;
  const [x, y] = [area.x + area.width / 2, area.y + 20];
  const browser = await page.context().newCDPSession(page);
  const data = { items: [], files: [dropped], dragOperationsMask: 1 };
  for (const type of ["dragEnter", "dragOver", "drop"] as const) await browser.send("Input.dispatchDragEvent", { type, x, y, data });
  await expect(page.getByText(`${many + 1} files are in, 1 refused`)).toBeVisible({ timeout: 30_000 });
  const list = page.getByRole("region", { name: "Files that are taken in" });
  await expect(list.getByRole("row", { name: /engine\.dat/ })).toContainText("no document that can be read");
  await expect(list.getByRole("link", { name: "quay/berths/deep/deeper/dredger.md" })).toHaveAttribute("href", /\/memory\/nodes\/ingest/);
  await expect(page.getByText("hidden files and files of the system (2)")).toBeVisible();
  await expect(page.getByText("which hold no text (1)")).toBeVisible();
  const titles = new Set((await own.memory.list({ kind: "document", pageSize: 100 }).take(1_000)).map((node) => node.title));
  expect(Array.from({ length: many }, (_, i) => `berth-${i}`).filter((title) => !titles.has(title))).toEqual([]);
});
