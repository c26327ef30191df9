import type { Route } from "../../lib/router.svelte";

export const routes: readonly Route[] = [{ path: "/graph", title: "Graph", view: () => import("./GraphPage.svelte"), scope: "read" }];
