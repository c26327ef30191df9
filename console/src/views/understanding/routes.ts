import type { Route } from "../../lib/router.svelte";

export const routes: readonly Route[] = [
  { path: "/understanding/contradictions", title: "Contradictions", view: () => import("./Contradictions.svelte"), scope: "read" },
  { path: "/understanding/proposals", title: "Proposals", view: () => import("./Proposals.svelte"), scope: "read" },
  { path: "/understanding/insights", title: "Insights", view: () => import("./Insights.svelte"), scope: "read" },
  { path: "/understanding/timeline", title: "Timeline", view: () => import("./Timeline.svelte"), scope: "read" },
  { path: "/understanding/identity", title: "Identity and voice", view: () => import("./Identity.svelte"), scope: "read" },
];
