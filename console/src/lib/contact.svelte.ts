import { session } from "./session.svelte";

/** Whether what is under way elsewhere can be looked at, as a view shows it. */
export class Contact {
  /** What the last look failed with; looking goes on. */
  away = $state.raw<unknown>();
  /** What made an end of looking. */
  lost = $state.raw<unknown>();

  /** Told at each look that fails, and with nothing when one is answered again. */
  tell = (error?: unknown): void => {
    this.away = error;
  };

  /** Looking begins. */
  begin(): void {
    this.away = this.lost = undefined;
  }

  /** Looking has ended without an end of what was looked at. */
  end(error: unknown): void {
    this.away = undefined;
    this.lost = error;
    session.heard(error);
  }
}
