import { Contact } from "../../lib/contact.svelte";
import { watch } from "../../lib/watch";

/** Something that is under way elsewhere, as a view shows it. */
export class Watch<T> {
  state = $state.raw<T>();
  /** Whether it can be looked at; the work itself goes on without. */
  readonly contact = new Contact();
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
    this.contact.begin();
    try {
      await watch({ ask: this.#ask, ended: this.#ended, tell: (state) => (this.state = state), signal, away: this.contact.tell });
    } catch (error) {
      if (signal.aborted) return;
      this.contact.end(error);
    }
    this.watching = false;
  };

  stop(): void {
    this.#abort?.abort();
    this.watching = false;
  }
}
