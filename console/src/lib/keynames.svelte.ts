import { SvelteMap } from "svelte/reactivity";
import { keyLabels } from "./keys";
import { session } from "./session.svelte";

const together = 50; // ids in one request, which is as many as the service takes
const idOfKey = /^[0-9a-f]{64}$/;

/**
 * What keys are called, which histories and trails name by their ids alone. The service gives an admin the names of all
 * members' keys, and everybody else those of their own. Make one for a view, and have it learn the ids of each page that
 * comes: those of a page are asked for together, and each once.
 */
export class KeyNames {
  /** null: there is no such key any more, and so nobody knows what it was called. */
  #known = new SvelteMap<string, string | null>();
  #asked = new Set<string>();
  /** Some were asked for, and what there is to be had is here. */
  looked = $state(false);

  /** Undefined where it was not asked for yet, or is not told to this key. */
  get(id: string): string | null | undefined {
    return this.#known.get(id);
  }

  put(keys: Iterable<{ id: string; label: string }>): void {
    for (const { id, label } of keys) {
      this.#asked.add(id);
      this.#known.set(id, label);
    }
  }

  /** Where that fails the ids stay: what they stand beside is worth more than their names. */
  async learn(ids: Iterable<string | null>): Promise<void> {
    const fresh = [...new Set(ids)].filter((id): id is string => id !== null && idOfKey.test(id) && !this.#asked.has(id));
    if (!fresh.length) return;
    for (const id of fresh) this.#asked.add(id);
    try {
      if (!session.may("admin")) {
        for (const [id, label] of await keyLabels()) this.#known.set(id, label);
        return;
      }
      for (let i = 0; i < fresh.length; i += together) {
        const some = fresh.slice(i, i + together);
        const { data } = await session.own.memberKeys({ ids: some.join(",") }).page();
        for (const id of some) this.#known.set(id, data.find((k) => k.id === id)?.label ?? null);
      }
    } catch (error) {
      session.heard(error);
    } finally {
      this.looked = true;
    }
  }
}
