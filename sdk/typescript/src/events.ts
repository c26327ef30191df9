import { ApiError, BadAnswer } from "./errors.js";
import { mayPass, type Opened, type Transport } from "./transport.js";

/** The types that the service sends today; a newer one may send others. */
export type EventType =
  | "graph.updated"
  | "job.completed"
  | "insight.proposed"
  | "contradiction.detected"
  | "belief.superseded"
  | "basin.shifted"
  | "brain.trained"
  | "webhook.test"
  | "import.started"
  | "import.finished"
  | "identity.updated"
  | (string & {});

/** Something happened: ids and small values, never content. */
export interface StreamEvent {
  kind: "event";
  id: string;
  type: EventType;
  data: Record<string, unknown>;
  timestamp: string;
}

/**
 * The stream was interrupted and is open again. Nothing is replayed: what happened
 * from `since` on until now may be missing, so read again what matters.
 */
export interface StreamGap {
  kind: "gap";
  /** By the service's clock, as far as it is known. */
  since: string;
  /** For people: what the service said last, or what went wrong. */
  why: string;
}

export interface EventsOptions {
  /** Only these; without it all. Gaps always come. */
  types?: readonly EventType[] | undefined;
  /** Ends the iteration, which throws the signal's reason. */
  signal?: AbortSignal | undefined;
  /** Called whenever the stream is open: what happens from now on arrives. */
  onOpen?: (() => void) | undefined;
  /** Milliseconds without a sign of life after which the connection counts as lost. Default 45,000, three heartbeats. */
  silence?: number | undefined;
}

const maxEvent = 1 << 20; // characters
const longestRetryAfter = 300_000; // milliseconds; a longer Retry-After is cut to this
const steady = 10_000; // a stream that lasted this long was no failure, nor was one that told something
const heartbeat = 15_000; // after so much quiet the service sends one: docs/interface.md
// Events that are written at the same time need not arrive in the order of their times: a drain delays some by as much.
const disorder = 2_000;

export async function* watch(transport: Transport, options: EventsOptions): AsyncGenerator<StreamEvent | StreamGap, void, undefined> {
  const { signal, silence = 45_000 } = options;
  const types = options.types?.length ? new Set<string>(options.types) : undefined;
  const call = { method: "GET", path: "/v1/events", headers: { Accept: "text/event-stream" } } as const;
  // Milliseconds of the service's clock: whatever was written before has arrived. It is
  // made of what the service says, since what arrives may have lain in a buffer for as
  // long as the consumer was busy; there is none until the stream was open once.
  let since: number | undefined;
  let why = "";
  for (let failures = 0; ; ) {
    let opened: Opened;
    const asked = transport.now();
    if (since === undefined) {
      // A wrong address is an error, not a wait for ever.
      opened = await transport.open(call, { signal });
      if (!isStream(opened.response)) {
        opened.abort();
        throw new BadAnswer(`${transport.base} answered GET /v1/events with something that is no stream. See that baseUrl (ORGMEM_BASE_URL) is the service's own address.`, opened.response.status, false);
      }
    } else {
      signal?.throwIfAborted();
      await transport.sleep(transport.backOff(failures++), signal);
      try {
        opened = await transport.openOnce(call, { signal });
      } catch (error) {
        if (!mayPass(error) && !(error instanceof ApiError && error.status >= 500)) throw error;
        if (error instanceof ApiError && error.retryAfter) await transport.sleep(Math.min(error.retryAfter, longestRetryAfter), signal);
        continue;
      }
      if (!isStream(opened.response)) {
        // A page with 200 is what a proxy shows while there is nothing behind it.
        opened.abort();
        continue;
      }
    }
    const { response, abort } = opened;
    const began = transport.now();
    // A page of another origin is not shown the header: then our clock has to do.
    const openSince = Date.parse(response.headers.get("Date") ?? "") || asked;
    let events = 0;
    let timer: ReturnType<typeof setInterval> | undefined;
    try {
      options.onOpen?.();
      if (since !== undefined) yield { kind: "gap", since: new Date(since - disorder).toISOString(), why };
      since = openSince;
      why = "the connection was lost";
      const frames = new Frames();
      const decoder = new TextDecoder();
      const reader = response.body!.getReader();
      for (;;) {
        // Only while we wait: a consumer that takes its time is no silence.
        // And in three parts, since a process that was held up comes to its timers before
        // it comes to what has arrived.
        let quiet = 0;
        timer = setInterval(() => {
          if (++quiet < 3) return;
          why = `nothing came for ${silence} ms`;
          abort();
        }, silence / 3);
        const chunk = await reader.read().catch(() => undefined); // broken, silent, or cancelled
        clearInterval(timer);
        signal?.throwIfAborted();
        if (!chunk || chunk.done) break;
        for (const frame of frames.feed(decoder.decode(chunk.value, { stream: true }))) {
          if (frame.comment !== undefined) {
            // Another comment than a heartbeat is the last word.
            if (frame.comment === "ping") since = Math.min(since + heartbeat, openSince + transport.now() - began);
            else why = frame.comment;
            continue;
          }
          const event = eventOf(frame.data, frame.id);
          since = Date.parse(event.timestamp);
          events++;
          if (!types || types.has(event.type)) yield event;
        }
      }
    } catch (error) {
      // What was in it is not known: rather a gap than silence, or an end.
      if (!(error instanceof Broken)) throw error;
      why = error.message;
    } finally {
      clearInterval(timer);
      abort();
    }
    if (events > 0 || transport.now() - began > steady) failures = 0;
  }
}

