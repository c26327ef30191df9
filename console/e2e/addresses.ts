import type { Page } from "@playwright/test";
import { routes } from "../src/routes";
import type { Corpus } from "./corpus";
import { expect } from "./service";

/** Every address that the console has, with the corpus's ids for parameters. */
export function addresses(corpus: Corpus): { name: string; path: string }[] {
  const ids: Record<string, string> = {
    "/memory/nodes/:id": corpus.node,
    "/memory/work/:id": corpus.job,
    "/memory/domains/:id": corpus.domain,
    "/trust/subjects/:id": corpus.subject,
    "/trust/webhooks/:id": corpus.webhook,
    "/trust/connectors/:id": corpus.connector,
  };
  const all = routes.map((route) => {
    const id = ids[route.path];
    if (route.path.includes(":") && !id) throw new Error(`the corpus has no id for ${route.path}`);
    return { name: route.path.replace(/[/:]+/g, "-").replace(/^-|-$/g, "") || "start", path: route.path.replace(":id", encodeURIComponent(id ?? "")) };
  });
  return [
    ...all,
    { name: "search-results", path: "/search?q=" + encodeURIComponent("when is the bakery open") },
    { name: "node-superseded", path: "/memory/nodes/" + encodeURIComponent(corpus.superseded) },
    { name: "node-forgotten", path: "/memory/nodes/" + encodeURIComponent(corpus.forgotten) },
    { name: "as-ann", path: "/memory/documents?as=ann" },
  ];
}

/** Nothing is being loaded any more. */
export async function settled(page: Page): Promise<void> {
  await expect(page.locator("h1").first()).toBeVisible();
  await expect(page.locator(".loading")).toHaveCount(0);
}
