import { JobFailed, NotFound, OrgmemError, TimedOut } from "./errors.js";
import { download, type Download } from "./download.js";
import { watch, type EventsOptions, type EventType, type StreamEvent, type StreamGap } from "./events.js";
import { List, type Page } from "./list.js";
import { segment, split, Transport, type Call, type OrgmemOptions, type RequestOptions } from "./transport.js";
import type * as T from "./types.js";
import { formOf, type Upload, type UploadOptions } from "./upload.js";
import { verifyWebhook, type VerifyOptions, type WebhookEvent } from "./webhooks.js";

/** How long to wait for work that the service does in the background. */
export interface WaitOptions extends RequestOptions {
  /** Milliseconds until TimedOut; the work goes on. Default 600,000. */
  waitFor?: number | undefined;
}

export type AddOptions = Partial<Omit<T.IngestItem, "content">> & WaitOptions & { wait?: boolean | undefined };
export interface BatchOptions extends WaitOptions {
  wait?: boolean | undefined;
}
export interface SearchOptions extends RequestOptions {
  topK?: number;
  mode?: "hybrid" | "vector" | "keyword";
  scope?: "user" | "org";
  filters?: T.SearchFilters;
  includeSuperseded?: boolean;
  /** Each hit tells how it came to its place. */
  explain?: boolean;
}
export interface RetrieveOptions extends RequestOptions {
  topK?: number;
  maxHops?: number;
  scope?: "user" | "org";
}
export interface UpdateOptions extends RequestOptions {
  /** The etag of the version that is meant: any other is a Conflict. */
  ifMatch?: string | undefined;
  /**
   * Send it again like a PUT where an answer was lost, for a caller whose patch stands whatever is there. What somebody
   * else wrote between the tries is overwritten. Not with ifMatch.
   */
  repeatable?: boolean | undefined;
}
export interface AsOf extends RequestOptions {
  asOf?: string;
}
type Listing<F> = F & RequestOptions;

const firstPoll = 20; // milliseconds: a short text is found within some tens of them
const longestPoll = 5_000;
const mostLooks = 3; // for a node that changes while it is looked for

/**
 * A client of one service. It holds no connection and needs no closing, and any
 * number of calls may be under way at once.
 */
export class Orgmem {
  readonly #transport: Transport;

  constructor(options: OrgmemOptions = {}) {
    this.#transport = new Transport(options);
  }

  /** Where the service is. */
  get baseUrl(): string {
    return this.#transport.base;
  }

  /** A client that acts for a provisioned subject; see `subjects.put`. */
  subject(id: string): Orgmem {
    return new Orgmem(this.#transport.as(id));
  }

  /**
   * Takes text in. The answer says that it is on disk; it is found when its job has
   * ended, for which `wait` waits.
   */
  add(content: string | T.IngestItem, options: AddOptions & { wait: true }): Promise<T.Job>;
  add(contents: readonly (string | T.IngestItem)[], options: BatchOptions & { wait: true }): Promise<T.Job>;
  add(content: string | T.IngestItem, options?: AddOptions): Promise<T.Accepted>;
  add(contents: readonly (string | T.IngestItem)[], options?: BatchOptions): Promise<T.Accepted>;
  async add(
    content: string | T.IngestItem | readonly (string | T.IngestItem)[],
    options: AddOptions = {},
  ): Promise<T.Accepted | T.Job> {
    const { wait, waitFor, ...more } = options;
    const [request, fields] = split(more);
    const itemOf = (given: string | T.IngestItem) => (typeof given === "string" ? { content: given } : given);
    const several = Array.isArray(content);
    const accepted = await this.#post<T.Accepted>(
      several ? "/v1/ingest/batch" : "/v1/ingest",
      several ? { ...fields, items: (content as readonly (string | T.IngestItem)[]).map(itemOf) } : { ...itemOf(content as string | T.IngestItem), ...fields },
      request,
      { keyed: true },
    );
    if (!wait) return accepted;
    await this.#transport.sleep(firstPoll, request.signal); // no job is that quick
    return this.jobs.wait(accepted.jobId, { ...request, waitFor });
  }

