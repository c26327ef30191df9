import type { Page } from "@playwright/test";
import { settled } from "./addresses";
import { violations } from "./axe";
import { expect, test, type Service } from "./service";

const subject = "search walks";

test.beforeAll(async ({ service }) => {
  await service.memory.subjects.put(subject);
  const memory = service.memory.subject(subject);
  await memory.add(
    [
      { externalId: "valve", title: "Valve", content: "Ottilie Brandt replaced the ballast valve of the dredger in May.", metadata: { author: "Ottilie Brandt" } },
      { externalId: "hull", title: "Hull", content: "The hull of the dredger is painted by Ottilie Brandt every second year.", metadata: { author: "Sven" } },
      { externalId: "log", title: "Log", content: "The dredger's log is kept by Ruben Falk in the harbour office.", metadata: { author: "Sven", page: 3 } },
      { externalId: "markup", title: "<img src=x onerror=alert(1)>", content: "<script>alert(2)</script> The \u202eballast\u202c word: " + "W".repeat(4_000) },
    ],
    { wait: true },
  );
});

const open = async (page: Page, service: Service, query: Record<string, string>): Promise<void> => {
  await page.goto(`${service.url}/console/search?${new URLSearchParams({ as: subject, ...query })}`);
  await settled(page);
};

test("hits have the words marked and say why; the address says it all", async ({ page, service }) => {
  await open(page, service, { q: "ballast valve" });
  const first = page.getByRole("article", { name: "Valve" });
  await expect(first.locator("mark")).toHaveText(["ballast", "valve"]);
  await first.getByRole("button", { name: "Why this one?" }).click();
  await expect(first.getByText(/^1st, likeness/)).toBeVisible();
  await expect(first.getByText(/of what the question's words tell/)).toBeVisible();
  await page.reload();
  await expect(page.getByRole("article", { name: "Valve" }).getByText(/^1st, likeness/)).toBeVisible();
  expect(await violations(page)).toEqual([]);
});

test("a passage of several lines is seen to its end on a phone", async ({ page, service }) => {
  await page.setViewportSize({ width: 360, height: 800 });
  await open(page, service, { q: "ballast valve" });
  const passage = page.getByRole("article", { name: "Valve" }).locator(".written").filter({ hasText: "Ottilie Brandt replaced" }).last();
  await expect(passage).toBeVisible();
  // What is clipped is not hit: so each line is looked for where it stands.
  const lines = await passage.evaluate((e) => {
    const text = document.createRange();
    text.selectNodeContents(e);
    return [...text.getClientRects()].map((r) => e.contains(document.elementFromPoint(r.x + r.width / 2, r.y + r.height / 2)));
  });
  expect(lines.length).toBeGreaterThan(1);
  expect(lines).not.toContain(false);
});

test("the parts that a reason names add up to the score", async ({ page, service }) => {
  await open(page, service, { q: "ballast valve of the dredger" });
  const first = page.getByRole("article", { name: "Valve" });
  await first.getByRole("button", { name: "Why this one?" }).click();
  const legend = await first.locator(".legend").innerText();
  const figures = legend.replaceAll("−", "-").match(/-?\d+\.\d+/g)!.map(Number);
  const whole = figures.pop()!;
  expect(Math.abs(figures.reduce((sum, part) => sum + part, 0) - whole)).toBeLessThan(0.03); // each is shown with two places
  expect(legend, "words that stand side by side count").toContain("words side by side");
});

test("filters narrow, stand in the address, and go one by one", async ({ page, service }) => {
  await open(page, service, { q: "dredger" });
  await expect(page.getByRole("article", { name: "Valve" })).toBeVisible();
  await page.getByRole("button", { name: "Filters" }).click();
  await page.getByLabel("Field of the provenance").fill("author");
  await page.getByLabel("Its value").fill("Sven");
  await page.getByRole("button", { name: "Add" }).click();
  await expect(page.getByRole("article", { name: "Valve" })).toHaveCount(0);
  await page.getByLabel("Field of the provenance").fill("page");
  await page.getByLabel("Its value").fill("3");
  await page.getByRole("button", { name: "Add" }).click();
  await expect(page.getByRole("article")).toHaveCount(1);
  await page.reload();
  await expect(page.getByRole("article", { name: "Log" })).toBeVisible();
  await expect(page.getByRole("article")).toHaveCount(1);
  await page.getByRole("button", { name: /page is 3/ }).click();
  await expect(page.getByRole("article")).toHaveCount(2);
  await page.getByRole("button", { name: "Filters" }).click();
  await page.getByLabel("As it was on").fill("2001-01-01");
  await expect(page.getByText("Nothing fits the question and all filters.")).toBeVisible();
  expect(await violations(page)).toEqual([]);
});

test("it works from the keyboard", async ({ page, service }) => {
  await open(page, service, { q: "dredger" });
  await page.getByRole("heading", { level: 1 }).click();
  await page.keyboard.press("/");
  const box = page.getByLabel("What do you want to know?");
  await expect(box).toBeFocused();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  await expect(page.locator("#hit-2")).toBeFocused();
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press("ArrowUp");
  await expect(box).toBeFocused();
  await box.fill("harbour office");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("article").first()).toHaveAccessibleName("Log");
});

test("what somebody wrote is text, whatever it looks like", async ({ page, service }) => {
  await open(page, service, { q: "script ballast word" });
  const hit = page.getByRole("article", { name: "<img src=x onerror=alert(1)>" });
  await expect(hit.getByText("<script>")).toBeVisible();
  expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "the page does not scroll sideways").toBe(true);
});

