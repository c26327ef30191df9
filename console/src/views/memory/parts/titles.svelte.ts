import { type Node } from "orgmem";
import { SvelteMap } from "svelte/reactivity";
import { session } from "../../../lib/session.svelte";

/** What is known of a node that only its id was given of. Undefined kind: it is not there any more. */
export interface Known {
  title: string;
  kind: Node["kind"] | undefined;
}

const atMost = 5_000; // nodes remembered; beyond it all are asked for anew
const together = 50; // ids in one request, which is as many as the service takes

/**
 * Titles of nodes by id: lists of edges and evidence name nodes by their ids alone. Asked for once each, and many in one
 * request: a page of edges would use up a third of what a key may read in a minute otherwise.
 */
class Titles {
  #known = new SvelteMap<string, Known>();
  /** At which count of changes each was last told of: after one it is asked for again, and shown as it was until then. */
  #told = new Map<string, number>();
  #wanted: string[] = [];
  #asking = false;
  #of = "";
  /** Whose titles they are: who signs in next in this tab sees none of them. */
  #client = session.own;

  #key(id: string): string {
    return `${session.subject}\n${id}`;
  }

  get(id: string): Known | undefined {
    return this.#client === session.own ? this.#known.get(this.#key(id)) : undefined;
  }

  /** What an answer has told anyway. */
  learn(nodes: Iterable<Pick<Node, "id" | "title" | "kind">>): void {
    this.#begin();
    for (const { id, title, kind } of nodes) this.#tell(this.#key(id), { title, kind }, session.changes);
  }

  /** Sees to it that the title will be known. */
  want(id: string): void {
    this.#begin();
    const whose = this.#key("");
    if (whose !== this.#of) {
      this.#of = whose;
      this.#wanted = [];
    }
    if (this.#fresh(id) || this.#wanted.includes(id)) return;
    this.#wanted.push(id);
    // After the caller's turn: what it learns in it need not be asked for.
    queueMicrotask(() => this.#ask());
  }

  #begin(): void {
    if (this.#client === session.own && this.#known.size <= atMost) return;
    this.#client = session.own;
    this.#known.clear();
    this.#told.clear();
  }

  #fresh(id: string): boolean {
    return this.#told.get(this.#key(id)) === session.changes;
  }

  #tell(key: string, known: Known, changes: number): void {
    this.#told.set(key, changes);
    const before = this.#known.get(key);
    if (before?.title !== known.title || before.kind !== known.kind) this.#known.set(key, known);
  }

  #ask(): void {
    if (this.#asking || this.#wanted.length === 0) return;
    const ids = this.#wanted.splice(0, together).filter((id) => !this.#fresh(id));
    this.#asking = true;
    void this.#all(ids).finally(() => {
      this.#asking = false;
      this.#ask();
    });
  }

  async #all(ids: string[]): Promise<void> {
    if (ids.length === 0) return;
    const [keys, own, changes] = [ids.map((id) => this.#key(id)), session.own, session.changes];
    let missing = "Forgotten or removed";
    const found = new Map<string, Known>();
    try {
      for (const { id, title, kind } of (await session.client.list({ ids: ids.join(",") }).page()).data) found.set(id, { title, kind });
    } catch (error) {
      session.heard(error);
      missing = "Could not be read";
    }
    if (own === session.own) ids.forEach((id, i) => this.#tell(keys[i]!, found.get(id) ?? { title: missing, kind: undefined }, changes));
  }
}

export const titles = new Titles();
