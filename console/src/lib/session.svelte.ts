import { Orgmem, Unauthorized } from "orgmem";
import type { Principal } from "orgmem";
import { router } from "./router.svelte";

const kept = "orgmem.key";
/** What comes with a broader scope, without being named among a key's scopes. */
const within: Readonly<Record<string, string>> = {
  "graph:write": "write",
  "memory:forget": "write",
  "subjects:provision": "admin",
  "usage:read": "admin",
};

/** Requests that change nothing, though they have a body. */
const reading = /\/v1\/(search|retrieve|brain\/(answer|query)|condition\/|recall\/)/;

/**
 * Who is signed in. The key is in this tab's memory and nowhere else, unless the
 * person chose to keep it until the tab is closed.
 */
class Session {
  #key = $state("");
  /** Whom the key stands for, and what it may; there from signing in on. */
  me = $state.raw<Principal>();
  /** Looks for a kept key or a code first. */
  starting = $state(true);
  /** Grows when a subject was made or erased here, so that lists of them ask again. */
  subjectsChanged = $state(0);
  /**
   * Grows with each sign-in, each sign-out and each change that this tab makes. What a view remembers for the next belongs
   * to one count, and is asked for again under another: nothing that is forgotten, or is another person's, is shown.
   */
  changes = $state(0);
  /** Why there is nobody signed in any more. */
  ended = $state("");
  /** The printed address signed in: nobody was asked yet whether the key is to outlive a reload. */
  unasked = $state(false);

  // A value of its own, so that another change of the address makes no new client, and nothing is asked again for it.
  #subject = $derived(router.query.get("as") ?? "");
  #fetch: typeof fetch = async (input, init) => {
    const response = await fetch(input, init);
    const asked = input instanceof Request ? input.url : String(input);
    if (response.ok && (init?.method ?? "GET") !== "GET" && !reading.test(asked)) this.changes++;
    return response;
  };

  /** A client that acts for nobody in particular. */
  own = $derived(new Orgmem({ apiKey: this.#key || "none", baseUrl: location.origin, allowInsecure: true, maxRetries: 2, retryBudget: 8_000, fetch: this.#fetch }));
  /** The client of the views: acts for the subject that the address names. */
  client = $derived(this.subject ? this.own.subject(this.subject) : this.own);

  get subject(): string {
    return this.#subject;
  }
  get signedIn(): boolean {
    return this.me !== undefined;
  }
  /** The key itself: only to show it again to who gave it, and for commands to copy. */
  get key(): string {
    return this.#key;
  }

  /** Whether the key may do what needs the scope. */
  may(scope: string): boolean {
    const held = this.me?.scopes ?? [];
    return held.includes(scope) || held.includes(within[scope] ?? scope);
  }

  /** Tries the key; throws what the service says of it. */
  async signIn(key: string, keep: boolean): Promise<void> {
    const me = await new Orgmem({ apiKey: key, baseUrl: location.origin, allowInsecure: true, maxRetries: 1 }).me();
    this.changes++;
    this.#key = key;
    this.me = me;
    this.ended = "";
    if (keep) sessionStorage.setItem(kept, key);
    else sessionStorage.removeItem(kept);
  }

  /** Keeps the key until the tab is closed: what the box of the sign-in form does, for who did not see that form. */
  keep(): void {
    sessionStorage.setItem(kept, this.#key);
    this.unasked = false;
  }

  signOut(why = ""): void {
    sessionStorage.removeItem(kept);
    this.unasked = false;
    this.changes++;
    this.#key = "";
    this.me = undefined;
    this.ended = why;
  }

  /** Signs in by the code of the address that a first start prints, or by a key that was kept. */
  async begin(): Promise<void> {
    try {
      const code = new URLSearchParams(location.hash.slice(1)).get("code");
      if (code) {
        history.replaceState(null, "", location.pathname + location.search); // it is spent: not for the browser's history
        const answer = await fetch("/console/session", {
          method: "POST",
          headers: { "Content-Type": "application/json" },
          body: JSON.stringify({ code }),
        });
        if (answer.ok) {
          const { key } = (await answer.json()) as { key: string };
          await this.signIn(key, false);
          this.unasked = true;
          return;
        }
        // Every 401 of the service reads the same; what makes a code invalid is known here.
        const once = answer.status === 401 ? " A code signs in once, and some wrong ones withdraw it." : "";
        this.ended = `The printed address did not sign in. ${await reasonOf(answer)}${once} Paste the key from the file quickstart.key.`;
      }
      const key = sessionStorage.getItem(kept);
      if (key) await this.signIn(key, true);
    } catch (error) {
      if (error instanceof Unauthorized) this.signOut("The key is not valid any more.");
      else this.ended = error instanceof Error ? error.message : String(error);
    } finally {
      this.starting = false;
    }
  }

  /** Called with whatever a view failed with: a key that was revoked elsewhere ends the session. */
  heard(error: unknown): void {
    if (this.me && error instanceof Unauthorized) this.signOut("This key was revoked or has expired. Sign in with another one.");
  }
}

/** What the service says of a request that it refused; whatever stands before it may answer without a problem. */
async function reasonOf(answer: Response): Promise<string> {
  const problem = (await answer.json().catch(() => ({}))) as { detail?: unknown; title?: unknown } | null;
  const said = [problem?.detail, problem?.title].find((text) => typeof text === "string" && text !== "");
  return typeof said === "string" ? said : `The answer was ${answer.status}.`;
}

export const session = new Session();
