import { ApiError, BadAnswer, Conflict, ConnectionFailed, List, NotFound, TimedOut, Unauthorized } from "orgmem";
import type { FieldError, Page } from "orgmem";

// The operator interface is no part of the published one, so its types stand here; docs/operations.md describes it.

export type Plan = "free" | "standard" | "scale" | "unlimited";
export const plans: readonly Plan[] = ["free", "standard", "scale", "unlimited"];
export type Role = "owner" | "admin" | "member";
export const roles: readonly Role[] = ["owner", "admin", "member"];
export const scopes = ["read", "write", "admin", "graph:write", "memory:forget", "subjects:provision", "usage:read"] as const;

export interface Org {
  orgId: string;
  name: string;
  slug: string;
  createdAt: string;
  /** What of it is damaged on the node that was asked. */
  outOfService?: string;
}
/** Of an organization that is out of service, plan, members and subjects are not known. */
export interface OrgInfo extends Org {
  personal: boolean;
  plan: Plan | "";
  members: number;
  subjects: number;
}
export interface NewOrg {
  name: string;
  ownerEmail: string;
  personal: boolean;
  plan: Plan;
}
/** The key is in this answer and in no other. */
export interface CreatedOrg {
  orgId: string;
  slug: string;
  userId: string;
  apiKey: string;
  keyId: string;
}
export interface Member {
  userId: string;
  email: string;
  role: Role;
  createdAt: string;
}
export interface CreatedKey {
  apiKey: string;
  id: string;
  label: string;
}
export interface Setting {
  name: string;
  value: string;
  origin: string;
}
export interface Check {
  name: string;
  ok: boolean;
  detail: string;
}
export interface Doctor {
  version: string;
  config: Setting[] | null;
  checks: Check[] | null;
}
export interface ClusterNode {
  id: string;
  name: string;
  zone: string;
  address: string;
  version: number;
  state: string;
  since: string;
  draining: boolean;
  leaving: boolean;
  voters: number;
  learners: number;
  leads: number;
  /** Thousandths of its processors. */
  load: number;
}
export interface Group {
  /** 0 is the meta group. */
  group: number;
  leader: string;
  replicas: { node: string; voter: boolean; caughtUp: boolean }[];
  desired: string[];
  waits: string;
}
export interface Decision {
  at: string;
  action: string;
  group: number;
  node: string;
  why: string;
  outcome: string;
  times: number;
}
export interface Cluster {
  cluster: string;
  controller: string;
  version: number;
  nodes: ClusterNode[];
  groups: Group[];
  decisions: Decision[];
}
export interface JoinToken {
  token: string;
  expiresAt: string;
}
export interface Rotation {
  generations: number[];
  signing: number;
  waiting: string[];
  expiresAt: string;
}

/** A request that took longer than the node's threshold: nothing of what it said. */
export interface SlowRequest {
  at: string;
  requestId: string;
  method: string;
  /** As its template. */
  route: string;
  status: number;
  code?: string;
  orgId?: string;
  /** The other node that answered. */
  node?: string;
  durationMs: number;
  receiveMs: number;
  waitMs: number;
  workMs: number;
  sendMs: number;
  bytesIn: number;
  bytesOut: number;
}
export interface SlowList {
  /** The node that was asked; empty where it is alone. */
  node: string;
  nodeName: string;
  thresholdMs: number;
  /** Since the start, also those that are forgotten. */
  total: number;
  data: SlowRequest[];
}

/** One backup that is or was made or verified. */
export interface BackupRun {
  kind: "create" | "verify";
  /** Its name; none while it is being made, or where it failed. */
  backup?: string;
  begunAt: string;
  endedAt?: string;
  /** Stores. */
  done: number;
  total: number;
  /** New in the vault, or read of it. */
  bytes: number;
  problem?: string;
}
export interface Vault {
  /** Where it is; empty: the configuration names none. */
  vault: string;
  canVerify: boolean;
  /** Why it cannot be read. */
  problem?: string;
  total: number;
  data: { name: string; begunAt?: string }[];
  running?: BackupRun;
  ended: BackupRun[];
}

