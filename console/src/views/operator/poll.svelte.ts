const longest = 30_000; // milliseconds between two tries, however often they failed

/**
 * Something that is asked again and again while somebody looks at it. After a failure it waits twice
 * as long each time, up to half a minute; while the tab is hidden it does not ask.
 */
export class Poll<T> {
  data = $state.raw<T>();
  /** Why the last try failed; the data before it stay. */
  error = $state.raw<unknown>();
  /** When the data came. */
  at = $state(0);
  #ask: (signal: AbortSignal) => Promise<T>;
  #every: number;
  #failures = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #abort: AbortController | undefined;

  constructor(ask: (signal: AbortSignal) => Promise<T>, every: number) {
    this.#ask = ask;
    this.#every = every;
  }

  /** Asks now, and from now on again. */
  again = async (): Promise<void> => {
    clearTimeout(this.#timer);
    this.#abort?.abort();
    const abort = (this.#abort = new AbortController());
    try {
      const data = await this.#ask(abort.signal);
      if (abort.signal.aborted) return;
      this.take(data);
    } catch (error) {
      if (abort.signal.aborted) return;
      this.error = error;
      this.#failures++;
    }
    this.#wait();
  };

  /** Data that came another way, such as with the answer of an action. */
  take(data: T): void {
    this.data = data;
    this.error = undefined;
    this.at = Date.now();
    this.#failures = 0;
  }

  #wait(): void {
    clearTimeout(this.#timer);
    if (document.visibilityState === "hidden") return; // goes on when it is shown
    this.#timer = setTimeout(this.again, Math.min(longest, this.#every * 2 ** this.#failures));
  }

  /** The tab was hidden or is shown again. */
  seen = (): void => {
    if (document.visibilityState === "visible") void this.again();
    else clearTimeout(this.#timer);
  };

  stop(): void {
    clearTimeout(this.#timer);
    this.#abort?.abort();
  }
}

/** Asks while the component is there. Call it while a component is made. */
export function poll<T>(ask: (signal: AbortSignal) => Promise<T>, every: number): Poll<T> {
  const polled = new Poll(ask, every);
  $effect(() => {
    void polled.again();
    document.addEventListener("visibilitychange", polled.seen);
    return () => {
      document.removeEventListener("visibilitychange", polled.seen);
      polled.stop();
    };
  });
  return polled;
}
