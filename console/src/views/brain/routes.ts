import type { Route } from "../../lib/router.svelte";

export const routes: readonly Route[] = [{ path: "/brain", title: "Brain", view: () => import("./Brain.svelte"), scope: "read" }];