const patience = 15_000; // milliseconds for an answer
const longestAnswer = 16 << 20; // bytes: a full scrape of a large node is some 300 kB

/** What a client needs of the world. */
export interface World {
  fetch: (url: string, init: RequestInit) => Promise<Response>;
  origin: string;
}

/** Speaks to the operator interface with its token. The token is in this object and nowhere else. */
export class OperatorClient {
  readonly #token: string;
  readonly #world: World;
  /** Told when the token is not taken (any more). */
  onrefused: (() => void) | undefined;

  constructor(token: string, world: World = { fetch: (url, init) => fetch(url, init), origin: location.origin }) {
    this.#token = token;
    this.#world = world;
  }

  orgs(): List<Org> {
    return new List<Org>(async (cursor) => {
      const q = new URLSearchParams({ limit: "50", ...(cursor === undefined ? {} : { cursor }) });
      const page = await this.#json<{ data: Org[]; nextCursor?: string }>("GET", `/operator/orgs?${q}`);
      return { ...page, hasMore: page.nextCursor !== undefined } satisfies Page<Org>;
    });
  }
  org = (id: string, signal?: AbortSignal): Promise<OrgInfo> => this.#json("GET", `/operator/orgs/${part(id)}`, undefined, signal);
  createOrg = (org: NewOrg): Promise<CreatedOrg> => this.#json("POST", "/operator/orgs", org);
  setPlan = (id: string, plan: Plan): Promise<void> => this.#json("PUT", `/operator/orgs/${part(id)}/plan`, { plan });
  removeOrg = (id: string): Promise<void> => this.#json("DELETE", `/operator/orgs/${part(id)}`);
  members = async (id: string, signal?: AbortSignal): Promise<Member[]> =>
    (await this.#json<{ data: Member[] }>("GET", `/operator/orgs/${part(id)}/members`, undefined, signal)).data;
  addMember = (id: string, email: string, role: Role): Promise<Member> => this.#json("POST", `/operator/orgs/${part(id)}/members`, { email, role });
  removeMember = (id: string, user: string): Promise<void> => this.#json("DELETE", `/operator/orgs/${part(id)}/members/${part(user)}`);
  createKey = (id: string, key: { userId: string; scopes: string[]; label: string }): Promise<CreatedKey> =>
    this.#json("POST", `/operator/orgs/${part(id)}/keys`, key);

  slow = (signal?: AbortSignal): Promise<SlowList> => this.#json("GET", "/operator/requests/slow", undefined, signal);
  vault = (signal?: AbortSignal): Promise<Vault> => this.#json("GET", "/operator/backups", undefined, signal);
  backUp = (): Promise<Vault> => this.#json("POST", "/operator/backups");
  verifyBackup = (name: string): Promise<Vault> => this.#json("POST", `/operator/backups/${part(name)}/verify`);
  doctor = (signal?: AbortSignal): Promise<Doctor> => this.#json("GET", "/operator/doctor", undefined, signal);

  /** Null where the node is alone. */
  cluster = async (signal?: AbortSignal): Promise<Cluster | null> => {
    try {
      return await this.#json<Cluster>("GET", "/operator/cluster", undefined, signal);
    } catch (error) {
      if (error instanceof Conflict) return null;
      throw error;
    }
  };
  drain = (node: string, on: boolean): Promise<Cluster> => this.#json(on ? "PUT" : "DELETE", `/operator/cluster/nodes/${part(node)}/drain`);
  removeNode = (node: string): Promise<Cluster> => this.#json("DELETE", `/operator/cluster/nodes/${part(node)}`);
  joinToken = (ttlSeconds: number): Promise<JoinToken> => this.#json("POST", "/operator/cluster/tokens", { ttlSeconds });
  rotation = (signal?: AbortSignal): Promise<Rotation> => this.#json("GET", "/operator/cluster/rotation", undefined, signal);
  rotate = (): Promise<Rotation> => this.#json("POST", "/operator/cluster/rotation");

  /** Whether the node serves, and if not, why. */
  ready = async (signal?: AbortSignal): Promise<string> => {
    try {
      await this.#json("GET", "/readyz", undefined, signal);
      return "";
    } catch (error) {
      if (error instanceof ApiError) return error.detail || error.title;
      throw error;
    }
  };
  /** The metrics as Prometheus reads them. */
  metrics = (signal?: AbortSignal): Promise<string> => this.#text("GET", "/metrics", undefined, signal).then((a) => a.text);

  async #json<T>(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<T> {
    const { text, status } = await this.#text(method, path, body, signal);
    if (status === 204) return undefined as T;
    const value = parsed(text);
    if (typeof value !== "object" || value === null) throw new BadAnswer("The answer is no JSON object. Something else than the service may listen there.", status, false);
    return value as T;
  }

