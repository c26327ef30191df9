// Everything that a person does in the console and that a key may be refused: where its control stands, and how it is
// done to its end. The routes are those of the interface; each that changes something is here, or in `nowhere`.
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import type { Locator, Page } from "@playwright/test";
import type { Corpus } from "./corpus";
import { expect } from "./service";

export interface Act {
  /** What is asked of the service, as its document has it. */
  route: string;
  /** What it takes. */
  scope: string;
  /** Whether it is offered only to who reads what is there. */
  reads?: boolean;
  path: (corpus: Corpus) => string;
  /** What is pressed, chosen or filled first: out of reach for who lacks the scope. */
  control: (page: Page) => Locator;
  /** What has to be so for the control to be there. */
  before?: (page: Page) => Promise<void>;
  /** From the control to the request. */
  finish?: (page: Page) => Promise<void>;
}

const button = (name: string | RegExp) => (page: Page): Locator => page.locator("main").getByRole("button", { name, exact: true }).first();
const press = (name: string) => async (page: Page): Promise<void> => page.getByRole("dialog").getByRole("button", { name, exact: true }).click();
const node = (corpus: Corpus): string => `/memory/nodes/${encodeURIComponent(corpus.node)}`;
const picked = { name: "refused.md", mimeType: "text/markdown", buffer: Buffer.from("Nobody reads this.") };
/** Fills fields of the dialog, by their labels. */
const fill = async (page: Page, fields: Record<string, string>): Promise<void> => {
  for (const [label, text] of Object.entries(fields)) await page.getByRole("dialog").getByLabel(label, { exact: true }).fill(text);
};
/** Types what a dialog asks for before it goes on. */
async function confirm(page: Page): Promise<void> {
  const dialog = page.getByRole("dialog");
  const label = await dialog.locator("label").filter({ hasText: /^Type / }).innerText();
  await dialog.getByLabel(label).fill(/“(.*)”/s.exec(label)![1]!);
}

