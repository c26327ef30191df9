import { Orgmem, RateLimited, type Accepted } from "orgmem";
import { session } from "../../../lib/session.svelte";
import { pause } from "../../../lib/watch";

/** Bytes of the request that have left, of how many. */
export type Sent = (sent: number, total: number) => void;

/**
 * A fetch that tells how much of the body has left, which the browser's own does
 * not: for the client, which speaks to the service as ever.
 */
function telling(tell: Sent): typeof fetch {
  return (input, init) =>
    new Promise<Response>((resolve, reject) => {
      const request = new Request(input instanceof Request ? input.url : input, { method: init?.method, headers: init?.headers });
      const xhr = new XMLHttpRequest();
      xhr.open(request.method, request.url);
      request.headers.forEach((value, name) => xhr.setRequestHeader(name, value));
      xhr.responseType = "arraybuffer";
      xhr.upload.onprogress = (e) => tell(e.loaded, e.total);
      xhr.onload = () => {
        const headers = new Headers();
        for (const line of xhr.getAllResponseHeaders().trim().split(/\r?\n/)) {
          const at = line.indexOf(":");
          if (at > 0) headers.append(line.slice(0, at), line.slice(at + 1).trim());
        }
        resolve(new Response(xhr.status === 204 ? null : (xhr.response as ArrayBuffer), { status: xhr.status, statusText: xhr.statusText, headers }));
      };
      xhr.onerror = () => reject(new TypeError("Failed to fetch"));
      xhr.onabort = () => reject(init?.signal?.reason ?? new DOMException("Aborted", "AbortError"));
      init?.signal?.addEventListener("abort", () => xhr.abort(), { once: true });
      if (init?.signal?.aborted) return reject(init.signal.reason);
      xhr.send(init?.body as XMLHttpRequestBodyInit | null);
    });
}

const longestPause = 60_000; // milliseconds that a limit of the rate is waited for

/** Sends one file; waits where the service takes no more files for now. */
export async function upload(file: File, kind: "file" | "transcript", tell: Sent, signal: AbortSignal): Promise<Accepted> {
  const own = new Orgmem({ apiKey: session.key, baseUrl: location.origin, allowInsecure: true, fetch: telling(tell), maxRetries: 0 });
  const client = session.subject ? own.subject(session.subject) : own;
  for (;;) {
    try {
      return await (kind === "file" ? client.imports.upload(file, { signal }) : client.imports.transcript(file, { signal }));
    } catch (error) {
      if (!(error instanceof RateLimited)) throw error;
      await pause(Math.min(error.retryAfter ?? 1_000, longestPause), signal);
    }
  }
}
