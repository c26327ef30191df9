import type { CallbackManagerForRetrieverRun } from "@langchain/core/callbacks/manager";
import { Document } from "@langchain/core/documents";
import { BaseRetriever } from "@langchain/core/retrievers";
import type { BaseRetrieverInput } from "@langchain/core/retrievers";
import type { Hit, Orgmem, SearchFilters } from "orgmem";

export interface OrgmemRetrieverInput extends BaseRetrieverInput {
  /** Whose memory is searched: the key owner's, or a subject's with `client.subject(id)`. */
  client: Orgmem;
  /** How many documents are found at most: 1 to 100. Default 10. */
  k?: number | undefined;
  /** By meaning and by word, or by one of them. Default "hybrid". */
  mode?: "hybrid" | "vector" | "keyword" | undefined;
  /** "org" searches every memory of the organization; a subject may not. Default "user". */
  scope?: "user" | "org" | undefined;
  /** What a document must be: kind, time, domain, metadata. */
  filters?: SearchFilters | undefined;
  /** Finds what has been superseded as well. Default: only what holds now. */
  includeSuperseded?: boolean | undefined;
}

/** What a document from orgmem says of itself. */
export type OrgmemMetadata = Omit<Hit, "chunk" | "chunkId">;

/**
 * Finds passages in orgmem, best first. A document's text is the passage, its id the passage's, and its metadata what the
 * service says of the hit: nodeId, externalId, title, score, scores, createdAt, subject, and stale where what it rests on
 * no longer stands.
 */
export class OrgmemRetriever extends BaseRetriever<OrgmemMetadata> {
  static override lc_name(): string {
    return "OrgmemRetriever";
  }

  override lc_namespace = ["orgmem", "retrievers"];

  readonly #client: Orgmem;
  readonly #options: Omit<OrgmemRetrieverInput, keyof BaseRetrieverInput | "client">;

  constructor({ client, k, mode, scope, filters, includeSuperseded, ...base }: OrgmemRetrieverInput) {
    super(base);
    this.#client = client;
    this.#options = { k, mode, scope, filters, includeSuperseded };
  }

  override async _getRelevantDocuments(query: string, _run?: CallbackManagerForRetrieverRun): Promise<Document<OrgmemMetadata>[]> {
    // A chain asks with nothing now and then, and nothing fits it; the service refuses such a query.
    if (query.trim() === "") return [];
    const { k = 10, mode = "hybrid", scope = "user", filters, includeSuperseded = false } = this.#options;
    const { results } = await this.#client.search(query, { topK: k, mode, scope, includeSuperseded, ...(filters && { filters }) });
    return results.map(({ chunk, chunkId, ...metadata }) => new Document({ id: chunkId, pageContent: chunk, metadata }));
  }
}
