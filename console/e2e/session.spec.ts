import { violations } from "./axe";
import { expect, test, watch } from "./service";

test.describe("signing in", () => {
  test.use({ signedIn: false });

  test("the printed address signs in by itself, once", async ({ page, service, browser }) => {
    await page.goto(service.consoleUrl);
    await expect(page.getByRole("navigation", { name: "Views" })).toBeVisible();
    expect(page.url(), "the code does not stay in the address").not.toContain("code=");

    const other = await browser.newContext();
    const second = await other.newPage();
    await second.goto(service.consoleUrl);
    await expect(second.getByText("has been used")).toBeVisible();
    await expect(second.getByLabel("API key")).toBeVisible();
    await other.close();
  });

  test("a wrong key is said to be wrong, a right one signs in, and a reload forgets it", async ({ page, service }) => {
    await page.goto(service.url + "/console/");
    expect(await violations(page)).toEqual([]);
    await page.getByLabel("API key").fill("svc_prod_nobody");
    await page.getByRole("button", { name: "Sign in" }).click();
    await expect(page.getByText("does not know this key")).toBeVisible();

    await page.getByLabel("API key").fill(service.key);
    await page.getByRole("button", { name: "Sign in" }).click();
    await expect(page.getByRole("navigation", { name: "Views" })).toBeVisible();
    await page.reload();
    await expect(page.getByLabel("API key")).toBeVisible();
    expect(await page.evaluate(() => JSON.stringify([sessionStorage, localStorage]))).not.toContain("svc_");
  });

  test("who asks for it stays signed in until signing out", async ({ page, service }) => {
    await page.goto(service.url + "/console/memory/nodes?kind=entity");
    await page.getByLabel("API key").fill(service.key);
    await page.getByLabel("Keep it until this tab is closed").check();
    await page.getByRole("button", { name: "Sign in" }).click();
    await expect(page.getByRole("navigation", { name: "Views" })).toBeVisible();
    await page.reload();
    await expect(page.getByRole("navigation", { name: "Views" })).toBeVisible();
    expect(page.url(), "the address that was asked for").toContain("/console/memory/nodes?kind=entity");
    await page.locator("summary").click();
    await page.getByRole("button", { name: "Sign out" }).click();
    await expect(page.getByLabel("API key")).toBeVisible();
    await page.reload();
    await expect(page.getByLabel("API key")).toBeVisible();
  });
});

test("a key that is revoked in another tab ends the session", async ({ page, service, context }) => {
  const key = await service.memory.keys.create({ label: "to be revoked", scopes: ["read"] });
  await page.addInitScript((key) => sessionStorage.setItem("orgmem.key", key), key.apiKey);
  await page.reload();
  await expect(page.getByRole("navigation", { name: "Views" })).toBeVisible();

  const other = await context.newPage();
  const seen = watch(other, service.url);
  await other.addInitScript((key) => sessionStorage.setItem("orgmem.key", key), service.key);
  await other.goto(service.url + "/console/trust/keys");
  await other.getByRole("button", { name: "Revoke to be revoked" }).click();
  await other.getByRole("dialog", { name: "Revoke this key?" }).getByRole("button", { name: "Revoke" }).click();
  await expect(other.getByText("Revoked: to be revoked")).toBeVisible();

  // Whatever the page asks next hears of it: what a view asks by itself, or else what this link leads to.
  await page.getByRole("link", { name: "All nodes" }).click({ timeout: 5_000 }).catch(() => undefined);
  await expect(page.getByText("revoked or has expired")).toBeVisible();
  await other.reload();
  await expect(other.getByRole("navigation", { name: "Views" }), "the tab that revoked it stays signed in").toBeVisible();
  expect(seen.complaints).toEqual([]);
  await other.close();
});

test("an address that means nothing says so", async ({ page, service }) => {
  await page.goto(service.url + "/console/nothing/here");
  await expect(page.getByText("Nothing has this address.")).toBeVisible();
  await page.getByRole("link", { name: "Go to the start" }).click();
  await expect(page).toHaveURL(service.url + "/console/");
});
