import { NotFound, type Job } from "orgmem";
import { SvelteMap } from "svelte/reactivity";
import { Contact } from "../../../lib/contact.svelte";
import { session } from "../../../lib/session.svelte";
import { ended, watchJob } from "../../../lib/watch";

const mostWatched = 12; // jobs at once

/** Looks at jobs that are under way, less and less often, until they have ended. */
export class Watched {
  #jobs = new SvelteMap<string, Job>();
  #watching = new Set<string>();
  #away = new Set<string>();
  #lost = new Set<string>();
  #stop = new AbortController();
  /** Whether all of them can be looked at. */
  readonly contact = new Contact();

  constructor(private readonly onended: (job: Job) => void = () => undefined) {}

  /** The job as it was seen last. */
  latest(job: Job): Job {
    return this.#jobs.get(job.id) ?? job;
  }

  watch(job: Job): void {
    if (!ended(job)) this.#begin(job.id);
  }

  /** Looks again at what was given up. */
  again = (): void => {
    for (const id of [...this.#lost]) this.#begin(id);
  };

  #begin(id: string): void {
    if (this.#watching.has(id) || this.#watching.size >= mostWatched) return;
    this.#watching.add(id);
    if (this.#lost.delete(id) && this.#lost.size === 0) this.contact.begin();
    void this.#follow(id).finally(() => this.#watching.delete(id));
  }

  #tell(id: string, error?: unknown): void {
    if (error !== undefined) this.#away.add(id);
    else if (!this.#away.delete(id) || this.#away.size > 0) return;
    this.contact.tell(error);
  }

  async #follow(id: string): Promise<void> {
    const { signal } = this.#stop;
    try {
      const how = { signal, away: (error?: unknown) => this.#tell(id, error) };
      this.onended(await watchJob(session.client, id, (job) => this.#jobs.set(id, job), how));
    } catch (error) {
      if (signal.aborted) return;
      this.#tell(id);
      if (error instanceof NotFound) return; // it is somebody else's by now: what was seen last stays
      this.#lost.add(id);
      this.contact.end(error);
    }
  }

  stop(): void {
    this.#stop.abort();
  }
}
