import type { Route } from "../../lib/router.svelte";

export const routes: readonly Route[] = [{ path: "/search", title: "Search", view: () => import("./Search.svelte"), scope: "read" }];
