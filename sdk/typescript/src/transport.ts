import { ApiError, BadAnswer, classOf, ConnectionFailed, OrgmemError, RateLimited, TimedOut } from "./errors.js";
import type { FieldError } from "./types.js";

const maxAnswer = 64 << 20; // bytes; an export, which may be longer, is a stream
const maxProblem = 64 << 10; // bytes that are read of an answer that tells of a failure
const firstPause = 250; // milliseconds
const longestPause = 10_000;

/** What a client is made of. Times are in milliseconds. */
export interface OrgmemOptions {
  /** Default: the variable ORGMEM_API_KEY. */
  apiKey?: string | undefined;
  /** Where the service is. Default: the variable ORGMEM_BASE_URL, then http://127.0.0.1:8080. */
  baseUrl?: string | undefined;
  /** Whom every request acts for; see `subject(id)`. */
  subject?: string | undefined;
  /** For one try. Default 30,000. */
  timeout?: number | undefined;
  /** How often a request that may be repeated is sent again. Default 8. */
  maxRetries?: number | undefined;
  /** How long one call waits between its tries, in all. Default 60,000. */
  retryBudget?: number | undefined;
  /** Send the key over plain HTTP to another machine, where everybody on the way can read it. */
  allowInsecure?: boolean | undefined;
  /** Instead of the global fetch. */
  fetch?: typeof globalThis.fetch | undefined;
  /** Waits between tries and polls; it ends early, either way, when the signal is aborted. */
  sleep?: ((ms: number, signal?: AbortSignal) => Promise<void>) | undefined;
  /** In [0, 1), for the jitter. */
  random?: (() => number) | undefined;
  /** Milliseconds since 1970. */
  now?: (() => number) | undefined;
}

/** What any single call may have of its own. */
export interface RequestOptions {
  /** Cancels the call, its waiting between tries included; the call throws the signal's reason. */
  signal?: AbortSignal | undefined;
  timeout?: number | undefined;
  maxRetries?: number | undefined;
  retryBudget?: number | undefined;
  /** Instead of a fresh one, on the routes that take one: the same key has one effect, also across processes. */
  idempotencyKey?: string | undefined;
}

/** BodyInit is the DOM's, and no type of Node's. */
export type RawBody = Blob | ReadableStream<Uint8Array>;

export interface Call {
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  path: string;
  query?: object | undefined;
  body?: unknown;
  /** Sent as it is instead of a JSON body. */
  raw?: { body: RawBody; type: string } | undefined;
  /** The route takes an Idempotency-Key. */
  keyed?: boolean;
  /** Sending it twice does nothing more than sending it once, although it is a POST without a key, or a PATCH. */
  harmless?: boolean;
  headers?: Record<string, string>;
}

/** An answer whose body has not been read. */
export interface Opened {
  response: Response;
  /** Aborts the connection. */
  abort: () => void;
}

export interface Answer<T> {
  value: T;
  headers: Headers;
}

/** A segment of a path. What would change the path itself is refused: `..` would name another route. */
export function segment(id: string): string {
  if (typeof id !== "string" || /^\.{0,2}$/.test(id))
    throw new OrgmemError(`${JSON.stringify(id)} is no id that an address can hold. Give the id that the service answered.`);
  return encodeURIComponent(id);
}

/** Splits what is for the call from what is for the service. */
export function split<T extends RequestOptions>(options: T): [RequestOptions, Omit<T, keyof RequestOptions>] {
  const { signal, timeout, maxRetries, retryBudget, idempotencyKey, ...rest } = options;
  return [{ signal, timeout, maxRetries, retryBudget, idempotencyKey }, rest];
}