export const acts: readonly Act[] = [
  {
    route: "PATCH /v1/graph/nodes/{node_id}", scope: "graph:write", path: node, control: button("Edit"),
    finish: async (page) => { await fill(page, { Title: "Another title" }); await press("Save")(page); },
  },
  {
    route: "POST /v1/graph/nodes/{node_id}/supersede", scope: "graph:write", path: node, control: button("Supersede"),
    finish: async (page) => { await fill(page, { "What holds now": "Another oven.", Why: "It was sold" }); await press("Supersede")(page); },
  },
  {
    route: "POST /v1/graph/edges", scope: "graph:write", path: node, control: button("Add an edge"),
    finish: async (page) => {
      await fill(page, { "To or from which node": "rye flour mill Ystad" });
      await page.getByRole("dialog").getByRole("list", { name: "Nodes that were found" }).getByRole("button").first().click();
      await fill(page, { Relation: "about" });
      await press("Add the edge")(page);
    },
  },
  { route: "DELETE /v1/graph/nodes/{node_id}", scope: "memory:forget", path: node, control: button("Forget"), finish: press("Forget it") },
  { route: "DELETE /v1/graph/edges/{edge_id}", scope: "memory:forget", path: node, control: button(/^Forget the edge/), finish: press("Forget the edge") },
  {
    route: "POST /v1/graph/nodes/{node_id}/undelete", scope: "graph:write", path: (corpus) => `/memory/nodes/${encodeURIComponent(corpus.forgotten)}`,
    control: button("Restore its place"), finish: press("Restore its place"),
  },
  { route: "DELETE /v1/graph/edges/{edge_id}", scope: "memory:forget", path: () => "/memory/edges", control: button(/^Forget the edge/), finish: press("Forget the edge") },
  { route: "POST /v1/import", scope: "write", path: () => "/memory/work", control: button("Choose files"), finish: async (page) => page.locator("main input[type=file]").first().setInputFiles(picked) },
  {
    route: "POST /v1/import/transcript", scope: "write", path: () => "/memory/work", control: button("Choose files"),
    finish: async (page) => { await page.getByText("Transcripts", { exact: true }).click(); await page.locator("main input[type=file]").first().setInputFiles(picked); },
  },
  { route: "POST /v1/ingest/batch", scope: "write", path: () => "/", control: button("Choose files"), finish: async (page) => page.getByTestId("files").setInputFiles(picked) },
  { route: "POST /v1/import", scope: "write", path: () => "/", control: button("Choose files"), finish: async (page) => page.getByTestId("files").setInputFiles({ ...picked, name: "refused.csv" }) },
  { route: "POST /v1/ingest/batch", scope: "write", path: () => "/?as=newcomer", reads: true, control: button("Put sample data in") },
  {
    route: "POST /v1/jobs/{job_id}/cancel", scope: "write", path: (corpus) => `/memory/work/${corpus.job}`, control: button("Cancel it"), finish: press("Cancel the job"),
    before: async (page) => {
      // Of a job that goes on and on: none of the memory's own does.
      await page.route("**/v1/jobs/*", async (route) => {
        if (route.request().method() !== "GET") return route.continue();
        const response = await route.fetch();
        await route.fulfill({ response, json: { ...((await response.json()) as object), status: "running", finishedAt: null, result: null } });
      });
      await page.reload();
    },
  },
  {
    route: "POST /v1/graph/nodes/{node_id}/supersede", scope: "graph:write", path: () => "/understanding/contradictions", control: button(/^This holds/),
    finish: async (page) => { await fill(page, { Why: "It was measured" }); await press("It holds, supersede the other")(page); },
  },
  // A decision is sent when the next one is made.
  { route: "POST /v1/proposals/{proposal_id}/accept", scope: "graph:write", path: () => "/understanding/proposals", control: button(/^Accept/), finish: async (page) => page.keyboard.press("r") },
  { route: "POST /v1/proposals/{proposal_id}/reject", scope: "graph:write", path: () => "/understanding/proposals", control: button(/^Reject/), finish: async (page) => page.keyboard.press("a") },
  { route: "DELETE /v1/graph/edges/{edge_id}", scope: "memory:forget", path: () => "/understanding/proposals?status=accepted", control: button("Forget it") },
  { route: "POST /v1/brain/train", scope: "admin", path: () => "/brain", control: button("Train") },
  { route: "POST /v1/quality", scope: "write", path: () => "/brain", control: button("Evaluate now") },
  { route: "POST /v1/keys", scope: "admin", path: () => "/trust/keys", control: button("Make a key"), finish: async (page) => { await fill(page, { "What it is for": "nothing" }); await press("Make it")(page); } },
  {
    route: "PUT /v1/subjects/{subject_id}", scope: "subjects:provision", path: () => "/trust/subjects", control: (page) => page.getByLabel("Its id"),
    finish: async (page) => { await page.getByLabel("Its id").fill("somebody"); await button("Provision")(page).click(); },
  },
  {
    route: "DELETE /v1/subjects/{subject_id}", scope: "subjects:provision", path: (corpus) => `/trust/subjects/${corpus.subject}`, control: button("Erase…"),
    finish: async (page) => { await confirm(page); await press("Erase for good")(page); },
  },
  { route: "POST /v1/sandbox/keys", scope: "admin", path: () => "/trust/sandbox", control: button("Make a sandbox key"), finish: press("Make it") },
  { route: "POST /v1/webhooks", scope: "write", path: () => "/trust/webhooks", control: button("Make a webhook"), finish: async (page) => { await fill(page, { Address: "https://example.com/x" }); await press("Make it")(page); } },
  { route: "POST /v1/webhooks/{webhook_id}/test", scope: "write", path: (corpus) => `/trust/webhooks/${corpus.webhook}`, control: button("Send a test") },
  { route: "PATCH /v1/webhooks/{webhook_id}", scope: "write", path: (corpus) => `/trust/webhooks/${corpus.webhook}`, control: button("Pause") },
  { route: "DELETE /v1/webhooks/{webhook_id}", scope: "write", path: (corpus) => `/trust/webhooks/${corpus.webhook}`, control: button("Delete…"), finish: press("Delete") },
  {
    route: "POST /v1/connectors", scope: "write", path: () => "/trust/connectors", control: button("Make a connector"),
    finish: async (page) => { await fill(page, { Name: "News", Address: "https://example.com/feed" }); await press("Make it")(page); },
  },
  { route: "POST /v1/connectors/{id}/sync", scope: "write", path: (corpus) => `/trust/connectors/${corpus.connector}`, control: button("Fetch now") },
  { route: "PATCH /v1/connectors/{id}", scope: "write", path: (corpus) => `/trust/connectors/${corpus.connector}`, control: button("Resume") },
  { route: "DELETE /v1/connectors/{id}", scope: "write", path: (corpus) => `/trust/connectors/${corpus.connector}`, control: button("Delete…"), finish: press("Delete") },
  { route: "POST /v1/exports", scope: "write", path: () => "/trust/exports", control: button("Make an export") },
  { route: "POST /v1/exports", scope: "admin", path: () => "/trust/exports", control: (page) => page.getByLabel("The whole organization"), finish: async (page) => button("Make an export")(page).click() },
  { route: "POST /v1/purge", scope: "admin", path: (corpus) => `/trust/purge?subject=${corpus.subject}`, control: button("Show what would go") },
  { route: "PATCH /v1/settings", scope: "write", path: () => "/trust/settings", control: (page) => page.getByLabel("Thorough"), finish: async (page) => button("Save")(page).click() },
  {
    route: "POST /v1/settings/reset", scope: "write", path: () => "/trust/settings", control: button("Reset to the defaults…"), finish: press("Reset"),
    before: async (page) => {
      // There is something to reset only where something was set.
      await page.route("**/v1/settings", async (route) => (route.request().method() === "GET" ? route.fulfill({ json: { qualityMode: "thorough", learnModeDefault: true } }) : route.continue()));
      await page.reload();
    },
  },
  {
    route: "DELETE /v1/me", scope: "write", path: () => "/trust/settings", control: button("Delete my account…"),
    finish: async (page) => { await confirm(page); await press("Delete for good")(page); },
  },
];

