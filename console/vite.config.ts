import { fileURLToPath } from "node:url";
import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig } from "vite";
import { licences } from "./scripts/licences.ts";

// The client is taken from its source: the console is built with what the same commit says of the interface.
const client = fileURLToPath(new URL("../sdk/typescript/src/index.ts", import.meta.url));

export default defineConfig({
  base: "/console/",
  plugins: [svelte(), licences()],
  resolve: { alias: { orgmem: client } },
  build: {
    target: "es2022",
    // The policy allows no inline script, and every browser that the target names preloads by itself.
    modulePreload: { polyfill: false },
    // Fonts and pictures as data: addresses would need a hole in the policy.
    assetsInlineLimit: 0,
    cssCodeSplit: false,
    rollupOptions: {
      input: {
        console: fileURLToPath(new URL("index.html", import.meta.url)),
        operator: fileURLToPath(new URL("operator.html", import.meta.url)),
      },
    },
  },
  // While developing (npx vite): the service is the one that ORGMEM_BASE_URL names.
  server: { proxy: { "^/(v1|docs|console/session)": process.env["ORGMEM_BASE_URL"] ?? "http://127.0.0.1:8080" } },
  test: { include: ["test/*.test.ts"] },
} as Parameters<typeof defineConfig>[0]);
