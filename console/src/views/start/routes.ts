import type { Route } from "../../lib/router.svelte";

export const routes: readonly Route[] = [{ path: "/", title: "Start", view: () => import("./Start.svelte") }];
