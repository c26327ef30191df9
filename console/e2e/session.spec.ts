import { settled } from "./addresses";
import { violations } from "./axe";
import { expect, startService, test, watch } from "./service";

test.describe("signing in", () => {
  test.use({ signedIn: false });

  test("the printed address signs in by itself, once", async ({ page, service, browser }) => {
    await page.goto(service.consoleUrl);
    await expect(page.getByRole("navigation", { name: "Views" })).toBeVisible();
    expect(page.url(), "the code does not stay in the address").not.toContain("code=");
    const kept = () => page.evaluate(() => JSON.stringify([sessionStorage, localStorage]));
    expect(await kept(), "nobody has chosen to keep the key").not.toContain("svc_");
    const notice = page.getByRole("region", { name: "The key of this tab" });
    await expect(notice).toContainText("forgets its key when it is reloaded");
    expect(await violations(page)).toEqual([]);
    await notice.getByRole("button", { name: "Keep it until this tab is closed" }).click();
    await expect(notice).toHaveCount(0);
    await expect(page.locator("main")).toBeFocused();
    await page.reload();
    await expect(page.getByRole("navigation", { name: "Views" })).toBeVisible();
    await expect(notice).toHaveCount(0);

    const other = await browser.newContext();
    const second = await other.newPage();
    await second.goto(service.consoleUrl);
    await expect(second.getByText("The credential is missing or not valid. A code signs in once")).toBeVisible();
    await expect(second.getByLabel("API key")).toBeVisible();
    await other.close();
  });

  test("a key that the printed address brought is forgotten by a reload, unless it is kept", async ({ browser }) => {
    const own = await startService();
    const context = await browser.newContext();
    const page = await context.newPage();
    const watched = watch(page, own.url);
    try {
      await page.goto(own.consoleUrl);
      await page.getByRole("region", { name: "The key of this tab" }).getByRole("button", { name: "Dismiss" }).click();
      await expect(page.getByRole("region", { name: "The key of this tab" })).toHaveCount(0);
      await page.getByRole("link", { name: "All nodes" }).click();
      await expect(page.getByRole("heading", { level: 1, name: "All nodes" })).toBeVisible();
      await page.reload();
      await expect(page.getByLabel("API key")).toBeVisible();
      expect(watched.complaints).toEqual([]);
    } finally {
      await context.close();
      await own.stop();
    }
  });

  test("a code that is refused is told as the service tells it", async ({ page, service }) => {
    const reason = "A code signs in on the machine that the service runs on, and nowhere else.";
    await page.route("**/console/session", (route) =>
      route.fulfill({ status: 403, contentType: "application/problem+json", body: JSON.stringify({ title: "Permission denied", status: 403, detail: reason }) }),
    );
    await page.goto(service.url + "/console/#code=elsewhere");
    await expect(page.getByText(reason)).toBeVisible();
    await expect(page.getByText("A code signs in once")).toHaveCount(0);
    await expect(page.getByLabel("API key")).toBeVisible();
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

test("the slash goes to the search box from every view, and is a letter where one writes", async ({ page, service }) => {
  const top = page.getByLabel("Search the memory");
  for (const path of ["/", "/memory/documents", "/understanding/proposals", "/trust/audit", "/graph"]) {
    await page.goto(service.url + "/console" + path);
    await settled(page);
    await page.keyboard.press("/");
    await expect(top, path).toBeFocused();
    await expect(top, path).toHaveValue("");
  }
  await page.keyboard.type("a/b");
  await expect(top).toHaveValue("a/b");

  await page.goto(service.url + "/console/search?q=dredger");
  await settled(page);
  await page.keyboard.press("/");
  await expect(page.getByLabel("What do you want to know?")).toBeFocused();

  await service.memory.settings.update({ learnModeDefault: false });
  try {
    await page.goto(service.url + "/console/trust/settings");
    await page.getByRole("button", { name: "Reset to the defaults" }).click();
    const dialog = page.getByRole("dialog");
    await expect(dialog).toBeVisible();
    await page.keyboard.press("/");
    await expect(dialog).toBeVisible();
    await expect(top).not.toBeFocused();
  } finally {
    await service.memory.settings.reset(); // the memory is other specs', too, and is to learn
  }
});
