import { NotFound, type Job } from "orgmem";
import { SvelteMap } from "svelte/reactivity";
import { session } from "../../../lib/session.svelte";
import { ended, watchJob } from "../../../lib/watch";

const mostWatched = 12; // jobs at once

/** Looks at jobs that are under way, less and less often, until they have ended. */
export class Watched {
  #jobs = new SvelteMap<string, Job>();
  #watching = new Set<string>();
  #stop = new AbortController();

  constructor(private readonly onended: (job: Job) => void = () => undefined) {}

  /** The job as it was seen last. */
  latest(job: Job): Job {
    return this.#jobs.get(job.id) ?? job;
  }

  watch(job: Job): void {
    if (ended(job) || this.#watching.has(job.id) || this.#watching.size >= mostWatched) return;
    this.#watching.add(job.id);
    void this.#follow(job.id).finally(() => this.#watching.delete(job.id));
  }

  async #follow(id: string): Promise<void> {
    const { signal } = this.#stop;
    try {
      this.onended(await watchJob(session.client, id, (job) => this.#jobs.set(id, job), signal));
    } catch (error) {
      // The view is left, or the job is somebody else's by now: what was seen last stays.
      if (!signal.aborted && !(error instanceof NotFound)) session.heard(error);
    }
  }

  stop(): void {
    this.#stop.abort();
  }
}
