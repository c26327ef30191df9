import type { Component } from "svelte";

/** One view and the address that it has. */
export interface Route {
  /** For example /memory/nodes/:id; a parameter is one segment. */
  path: string;
  title: string;
  /** Loaded when it is first gone to, so that the shell stays small. */
  view: () => Promise<{ default: Component<any> }>;
  /** The scope that the key needs for what the view is for; without one every key may see it. */
  scope?: string;
}

/** What an address means: a route and the values of its parameters. */
export interface Match {
  route: Route;
  params: Record<string, string>;
}

/** Finds the first route whose pattern has the address's segments. */
export function match(routes: readonly Route[], path: string): Match | undefined {
  const given = path.split("/").filter(Boolean);
  for (const route of routes) {
    const wanted = route.path.split("/").filter(Boolean);
    if (wanted.length !== given.length) continue;
    const params: Record<string, string> = {};
    const fits = wanted.every((segment, i) => {
      if (!segment.startsWith(":")) return segment === given[i];
      try {
        params[segment.slice(1)] = decodeURIComponent(given[i]!);
        return true;
      } catch {
        return false; // a stray % is no id of ours
      }
    });
    if (fits) return { route, params };
  }
  return undefined;
}