/** What changes something and has no control that a scope decides about. */
export const nowhere: Readonly<Record<string, string>> = {
  "DELETE /v1/keys/{key_id}": "Every key revokes those of its owner.",
  "DELETE /v1/sandbox/keys/{key_id}": "It stands beside making them, in a view that is shown to who may make them alone.",
  "POST /v1/sandbox/reset": "It stands in the view of the sandbox, which is shown to admins alone, behind a look that makes a key.",
  "POST /v1/ingest": "What a person puts in are files, and the sample at once.",
  "POST /v1/ingest/agent-signals": "Sessions come from programs.",
  "POST /v1/ingest/session-batch": "Sessions come from programs.",
  "POST /v1/ingest/session-event": "Sessions come from programs.",
  "POST /v1/ingest/session-finalize": "Sessions come from programs.",
  "DELETE /v1/recall/sessions/{session_id}": "Sessions are shown as the nodes that they became.",
};

/** The routes that change something, as the interface's document has them: those that reading does not suffice for. */
export async function changes(): Promise<string[]> {
  const text = await readFile(fileURLToPath(new URL("../../docs/openapi.json", import.meta.url)), "utf8");
  const { paths } = JSON.parse(text) as { paths: Record<string, Record<string, { "x-svc-scope"?: string }>> };
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, route]) => (["post", "put", "patch", "delete"].includes(method) && route["x-svc-scope"] !== "read" ? [`${method.toUpperCase()} ${path}`] : [])),
  );
}

/** Whether a request is one of the route. */
export function asks(route: string, request: { method(): string; url(): string }): boolean {
  const [method, path] = route.split(" ") as [string, string];
  const pattern = new RegExp(`^${path.replaceAll(/[.]/g, "\\.").replaceAll(/\{\w+\}/g, "[^/]+")}$`);
  return request.method() === method && pattern.test(new URL(request.url()).pathname);
}

/** The words of a page, by which a scope is named or is not. */
export const wordsOf = async (page: Page): Promise<Set<string>> => new Set((await page.locator("main").innerText()).split(/[^\w:]+/).map((word) => word.replace(/:$/, "")));

/** Whether a control is there, and can be used. */
export async function usable(control: Locator): Promise<boolean> {
  return (await control.count()) > 0 && (await control.isVisible()) && (await control.isEnabled());
}

/** Waits until what is shown is all there is: what a view asks for beside its first answer, too. */
export async function quiet(page: Page): Promise<void> {
  await expect(page.locator("h1").first()).toBeVisible();
  await expect(page.locator(".loading")).toHaveCount(0);
}
