// The event stream in a browser, in one module that needs no other. A page's own
// EventSource cannot send the header with the key, so this reads the stream with
// fetch, and comes again when it ends: a node that is stopped ends its streams, and
// so does an organization's move to another node.
//
//	import { watchEvents } from "./client.js";
//	const watch = watchEvents({ key, onEvent: (event) => …, onState: (state, why) => … });
//	watch.close();

/**
 * What happened: ids and small values, never content. The id is empty where the
 * event has none.
 * @typedef {{ id: string, type: string, data: Record<string, unknown>, timestamp: string }} StreamEvent
 */

/**
 * - connecting: a request is under way.
 * - open: events arrive from now on. Nothing is replayed, so read again what is shown,
 *   the first time and after each gap.
 * - waiting: the stream has ended, or could not begin; the next attempt comes by itself.
 * - refused: the service does not want this caller, and there is no next attempt.
 * - closed: close was called.
 * @typedef {"connecting" | "open" | "waiting" | "refused" | "closed"} StreamState
 */

/**
 * @typedef {object} WatchOptions
 * @property {string} [base] where the service is; empty is the page's own origin
 * @property {string} key the API key; it is kept in memory alone
 * @property {(event: StreamEvent) => void} onEvent
 * @property {(state: StreamState, why: string) => void} [onState] why is for people: what the
 *   service said last, or what went wrong
 */

// All times are milliseconds.
const firstPause = 500; // a node's leaderships are elsewhere by then
const longestPause = 30_000; // an open page costs a service that is down two requests a minute
const longestRetryAfter = 300_000; // whoever asks for more is asked again all the same
const steady = 10_000; // a stream that lasted this long was no failure, nor was one that told something
const longestAfterEnd = 4_000; // a stream that said that it ends was no failure either, but it may be a node that does so again
const silence = 45_000; // three heartbeats that did not come: nobody is there any more
const maxLine = 1 << 20; // characters; an event has some hundred

/**
 * Frames takes text as it arrives and gives what it completes, by the rules of
 * "Interpreting an event stream" in the HTML standard. A comment is a frame with
 * nothing else.
 */
export class Frames {
  #rest = "";
  #frame = { event: "", id: "", data: /** @type {string[]} */ ([]) };

  /**
   * @param {string} text
   * @returns {Generator<{ comment: string } | { event: string, id: string, data: string }>}
   */
  *feed(text) {
    this.#rest += text;
    for (;;) {
      const end = /\r\n|\n|\r(?!$)/.exec(this.#rest); // a last CR may be half a line end
      if (end === null) break;
      const line = this.#rest.slice(0, end.index);
      this.#rest = this.#rest.slice(end.index + end[0].length);
      if (line === "") {
        const { event, id, data } = this.#frame;
        this.#frame = { event: "", id: "", data: [] };
        if (data.length > 0) yield { event: event || "message", id, data: data.join("\n") };
      } else if (line.startsWith(":")) {
        yield { comment: line.slice(1).trim() };
      } else {
        this.#field(line);
      }
    }
    if (this.#rest.length > maxLine) throw new Error("a line of the stream has no end");
  }

  /** @param {string} line */
  #field(line) {
    const [, name, value] = /** @type {string[]} */ (/^([^:]*)(?:: ?)?(.*)$/s.exec(line));
    if (name === "data") this.#frame.data.push(value ?? "");
    else if (name === "event" || name === "id") this.#frame[name] = value ?? "";
  }
}

/**
 * Watches until close is called or the service refuses the caller.
 * @param {WatchOptions} options
 */
export function watchEvents(options) {
  const closed = new AbortController();
  void watch(options, closed.signal);
  return { close: () => closed.abort() };
}

/**
 * @param {WatchOptions} options
 * @param {AbortSignal} closed
 */
async function watch({ base = "", key, onEvent, onState = () => {} }, closed) {
  for (let failures = 0; !closed.aborted; failures++) {
    const gone = new AbortController(); // of this connection alone
    let alarm = setTimeout(() => gone.abort(), silence);
    let why = "the connection was lost";
    let pause = 0;
    let began = Infinity;
    let told = false;
    let ended = false; // by the service, which said so
    try {
      tell(onState, "connecting", "");
      const response = await fetch(base + "/v1/events", {
        headers: { "X-Svc-API-Key": key, Accept: "text/event-stream" },
        cache: "no-store",
        signal: AbortSignal.any([closed, gone.signal]),
      });
      if (response.ok && !isStream(response)) {
        // A page with 200 is what a proxy shows while there is nothing behind it.
        why = "what answered is no event stream";
        await response.body?.cancel();
      } else if (!response.ok) {
        why = `the service answered ${response.status}`;
        await response.body?.cancel();
        if (response.status !== 429 && response.status < 500) {
          tell(onState, "refused", why);
          return;
        }
        // In seconds; a date, which the service never sends, counts as nothing.
        pause = Math.min(1000 * (Number(response.headers.get("Retry-After")) || 0), longestRetryAfter);
      } else {
        began = performance.now();
        tell(onState, "open", "");
        const frames = new Frames();
        const body = /** @type {NonNullable<typeof response.body>} */ (response.body);
        for (const reader = body.pipeThrough(new TextDecoderStream()).getReader(); ; ) {
          const { done, value } = await reader.read();
          if (done) break;
          clearTimeout(alarm);
          alarm = setTimeout(() => gone.abort(), silence);
          for (const frame of frames.feed(value)) {
            if (closed.aborted) break; // a handler has closed
            if (!("comment" in frame)) {
              told = true;
              tell(take, onEvent, frame);
            } else if (frame.comment !== "ping") {
              ended = true;
              why = frame.comment;
            }
          }
        }
      }
    } catch (error) {
      if (!gone.signal.aborted) why = String(error);
    }
    clearTimeout(alarm);
    gone.abort(); // nothing of it is read any more
    if (closed.aborted) break;
    if (told || performance.now() - began > steady) failures = 0;
    tell(onState, "waiting", why);
    // Jitter: those whose streams ended together do not come back together.
    const backOff = Math.min(firstPause * 2 ** failures, ended ? longestAfterEnd : longestPause);
    await sleep(pause + backOff * (0.5 + Math.random() / 2), closed);
  }
  tell(onState, "closed", "");
}

/**
 * @param {Response} response
 */
function isStream({ status, headers, body }) {
  return status === 200 && body !== null && /^text\/event-stream\b/.test(headers.get("Content-Type") ?? "");
}

/**
 * @param {(event: StreamEvent) => void} onEvent
 * @param {{ id: string, data: string }} frame
 */
function take(onEvent, frame) {
  onEvent({ id: frame.id, ...JSON.parse(frame.data) });
}

/**
 * Calls a handler. What it throws is the page's affair, and ends no stream.
 * @template {unknown[]} A
 * @param {(...args: A) => void} handler
 * @param {A} args
 */
function tell(handler, ...args) {
  try {
    handler(...args);
  } catch (error) {
    reportError(error);
  }
}

/**
 * @param {number} ms
 * @param {AbortSignal} signal ends it early
 */
function sleep(ms, signal) {
  return new Promise((resolve) => {
    const timer = setTimeout(end, ms);
    signal.addEventListener("abort", end, { once: true });
    function end() {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      resolve(undefined);
    }
  });
}
