import { session } from "../../lib/session.svelte";

const firstLook = 250; // milliseconds
const longestWait = 3_000;
const mostFailures = 5; // in a row

/** Something that is under way elsewhere, looked at until it has ended. */
export class Watch<T> {
  state = $state.raw<T>();
  /** What asking failed with; the work itself goes on. */
  error = $state.raw<unknown>();
  watching = $state(false);
  #turn = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #ask: (signal: AbortSignal) => Promise<T>;
  #ended: (state: T) => boolean;
  #abort: AbortController | undefined;

  constructor(ask: (signal: AbortSignal) => Promise<T>, ended: (state: T) => boolean) {
    this.#ask = ask;
    this.#ended = ended;
  }

  /** Resolves when it has ended, or is not watched any more. */
  start = async (): Promise<void> => {
    this.stop();
    const turn = ++this.#turn;
    const { signal } = (this.#abort = new AbortController());
    this.watching = true;
    this.error = undefined;
    let failures = 0;
    for (let wait = firstLook; ; wait = Math.min(wait * 1.5, longestWait)) {
      try {
        const state = await this.#ask(signal);
        if (turn !== this.#turn) return;
        failures = 0;
        this.state = state;
        if (this.#ended(state)) break;
      } catch (error) {
        if (turn !== this.#turn) return;
        if (++failures >= mostFailures) {
          this.error = error;
          session.heard(error);
          break;
        }
      }
      await new Promise((resolve) => (this.#timer = setTimeout(resolve, wait)));
      if (turn !== this.#turn) return;
    }
    this.watching = false;
  };

  stop(): void {
    this.#turn++;
    this.#abort?.abort();
    clearTimeout(this.#timer);
    this.watching = false;
  }
}
