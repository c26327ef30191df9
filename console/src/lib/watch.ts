import type { Job, Orgmem } from "orgmem";

const firstLook = 250; // milliseconds; a short text is in within some tens of them
const longestBetween = 2_000;

/** Whether a job has ended: its state changes no more. */
export const ended = (job: Pick<Job, "status">): boolean => job.status === "succeeded" || job.status === "failed" || job.status === "cancelled";

/** Resolves after so many milliseconds; rejects with the signal's reason when that comes first. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const stop = () => {
      clearTimeout(timer);
      reject(signal!.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, ms);
    signal?.addEventListener("abort", stop, { once: true });
  });
}

/** Looks at a job until it has ended, less and less often, and tells what it sees; gives the job as it ended, however that was. */
export async function watchJob(client: Orgmem, id: string, tell: (job: Job) => void, signal?: AbortSignal): Promise<Job> {
  for (let wait = firstLook; ; wait = Math.min(wait * 1.5, longestBetween)) {
    const job = await client.jobs.get(id, { signal });
    tell(job);
    if (ended(job)) return job;
    await pause(wait, signal);
  }
}
