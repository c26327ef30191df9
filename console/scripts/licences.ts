import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import type { Plugin } from "vite";

/** Writes licences.txt beside the built files: the licence of every package that is in them, as it asks for. */
export function licences(): Plugin {
  return {
    name: "licences",
    apply: "build",
    generateBundle(_, bundle) {
      const folders = new Set<string>();
      for (const file of Object.values(bundle)) {
        if (file.type !== "chunk") continue;
        for (const id of file.moduleIds) {
          const folder = /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id.replace(/^\0/, ""))?.[0];
          if (folder && existsSync(path.join(folder, "package.json"))) folders.add(folder);
        }
      }
      const texts = [...folders].map((folder) => {
        const about = JSON.parse(readFileSync(path.join(folder, "package.json"), "utf8")) as { name: string; version: string; license?: string };
        const file = readdirSync(folder).find((name) => /^licen[cs]e/i.test(name));
        if (!file) this.error(`${about.name} has no licence file`);
        return `${about.name} ${about.version} (${about.license ?? "see below"})\n\n${readFileSync(path.join(folder, file!), "utf8").trim()}\n`;
      });
      this.emitFile({
        type: "asset",
        fileName: "licences.txt",
        source: "What the console's files have in them beside its own code.\n\n" + texts.sort().join("\n----\n\n"),
      });
    },
  };
}
