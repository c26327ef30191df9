// A server whose answers a test writes, and a client of it that waits for nothing.
import { createServer } from "node:http";
import { once } from "node:events";
import { Orgmem } from "../dist/index.js";

/**
 * Answers each request with what `answer` does; gives the requests that came.
 * @param {import("node:test").TestContext} t
 * @param {(request: { method: string, url: string, headers: Record<string, string>, body: Buffer, n: number }, response: import("node:http").ServerResponse) => void} answer
 */
export async function stub(t, answer) {
  const requests = [];
  const server = createServer((request, response) => {
    const chunks = [];
    request.on("data", (chunk) => chunks.push(chunk));
    request.on("end", () => {
      const seen = { method: request.method, url: request.url, headers: request.headers, body: Buffer.concat(chunks), n: requests.length };
      requests.push(seen);
      answer(seen, response);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { baseUrl: `http://127.0.0.1:${server.address().port}`, requests, server };
}

/** A client whose sleeps are written down and not slept, and whose jitter is all of it. */
export function patient(baseUrl, options = {}) {
  const slept = [];
  const memory = new Orgmem({
    apiKey: "svc_prod_test",
    baseUrl,
    random: () => 1,
    sleep: async (ms) => void slept.push(ms),
    ...options,
  });
  return { memory, slept };
}

export function json(response, value, status = 200, headers = {}) {
  response.writeHead(status, { "Content-Type": "application/json", ...headers }).end(JSON.stringify(value));
}

export function problem(response, status, code, more = {}, headers = {}) {
  json(response, { type: `/docs/errors/${code}`, title: "A title", status, detail: "A detail.", code, requestId: "req-1", ...more }, status, {
    "Content-Type": "application/problem+json",
    ...headers,
  });
}
