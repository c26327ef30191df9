import type { Route } from "../../lib/router.svelte";

export const routes: readonly Route[] = [
  { path: "/memory/documents", title: "Documents", view: () => import("./Documents.svelte"), scope: "read" },
  { path: "/memory/entities", title: "Entities", view: () => import("./Entities.svelte"), scope: "read" },
  { path: "/memory/nodes", title: "All nodes", view: () => import("./Nodes.svelte"), scope: "read" },
  { path: "/memory/nodes/:id", title: "Node", view: () => import("./NodePage.svelte"), scope: "read" },
  { path: "/memory/edges", title: "Edges", view: () => import("./Edges.svelte"), scope: "read" },
  { path: "/memory/domains", title: "Domains", view: () => import("./Domains.svelte"), scope: "read" },
  { path: "/memory/domains/:id", title: "Domain", view: () => import("./Domain.svelte"), scope: "read" },
  { path: "/memory/work", title: "Imports and jobs", view: () => import("./Work.svelte"), scope: "read" },
  { path: "/memory/work/:id", title: "Job", view: () => import("./JobPage.svelte"), scope: "read" },
];
