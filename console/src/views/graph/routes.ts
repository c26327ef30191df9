import type { Route } from "../../lib/router.svelte";

export const routes: readonly Route[] = [
  {
    path: "/graph",
    title: "Graph",
    view: () => {
      import("./drawing").catch(() => undefined); // beside the view that draws with it, which tells of a failure
      return import("./GraphPage.svelte");
    },
    scope: "read",
  },
];
