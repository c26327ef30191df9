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
  #wanted: string[] = [];
  #asking = false;
  #of = "";

  #key(id: string): string {
    return `${session.me?.user.id ?? ""}\n${session.subject}\n${id}`;
  }

  get(id: string): Known | undefined {
    return this.#known.get(this.#key(id));
  }

  /** What an answer has told anyway. */
  learn(nodes: Iterable<Pick<Node, "id" | "title" | "kind">>): void {
    if (this.#known.size > atMost) this.#known.clear();
    for (const { id, title, kind } of nodes) {
      const key = this.#key(id);
      const before = this.#known.get(key);
      if (before?.title !== title || before.kind !== kind) this.#known.set(key, { title, kind });
    }
  }

  /** Sees to it that the title will be known. */
  want(id: string): void {
    const whose = this.#key("");
    if (whose !== this.#of) {
      this.#of = whose;
      this.#wanted = [];
    }
    if (this.#known.has(this.#key(id)) || this.#wanted.includes(id)) return;
    this.#wanted.push(id);
    // After the caller's turn: what it learns in it need not be asked for.
    queueMicrotask(() => this.#ask());
  }

  #ask(): void {
    if (this.#asking || this.#wanted.length === 0) return;
    const ids = this.#wanted.splice(0, together).filter((id) => !this.#known.has(this.#key(id)));
    this.#asking = true;
    void this.#all(ids).finally(() => {
      this.#asking = false;
      this.#ask();
    });
  }

  async #all(ids: string[]): Promise<void> {
    if (ids.length === 0) return;
    const keys = ids.map((id) => this.#key(id));
    let missing = "Forgotten or removed";
    const found = new Map<string, Known>();
    try {
      for (const { id, title, kind } of (await session.client.list({ ids: ids.join(",") }).page()).data) found.set(id, { title, kind });
    } catch (error) {
      session.heard(error);
      missing = "Could not be read";
    }
    ids.forEach((id, i) => this.#known.set(keys[i]!, found.get(id) ?? { title: missing, kind: undefined }));
  }
}

export const titles = new Titles();