  async #text(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<{ text: string; status: number }> {
    const late = AbortSignal.timeout(patience);
    const headers: Record<string, string> = { Authorization: `Bearer ${this.#token}` };
    if (body !== undefined) headers["Content-Type"] = "application/json";
    try {
      const answer = await this.#world.fetch(this.#world.origin + path, {
        method,
        headers,
        cache: "no-store",
        redirect: "error",
        signal: signal ? AbortSignal.any([signal, late]) : late,
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await bounded(answer, longestAnswer);
      if (!answer.ok) {
        const error = problemOf(answer, text);
        if (error instanceof Unauthorized) this.onrefused?.();
        throw error;
      }
      return { text, status: answer.status };
    } catch (error) {
      if (signal?.aborted || error instanceof ApiError || error instanceof BadAnswer) throw error;
      if (late.aborted) throw new TimedOut(`No answer came within ${patience / 1000} seconds.`, { cause: error });
      throw new ConnectionFailed("The node cannot be reached. It may have been stopped.", { cause: error });
    }
  }
}

const part = (s: string): string => encodeURIComponent(s);

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Reads a body up to a bound of bytes. */
async function bounded(answer: Response, most: number): Promise<string> {
  if (!answer.body) return "";
  const reader = answer.body.getReader();
  const decoder = new TextDecoder();
  let text = "";
  let read = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    read += value.byteLength;
    if (read > most) {
      void reader.cancel();
      throw new BadAnswer(`The answer is longer than ${most} bytes.`, answer.status, false);
    }
    text += decoder.decode(value, { stream: true });
  }
}

function problemOf(answer: Response, text: string): ApiError {
  const p = (parsed(text) ?? {}) as Record<string, unknown>;
  const string = (name: string): string => (typeof p[name] === "string" ? p[name] : "");
  const code = string("code");
  const problem = {
    status: answer.status,
    code,
    title: string("title") || `The node answered ${answer.status}`,
    // The operator token is no API key: what the shared text advises would lead astray.
    detail: answer.status === 401 ? "The operator token is missing or wrong." : string("detail").replace(/^(invalid input|conflict): /, ""),
    requestId: string("requestId"),
    errors: (Array.isArray(p["errors"]) ? p["errors"] : []).filter(isFieldError),
    suggestedAction: answer.status === 401 ? undefined : string("suggestedAction") || undefined,
  };
  const Kind = answer.status === 401 ? Unauthorized : answer.status === 404 ? NotFound : answer.status === 409 ? Conflict : ApiError;
  return new Kind(problem, "");
}

function isFieldError(e: unknown): e is FieldError {
  return typeof e === "object" && e !== null && typeof (e as FieldError).field === "string" && typeof (e as FieldError).message === "string";
}
