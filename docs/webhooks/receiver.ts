// A receiver of webhooks in TypeScript, with nothing but Node's standard library.
// Compile and run it with
//
//	npm install typescript @types/node
//	npx tsc --module nodenext --target es2022 --types node receiver.ts
//	WEBHOOK_SECRET=whsec_… node receiver.js CERTIFICATE KEY ADDRESS

import { createHmac, timingSafeEqual } from "node:crypto";
import { readFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";

// How old a delivery may be, in seconds: enough for a clock that is off, little
// enough that a delivery somebody recorded cannot be played again tomorrow.
const tolerance = 300;

// verify throws unless a delivery was signed with the secret, now. body is what came
// over the wire, byte for byte: JSON that was parsed and written again has another
// signature.
export function verify(secret: string, header: string, body: Buffer, now: number): void {
  const parts = new Map<string, string>();
  for (const part of header.split(",")) {
    const at = part.indexOf("=");
    parts.set(part.slice(0, Math.max(at, 0)), part.slice(at + 1));
  }
  const t = parts.get("t") ?? "";
  if (!/^[0-9]+$/.test(t)) throw new Error("the signature names no time");
  if (Math.abs(now - Number(t)) > tolerance) throw new Error("the delivery is too old, or from the future");
  // The whole secret is the key, whsec_ included.
  const want = createHmac("sha256", secret).update(t + ".").update(body).digest();
  const got = Buffer.from(parts.get("v1") ?? "", "hex");
  if (got.length !== want.length || !timingSafeEqual(got, want)) throw new Error("the signature does not fit");
}

interface Envelope {
  id: string;
  type: string;
}

const [certificate, key, address] = process.argv.slice(2);
const secret = process.env["WEBHOOK_SECRET"] ?? "";
if (secret === "" || certificate === undefined || key === undefined || address === undefined) {
  console.error("WEBHOOK_SECRET=whsec_… node receiver.js CERTIFICATE KEY ADDRESS");
  process.exit(2);
}

const server = createServer({ cert: readFileSync(certificate), key: readFileSync(key) }, (request: IncomingMessage, response: ServerResponse) => {
  const chunks: Buffer[] = [];
  let size = 0;
  request.on("data", (chunk: Buffer) => {
    size += chunk.length;
    if (size > 1 << 20) request.destroy();
    chunks.push(chunk);
  });
  request.on("end", () => {
    const body = Buffer.concat(chunks);
    try {
      verify(secret, String(request.headers["x-svc-signature"] ?? ""), body, Date.now() / 1000);
      const event = JSON.parse(body.toString("utf8")) as Envelope;
      // An event may come twice: remember event.id before you act on it.
      console.log("verified", event.id, event.type);
      response.writeHead(204).end(); // within ten seconds, or it counts as failed
    } catch (why) {
      console.log("refused", why instanceof Error ? why.message : why);
      response.writeHead(400).end();
    }
  });
});
const colon = address.lastIndexOf(":");
server.listen(Number(address.slice(colon + 1)), address.slice(0, colon), () => {
  console.log("listening", `${address.slice(0, colon)}:${(server.address() as AddressInfo).port}`);
});
