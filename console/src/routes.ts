import type { Route } from "./lib/router.svelte";
import { routes as brain } from "./views/brain/routes";
import { routes as graph } from "./views/graph/routes";
import { routes as memory } from "./views/memory/routes";
import { routes as search } from "./views/search/routes";
import { routes as start } from "./views/start/routes";
import { routes as trust } from "./views/trust/routes";
import { routes as understanding } from "./views/understanding/routes";

/** Every view of the console, in no order that matters: no two patterns mean the same address. */
export const routes: readonly Route[] = [...start, ...search, ...memory, ...graph, ...understanding, ...brain, ...trust];

/** What the navigation shows: titles of groups, and the views that one goes to from anywhere. */
export const navigation: readonly { title: string; links: readonly { path: string; title: string }[] }[] = [
  {
    title: "",
    links: [
      { path: "/", title: "Start" },
      { path: "/search", title: "Search" },
    ],
  },
  {
    title: "Memory",
    links: [
      { path: "/memory/documents", title: "Documents" },
      { path: "/memory/entities", title: "Entities" },
      { path: "/memory/nodes", title: "All nodes" },
      { path: "/memory/edges", title: "Edges" },
      { path: "/memory/domains", title: "Domains" },
      { path: "/memory/work", title: "Imports and jobs" },
      { path: "/graph", title: "Graph" },
    ],
  },
  {
    title: "Understanding",
    links: [
      { path: "/understanding/contradictions", title: "Contradictions" },
      { path: "/understanding/proposals", title: "Proposals" },
      { path: "/understanding/insights", title: "Insights" },
      { path: "/understanding/timeline", title: "Timeline" },
      { path: "/understanding/identity", title: "Identity and voice" },
      { path: "/brain", title: "Brain" },
    ],
  },
  {
    title: "Trust",
    links: [
      { path: "/trust/keys", title: "Keys" },
      { path: "/trust/subjects", title: "Subjects" },
      { path: "/trust/sandbox", title: "Sandbox" },
      { path: "/trust/webhooks", title: "Webhooks" },
      { path: "/trust/connectors", title: "Connectors" },
      { path: "/trust/events", title: "Events" },
      { path: "/trust/usage", title: "Usage" },
      { path: "/trust/exports", title: "Exports" },
      { path: "/trust/purge", title: "Purge" },
      { path: "/trust/audit", title: "Audit trail" },
      { path: "/trust/members", title: "Members" },
      { path: "/trust/settings", title: "Settings" },
    ],
  },
];
