import { defineConfig } from "@playwright/test";
import walks from "./playwright.config";

// Figures, not tests: npm run bench prints them.
export default defineConfig({ ...walks, testMatch: "*.bench.ts", timeout: 600_000 });
