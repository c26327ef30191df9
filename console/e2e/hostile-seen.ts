// What must be read in each view of the console, so that a walk of hostile texts is no walk of empty views.
import { expect, type Page } from "@playwright/test";
import { markup, odd, requestId } from "./hostile";
import { filename, type Made } from "./hostile-fill";
import type { Service } from "./service";

/** A view, with something hostile of its kind in it. */
export interface Seen {
  /** What stands for :id. */
  id?: (made: Made) => string;
  /** What the address asks for. */
  query?: (made: Made) => Record<string, string>;
  /** Whose key looks: that of the memory, or that of the organization with a hostile name. */
  as?: "named";
  /** What is done before it is there to be read. */
  open?: (page: Page, service: Service, made: Made) => Promise<void>;
  /** Pieces of the given texts. Each must be there, as text. */
  sees: (made: Made) => readonly string[];
}

const image = "<img data-hostile src=x onerror=";
const told = "<b data-hostile>told</b>";

export const seen: Readonly<Record<string, Seen>> = {
  // The newest documents, what does not agree, what is coming up, and what was noticed.
  "/": { sees: () => ["<b data-hostile>old mill</b>", "<b data-hostile>clay orders"] },
  "/search": { query: () => ({ q: "the alarm code of the studio" }), sees: () => [image, "<b data-hostile>4711</b>", told] },
  "/memory/documents": { sees: () => [markup["script"]!, markup["form"]!, odd["hebrew"]!] },
  "/memory/entities": { sees: () => ["evil.invalid/x"] },
  "/memory/nodes": { sees: () => [markup["script"]!, odd["arabic"]!] },
  "/memory/nodes/:id": { id: (made) => made.all.id, sees: () => [...Object.values(markup), odd["override"]!, odd["hebrew"]!, odd["zeroWidth"]!] },
  "/memory/edges": { sees: () => ["All at once <b data-hostile>", markup["script"]!] },
  "/memory/domains": { sees: (made) => [made.domain.label, made.domain.keywords[0]!] },
  "/memory/domains/:id": { id: (made) => made.domain.id, sees: (made) => [made.domain.label, ...made.domain.keywords, "data-hostile"] },
  "/memory/work": { query: () => ({ show: "imports" }), sees: () => [filename] },
  "/memory/work/:id": { id: (made) => made.job, sees: () => [`${markup["image"]}#job2`, `${markup["vector"]}#job4`] },
  "/graph": {
    query: (made) => ({ node: made.all.id }),
    open: async (page) => {
      await page.getByText("As a list").click();
      await expect(page.getByRole("region", { name: "The chosen node" })).toBeVisible();
    },
    sees: () => ["All at once <b data-hostile>", "data-hostile src"],
  },
  "/understanding/contradictions": { sees: () => [image, "<b data-hostile>4711</b>", "<b data-hostile>8822</b>"] },
  "/understanding/proposals": { sees: () => [told] },
  "/understanding/insights": { sees: () => ["<b data-hostile>clay orders"] },
  "/understanding/timeline": { query: () => ({ span: "all" }), sees: () => ["<b data-hostile>old mill</b>", "<b data-hostile>kitchen</b>"] },
  "/understanding/identity": { sees: () => ["data-hostile src"] },
  "/brain": { query: () => ({ q: "the alarm code of the studio" }), sees: () => [`Alarm ${told}`] },
  "/trust/keys": { sees: (made) => made.labels },
  "/trust/subjects": { sees: (made) => made.subjects },
  "/trust/subjects/:id": { id: (made) => made.somebody, sees: (made) => [made.somebody] },
  "/trust/sandbox": { sees: (made) => made.sandboxLabels },
  "/trust/webhooks": { sees: (made) => made.urls },
  "/trust/webhooks/:id": {
    id: (made) => made.webhook,
    open: async (page) => page.locator("details").filter({ hasText: "webhook.test" }).locator("summary").click(),
    sees: (made) => [made.urls[0]!, markup["image"]!],
  },
  "/trust/connectors": { sees: (made) => made.connectors },
  "/trust/connectors/:id": { id: (made) => made.connector, sees: (made) => [made.connectors.at(-1)!] },
  "/trust/events": {
    open: async (page, { memory }, { somebody }) => {
      await expect(page.getByText("Waiting for what happens next.")).toBeVisible();
      await memory.subject(somebody).add(`${markup["image"]} happens`, { wait: true });
      const entry = page.locator("li details").filter({ hasText: "job.completed" }).first();
      await entry.locator("summary").click();
      await expect(entry.locator("pre")).toBeVisible();
    },
    sees: (made) => [JSON.stringify(made.somebody)],
  },
  "/trust/usage": { query: () => ({ by: "subject" }), sees: (made) => [made.somebody] },
  "/trust/purge": {
    query: (made) => ({ subject: made.somebody }),
    open: async (page) => {
      await page.getByRole("button", { name: "Show what would go" }).click();
      await expect(page.getByRole("region", { name: "2. What would go" })).toBeVisible();
    },
    sees: (made) => [made.somebody],
  },
  "/trust/audit": { sees: (made) => [requestId, made.somebody, made.labels[0]!] },
  "/trust/members": { as: "named", sees: (made) => [made.named.name, ...made.named.emails] },
};

/** Views that have room for nobody's text, and why. */
export const bare: Readonly<Record<string, string>> = {
  "/trust/exports": "Exports have ids, states, sizes and days. What one holds is saved and not shown.",
  "/trust/settings": "Two choices with names of ours, and figures of the vectors.",
};
