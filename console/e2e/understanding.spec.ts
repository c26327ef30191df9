import type { Page } from "@playwright/test";
import type { Orgmem } from "orgmem";
import { violations } from "./axe";
import { expect, test } from "./service";

// A memory of its own: other specs fill the owner's.
const subject = "potter";
const at = (path: string): string => `/console${path}${path.includes("?") ? "&" : "?"}as=${subject}`;
const patience = 60_000; // milliseconds, for a cycle on a busy machine

const said: readonly [title: string, content: string, occurredAt: string][] = [
  ["Kiln", "The kiln in the studio reaches 1260 degrees. Tomas says it is safe for stoneware.", "2026-05-11T09:00:00Z"],
  ["Kiln, measured", "The kiln in the studio reaches 1180 degrees. We measured it with two cones.", "2026-09-28T09:00:00Z"],
  ["Pool", "The swimming pool is open on Sundays. Mara swims there with the children.", "2026-07-30T09:00:00Z"],
  ["Pool closed", "The swimming pool is not open on Sundays. Mara swims on Saturdays now.", "2026-10-18T09:00:00Z"],
  ["<b>Alarm</b>", "<img src=x onerror=alert(1)> The alarm code of the studio is <b>4711</b>, wrote <script>alert('x')</script> Priya.", "2026-06-01T09:00:00Z"],
  ["Alarm, new", "<img src=x onerror=alert(1)> The alarm code of the studio is <b>8822</b>, wrote <script>alert('x')</script> Priya.", "2026-06-09T09:00:00Z"],
  ["Fair", "The pottery fair opens on 19 December 2027 at 18:00 in the old mill.", "2026-06-10T09:00:00Z"],
  ["Team", "Every Wednesday at 10 the studio team meets in the kitchen. Tomas brings the list.", "2026-06-11T09:00:00Z"],
  ["Orders", "Ines is responsible for the clay orders now.", "2026-06-12T09:00:00Z"],
  // Two who are told of together, in texts that are like no others: what proposals are made of.
  ["Ferry", "Oskar Lindqvist missed the ferry to Gotland, so Wilma Krook waited at the quay.", "2026-06-13T09:00:00Z"],
  ["Invoice", "Wilma Krook sent the invoice for the scaffolding, and Oskar Lindqvist paid it.", "2026-06-14T09:00:00Z"],
  ["Choir", "At the choir's concert Oskar Lindqvist sang bass and Wilma Krook played the organ.", "2026-06-15T09:00:00Z"],
  ["Beehive", "Farid Haddad inherited a beehive, and Greta Olsen built a fence around it.", "2026-06-16T09:00:00Z"],
  ["Tax", "Greta Olsen filed the tax return that Farid Haddad had signed.", "2026-06-17T09:00:00Z"],
  ["Telescope", "Through the telescope Farid Haddad showed Greta Olsen the rings of Saturn.", "2026-06-18T09:00:00Z"],
  ["Passport", "Noor Visser renewed her passport in Utrecht together with Emil Sorensen.", "2026-06-19T09:00:00Z"],
  ["Chess", "Emil Sorensen lost three games of chess against Noor Visser.", "2026-06-20T09:00:00Z"],
  ["Vaccine", "The nurse vaccinated Emil Sorensen against the flu, then Noor Visser.", "2026-06-21T09:00:00Z"],
  ["Cello", "Paolo Ricci sold his cello to Dana Novak for nine hundred euros.", "2026-06-22T09:00:00Z"],
  ["Marathon", "Dana Novak ran the marathon of Vienna, and Paolo Ricci held the drinks.", "2026-06-23T09:00:00Z"],
  ["Lawsuit", "The lawsuit about the hedge was settled between Paolo Ricci and Dana Novak.", "2026-06-24T09:00:00Z"],
];
const lines = [
  ["Lake", "paddled across the lake at dawn, the water was flat and cold. priya was faster than me again!", "new paddle arrived, carbon, very light. tried it on the lake with mara, i love it!", "wind from the north, waves on the lake, we turned around at the island and drank tea.", "the kayak has a scratch below the seat, i will fix it with resin. tomas has some left.", "rain all day, so we repaired the boat house roof. priya brought soup for everybody.", "we paddled to the island and back in 52 minutes, that is a new best time for us.", "cold hands on the lake again! need better gloves, mara knows a shop in harlow.", "the lake froze at the edges, no paddling. we ran around it instead, 9 km.", "first evening with lights on the kayak, we saw a heron at the reeds.", "training on the lake with the juniors, eleven kids, all of them fell in once."],
  ["Studio", "threw twelve bowls, nine of them survived. the new clay is softer than the old one.", "the glaze ran down the foot of every mug, i think it was too thick. tomas laughed.", "opened the kiln too early, two plates cracked. patience is not my talent!", "ines made a blue glaze with cobalt, it looks like the sea. we want forty bowls of it.", "bisque firing done, 980 degrees, nothing broke. the shelves need new wash.", "weighed all the clay: 140 kg left, enough for the winter exhibition i hope.", "the wheel makes a noise again, the belt is worn. tomas orders a new one.", "taught four beginners in the studio, they all wanted to make a mug and made bowls.", "mixed the ash glaze from lena's stove ash, first tests are green and quiet.", "packed thirty cups for the market at the old mill, wrapped in old newspapers."],
  ["Bread", "fed the sourdough starter, it doubled in four hours. the kitchen smells of apples.", "baked two loaves with rye, the crust was perfect, the crumb a bit wet.", "the starter died in the fridge! mara gave me a piece of hers, thank you mara.", "tried 80 percent hydration, the dough was soup. i will go back to 72.", "baked for the team, they ate everything before ten. tomas asked for the recipe.", "new flour from the mill in harlow, stone ground, it drinks much more water.", "forgot the salt in the bread. nobody noticed but lena, who notices everything.", "the oven door does not close properly, the bread is pale at the left side."],
] as const;

