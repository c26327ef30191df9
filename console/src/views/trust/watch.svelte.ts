import { session } from "../../lib/session.svelte";
import { watch } from "../../lib/watch";

const mostFailures = 5; // in a row

/** Something that is under way elsewhere, as a view shows it. */
export class Watch<T> {
  state = $state.raw<T>();
  /** What asking failed with; the work itself goes on. */
  error = $state.raw<unknown>();
  watching = $state(false);
  #ask: (signal?: AbortSignal) => Promise<T>;
  #ended: (state: T) => boolean;
  #abort: AbortController | undefined;

  constructor(ask: (signal?: AbortSignal) => Promise<T>, ended: (state: T) => boolean) {
    this.#ask = ask;
    this.#ended = ended;
  }

  /** Resolves when it has ended, or is not watched any more. */
  start = async (): Promise<void> => {
    this.stop();
    const { signal } = (this.#abort = new AbortController());
    this.watching = true;
    this.error = undefined;
    try {
      await watch({ ask: this.#ask, ended: this.#ended, tell: (state) => (this.state = state), signal, failures: mostFailures });
    } catch (error) {
      if (signal.aborted) return;
      this.error = error;
      session.heard(error);
    }
    this.watching = false;
  };

  stop(): void {
    this.#abort?.abort();
    this.watching = false;
  }
}
