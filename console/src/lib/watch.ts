import type { Job, Orgmem } from "orgmem";
import { Patience } from "./outage";

const firstLook = 250; // milliseconds; a short text is in within some tens of them
const longestBetween = 3_000;

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

/** Something that is under way elsewhere. */
export interface Watched<T> {
  ask: (signal?: AbortSignal) => Promise<T>;
  ended: (state: T) => boolean;
  tell: (state: T) => void;
  signal?: AbortSignal;
  /** Told what a look failed with while looking goes on, and nothing when one is answered again. */
  away?: (error?: unknown) => void;
}

/** One look, which goes on through an outage: the service may be restarted under what is looked at. */
export async function look<T>({ ask, signal, away }: Pick<Watched<T>, "ask" | "signal" | "away">): Promise<T> {
  const patience = new Patience();
  for (;;) {
    try {
      const state = await ask(signal);
      if (signal?.aborted) throw signal.reason;
      away?.();
      return state;
    } catch (error) {
      if (signal?.aborted) throw error;
      const wait = patience.failed(error);
      away?.(error);
      await pause(wait, signal);
    }
  }
}

/** Looks at it until it has ended, less and less often, and tells what it sees; gives what it saw last. */
export async function watch<T>({ ask, ended, tell, signal, away }: Watched<T>): Promise<T> {
  for (let wait = firstLook; ; wait = Math.min(wait * 1.5, longestBetween)) {
    const state = await look({ ask, signal, away });
    tell(state);
    if (ended(state)) return state;
    await pause(wait, signal);
  }
}

/** Looks at a job until it has ended; gives the job as it ended, however that was. */
export const watchJob = (client: Orgmem, id: string, tell: (job: Job) => void, how: Pick<Watched<Job>, "signal" | "away"> = {}): Promise<Job> =>
  watch({ ask: (signal) => client.jobs.get(id, { signal }), ended, tell, ...how });
