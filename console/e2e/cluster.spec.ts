import { startCluster, type TestCluster } from "./cluster";
import { traces } from "./hostile";
import { inEveryMode } from "./modes";
import { expect, test, watch } from "./service";

test.use({ signedIn: false });

// Names of nodes are somebody's text, too: markup, a direction that is turned round, and one word without an end.
const names = ["<img data-hostile src=x onerror=alert(1)>", "\u202Etwo\u2066\u200B\u0627\u0628", "n" + "o".repeat(62)] as const;

let cluster: TestCluster;
test.beforeAll(async () => {
  test.setTimeout(60_000);
  cluster = await startCluster(names, 6);
});
test.afterAll(() => cluster.end());

test("three nodes are a picture in which a drained node's leaders are seen to move, and which tells when it is gone and back", async ({ browser }) => {
  test.setTimeout(120_000);
  const [first, , last] = cluster.nodes;
  const { told, operatorToken } = first!.serving;
  const page = await (await browser.newContext()).newPage();
  const watched = watch(page, told.operatorUrl);
  await page.goto(told.operatorUrl + "/console/cluster");
  await page.getByLabel("Operator token").fill(operatorToken);
  await page.getByRole("button", { name: "Sign in" }).click();

  /** What a node has, in the picture's own words. */
  const has = (name: string) => page.getByRole("region", { name: "Which node has what" }).locator(`[aria-label^=${JSON.stringify(name + ":")}]`);
  const card = (name: string) => page.getByRole("listitem").filter({ has: page.getByRole("heading", { name, exact: true }) });
  for (const { name } of cluster.nodes) await expect(card(name), name).toBeVisible();
  // A node that has just come gets its share after ten seconds.
  for (const { name } of cluster.nodes) await expect(has(name), name).toHaveAttribute("aria-label", /\d leads/, { timeout: 60_000 });
  await expect(page.getByText("Every group has a leader, and its copies where they belong.")).toBeVisible({ timeout: 60_000 });
  expect([...(await inEveryMode(page, "operator-cluster")), ...(await page.evaluate(traces))]).toEqual([]);

  await card(last!.name).getByRole("button", { name: "Drain" }).click();
  await expect(card(last!.name).getByText("drained", { exact: true })).toBeVisible({ timeout: 30_000 });
  await expect(has(last!.name)).not.toHaveAttribute("aria-label", /\d leads/);
  await expect(has(last!.name)).toHaveAttribute("aria-label", /7 has a vote/);
  await expect(card(last!.name)).toContainText("0 led");

  await cluster.stop(last!);
  await expect(card(last!.name)).toContainText("away since");
  expect(await inEveryMode(page, "operator-cluster-away")).toEqual([]);
  await cluster.restart(last!);
  await expect(card(last!.name).getByText("alive", { exact: true })).toBeVisible({ timeout: 30_000 });

  expect(watched.complaints).toEqual([]);
  await page.context().close();
});
