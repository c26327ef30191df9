import type { List } from "orgmem";
import { session } from "./session.svelte";

/** Something that is asked for and arrives later. Exactly one of the three is to be shown: loading, error, data. */
export class Loaded<T> {
  data = $state.raw<T>();
  error = $state.raw<unknown>();
  loading = $state(true);
  #turn = 0;
  #abort: AbortController | undefined;
  #ask: (signal: AbortSignal) => Promise<T>;

  constructor(ask: (signal: AbortSignal) => Promise<T>) {
    this.#ask = ask;
  }

  /** Asks again. What is there stays visible meanwhile, unless it was an error. */
  reload = async (): Promise<void> => {
    const turn = ++this.#turn;
    this.#abort?.abort();
    const abort = (this.#abort = new AbortController());
    this.loading = true;
    try {
      const data = await this.#ask(abort.signal);
      if (turn !== this.#turn) return;
      this.data = data;
      this.error = undefined;
    } catch (error) {
      if (turn !== this.#turn || abort.signal.aborted) return;
      this.error = error;
      this.data = undefined;
      session.heard(error);
    } finally {
      if (turn === this.#turn) this.loading = false;
    }
  };

  /** The view has gone. */
  stop(): void {
    this.#turn++;
    this.#abort?.abort();
  }
}

/**
 * Asks when the view appears, and again whenever state that ask reads before its
 * first await has changed. Call it while a component is made.
 */
export function load<T>(ask: (signal: AbortSignal) => Promise<T>): Loaded<T> {
  // ask runs synchronously inside reload, inside the effect: what it reads is what the effect depends on.
  const loaded = new Loaded(ask);
  $effect(() => {
    void loaded.reload();
    return () => loaded.stop();
  });
  return loaded;
}

/** A list that grows by pages. */
export class Pages<T> {
  rows = $state.raw<T[]>([]);
  error = $state.raw<unknown>();
  loading = $state(true);
  hasMore = $state(false);
  #cursor: string | undefined;
  #turn = 0;
  #list: () => List<T>;
  /** The rows that are there are those of another filter, until the first page of this one is in. */
  #others = false;
  #failed: "first" | "next" = "first";

  constructor(list: () => List<T>) {
    this.#list = list;
  }

  /** From the first page on. What is there stays visible meanwhile, and where that fails. */
  reload = async (): Promise<void> => await this.#fetch("first");

  /** From the first page on of a list that is another one by now: where that fails, the rows of the former one go. */
  renew = async (): Promise<void> => {
    this.#others = true;
    await this.#fetch("first");
  };

  /** One page further. */
  more = async (): Promise<void> => {
    if (!this.loading && this.hasMore) await this.#fetch("next");
  };

  /** Asks again for what failed: the list from its first page on, or its next page. */
  again = async (): Promise<void> => await (this.#failed === "next" ? this.more() : this.reload());

  async #fetch(what: "first" | "next"): Promise<void> {
    const turn = ++this.#turn;
    const list = this.#list(); // before the first await: what it reads is depended on
    this.loading = true;
    try {
      const page = await list.page(what === "next" ? this.#cursor : undefined);
      if (turn !== this.#turn) return;
      this.rows = what === "next" ? [...this.rows, ...page.data] : page.data;
      this.#others = false;
      this.hasMore = page.hasMore;
      this.#cursor = page.nextCursor;
      this.error = undefined;
    } catch (error) {
      if (turn !== this.#turn) return;
      if (this.#others) [this.rows, this.hasMore] = [[], false];
      this.#failed = what;
      this.error = error;
      session.heard(error);
    } finally {
      if (turn === this.#turn) this.loading = false;
    }
  }

  stop(): void {
    this.#turn++;
  }
}

/** As load, for a list. */
export function pages<T>(list: () => List<T>): Pages<T> {
  const all = new Pages(list);
  $effect(() => {
    void all.renew(); // what it reads has changed: it may be another list
    return () => all.stop();
  });
  return all;
}

/** Something that a person does with a button: runs once at a time, and keeps what went wrong. */
export class Action<A extends unknown[]> {
  running = $state(false);
  error = $state.raw<unknown>();
  #act: (...args: A) => Promise<unknown>;

  constructor(act: (...args: A) => Promise<unknown>) {
    this.#act = act;
  }

  /** True when it was done. */
  run = async (...args: A): Promise<boolean> => {
    if (this.running) return false;
    this.running = true;
    this.error = undefined;
    try {
      await this.#act(...args);
      return true;
    } catch (error) {
      this.error = error;
      session.heard(error);
      return false;
    } finally {
      this.running = false;
    }
  };
}
