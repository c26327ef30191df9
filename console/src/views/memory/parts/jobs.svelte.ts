import { NotFound, type Job } from "orgmem";
import { SvelteMap } from "svelte/reactivity";
import { session } from "../../../lib/session.svelte";
import { ended, pause } from "../../../lib/watch";

const firstLook = 400; // milliseconds
const longestBetween = 4_000;
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
      for (let wait = firstLook; ; wait = Math.min(wait * 1.4, longestBetween)) {
        await pause(wait, signal);
        const job = await session.client.jobs.get(id, { signal });
        this.#jobs.set(id, job);
        if (ended(job)) return this.onended(job);
      }
    } catch (error) {
      // The view is left, or the job is somebody else's by now: what was seen last stays.
      if (!signal.aborted && !(error instanceof NotFound)) session.heard(error);
    }
  }

  stop(): void {
    this.#stop.abort();
  }
}