  /** Finds passages by meaning and by word, best first. */
  search(query: string, options: SearchOptions = {}): Promise<T.SearchResult> {
    return this.#ask("/v1/search", { query }, options);
  }

  /** Searches, and follows the graph from what it found. */
  retrieve(query: string, options: RetrieveOptions = {}): Promise<T.Retrieved> {
    return this.#ask("/v1/retrieve", { query }, options);
  }

  /** Answers from the memory, with citations. */
  answer(query: string, options: RequestOptions & { maxWords?: number } = {}): Promise<T.WrittenAnswer> {
    return this.#ask("/v1/brain/answer", { query }, options);
  }

  async get(id: string, options: RequestOptions = {}): Promise<T.VersionedNode> {
    return this.#node({ method: "GET", path: nodes(id) }, options);
  }

  /** The node that an external id means now, with its content; null where it means none. */
  async find(externalId: string, options: RequestOptions = {}): Promise<T.VersionedNode | null> {
    for (let look = 0; look < mostLooks; look++) {
      const [listed] = (await this.list({ ...options, externalId }).page()).data;
      if (!listed) return null;
      try {
        return await this.get(listed.id, options);
      } catch (error) {
        // Forgotten in between, and the id may mean another node by now.
        if (!(error instanceof NotFound && error.code === "node_not_found")) throw error;
      }
    }
    return null;
  }

  /**
   * Changes the fields that are named, and nothing else. It is sent once: after a lost answer it may have been done, and
   * somebody else may have changed the node since. Read again then, or say that it is `repeatable`.
   */
  async update(id: string, patch: T.NodePatch, options: UpdateOptions = {}): Promise<T.VersionedNode> {
    const { ifMatch, repeatable = false, ...request } = options;
    if (repeatable && ifMatch !== undefined)
      throw new OrgmemError("An update with ifMatch is not repeatable: when its answer is lost, the version is another one. Leave one of them out.");
    const call: Call = { method: "PATCH", path: nodes(id), body: patch, harmless: repeatable };
    if (ifMatch !== undefined) call.headers = { "If-Match": ifMatch };
    return this.#node(call, request);
  }

  /** Forgets a node: its content is gone for good, its place can be restored for 30 days. */
  async delete(id: string, options?: RequestOptions): Promise<T.Node> {
    return this.#delete(nodes(id), options);
  }

  /** Nodes, newest first, without their content. */
  list(filters: Listing<T.NodeFilters> = {}): List<T.Node> {
    return this.#list("/v1/graph/nodes", filters);
  }

  history(id: string, options: Listing<T.PageSize> = {}): List<T.HistoryEntry> {
    return this.#list(nodes(id) + "/history", options);
  }

  /** Brings back the place of a forgotten node, without content. */
  async undelete(id: string, options?: RequestOptions): Promise<T.Node> {
    return this.#post(nodes(id) + "/undelete", undefined, options, { keyed: true });
  }

  /** Puts another content in a node's place. */
  async supersede(id: string, content: string, reason: string, options?: RequestOptions): Promise<T.Superseded> {
    return this.#post(nodes(id) + "/supersede", { content, reason }, options, { keyed: true });
  }

  /** The other memories of the organization that name the same entity. */
  async elsewhere(id: string, options?: RequestOptions): Promise<T.Elsewhere> {
    return this.#get(nodes(id) + "/elsewhere", {}, options);
  }

  readonly edges = {
    list: (filters: Listing<T.EdgeFilters> = {}): List<T.Edge> => this.#list("/v1/graph/edges", filters),
    get: async (id: string, options?: RequestOptions): Promise<T.Edge> => this.#get(`/v1/graph/edges/${segment(id)}`, {}, options),
    assert: async (edge: T.AssertEdge, options?: RequestOptions): Promise<T.Edge> =>
      this.#post("/v1/graph/edges", edge, options, { keyed: true }),
    delete: async (id: string, options?: RequestOptions): Promise<T.Edge> => this.#delete(`/v1/graph/edges/${segment(id)}`, options),
  };

