import { BadAnswer, ConnectionFailed, OrgmemError, RateLimited, ServerError, TimedOut } from "orgmem";

const firstPause = 1_000; // milliseconds after the first look that failed
const growth = 1.5;
const longestPause = 30_000;
/** Milliseconds that are paused in all before looking ends: an upgrade of all nodes in turn takes minutes. */
export const longestOutage = 15 * 60_000;

/** Whether asking again may help: the service did not answer, or could not just then. What it refused it refuses again. */
export const passes = (error: unknown): boolean =>
  error instanceof ConnectionFailed ||
  error instanceof TimedOut ||
  error instanceof BadAnswer ||
  error instanceof ServerError ||
  error instanceof RateLimited;

/** What it means to a visitor, who has set no address and runs no service; nothing where the error says it itself. */
export function outage(error: unknown): string | undefined {
  if (error instanceof RateLimited) return "The service asks for patience: too much was asked of it at once.";
  if (error instanceof TimedOut) return "The service did not answer in time.";
  if (error instanceof ServerError) return "The service cannot answer at the moment.";
  return error instanceof OrgmemError && passes(error) ? "The service cannot be reached at the moment." : undefined;
}

/** How long to go on with one look while it fails. */
export class Patience {
  #waited = 0;
  #next = firstPause;

  /** Milliseconds until the next look; throws the error where that is the end of it. */
  failed(error: unknown): number {
    if (!passes(error) || this.#waited >= longestOutage) throw error;
    const asked = error instanceof RateLimited ? (error.retryAfter ?? 0) : 0;
    const pause = Math.max(this.#next, Math.min(asked, longestPause));
    this.#next = Math.min(this.#next * growth, longestPause);
    this.#waited += pause;
    return pause;
  }
}
