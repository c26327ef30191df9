import { OperatorClient, type Cluster } from "./client";
import { parse, pointOf, type Look, type Point } from "./metrics";

const mostPoints = 120; // ten minutes of one every five seconds

/** Who operates: the token is in this tab's memory and nowhere else. */
class Operator {
  client = $state.raw<OperatorClient>();
  /** Why nobody is signed in any more. */
  ended = $state("");

  // The looks at the metrics go on over the views, so that a rate is there at once in the next one.
  #last: Look | undefined;
  points = $state.raw<readonly Point[]>([]);

  /** Tries the token; throws what the node says of it. */
  async signIn(token: string): Promise<void> {
    const client = new OperatorClient(token);
    await client.orgs().page();
    client.onrefused = () => this.signOut("The token is not valid any more. It is made anew when its file is deleted and the node starts.");
    this.client = client;
    this.ended = "";
  }

  signOut(why = ""): void {
    this.client = undefined;
    this.ended = why;
    this.#last = undefined;
    this.#alone = 0;
    this.points = [];
  }

  /** The signed-in client; a view is only shown while there is one. */
  get own(): OperatorClient {
    if (!this.client) throw new Error("Nobody is signed in.");
    return this.client;
  }

  // When a node was last known to be alone, which changes with a restart only.
  #alone = 0;

  /** Null where the node is alone, which its settings tell without a refusal. */
  cluster = async (signal: AbortSignal): Promise<Cluster | null> => {
    if (Date.now() - this.#alone < 60_000) return null;
    if (this.#alone !== -1) {
      const doctor = await this.own.doctor(signal);
      this.#alone = doctor.config?.find((s) => s.name === "cluster-listen")?.value === "" ? Date.now() : -1;
      if (this.#alone > 0) return null;
    }
    return this.own.cluster(signal);
  };

  /** Reads the metrics, and what happened since they were read last. */
  look = async (signal: AbortSignal): Promise<Look> => {
    const text = await this.own.metrics(signal);
    const now = { at: Date.now(), scrape: parse(text) };
    // Two views in quick succession make no point of their own.
    if (!this.#last || now.at - this.#last.at >= 1_000) {
      if (this.#last && now.at - this.#last.at < 120_000) this.points = [...this.points, pointOf(this.#last, now)].slice(-mostPoints);
      this.#last = now;
    }
    return now;
  };
}

export const operator = new Operator();
