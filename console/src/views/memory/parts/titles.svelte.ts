import { NotFound, type Node } from "orgmem";
import { SvelteMap } from "svelte/reactivity";
import { session } from "../../../lib/session.svelte";

/** What is known of a node that only its id was given of. Undefined kind: it is not there any more. */
export interface Known {
  title: string;
  kind: Node["kind"] | undefined;
}

const atMost = 5_000; // nodes remembered; beyond it all are asked for anew
const atOnce = 4; // requests, so that a long list leaves room for what the person does

/** Titles of nodes by id: lists of edges and evidence name nodes by their ids alone. Asked for once each. */
class Titles {
  #known = new SvelteMap<string, Known>();
  #wanted: string[] = [];
  #asking = 0;
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
    while (this.#asking < atOnce && this.#wanted.length > 0) {
      const id = this.#wanted.shift()!;
      if (this.#known.has(this.#key(id))) continue;
      this.#asking++;
      void this.#one(id).finally(() => {
        this.#asking--;
        this.#ask();
      });
    }
  }

  async #one(id: string): Promise<void> {
    const key = this.#key(id);
    try {
      const { title, kind } = await session.client.get(id);
      this.#known.set(key, { title, kind });
    } catch (error) {
      session.heard(error);
      this.#known.set(key, { title: error instanceof NotFound ? "Forgotten or removed" : "Could not be read", kind: undefined });
    }
  }
}

export const titles = new Titles();