/** A version 4 UUID; crypto.randomUUID is not there for a page that came over plain HTTP. */
function uuid(): string {
  const b = crypto.getRandomValues(new Uint8Array(16));
  b[6] = (b[6]! & 15) | 64;
  b[8] = (b[8]! & 63) | 128;
  const hex = Array.from(b, (x) => x.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}

/** Resolves after ms, or at once when the signal is aborted: who sleeps looks at the signal afterwards. */
function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const timer = setTimeout(end, ms);
    signal?.addEventListener("abort", end, { once: true });
    function end() {
      clearTimeout(timer);
      signal?.removeEventListener("abort", end);
      resolve();
    }
  });
}

function variable(name: string): string | undefined {
  return (globalThis as { process?: { env?: Record<string, string | undefined> } }).process?.env?.[name];
}

/** What all parts of a client send through. */
export class Transport {
  readonly base: string;
  readonly now: () => number;
  readonly timeout: number;
  readonly maxRetries: number;
  readonly #key: string;
  readonly #options: OrgmemOptions;
  readonly #fetch: typeof globalThis.fetch;
  readonly #headers: Record<string, string>;

  constructor(options: OrgmemOptions) {
    this.#options = options;
    this.#key = (options.apiKey ?? variable("ORGMEM_API_KEY") ?? "").trim();
    if (this.#key === "")
      throw new OrgmemError(
        "There is no API key. Give apiKey, or set ORGMEM_API_KEY; a service that was started with --quickstart wrote one to quickstart.key in its data folder.",
      );
    if (!/^[\x21-\x7e]+$/.test(this.#key))
      throw new OrgmemError("The API key holds characters that no key has. Give the key alone, as it was printed when it was made.");
    this.base = baseOf(options.baseUrl ?? variable("ORGMEM_BASE_URL") ?? "http://127.0.0.1:8080", options.allowInsecure === true);
    this.timeout = options.timeout ?? 30_000;
    this.maxRetries = options.maxRetries ?? 8;
    this.now = options.now ?? Date.now;
    // Looked up at the call: a program that replaces the global one means every client.
    this.#fetch = options.fetch ?? ((input, init) => globalThis.fetch(input, init));
    this.#headers = { "X-Svc-API-Key": this.#key, Accept: "application/json" };
    if (options.subject !== undefined) {
      // An empty header would name nobody, and the request would act for the key's owner.
      if (options.subject === "") throw new OrgmemError("A subject's id is not empty. Leave subject out to act for the key's owner.");
      this.#headers["X-Svc-Subject"] = encodeURIComponent(options.subject);
    }
  }

  as(subject: string): OrgmemOptions {
    return { ...this.#options, apiKey: this.#key, baseUrl: this.base, subject };
  }

  /** Waits, and throws the signal's reason if it was aborted. */
  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    await (this.#options.sleep ?? pause)(ms, signal);
    signal?.throwIfAborted();
  }

  /** Full jitter: callers that failed together do not come back together. */
  backOff(failures: number): number {
    return (this.#options.random ?? Math.random)() * Math.min(firstPause * 2 ** failures, longestPause);
  }

  /** Sends a call until it is answered, as often as its kind allows, and gives what the answer's JSON says. */
  async call<T>(call: Call, options: RequestOptions = {}): Promise<T> {
    return (await this.answer<T>(call, options)).value;
  }

  answer<T>(call: Call, options: RequestOptions = {}): Promise<Answer<T>> {
    return this.repeat(call, options, (init, done) => this.#once<T>(call, init, options, done));
  }

  /** Sends a call until an answer begins, and gives its body unread. */
  open(call: Call, options: RequestOptions = {}): Promise<Opened> {
    return this.repeat(call, options, (init) => this.openOnce(call, options, init));
  }

  /** The part that does not change from try to try: above all the idempotency key. */
  #init(call: Call, options: RequestOptions): RequestInit {
    const headers: Record<string, string> = { ...this.#headers, ...call.headers };
    let body: RawBody | string | undefined;
    if (call.raw) {
      body = call.raw.body;
      headers["Content-Type"] = call.raw.type;
    } else if (call.body !== undefined) {
      body = JSON.stringify(call.body);
      headers["Content-Type"] = "application/json";
    }
    if (call.keyed) {
      const key = options.idempotencyKey ?? uuid();
      if (!/^[\x21-\x7e]{1,255}$/.test(key))
        throw new OrgmemError("An idempotencyKey is 1 to 255 visible ASCII characters. Leave it out to have one made.");
      headers["Idempotency-Key"] = key;
    }
    const init: RequestInit & { duplex?: "half" } = {
      method: call.method,
      headers,
      cache: "no-store",
      // The key is for this address: where it redirects to is for a person to decide.
      redirect: "manual",
    };
    if (body !== undefined) init.body = body;
    if (body instanceof ReadableStream) init.duplex = "half";
    return init;
  }

  url(call: Call): string {
    let query = "";
    for (const [name, value] of Object.entries(call.query ?? {})) {
      if (value === undefined || value === null) continue;
      query += `${query ? "&" : "?"}${name}=${encodeURIComponent(String(value))}`;
    }
    return this.base + call.path + query;
  }

  async repeat<R>(
    call: Call,
    options: RequestOptions,
    once: (init: RequestInit, tries: number) => Promise<R>,
  ): Promise<R> {
    const repeatable = call.keyed || call.harmless || call.method === "GET" || call.method === "PUT" || call.method === "DELETE";
    const most = options.maxRetries ?? this.maxRetries;
    const budget = options.retryBudget ?? this.#options.retryBudget ?? 60_000;
    const init = this.#init(call, options);
    let waited = 0;
    for (let tries = 0; ; tries++) {
      options.signal?.throwIfAborted();
      try {
        return await once(init, tries);
      } catch (error) {
        // What the rate limit refuses had no effect, whatever it is; a stream is used up.
        const again = repeatable ? mayPass(error) : error instanceof RateLimited && !(init.body instanceof ReadableStream);
        if (tries >= most || !again) throw error;
        const asked = error instanceof ApiError ? (error.retryAfter ?? 0) : 0;
        const wait = Math.max(this.backOff(tries), asked);
        if (waited + wait > budget) throw error;
        waited += wait;
        await this.sleep(wait, options.signal);
      }
    }
  }

  async #once<T>(call: Call, init: RequestInit, options: RequestOptions, tries: number): Promise<Answer<T>> {
    return this.#bounded(call, options, async (signal) => {
      const response = await this.#fetch(this.url(call), { ...init, signal });
      if (!response.ok) throw await this.#refusal(call, response, tries);
      const { headers, status } = response;
      if (status === 204) return { value: undefined as T, headers };
      const text = await this.#text(response, maxAnswer);
      try {
        return { value: JSON.parse(text) as T, headers };
      } catch (cause) {
        throw this.#notOurs(call, response, text, cause);
      }
    });
  }

  /** One try; the time is for the answer's beginning, and what follows is the caller's to watch. */
  async openOnce(call: Call, options: RequestOptions, init = this.#init(call, options)): Promise<Opened> {
    const gone = new AbortController();
    const { signal } = options;
    const cancel = () => gone.abort(signal!.reason);
    signal?.addEventListener("abort", cancel, { once: true });
    const abort = () => {
      signal?.removeEventListener("abort", cancel);
      gone.abort();
    };
    try {
      const response = await this.#bounded(call, options, async (late) => {
        late.addEventListener("abort", () => gone.abort(late.reason), { once: true });
        const response = await this.#fetch(this.url(call), { ...init, signal: gone.signal });
        if (!response.ok) throw await this.#refusal(call, response, 0);
        return response;
      });
      return { response, abort };
    } catch (error) {
      abort();
      throw error;
    }
  }

  /** Runs one try with a signal that the caller's and the time's end abort, and names what went wrong. */
  async #bounded<R>(call: Call, options: RequestOptions, work: (signal: AbortSignal) => Promise<R>): Promise<R> {
    const { signal, timeout = this.timeout } = options;
    const gone = new AbortController();
    const cancel = () => gone.abort(signal!.reason);
    signal?.addEventListener("abort", cancel, { once: true });
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      gone.abort();
    }, timeout);
    try {
      return await work(gone.signal);
    } catch (error) {
      if (signal?.aborted) throw signal.reason;
      if (error instanceof OrgmemError && !late) throw error;
      if (late)
        throw new TimedOut(
          `${call.method} ${this.base}${call.path} was not answered within ${timeout} ms. Ask again, or give a longer timeout; whether it had an effect is not known.`,
          { cause: error },
        );
      throw new ConnectionFailed(
        `Nothing answered ${call.method} ${this.base}${call.path}${reason(error)}. See that the service runs and that this is its address: it comes from baseUrl or ORGMEM_BASE_URL.`,
        { cause: error },
      );
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", cancel);
    }
  }

  /** The error that an answer without success stands for. */
  async #refusal(call: Call, response: Response, tries: number): Promise<OrgmemError> {
    const { status, headers } = response;
    if (response.type === "opaqueredirect" || (status >= 300 && status < 400)) {
      await response.body?.cancel();
      const to = headers.get("Location");
      return new BadAnswer(
        `${this.base} redirects ${call.path}${to ? ` to ${to}` : ""}, which is not followed, since the key would go along. Set baseUrl (ORGMEM_BASE_URL) to where the service is itself.`,
        status,
        false,
      );
    }
    const text = await this.#text(response, maxProblem).catch((error: unknown) => {
      // What it said is lost; the status stands where it tells enough.
      if (status >= 500 || status === 429 || status === 408) return "";
      throw error;
    });
    let said: Record<string, unknown> | undefined;
    try {
      const value: unknown = JSON.parse(text);
      if (typeof value === "object" && value !== null && typeof (value as { code?: unknown }).code === "string")
        said = value as Record<string, unknown>;
    } catch {
      // Not ours: below.
    }
    // A gateway that has lost the service says so in words of its own.
    if (!said && status < 500 && status !== 429 && status !== 408) return this.#notOurs(call, response, text);
    const word = (name: string) => (typeof said?.[name] === "string" ? (said[name] as string) : "");
    const code = word("code");
    const kind = classOf(status) ?? ApiError;
    return new kind(
      {
        status,
        code,
        title: word("title") || response.statusText,
        detail: word("detail") || (said ? "" : `${this.base} answered ${status}, and not in the service's own words: ${excerpt(text)}`),
        requestId: word("requestId") || (headers.get("X-Request-Id") ?? ""),
        errors: Array.isArray(said?.["errors"]) ? (said["errors"] as FieldError[]) : [],
        retryAfter: this.#retryAfter(headers.get("Retry-After")),
        suggestedAction: word("suggestedAction") || undefined,
      },
      this.#next(call, status, code, tries),
    );
  }

  /** What to do about a refusal. */
  #next(call: Call, status: number, code: string, tries: number): string {
    switch (status) {
      case 401:
        return `${this.base} does not know this key: it comes from apiKey or ORGMEM_API_KEY, and belongs to one service`;
      case 403:
        return code === "subject_not_provisioned"
          ? "Make the subject first, with subjects.put(id)"
          : "Use a key that has the scope; keys.create makes one from a key with admin";
      case 404:
      case 405:
        if (code === "not_found" || status === 405)
          return `There is a service at ${this.base}, but it has no ${call.method} ${call.path}: it is older than this client, or baseUrl (ORGMEM_BASE_URL) has a path too much`;
        return tries > 0 && call.method === "DELETE"
          ? "An earlier try of this call, whose answer was lost, may have done it"
          : "See that the id is right and that the client acts for the subject whose memory holds it";
      case 409:
      case 412:
        return "Read it again, and decide again";
      case 429:
        return "Wait for retryAfter, or send less at a time";
      case 408:
        return "Send it again";
      default:
        if (status < 500) return "Correct the request; the interface is described at /docs of the service";
        return code === ""
          ? "Look at what stands before the service, and whether the service runs"
          : "Try again later; if it stays, give the request id to the operator";
    }
  }

  #notOurs(call: Call, response: Response, text: string, cause?: unknown): BadAnswer {
    const type = response.headers.get("Content-Type") ?? "no Content-Type";
    const json = response.ok && /\bjson\b/.test(type);
    return new BadAnswer(
      json
        ? `The answer to ${call.method} ${this.base}${call.path} broke off after ${text.length} characters. Ask again; if it stays, look at what stands before the service.`
        : `${this.base} answered ${call.method} ${call.path} with ${response.status} and ${type} instead of JSON: ${excerpt(text)}. That is a proxy or another server: see that baseUrl (ORGMEM_BASE_URL) is the service's own address.`,
      response.status,
      json,
      { cause },
    );
  }

  /** The body as text, up to a bound. */
  async #text(response: Response, most: number): Promise<string> {
    try {
      const { headers } = response;
      // What says how long it is need not be counted, and is read in one go.
      const said = headers.get("Content-Encoding") === null ? Number(headers.get("Content-Length") ?? NaN) : NaN;
      if (said <= most) return await response.text();
      const decoder = new TextDecoder();
      let text = "";
      let size = 0;
      if (response.body)
        for (const reader = response.body.getReader(); ; ) {
          const { done, value } = await reader.read();
          if (done) break;
          size += value.byteLength;
          if (size > most) {
            await reader.cancel();
            if (!response.ok) break;
            throw new BadAnswer(`The answer is longer than ${most} bytes. Ask for less at a time; exports.download gives a stream.`, response.status, false);
          }
          text += decoder.decode(value, { stream: true });
        }
      return text + decoder.decode();
    } catch (cause) {
      if (cause instanceof OrgmemError) throw cause;
      throw new BadAnswer(
        `The answer of ${this.base} broke off${reason(cause)}. Ask again; if it stays, look at what stands before the service.`,
        response.status,
        true,
        { cause },
      );
    }
  }

  #retryAfter(header: string | null): number | undefined {
    if (!header) return undefined;
    const wait = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - this.now();
    return Number.isNaN(wait) ? undefined : Math.max(wait, 0);
  }
}

