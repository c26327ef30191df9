import type { Domain } from "orgmem";
import { load, type Loaded } from "../../../lib/load.svelte";
import { session } from "../../../lib/session.svelte";

const atMost = 500; // domains whose labels are shown and offered

/** The memory's domains, for their labels. Call it while a component is made. */
export const loadDomains = (): Loaded<Domain[]> =>
  load((signal) => session.client.domains.list({ pageSize: 100, signal }).take(atMost));

/** Its label; of one that has none, its words. */
export const labelOf = (domain: Pick<Domain, "label" | "keywords">): string => domain.label || domain.keywords.slice(0, 3).join(", ") || "Without a label";
