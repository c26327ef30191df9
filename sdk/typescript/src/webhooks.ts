import { BadSignature } from "./errors.js";

/** What a delivery's body says. */
export interface WebhookEvent {
  /** The same in each delivery of one event: an event may come twice. */
  id: string;
  type: string;
  createdAt: string;
  data: Record<string, unknown>;
  [unknown: string]: unknown;
}

export interface VerifyOptions {
  /** How many seconds the delivery's time may be from now, in either direction. Default 300. */
  tolerance?: number | undefined;
  /** Milliseconds since 1970. */
  now?: (() => number) | undefined;
}

/**
 * Checks that a delivery was signed with the secret, now, and gives the event in it.
 *
 * @param payload the body as it came over the wire: JSON that was parsed and written again has another signature
 * @param header the header X-Svc-Signature; of several signatures in it, as while a secret changes, one has to fit
 * @param secret what the service answered when the endpoint was made, `whsec_` included
 */
export async function verifyWebhook(
  payload: string | Uint8Array | ArrayBuffer,
  header: string | readonly string[] | null | undefined,
  secret: string | undefined,
  { tolerance = 300, now = Date.now }: VerifyOptions = {},
): Promise<WebhookEvent> {
  if (!secret) throw new BadSignature("There is no secret to verify with. It was answered once, when the endpoint was made; make a new endpoint if it is lost.");
  let t = "";
  const signatures: string[] = [];
  for (const part of String(header ?? "").split(",")) {
    const [name, value = ""] = part.trim().split(/=(.*)/s, 2);
    if (name === "t") t = value;
    else if (name === "v1" && /^[0-9a-f]{64}$/i.test(value)) signatures.push(value);
  }
  if (!/^\d{1,15}$/.test(t) || signatures.length === 0)
    throw new BadSignature("The delivery has no signature that can be read. Give the whole header X-Svc-Signature, t=…,v1=…; without it the delivery is not the service's.");
  const body = typeof payload === "string" ? new TextEncoder().encode(payload) : new Uint8Array(payload);
  const head = new TextEncoder().encode(t + ".");
  const signed = new Uint8Array(head.length + body.length);
  signed.set(head);
  signed.set(body, head.length);
  const key = await crypto.subtle.importKey("raw", new TextEncoder().encode(secret), { name: "HMAC", hash: "SHA-256" }, false, ["verify"]);
  let fits = false;
  for (const signature of signatures) {
    const got = Uint8Array.from(signature.match(/../g)!, (hex) => parseInt(hex, 16));
    // verify compares in constant time.
    fits ||= await crypto.subtle.verify("HMAC", key, got, signed);
  }
  if (!fits)
    throw new BadSignature("The signature does not fit. Give the raw body, byte for byte, and this endpoint's secret; else the delivery is not the service's.");
  // Of a genuine delivery alone: of any other the time means nothing.
  const apart = now() / 1000 - Number(t);
  if (Math.abs(apart) > tolerance)
    throw new BadSignature(
      `The delivery was signed ${Math.round(Math.abs(apart))} s ${apart > 0 ? "ago" : "in the future"} by this machine's clock, and ${tolerance} s are allowed. If it came just now, the clocks are that far apart: set this machine's; else it is played again.`,
    );
  let event: unknown;
  let cause: unknown;
  try {
    event = JSON.parse(new TextDecoder().decode(body));
  } catch (error) {
    cause = error;
  }
  if (typeof event !== "object" || event === null || Array.isArray(event))
    throw new BadSignature("The signature fits, and the body is no JSON object, which the service never sends. See who else has this secret; make a new endpoint if somebody does.", { cause });
  return event as WebhookEvent;
}
