import type { Route } from "../../lib/router.svelte";

export const routes: readonly Route[] = [
  { path: "/trust/keys", title: "Keys", view: () => import("./Keys.svelte") },
  { path: "/trust/subjects", title: "Subjects", scope: "read", view: () => import("./Subjects.svelte") },
  { path: "/trust/subjects/:id", title: "Subject", scope: "read", view: () => import("./Subject.svelte") },
  { path: "/trust/sandbox", title: "Sandbox", scope: "admin", view: () => import("./Sandbox.svelte") },
  { path: "/trust/webhooks", title: "Webhooks", scope: "read", view: () => import("./Webhooks.svelte") },
  { path: "/trust/webhooks/:id", title: "Webhook", scope: "read", view: () => import("./Webhook.svelte") },
  { path: "/trust/connectors", title: "Connectors", scope: "read", view: () => import("./Connectors.svelte") },
  { path: "/trust/connectors/:id", title: "Connector", scope: "read", view: () => import("./Connector.svelte") },
  { path: "/trust/events", title: "Events", scope: "read", view: () => import("./Events.svelte") },
  { path: "/trust/usage", title: "Usage", scope: "usage:read", view: () => import("./Usage.svelte") },
  { path: "/trust/exports", title: "Exports", scope: "read", view: () => import("./Exports.svelte") },
  { path: "/trust/purge", title: "Purge", scope: "admin", view: () => import("./Purge.svelte") },
  { path: "/trust/audit", title: "Audit trail", scope: "admin", view: () => import("./Audit.svelte") },
  { path: "/trust/members", title: "Members", scope: "read", view: () => import("./Members.svelte") },
  { path: "/trust/settings", title: "Settings", scope: "read", view: () => import("./Settings.svelte") },
];
