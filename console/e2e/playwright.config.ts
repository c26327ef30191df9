import { defineConfig } from "@playwright/test";

// Debian's Chromium, which `make browser` installs: no browser of Playwright's own is fetched.
export default defineConfig({
  testDir: ".",
  outputDir: "out/failures",
  // A worker has a service of its own, of some 200 MB.
  workers: 1,
  forbidOnly: true,
  retries: 0,
  timeout: 60_000,
  expect: { timeout: 15_000 },
  // `make test` runs what is not marked @long; `make e2e` all.
  ...(process.env["E2E_LONG"] ? {} : { grepInvert: /@long/ }),
  reporter: [["list"]],
  use: {
    browserName: "chromium",
    headless: true,
    viewport: { width: 1280, height: 860 },
    launchOptions: {
      executablePath: process.env["CHROMIUM"] ?? "/usr/bin/chromium",
      args: ["--no-sandbox", "--enable-unsafe-swiftshader"],
    },
    screenshot: "only-on-failure",
    trace: "off",
  },
});
