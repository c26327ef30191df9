import { BadAnswer } from "./errors.js";

/** One answer of a list. */
export interface Page<T> {
  data: T[];
  hasMore: boolean;
  nextCursor?: string;
}

/**
 * A list that the service answers in pages. Nothing is asked until it is iterated
 * over, or until page or take is called.
 */
export class List<T> implements AsyncIterable<T> {
  readonly #fetch: (cursor: string | undefined) => Promise<Page<T>>;

  /** @internal */
  constructor(fetch: (cursor: string | undefined) => Promise<Page<T>>) {
    this.#fetch = fetch;
  }

  /** One page: the first, or the one that a page's nextCursor names. */
  page(cursor?: string): Promise<Page<T>> {
    return this.#fetch(cursor);
  }

  /** The first entries, n at most. */
  async take(n: number): Promise<T[]> {
    const taken: T[] = [];
    if (n > 0)
      for await (const entry of this) {
        taken.push(entry);
        if (taken.length >= n) break;
      }
    return taken;
  }

  /** Every entry, page by page. */
  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    for (let cursor: string | undefined; ; ) {
      const page = await this.#fetch(cursor);
      yield* page.data;
      if (!page.hasMore || page.nextCursor === undefined) return;
      if (page.nextCursor === cursor)
        throw new BadAnswer("The list does not go on: a page names itself as the next. Tell the operator of the service.", 200, false);
      cursor = page.nextCursor;
    }
  }
}
