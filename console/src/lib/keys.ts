import { session } from "./session.svelte";

/** The labels of one's own keys by their ids, which are what the service names keys by. */
export async function keyLabels(signal?: AbortSignal): Promise<Map<string, string>> {
  const { data } = await session.own.keys.list(signal ? { signal } : {}).page();
  return new Map(data.map((k) => [k.id, k.label]));
}