  readonly domains = {
    list: (filters: Listing<T.DomainFilters> = {}): List<T.Domain> => this.#list("/v1/graph/domains", filters),
    get: async (id: string, options?: RequestOptions): Promise<T.Domain> => this.#get(`/v1/graph/domains/${segment(id)}`, {}, options),
  };

  /** What the service has derived; empty until the first cycle has run. */
  readonly recall = {
    identity: async (options?: RequestOptions): Promise<T.IdentityView> => this.#get("/v1/recall/identity", {}, options),
    /** Where the basins of the identity, and some of its passages, lie. */
    plot: async (options?: RequestOptions): Promise<T.IdentityPlot> => this.#get("/v1/identity/plot", {}, options),
    graph: async (options: AsOf = {}): Promise<T.GraphView> => this.#view("/v1/recall/graph", options),
    /** The newest 200; `insightList` has all. */
    insights: async (options: AsOf = {}): Promise<T.InsightsView> => this.#view("/v1/recall/insights", options),
    insightList: (options: AsOf & T.PageSize = {}): List<T.Insight> => this.#list("/v1/recall/insights", { pageSize: 50, ...options }),
    /** The latest 200 events, with recurrences and trends; `eventList` has all events. */
    temporal: async (options: AsOf = {}): Promise<T.TemporalView> => this.#view("/v1/recall/temporal", options),
    eventList: (options: AsOf & T.PageSize = {}): List<T.Dated> => this.#list("/v1/recall/temporal", { pageSize: 50, ...options }),
    node: async (id: string, options?: RequestOptions): Promise<T.RecalledNode> => this.#get(`/v1/recall/graph/node/${segment(id)}`, {}, options),
    /** Nodes that hold every word, newest first. */
    search: (q: string, options: AsOf & T.PageSize = {}): List<T.NodeMatch> => this.#list("/v1/recall/graph/search", { ...options, q } as AsOf),
    sessions: (options: Listing<T.PageSize> = {}): List<T.Session> => this.#list("/v1/recall/sessions", options),
    deleteSession: async (id: string, options?: RequestOptions): Promise<void> => this.#delete(`/v1/recall/sessions/${segment(id)}`, options),
  };

  readonly contradictions = {
    list: (filters: Listing<T.ContradictionFilters> = {}): List<T.Contradiction> => this.#list("/v1/contradictions", filters),
  };

  readonly proposals = {
    list: (filters: Listing<T.ProposalFilters> = {}): List<T.Proposal> => this.#list("/v1/proposals", filters),
    accept: async (id: string, options?: RequestOptions): Promise<T.Proposal> =>
      this.#post(`/v1/proposals/${segment(id)}/accept`, undefined, options, { keyed: true }),
    reject: async (id: string, options?: RequestOptions): Promise<T.Proposal> =>
      this.#post(`/v1/proposals/${segment(id)}/reject`, undefined, options, { keyed: true }),
  };

  readonly condition = {
    /** What a model should know before a session. */
    session: async (session: T.ConditionSession, options: RequestOptions = {}): Promise<T.ConditioningPack> =>
      this.#ask("/v1/condition/session", session, options),
    /** The prompt, with what the memory has about it before it. */
    scaffold: async (prompt: string, options: RequestOptions & { maxTokens?: number } = {}): Promise<T.ScaffoldedPrompt> =>
      this.#ask("/v1/condition/scaffold", { prompt }, options),
  };

  readonly subjects = {
    /** Makes a subject; one that is there stays as it is. */
    put: async (id: string, options?: RequestOptions): Promise<T.Subject> =>
      this.#transport.call({ method: "PUT", path: `/v1/subjects/${segment(id)}` }, options),
    get: async (id: string, options?: RequestOptions): Promise<T.Subject> => this.#get(`/v1/subjects/${segment(id)}`, {}, options),
    list: (options: Listing<T.PageSize> = {}): List<T.Subject> => this.#list("/v1/subjects", options),
    /** Refuses the subject from now on; when the job has succeeded, nothing of it is left. */
    erase: async (id: string, options?: RequestOptions): Promise<T.Accepted> => this.#delete(`/v1/subjects/${segment(id)}`, options),
  };