let memory: Orgmem;
test.beforeAll(async ({ service }) => {
  test.setTimeout(180_000);
  await service.memory.subjects.put(subject);
  await service.memory.subjects.put("newcomer");
  memory = service.memory.subject(subject);
  const month = (n: number): string => new Date(Date.UTC(2026, 3 + (n % 7), 3 + n)).toISOString();
  await memory.add(
    [
      ...said.map(([title, content, occurredAt]) => ({ title, content, occurredAt })),
      ...lines.flatMap(([name, ...texts]) => texts.map((content, i) => ({ title: `${name}, ${i + 1}`, content, occurredAt: month(i) }))),
    ],
    { wait: true },
  );
  await expect.poll(async () => (await memory.contradictions.list().take(3)).length, { timeout: patience }).toBe(3);
  await expect.poll(async () => (await memory.proposals.list({ status: "open" }).take(4)).length, { timeout: patience }).toBe(4);
  await expect.poll(async () => (await memory.recall.identity()).voiceProfile !== null, { timeout: patience }).toBe(true);
});

const card = (page: Page, words: string) => page.getByRole("article").filter({ hasText: words });

test("of long passages the sentences that disagree come first, and the rest folds open", async ({ page, service }) => {
  const around = (word: string): string => Array.from({ length: 25 }, (_, i) => `The ${word} number ${i} is told of at length in this place. `).join("");
  await page.route("**/v1/contradictions?*", async (route) => {
    const answer = await route.fetch();
    const body = (await answer.json()) as { data: { passages: { text: string }[] }[] };
    for (const { passages } of body.data) passages.forEach((p, i) => (p.text = around(["oven", "shelf"][i]!) + p.text + " " + around(["lamp", "stool"][i]!)));
    await route.fulfill({ response: answer, json: body });
  });
  await page.goto(service.url + at("/understanding/contradictions"));
  const kiln = card(page, "The kiln in the studio");
  await expect(kiln.locator("mark").filter({ hasText: "1260" })).toBeVisible();
  await expect(kiln.locator("mark").filter({ hasText: "1180" })).toBeVisible();
  await expect(kiln.getByText("The oven number 3 ", { exact: false })).toBeHidden();
  await expect(kiln.getByRole("blockquote").first()).toContainText("The oven number 24 ");
  expect(await violations(page)).toEqual([]);
  await kiln.getByText("The whole text").first().click();
  await expect(kiln.getByText("The oven number 3 ", { exact: false })).toBeVisible();
  await expect(kiln.locator("mark").filter({ hasText: /number/ }), "nothing is marked but what disagrees").toHaveCount(0);
});

test("a text of a contradiction that could not be read names the request", async ({ page, service }) => {
  await page.route("**/v1/graph/nodes/*", (route) =>
    route.fulfill({ status: 403, contentType: "application/problem+json", body: JSON.stringify({ title: "Permission denied", status: 403, code: "permission_denied", detail: "No nodes for this key.", requestId: "req_side", errors: [] }) }),
  );
  await page.goto(service.url + at("/understanding/contradictions"));
  await expect(card(page, "The kiln in the studio").getByText("It could not be read: request req_side.")).toHaveCount(2);
  expect(await violations(page)).toEqual([]);
});