/** What came is no event; the connection is given up. */
class Broken extends Error {}

function isStream({ status, headers, body }: Response): boolean {
  return status === 200 && body !== null && /^text\/event-stream\b/.test(headers.get("Content-Type") ?? "");
}

function eventOf(data: string, id: string): StreamEvent {
  try {
    const said = JSON.parse(data) as Omit<StreamEvent, "id" | "kind">;
    if (typeof said.type !== "string") throw new TypeError("no type");
    if (typeof said.data !== "object" || said.data === null || Array.isArray(said.data)) throw new TypeError("data is no object");
    if (Number.isNaN(Date.parse(said.timestamp))) throw new TypeError("no timestamp");
    return { ...said, kind: "event", id };
  } catch (cause) {
    throw new Broken(`what came is no event of the service: ${(cause as Error).message}`);
  }
}

/** Takes text as it arrives and gives what it completes, by the rules of event streams in the HTML standard. */
class Frames {
  #rest = "";
  #id = "";
  #data: string[] = [];
  #size = 0;

  *feed(text: string): Generator<{ comment: string } | { comment?: undefined; id: string; data: string }> {
    this.#rest += text;
    for (;;) {
      const end = /\r\n|\n|\r(?!$)/.exec(this.#rest); // a last CR may be half a line end
      if (!end) break;
      const line = this.#rest.slice(0, end.index);
      this.#rest = this.#rest.slice(end.index + end[0].length);
      if (line === "") {
        if (this.#data.length) yield { id: this.#id, data: this.#data.join("\n") };
        this.#id = "";
        this.#data = [];
        this.#size = 0;
      } else if (line[0] === ":") {
        yield { comment: line.slice(1).trim() };
      } else {
        const colon = line.indexOf(":");
        const name = colon < 0 ? line : line.slice(0, colon);
        const value = colon < 0 ? "" : line.slice(colon + (line[colon + 1] === " " ? 2 : 1));
        if (name === "id") this.#id = value;
        else if (name === "data") {
          this.#data.push(value);
          this.#size += value.length;
        }
      }
    }
    if (this.#rest.length > maxEvent || this.#size > maxEvent)
      throw new Broken("an event had no end within 1 MiB");
  }
}
