import type { List } from "orgmem";
import { session } from "./session.svelte";

/** What was counted so far. */
export interface Counted<K> {
  kept: K[];
  /** Rows that were read. */
  read: number;
  /** There are more rows. */
  more: boolean;
}

type Options = { signal: AbortSignal; maxRetries?: number; retryBudget?: number };
// A page is one request of the rate: who asks for all waits for their turn, which is what retrying does.
const patient = { maxRetries: 1_000, retryBudget: 3_600_000 };

/**
 * Goes through a list and keeps of its rows what is counted: so many at once, and the
 * rest on request. What there is is shown while it goes on. data, error and reload are
 * those of Loaded.
 */
export class Tally<T, K> {
  data = $state.raw<Counted<K>>();
  error = $state.raw<unknown>();
  /** The rest is being read. */
  counting = $state(false);
  #cursor: string | undefined;
  #abort: AbortController | undefined;
  readonly #list: (options: Options) => List<T>;
  readonly #keep: (rows: T[]) => K[];
  readonly #first: number;
  readonly #most: number;

  /** Reads first rows, and on request up to most. */
  constructor(list: (options: Options) => List<T>, keep: (rows: T[]) => K[], { first, most }: { first: number; most: number }) {
    [this.#list, this.#keep, this.#first, this.#most] = [list, keep, first, most];
  }

  /** From the beginning. */
  reload = async (): Promise<void> => {
    this.stop();
    this.#cursor = undefined;
    this.error = undefined;
    await this.#read({ kept: [], read: 0, more: true }, this.#first, false);
  };

  /** Counts the rest. */
  all = async (): Promise<void> => {
    if (this.counting || !this.data?.more) return;
    this.counting = true;
    this.error = undefined;
    await this.#read(this.data, this.#most, true);
    this.counting = false;
  };

  stop(): void {
    this.#abort?.abort();
  }

  async #read(from: Counted<K>, upTo: number, shown: boolean): Promise<void> {
    const { signal } = (this.#abort = new AbortController());
    const list = this.#list({ signal, ...(shown ? patient : {}) }); // before the first await: what it reads is depended on
    let counted = from;
    try {
      do {
        const page = await list.page(this.#cursor);
        if (signal.aborted) return;
        this.#cursor = page.nextCursor;
        counted = { kept: [...counted.kept, ...this.#keep(page.data)], read: counted.read + page.data.length, more: page.hasMore && page.nextCursor !== undefined };
        if (shown) this.data = counted;
      } while (counted.more && counted.read < upTo);
      this.data = counted;
    } catch (error) {
      if (signal.aborted) return;
      this.error = error;
      session.heard(error);
    }
  }
}

/** Begins when the view appears, and anew when state that list reads has changed. Call it while a component is made. */
export function tally<T, K>(...made: ConstructorParameters<typeof Tally<T, K>>): Tally<T, K> {
  const all = new Tally<T, K>(...made);
  $effect(() => {
    void all.reload();
    return () => all.stop();
  });
  return all;
}