test("a contradiction stands side by side, and a person decides it", async ({ page, service }) => {
  await page.goto(service.url + at("/understanding/contradictions"));
  const kiln = card(page, "The kiln in the studio");
  await expect(kiln.locator("mark").filter({ hasText: "1260" })).toBeVisible();
  await expect(kiln.locator("mark").filter({ hasText: "1180" })).toBeVisible();
  const before = await page.getByRole("article").count();

  await kiln.getByRole("button", { name: "This holds: Kiln, measured" }).click();
  const dialog = page.getByRole("dialog");
  await expect(dialog.getByText("leaves search and answers")).toBeVisible();
  expect(await violations(page)).toEqual([]);
  const decide = dialog.getByRole("button", { name: "supersede the other" });
  await expect(decide, "without a reason nothing is decided").toBeDisabled();
  await dialog.getByLabel("Why").fill("Measured with cones");
  await decide.click();
  await expect(kiln).toHaveCount(0);
  await expect(page.getByRole("article")).toHaveCount(before - 1);
  await expect(page.getByText("is superseded by")).toBeVisible();

  const [old] = await memory.list({ q: "1260" }).take(1);
  expect(old?.status).toBe("superseded");
  const history = await memory.history(old!.id).take(5);
  expect(history.find((h) => h.action === "superseded")?.reason).toBe("Measured with cones");
  await page.getByText("Superseded by hand").click();
  await expect(page.getByRole("row").filter({ hasText: "Kiln, measured" })).toBeVisible();
});