  readonly keys = {
    list: (options: RequestOptions = {}): List<T.ApiKey> =>
      new List(async () => ({ data: (await this.#get<{ keys: T.ApiKey[] }>("/v1/keys", {}, options)).keys, hasMore: false })),
    /** The key is in this answer and in no other. */
    create: async (key: T.CreateKey, options?: RequestOptions): Promise<T.NewKey> => this.#post("/v1/keys", key, options, { keyed: true }),
    revoke: async (id: string, options?: RequestOptions): Promise<void> => this.#delete(`/v1/keys/${segment(id)}`, options),
  };

  readonly sandbox = {
    keys: {
      list: (options: Listing<T.PageSize> = {}): List<T.SandboxKey> => this.#list("/v1/sandbox/keys", options),
      /** Sent once: sent again it would make another key. */
      create: async (key: T.CreateSandboxKey = {}, options?: RequestOptions): Promise<T.NewSandboxKey> => this.#post("/v1/sandbox/keys", key, options),
      revoke: async (id: string, options?: RequestOptions): Promise<void> => this.#delete(`/v1/sandbox/keys/${segment(id)}`, options),
    },
    reset: async (options?: RequestOptions): Promise<T.SandboxReset> => this.#post("/v1/sandbox/reset", undefined, options, { keyed: true }),
  };

  readonly jobs = {
    get: async (id: string, options?: RequestOptions): Promise<T.Job> => this.#get(`/v1/jobs/${segment(id)}`, {}, options),
    list: (filters: Listing<T.JobFilters> = {}): List<T.Job> => this.#list("/v1/jobs", filters),
    cancel: async (id: string, options?: RequestOptions): Promise<T.Job> => this.#post(`/v1/jobs/${segment(id)}/cancel`, undefined, options),
    /** Asks, less and less often, until the job has ended. One that failed or was cancelled is a JobFailed. */
    wait: async (id: string, options: WaitOptions = {}): Promise<T.Job> =>
      this.#wait(
        (request) => this.jobs.get(id, request),
        (job) => (job.status === "succeeded" ? true : job.status === "failed" || job.status === "cancelled" ? (job.error?.detail ?? "") : false),
        `The job ${id}`,
        options,
      ),
  };

  readonly imports = {
    /** Takes in one file; what it is, its bytes decide. Sent once, since the service cannot tell a second time from a first. */
    upload: async (file: Upload, options: UploadOptions & RequestOptions = {}): Promise<T.Accepted> => this.#upload("/v1/import", file, options),
    /** Takes in who said what: VTT, SRT, JSON, or lines of the form Name: text. */
    transcript: async (file: Upload, options: UploadOptions & RequestOptions = {}): Promise<T.Accepted> =>
      this.#upload("/v1/import/transcript", file, options),
    /** The newest 20. */
    list: (options: RequestOptions = {}): List<T.ImportEntry> => this.#list("/v1/import", options),
  };

  readonly exports = {
    create: async (scope: T.CreateExport = {}, options?: RequestOptions): Promise<T.Export> => this.#post("/v1/exports", scope, options, { keyed: true }),
    get: async (id: string, options?: RequestOptions): Promise<T.Export> => this.#get(`/v1/exports/${segment(id)}`, {}, options),
    list: (options: Listing<T.PageSize> = {}): List<T.Export> => this.#list("/v1/exports", options),
    /** Asks until the document is there. */
    wait: async (id: string, options: WaitOptions = {}): Promise<T.Export> =>
      this.#wait(
        (request) => this.exports.get(id, request),
        (e) => (e.status === "succeeded" ? true : e.status === "failed" || e.status === "expired" ? (e.error ?? "") : false),
        `The export ${id}`,
        options,
      ),
    /** The document as a stream, which goes on by itself where a connection breaks. */
    download: async (id: string, options: RequestOptions = {}): Promise<Download> =>
      download(this.#transport, { method: "GET", path: `/v1/exports/${segment(id)}/download` }, options),
  };

  readonly purge = {
    /** Counts what would go, and gives a token that stands for exactly that, for ten minutes. */
    preview: async (scope: "subject" | "org", subjectId?: string, options?: RequestOptions): Promise<T.PurgeReport> =>
      this.#post("/v1/purge", { scope, subjectId, dryRun: true }, options, { harmless: true }),
    /** Deletes what the preview counted; a Conflict, and nothing deleted, if that has changed. */
    confirm: async (preview: T.PurgeReport, options?: RequestOptions): Promise<T.PurgeReport> => {
      if (!preview.dryRun || !preview.confirmToken)
        throw new OrgmemError("This is no preview of a purge, so there is nothing to confirm. Give what purge.preview answered.");
      const { scope, subjectId, confirmToken } = preview;
      return this.#post("/v1/purge", { scope, subjectId, dryRun: false, confirmToken }, options);
    },
  };

  /**
   * What happens, as it happens. Nothing is replayed: a stream that was interrupted
   * is opened again, and then tells one gap, since when and why.
   */
  events(types?: readonly EventType[] | EventsOptions, options: EventsOptions = {}): AsyncGenerator<StreamEvent | StreamGap, void, undefined> {
    return watch(this.#transport, { ...options, ...(Array.isArray(types) ? { types } : types) });
  }

  readonly webhooks = {
    list: (options: Listing<T.PageSize> = {}): List<T.Webhook> => this.#list("/v1/webhooks", options),
    /** The secret is in this answer and in no other. */
    create: async (webhook: T.NewWebhook, options?: RequestOptions): Promise<T.Webhook> => this.#post("/v1/webhooks", webhook, options, { keyed: true }),
    get: async (id: string, options?: RequestOptions): Promise<T.Webhook> => this.#get(`/v1/webhooks/${segment(id)}`, {}, options),
    update: async (id: string, patch: T.PatchWebhook, options?: RequestOptions): Promise<T.Webhook> =>
      this.#transport.call({ method: "PATCH", path: `/v1/webhooks/${segment(id)}`, body: patch }, options),
    delete: async (id: string, options?: RequestOptions): Promise<void> => this.#delete(`/v1/webhooks/${segment(id)}`, options),
    test: async (id: string, options?: RequestOptions): Promise<T.WebhookTest> => this.#post(`/v1/webhooks/${segment(id)}/test`, undefined, options),
    /** What one of an endpoint's last deliveries has sent, and its signature. */
    delivery: async (id: string, deliveryId: string, options?: RequestOptions): Promise<T.SentDelivery> =>
      this.#get(`/v1/webhooks/${segment(id)}/deliveries/${segment(deliveryId)}`, {}, options),
    /** Checks a delivery, and gives the event in it; a receiver without a client has `verifyWebhook`. */
    verify: async (
      payload: string | Uint8Array | ArrayBuffer,
      header: string | readonly string[] | null | undefined,
      secret: string | undefined,
      options: VerifyOptions = {},
    ): Promise<WebhookEvent> => verifyWebhook(payload, header, secret, { now: this.#transport.now, ...options }),
  };

  readonly sessions = {
    /** Takes in what was said in a coding session; one event, or up to 500. Sent again if each has an eventId or a time, by which the service knows it. */
    push: async (events: T.SessionEvent | readonly T.SessionEvent[], options?: RequestOptions): Promise<T.SessionResult[]> => {
      const known = (e: T.SessionEvent) => e.eventId !== undefined || e.at !== undefined;
      if (!Array.isArray(events)) {
        const event = events as T.SessionEvent;
        return [await this.#post<T.SessionResult>("/v1/ingest/session-event", event, options, { harmless: known(event) })];
      }
      const batch = events as readonly T.SessionEvent[];
      return (await this.#post<{ results: T.SessionResult[] }>("/v1/ingest/session-batch", { events: batch }, options, { harmless: batch.every(known) })).results;
    },
    /** Builds what is derived from sessions, behind everything that was pushed before. */
    finalize: async (options?: RequestOptions): Promise<T.SessionState> => this.#post("/v1/ingest/session-finalize", undefined, options),
    status: async (options?: RequestOptions): Promise<T.SessionState> => this.#get("/v1/ingest/session-status", {}, options),
  };

  /** Takes in what failed in a session, and what the person corrected. */
  signals(signals: T.AgentSignals, options?: RequestOptions): Promise<T.SignalsAccepted> {
    return this.#post("/v1/ingest/agent-signals", signals, options, { harmless: signals.signals.every((s) => s.at !== undefined) });
  }

  /** The organization's model. */
  readonly quality = {
    evaluate: async (scope: T.EvaluateQuality = {}, options?: RequestOptions): Promise<T.EvaluationAccepted> =>
      this.#post("/v1/quality", scope, options, { keyed: true }),
    list: (options: Listing<T.QualityFilters> = {}): List<T.QualityReport> => this.#list("/v1/quality", options),
  };

  readonly brain = {
    train: async (options?: RequestOptions): Promise<T.TrainAccepted> => this.#post("/v1/brain/train", undefined, options),
    info: async (options?: RequestOptions): Promise<T.BrainInfo> => this.#get("/v1/brain/info", {}, options),
    training: async (options?: RequestOptions): Promise<T.BrainTraining> => this.#get("/v1/brain/training", {}, options),
    query: async (query: string, options: RequestOptions & { topK?: number } = {}): Promise<T.BrainFound> => this.#ask("/v1/brain/query", { query }, options),
    answer: async (query: string, options: RequestOptions & { maxWords?: number } = {}): Promise<T.WrittenAnswer> => this.answer(query, options),
  };

  readonly connectors = {
    list: (options: Listing<T.PageSize> = {}): List<T.Connector> => this.#list("/v1/connectors", options),
    create: async (connector: T.NewConnector, options?: RequestOptions): Promise<T.Connector> => this.#post("/v1/connectors", connector, options),
    get: async (id: string, options?: RequestOptions): Promise<T.Connector> => this.#get(`/v1/connectors/${segment(id)}`, {}, options),
    update: async (id: string, patch: T.PatchConnector, options?: RequestOptions): Promise<T.Connector> =>
      this.#transport.call({ method: "PATCH", path: `/v1/connectors/${segment(id)}`, body: patch }, options),
    delete: async (id: string, options?: RequestOptions): Promise<void> => this.#delete(`/v1/connectors/${segment(id)}`, options),
    sync: async (id: string, options?: RequestOptions): Promise<T.Accepted> => this.#post(`/v1/connectors/${segment(id)}/sync`, undefined, options),
  };

  readonly settings = {
    get: async (options?: RequestOptions): Promise<T.Settings> => this.#get("/v1/settings", {}, options),
    update: async (patch: T.SettingsPatch, options?: RequestOptions): Promise<T.Settings> =>
      this.#transport.call({ method: "PATCH", path: "/v1/settings", body: patch }, options),
    reset: async (options?: RequestOptions): Promise<T.Settings> => this.#post("/v1/settings/reset", undefined, options, { keyed: true }),
  };

  usage(filters: Listing<T.UsageFilters> = {}): Promise<T.UsageReport> {
    return this.#view("/v1/usage", filters);
  }

  /** Who did what, newest first. */
  audit(filters: Listing<T.AuditFilters> = {}): List<T.AuditEntry> {
    return this.#list("/v1/audit", filters);
  }

  async identity(userId: string, options?: RequestOptions): Promise<T.UserIdentity> {
    return this.#get(`/v1/identity/user/${segment(userId)}`, {}, options);
  }

  /** Whose key this is, and what it may. */
  me(options?: RequestOptions): Promise<T.Principal> {
    return this.#get("/v1/me", {}, options);
  }

  /** Removes the key's owner; of a personal organization, everything. */
  deleteMe(options?: RequestOptions): Promise<void> {
    return this.#delete("/v1/me", options);
  }

  team(options?: RequestOptions): Promise<T.Team> {
    return this.#get("/v1/team", {}, options);
  }

  members(options: Listing<T.PageSize> = {}): List<T.TeamMember> {
    return this.#list("/v1/team/members", options);
  }

  /** The keys of all members, for an admin; with `ids`, at most 50 with a comma between them, these on one page. */
  memberKeys(filters: Listing<T.MemberKeyFilters> = {}): List<T.TeamKey> {
    return this.#list("/v1/team/keys", filters);
  }

  #get<R>(path: string, query: object, options?: RequestOptions): Promise<R> {
    return this.#transport.call<R>({ method: "GET", path, query }, options);
  }

  #view<R>(path: string, options: RequestOptions): Promise<R> {
    const [request, query] = split(options);
    return this.#get(path, query, request);
  }

  #delete<R>(path: string, options?: RequestOptions): Promise<R> {
    return this.#transport.call<R>({ method: "DELETE", path }, options);
  }

  #post<R>(path: string, body: unknown, options?: RequestOptions, kind: Pick<Call, "keyed" | "harmless"> = {}): Promise<R> {
    return this.#transport.call<R>({ method: "POST", path, body, ...kind }, options);
  }

  /** A POST that only reads. */
  #ask<R>(path: string, body: object, options: RequestOptions): Promise<R> {
    const [request, fields] = split(options);
    return this.#post(path, { ...fields, ...body }, request, { harmless: true });
  }

  #list<R>(path: string, options: RequestOptions): List<R> {
    const [request, query] = split(options);
    return new List((cursor) => this.#get<Page<R>>(path, { ...query, cursor }, request));
  }

  async #node(call: Call, options: RequestOptions): Promise<T.VersionedNode> {
    const { value, headers } = await this.#transport.answer<T.Node>(call, options);
    const etag = headers.get("ETag");
    return etag === null ? value : { ...value, etag };
  }

  async #upload(path: string, file: Upload, options: UploadOptions & RequestOptions): Promise<T.Accepted> {
    const [request, form] = split(options);
    const raw = await formOf(file, form);
    try {
      const accepted = await this.#transport.call<T.Accepted>({ method: "POST", path, raw }, { ...request, timeout: request.timeout ?? 600_000 });
      raw.arrived();
      return accepted;
    } catch (error) {
      const cause = raw.failure();
      if (cause !== undefined) throw new OrgmemError(`The file could not be read to its end (${String(cause)}), so nothing of it was taken in. Upload it again.`, { cause });
      throw error;
    } finally {
      // A connection that ends before the file leaves it open; one that has failed cannot be closed.
      await raw.close().catch(() => {});
    }
  }

  async #wait<E>(ask: (request: RequestOptions) => Promise<E>, ended: (state: E) => boolean | string, what: string, options: WaitOptions): Promise<E> {
    const { waitFor = 600_000, ...request } = options;
    const began = this.#transport.now();
    for (let wait = firstPoll; ; wait = Math.min(wait * 2, longestPoll)) {
      const state = await ask(request);
      const end = ended(state);
      if (end === true) return state;
      if (end !== false)
        throw new JobFailed(`${what} ended ${(state as { status: string }).status}${end && `: ${end}`}. Mend that, and begin it again if it is still wanted.`, state);
      if (this.#transport.now() - began + wait > waitFor)
        throw new TimedOut(`${what} is still ${(state as { status: string }).status} after ${waitFor} ms. It goes on: wait for it again, or give a longer waitFor.`);
      await this.#transport.sleep(wait, request.signal);
    }
  }
}

function nodes(id: string): string {
  return `/v1/graph/nodes/${segment(id)}`;
}
