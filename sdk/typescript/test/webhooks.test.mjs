import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { test } from "node:test";
import { BadSignature, Orgmem, OrgmemError, verifyWebhook } from "../dist/index.js";

// The vector of docs/webhooks.md.
const secret = "whsec_dGVzdA==";
const t = 1700000000;
const body = '{"id":"1"}';
const v1 = "c7ac13b57a8d16147c9757c695353f4addfb92d54e2585d0ada5784333af2450";
const header = `t=${t},v1=${v1}`;
const signed = (raw) => `t=${t},v1=${createHmac("sha256", secret).update(`${t}.`).update(raw).digest("hex")}`;
const at = (seconds) => ({ now: () => seconds * 1000 });

test("the vector of the documentation is verified, from every form of a body", async () => {
  const bytes = new TextEncoder().encode(body);
  for (const payload of [body, bytes, Buffer.from(body), bytes.buffer]) assert.deepEqual(await verifyWebhook(payload, header, secret, at(t)), { id: "1" });
  const memory = new Orgmem({ apiKey: "k", ...at(t) });
  assert.deepEqual(await memory.webhooks.verify(body, header, secret), { id: "1" });
  assert.deepEqual(await verifyWebhook(body, `v1=${v1.toUpperCase()}, t=${t}, v2=later`, secret, at(t)), { id: "1" });
});

test("bytes that are no UTF-8 are verified as they are", async () => {
  const raw = Buffer.from([...Buffer.from('{"id":"'), 0xff, 0xfe, ...Buffer.from('"}')]);
  assert.deepEqual(await verifyWebhook(raw, signed(raw), secret, at(t)), { id: "\ufffd\ufffd" });
});

test("of several signatures one has to fit, whichever", async () => {
  const other = "0".repeat(64);
  for (const head of [`t=${t},v1=${v1},v1=${other}`, `t=${t},v1=${other},v1=${v1}`, `t=${t},v1=later,v1=${v1},v1=`, [`t=${t}`, `v1=${v1}`]])
    assert.deepEqual(await verifyWebhook(body, head, secret, at(t)), { id: "1" }, String(head));
  await assert.rejects(verifyWebhook(body, `t=${t},v1=${other},v1=${other}`, secret, at(t)), BadSignature);
});

test("a body that is signed and no event is refused, and no error of JSON's", async () => {
  for (const raw of ["", "{", "<h1>", "null", "[]", '"text"'])
    await assert.rejects(verifyWebhook(raw, signed(raw), secret, at(t)), (error) => error instanceof BadSignature && /no JSON object/.test(error.message), raw);
});

test("what is not signed by the secret, or not readable, is refused", async () => {
  const zeros = "0".repeat(64);
  for (const [payload, head, key] of [
    [body + " ", header, secret],
    [body, header, secret + "x"],
    [body, header, ""],
    [body, header, undefined],
    [undefined, header, secret],
    [{ id: "1" }, header, secret],
    [body, `t=${t + 1},v1=${v1}`, secret],
    [body, `t=${t},v1=${zeros}`, secret],
    [body, `t=${t},v1=${v1.slice(2)}`, secret],
    [body, `t=${t},v1=${"zz" + v1.slice(2)}`, secret],
    [body, `t=,v1=${v1}`, secret],
    [body, `t=1e9,v1=${v1}`, secret],
    [body, v1, secret],
    [body, "", secret],
    [body, undefined, secret],
    [body, null, secret],
    [body, [], secret],
  ])
    await assert.rejects(verifyWebhook(payload, head, key, at(t)), (error) => error instanceof BadSignature && error instanceof OrgmemError && /\. .*\.$/.test(error.message), String(head));
});

test("a clock that is off is said, with how far and in which direction", async () => {
  await verifyWebhook(body, header, secret, at(t + 300));
  await verifyWebhook(body, header, secret, at(t - 300));
  await assert.rejects(verifyWebhook(body, header, secret, at(t + 301)), /301 s ago.*300 s are allowed.*set this machine's/);
  await assert.rejects(verifyWebhook(body, header, secret, at(t - 7200)), /7200 s in the future/);
  await verifyWebhook(body, header, secret, { ...at(t + 7200), tolerance: 7200 });
  await assert.rejects(verifyWebhook(body, header, secret, { ...at(t + 2), tolerance: 1 }), BadSignature);
  // A sender that cannot sign learns nothing of the clock.
  await assert.rejects(verifyWebhook(body + " ", header, secret, at(t + 7200)), /does not fit/);
});