/** Whether the same request may be answered otherwise a moment later. */
export function mayPass(error: unknown): boolean {
  if (error instanceof ApiError)
    return [408, 429, 502, 503, 504].includes(error.status) || (error.status === 409 && error.code === "idempotency_in_progress");
  return error instanceof ConnectionFailed || error instanceof TimedOut || (error instanceof BadAnswer && error.cutOff);
}

function baseOf(address: string, allowInsecure: boolean): string {
  let url: URL;
  try {
    url = new URL(address);
  } catch {
    throw new OrgmemError(`${JSON.stringify(address)} is no address. Set baseUrl (ORGMEM_BASE_URL) to one such as http://127.0.0.1:8080.`);
  }
  if (!/^https?:$/.test(url.protocol) || url.username || url.password || url.search || url.hash)
    throw new OrgmemError(`${url.protocol}//${url.host} as baseUrl (ORGMEM_BASE_URL) must be http or https, without user name, query and fragment.`);
  const here = /^(localhost|.*\.localhost|127(\.\d+){3}|\[::1\])$/.test(url.hostname);
  if (url.protocol === "http:" && !here && !allowInsecure)
    throw new OrgmemError(
      `The key would go to ${url.host} over plain HTTP, where everybody on the way can read it. Use https, or set allowInsecure if you trust the network.`,
    );
  return url.origin + url.pathname.replace(/\/+$/, "");
}

/** What fetch hides in the cause of its error. */
function reason(error: unknown): string {
  const cause = (error as { cause?: { code?: string; message?: string } } | undefined)?.cause;
  const why = cause?.code ?? cause?.message ?? (error as Error | undefined)?.message;
  return why ? ` (${why})` : "";
}

function excerpt(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line === "" ? "nothing" : JSON.stringify(line.length > 120 ? line.slice(0, 120) + "…" : line);
}
