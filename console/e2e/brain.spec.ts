// A training takes a minute or two on a busy machine, so this walk is a long one. It has a service of its own: the
// organization's brain would rank the searches of every other.
import { settled } from "./addresses";
import { inEveryMode } from "./modes";
import { expect, startService, test, watch } from "./service";

const people = ["Ada Holm", "Ben Ruiz", "Cora Lind", "Dov Katz", "Eva Brandt", "Finn Moss"];
const towns = ["Harlow", "Ystad", "Norwich", "Bergen"];

test("a brain is trained, compared, and explains what it changed @long", async ({ browser }) => {
  test.setTimeout(400_000);
  const own = await startService();
  try {
    const notes = Array.from({ length: 48 }, (_, i) => {
      const [who, other, town] = [people[i % 6]!, people[(i * 5 + 2) % 6]!, towns[i % 4]!];
      return { title: `Report ${i} of ${who}`, content: `${who} repaired pump ${i} in ${town}. ${other} paid ${100 + i} euros for its valve, and the depot in ${towns[(i + 1) % 4]!} sent it.` };
    });
    await own.memory.add(notes, { wait: true });
    const context = await browser.newContext({ viewport: { width: 1280, height: 860 } });
    await context.addInitScript((key) => sessionStorage.setItem("orgmem.key", key), own.key);
    const page = await context.newPage();
    const seen = watch(page, own.url);

    await page.goto(own.url + "/console/brain?q=" + encodeURIComponent("who paid for the valve of pump 7"));
    await page.getByRole("button", { name: "Train", exact: true }).click();
    await expect(page.getByRole("progressbar", { name: "Training" })).toBeVisible();
    await expect(page.getByText("Version 1 is trained and serves.")).toBeVisible({ timeout: 300_000 });
    await expect(page.getByRole("heading", { name: "What it beats, and where it loses" })).toBeVisible();
    await expect(page.getByText("Against search").first()).toBeVisible();
    await expect(page.getByRole("img", { name: /^Loss from/ })).toBeVisible();
    await expect(page.getByRole("heading", { name: "Is the gate right?" })).toBeVisible();
    await expect(page.getByRole("img", { name: /^How far the gate stood open/ })).toBeVisible();
    await page.getByText("The same as a table, with what each found").click();
    await expect(page.getByRole("columnheader", { name: "Had the gate been wide open" })).toBeVisible();
    await expect(page.getByRole("heading", { name: "By kind of question" })).toBeVisible();
    await expect(page.getByRole("heading", { name: /^Brain version 1/ })).toBeVisible();
    await settled(page);
    await expect(page.getByRole("region", { name: "Compare on a question" }).getByRole("listitem").first()).toBeVisible();
    await expect(page.locator(".problem")).toHaveCount(0);
    expect(await inEveryMode(page, "brain-trained")).toEqual([]);

    await page.goto(own.url + "/console/search?q=" + encodeURIComponent("who paid for the valve of pump 7"));
    await settled(page);
    await expect(page.getByText("ranked by the brain")).toBeVisible();
    await page.getByRole("button", { name: /Why this one/ }).first().click();
    await expect(page.getByText("Its gate stood at")).toBeVisible();
    await page.getByText("Why the gate stood there").click();
    await expect(page.getByText("for any question")).toBeVisible();
    expect(await inEveryMode(page, "search-why-gate")).toEqual([]);
    expect(seen.complaints).toEqual([]);
    await context.close();
  } finally {
    await own.stop();
  }
});
