import type { Route } from "../../lib/router.svelte";

/** The views of the operator's page: addresses of their own, on the operator listener. */
export const routes: readonly Route[] = [
  { path: "/", title: "Overview", view: () => import("./Overview.svelte") },
  { path: "/orgs", title: "Organizations", view: () => import("./Orgs.svelte") },
  { path: "/orgs/:id", title: "Organization", view: () => import("./Org.svelte") },
  { path: "/cluster", title: "Nodes", view: () => import("./ClusterView.svelte") },
  { path: "/requests", title: "Requests", view: () => import("./Requests.svelte") },
  { path: "/storage", title: "Storage", view: () => import("./Storage.svelte") },
  { path: "/backups", title: "Backups", view: () => import("./Backups.svelte") },
  { path: "/configuration", title: "Configuration", view: () => import("./Configuration.svelte") },
];