test("for a subject no answer is written, and it is said why", async ({ page, service }) => {
  await open(page, service, { q: "who paints the hull?", tab: "answer" });
  await expect(page.getByText("Answers are written for one's own memory.")).toBeVisible();
});

test("an answer cites what it rests on", async ({ page, service }) => {
  await service.memory.add("The crane of the shipyard was built by Astrid Holm.", { title: "Shipyard crane", wait: true });
  await page.goto(service.url + "/console/search?tab=answer&q=" + encodeURIComponent("Who built the crane of the shipyard?"));
  await expect(page.getByText("Taken from the passage below")).toBeVisible();
  const cited = page.getByRole("list", { name: "What the answer rests on" });
  await expect(cited.locator("mark")).toContainText("Astrid Holm");
  await cited.getByRole("link", { name: "Shipyard crane" }).click();
  await expect(page).toHaveURL(/\/memory\/nodes\/ingest/);
});

test("along the graph, a hit tells the way on which it was reached", async ({ page, service }) => {
  await open(page, service, { q: "ballast valve", tab: "retrieve" });
  const reached = page.getByRole("article").filter({ hasText: "Reached over the graph" }).first();
  await page.route("**/v1/graph/edges/*", (route) =>
    route.fulfill({ status: 403, contentType: "application/problem+json", body: JSON.stringify({ title: "Permission denied", status: 403, code: "permission_denied", detail: "No edges for this key.", requestId: "req_way", errors: [] }) }),
  );
  await reached.getByRole("button", { name: "Show the way" }).click();
  await expect(reached.getByRole("alert")).toContainText("req_way");
  await page.unroute("**/v1/graph/edges/*");
  await reached.getByRole("button", { name: "Try again" }).click();
  await expect(reached.locator("ol").getByRole("link").first()).toBeVisible();
  await expect(reached.locator("ol")).toContainText(/mentions|similar|connected/);
  expect(await violations(page)).toEqual([]);
});

test("the command is the same request", async ({ page, service }) => {
  await open(page, service, { q: "dredger", k: "2", meta: JSON.stringify({ author: "Sven" }) });
  await expect(page.getByRole("article")).toHaveCount(2);
  await page.getByText("The same as a command").click();
  const command = await page.locator("pre").innerText();
  expect(command).toContain("X-Svc-Subject: search%20walks");
  const body = /-d '(.*)'$/.exec(command)![1]!;
  const answer = await fetch(service.url + "/v1/search", {
    method: "POST",
    headers: { "X-Svc-API-Key": service.key, "X-Svc-Subject": encodeURIComponent(subject), "Content-Type": "application/json" },
    body,
  });
  const { results } = (await answer.json()) as { results: { title: string }[] };
  expect(results.map((hit) => hit.title)).toEqual(await page.locator("[data-hit]").allInnerTexts());
});