test("neither holds: what a person writes takes the places of both", async ({ page, service }) => {
  await page.goto(service.url + at("/understanding/contradictions"));
  const pool = card(page, "The swimming pool");
  await pool.getByRole("button", { name: "Neither holds" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("What holds").fill("The swimming pool is open on Sundays in summer only.");
  await dialog.getByLabel("Why").fill("Asked at the desk");
  await dialog.getByRole("button", { name: "Supersede both" }).click();
  await expect(pool).toHaveCount(0);
  expect((await memory.list({ q: "swimming pool", status: "live", kind: "document" }).take(5)).map((n) => n.status)).toEqual(["live"]);
});

test("what somebody wrote is text, and a filter says when nothing is of its kind", async ({ page, service }) => {
  await page.goto(service.url + at("/understanding/contradictions"));
  await expect(card(page, "alarm code").getByText("<script>alert('x')</script>").first()).toBeVisible();
  await page.getByLabel("Kind").selectOption({ label: "Opposite words" });
  await expect(page.getByText("None of this kind.")).toBeVisible();
  await expect(page).toHaveURL(/kind=antonym/);
  await page.getByRole("button", { name: "Show all kinds" }).click();
  await expect(card(page, "alarm code")).toBeVisible();
});

test("proposals are decided in a row by keyboard, and the last decision can be taken back", async ({ page, service }) => {
  await page.goto(service.url + at("/understanding/proposals"));
  const shown = page.getByRole("article", { name: "The proposal" });
  const list = page.getByRole("navigation", { name: "Open proposals" });
  await expect(shown).toBeVisible();
  const open = await memory.proposals.list({ status: "open" }).take(100);
  await expect(list.getByRole("button")).toHaveCount(open.length);

  await page.keyboard.press("j");
  await expect(shown).toContainText(open[1]!.rationale);
  await expect(page).toHaveURL(new RegExp(`at=${open[1]!.id}`));
  await page.keyboard.press("k");
  await expect(shown).toContainText(open[0]!.rationale);

  await page.keyboard.press("r");
  await expect(list.getByRole("button")).toHaveCount(open.length - 1);
  await expect(shown, "the next one takes its place").toContainText(open[1]!.rationale);
  await page.keyboard.press("u");
  await expect(list.getByRole("button")).toHaveCount(open.length);
  await expect(shown).toContainText(open[0]!.rationale);

  await page.keyboard.press("a");
  await page.keyboard.press("r"); // sends the one before
  await page.keyboard.press("?");
  await expect(page.getByRole("dialog", { name: "Keys" })).toBeVisible();
  await page.keyboard.press("r"); // means nothing while the help is open
  await page.keyboard.press("Escape");
  await page.getByText("Rejected", { exact: true }).first().click(); // leaving sends the last, and the list waits for it
  await expect(page.getByRole("row").filter({ hasText: open[1]!.rationale })).toBeVisible();
  await page.getByText("Accepted", { exact: true }).first().click();
  await expect(page.getByRole("row").filter({ hasText: open[0]!.rationale })).toBeVisible();
  await expect.poll(async () => (await memory.proposals.list({ status: "rejected" }).take(10)).map((p) => p.id)).toEqual([open[1]!.id]);
  expect((await memory.proposals.list({ status: "accepted" }).take(10)).map((p) => p.id)).toEqual([open[0]!.id]);

  await page.getByRole("button", { name: "Forget it" }).click();
  await expect(page.getByText("The link is gone.")).toBeVisible();
  expect(await memory.edges.list({ origin: "proposal" }).take(5)).toEqual([]);
});

test("who may not decide is told so, and the keys do nothing", async ({ page, service }) => {
  const key = await service.memory.keys.create({ label: "reader", scopes: ["read"] });
  await page.addInitScript((key) => sessionStorage.setItem("orgmem.key", key), key.apiKey);
  await page.goto(service.url + at("/understanding/proposals"));
  const list = page.getByRole("navigation", { name: "Open proposals" });
  await expect(page.getByText("This key may look and not decide")).toBeVisible();
  const before = await list.getByRole("button").count();
  await page.keyboard.press("a");
  await expect(page.getByRole("button", { name: "Accept" })).toBeDisabled();
  await expect(list.getByRole("button")).toHaveCount(before);
  await service.memory.keys.revoke(key.id);
});

test("the timeline has what is to come before what was, and the days of what comes again", async ({ page, service }) => {
  await page.goto(service.url + at("/understanding/timeline?span=all"));
  await expect(page.locator("section").filter({ has: page.getByRole("heading", { name: "To come" }) }).getByText("The pottery fair opens on 19 December 2027")).toBeVisible();
  await expect(page.getByRole("listitem").filter({ hasText: "Every Wednesday at 10" })).toBeVisible();
  await expect(page.locator("svg rect").first()).toBeVisible();
  expect(await page.locator("svg circle").count()).toBeGreaterThan(3);
  await page.getByLabel("As of").fill("2020-01-01");
  await expect(page.getByText("Nothing dated had happened by then.")).toBeVisible();
  await expect(page).toHaveURL(/asOf=2020-01-01/);
  await page.getByRole("button", { name: "Back to now" }).first().click();
  await page.getByText("Themes over time").click();
  await expect(page.getByRole("img", { name: /2026: \d/ }).first()).toBeVisible();
});

test("an insight shows what it rests on, and an identity its places and its voice in words", async ({ page, service }) => {
  await page.goto(service.url + at("/understanding/insights"));
  const insight = page.getByRole("listitem").filter({ hasText: "Ines is responsible for the clay orders" });
  await insight.getByText("Evidence: 1 text").click();
  await expect(insight.getByRole("link", { name: "Orders" })).toHaveAttribute("href", /\/console\/memory\/nodes\/.+as=potter/);

  await page.goto(service.url + at("/understanding/identity"));
  await expect(page.getByRole("group", { name: /Where the passages lie/ })).toBeVisible();
  await expect(page.getByText("begins in lower case").first()).toBeVisible();
  await expect(page.getByText("opening.lowerCase"), "raw measures only for who asks").toBeHidden();
});

test("an identity is drawn: its places, and each passage with the way to its text, by mouse, keyboard and table", async ({ page, service }) => {
  const plot = await memory.recall.plot();
  expect(plot.basins.length).toBeGreaterThan(0);
  await page.goto(service.url + at("/understanding/identity"));
  const drawn = page.getByRole("group", { name: /Where the passages lie/ });
  const points = drawn.getByRole("link");
  await expect(points).toHaveCount(plot.points.length);
  await expect(drawn.locator("ellipse")).toHaveCount(plot.basins.length);
  await expect(drawn.getByText(/First direction: [\d.]+ % of the differences/)).toBeVisible();
  await expect(drawn.getByText(/Second direction: [\d.]+ % of the differences/)).toBeVisible();
  expect(await violations(page)).toEqual([]);

  // Markup in a title is text, also where it is pointed at.
  const alarm = drawn.getByRole("link", { name: /^<b>Alarm<\/b>, / });
  await alarm.focus();
  const told = page.locator("p.told");
  await expect(told.getByRole("link", { name: "<b>Alarm</b>" })).toBeVisible();
  for (const key of ["End", "Home"]) await page.keyboard.press(key);
  const earliest = plot.points.reduce((a, b) => (b.at < a.at ? b : a));
  await expect(told.getByRole("link")).toHaveText(earliest.title);
  await page.evaluate(() => Object.assign(window, { stays: true }));
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(new RegExp(`/memory/nodes/${encodeURIComponent(earliest.nodeId)}`));
  expect(await page.evaluate(() => "stays" in window), "a link in a drawing loads no page anew: the key would be gone").toBe(true);
  await page.goBack();

  // The slider tells of each month, and leaves out what came later.
  const until = page.getByRole("slider", { name: "Until" });
  await until.focus();
  await page.keyboard.press("Home");
  const first = earliest.at.slice(0, 7);
  await expect(points).toHaveCount(plot.points.filter((p) => p.at.slice(0, 7) === first).length);
  await page.keyboard.press("End");
  await expect(points).toHaveCount(plot.points.length);

  await page.getByText("As a table").click();
  const table = page.getByRole("region", { name: "The plot as a table" });
  await expect(table.getByRole("rowheader")).toHaveCount(plot.basins.length);
  await expect(table.getByRole("link").first()).toHaveAttribute("href", /\/console\/memory\/nodes\/.+as=potter/);
  await table.evaluate((e) => (e.scrollTop = 0));
  expect(await violations(page)).toEqual([]);
});

test("a plot that is not there yet, and one that cannot be read, say so beside the places", async ({ page, service }) => {
  await page.route("**/v1/identity/plot", (route) =>
    route.fulfill({ contentType: "application/json", body: JSON.stringify({ version: null, signalCount: 0, axes: [], basins: [], points: [] }) }),
  );
  await page.goto(service.url + at("/understanding/identity"));
  await expect(page.getByText("The plot is not derived yet.")).toBeVisible();
  await expect(page.getByRole("heading", { level: 3 }).first(), "the places are told all the same").toBeVisible();
  expect(await violations(page)).toEqual([]);

  await page.unroute("**/v1/identity/plot");
  await page.route("**/v1/identity/plot", (route) =>
    route.fulfill({ status: 503, contentType: "application/problem+json", body: JSON.stringify({ title: "Unavailable", status: 503, code: "unavailable", detail: "Not now.", requestId: "req_plot", errors: [] }) }),
  );
  await page.goto(service.url + at("/understanding/identity"));
  await expect(page.getByRole("alert")).toContainText("req_plot");
});

test("a memory that was never looked through says so, in every view", async ({ page, service }) => {
  for (const [view, what] of Object.entries({ contradictions: "contradictions", proposals: "proposals", insights: "insights", timeline: "events", identity: "identity" })) {
    await page.goto(`${service.url}/console/understanding/${view}?as=newcomer`);
    await expect(page.getByText(`No ${what} yet: this memory has not been looked through.`), view).toBeVisible();
    expect(await violations(page), view).toEqual([]);
  }
});

test("that it could not be read is not told as nothing being there", async ({ page, service }) => {
  await page.route("**/v1/jobs?*", (route) =>
    route.fulfill({ status: 403, contentType: "application/problem+json", body: JSON.stringify({ title: "Permission denied", status: 403, code: "permission_denied", detail: "No jobs for this key.", requestId: "req_looked", errors: [] }) }),
  );
  await page.goto(service.url + "/console/understanding/insights?as=newcomer");
  const problem = page.getByRole("alert");
  await expect(problem).toContainText("No jobs for this key.");
  await expect(problem).toContainText("req_looked");
  await expect(page.getByText("There are no insights")).toHaveCount(0);
  await page.unroute("**/v1/jobs?*");
  await problem.getByRole("button", { name: "Try again" }).click();
  await expect(page.getByText("No insights yet: this memory has not been looked through.")).toBeVisible();
});

test("what a cycle finds appears by itself in a view that is open", async ({ page, service }) => {
  await service.memory.subjects.put("guest");
  await page.goto(service.url + "/console/understanding/timeline?as=guest");
  await expect(page.getByText("No events yet")).toBeVisible();
  await service.memory.subject("guest").add("The ferry to the island leaves on 3 March 2028 at 7:30.", { wait: true });
  await expect.poll(async () => (await service.memory.subject("guest").recall.temporal()).events.length, { timeout: patience }).toBe(1);
  await expect(page.getByText("The ferry to the island leaves").first()).toBeVisible();
});
