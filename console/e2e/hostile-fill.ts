// A memory full of hostile texts that has been through a cognition cycle: what is derived from them is hostile, too.
import { Orgmem, type Domain, type NewConnector, type Node } from "orgmem";
import { long, markup, odd, requestId, templates, texts, words } from "./hostile";
import { expect, type Service } from "./service";

/** What was made of the texts, as the service has it. */
export interface Made {
  /** One for each text, which is its title, its content and a part of its external id; and one for each word. */
  nodes: Node[];
  /** Has all texts for its content. */
  all: Node;
  labels: string[];
  sandboxLabels: string[];
  subjects: string[];
  urls: string[];
  connectors: string[];
  job: string;
  webhook: string;
  connector: string;
  /** Has a label and keywords that were read out of markup, and members whose titles are markup. */
  domain: Domain;
  /** Somebody whose id is markup, and who has something in memory. */
  somebody: string;
  /** An organization whose name and members are hostile. */
  named: { key: string; name: string; emails: string[] };
}

/** Of a file that was imported: a path would be cut off. */
export const filename = `<img data-hostile src=x onerror=alert(1)>.md`;

const visible = (text: string): boolean => /[\p{L}\p{N}\p{P}\p{S}]/u.test(text);
const fits = (text: string, bytes: number): boolean => Buffer.byteLength(text) <= bytes;
const bold = (text: string): string => `<b data-hostile>${text}</b>`;
const image = `<img data-hostile src=x onerror="window.hostile=1">`;

/**
 * Statements that contradict each other, that tell what is to come and who does what, and people who are told of
 * together: from each of them a cycle derives something, and quotes the markup that they are written in.
 */
const said: readonly [title: string, content: string, occurredAt: string][] = [
  ["Kiln", `${image} The kiln in the studio reaches 1260 degrees. Tomas says it is safe for stoneware.`, "2026-05-11T09:00:00Z"],
  ["Kiln, measured", `${image} The kiln in the studio reaches 1180 degrees. We measured it with two cones.`, "2026-09-28T09:00:00Z"],
  ["Pool", `The swimming pool is open on Sundays. ${image} Mara swims there with the children.`, "2026-07-30T09:00:00Z"],
  ["Pool closed", `The swimming pool is not open on Sundays. ${markup["script"]} Mara swims on Saturdays now.`, "2026-10-18T09:00:00Z"],
  ["Alarm", `${image} The alarm code of the studio is ${bold("4711")}, wrote Priya.`, "2026-06-01T09:00:00Z"],
  ["Alarm, new", `${image} The alarm code of the studio is ${bold("8822")}, wrote Priya.`, "2026-06-09T09:00:00Z"],
  ["Fair", `The pottery fair opens on 19 December 2027 at 18:00 in the ${bold("old mill")}.`, "2026-06-10T09:00:00Z"],
  ["Team", `Every Wednesday at 10 the studio team meets in the ${bold("kitchen")}. Tomas brings the list.`, "2026-06-11T09:00:00Z"],
  ["Orders", `Ines is responsible for the ${bold("clay orders")} now.`, "2026-06-12T09:00:00Z"],
  ["Ferry", `Oskar Lindqvist missed the ferry to Gotland, so Wilma Krook waited at the quay. ${image}`, "2026-06-13T09:00:00Z"],
  ["Invoice", `Wilma Krook sent the invoice for the scaffolding, and Oskar Lindqvist paid it. ${image}`, "2026-06-14T09:00:00Z"],
  ["Choir", `At the choir's concert Oskar Lindqvist sang bass and Wilma Krook played the organ. ${image}`, "2026-06-15T09:00:00Z"],
  ["Beehive", `Farid Haddad inherited a beehive, and Greta Olsen built a fence around it. ${image}`, "2026-06-16T09:00:00Z"],
  ["Tax", `Greta Olsen filed the tax return that Farid Haddad had signed. ${image}`, "2026-06-17T09:00:00Z"],
  ["Telescope", `Through the telescope Farid Haddad showed Greta Olsen the rings of Saturn. ${image}`, "2026-06-18T09:00:00Z"],
];

/** Somebody's diary on three themes, for a voice and places of thought. */
const diary: Record<string, readonly string[]> = {
  Lake: ["paddled across the lake at dawn, the water was flat and cold. priya was faster than me again!", "wind from the north, waves on the lake, we turned around at the island and drank tea.", "the kayak has a scratch below the seat, i will fix it with resin. tomas has some left.", "rain all day, so we repaired the boat house roof. priya brought soup for everybody.", "cold hands on the lake again! need better gloves, mara knows a shop in harlow.", "first evening with lights on the kayak, we saw a heron at the reeds."],
  Studio: ["threw twelve bowls, nine of them survived. the new clay is softer than the old one.", "the glaze ran down the foot of every mug, i think it was too thick. tomas laughed.", "opened the kiln too early, two plates cracked. patience is not my talent!", "bisque firing done, 980 degrees, nothing broke. the shelves need new wash.", "the wheel makes a noise again, the belt is worn. tomas orders a new one.", "taught four beginners in the studio, they all wanted to make a mug and made bowls."],
  Bread: ["fed the sourdough starter, it doubled in four hours. the kitchen smells of apples.", "baked two loaves with rye, the crust was perfect, the crumb a bit wet.", "tried 80 percent hydration, the dough was soup. i will go back to 72.", "baked for the team, they ate everything before ten. tomas asked for the recipe.", "forgot the salt in the bread. nobody noticed but lena, who notices everything.", "the oven door does not close properly, the bread is pale at the left side."],
};

const patience = 150_000; // milliseconds, for a cycle on a busy machine

/** Has the service think over what a person wrote in markup. */
async function tell(memory: Orgmem): Promise<void> {
  const day = (n: number): string => new Date(Date.UTC(2026, 3 + (n % 7), 3 + n)).toISOString();
  await memory.add(
    [
      ...said.map(([title, content, occurredAt]) => ({ title: `${title} ${bold("told")}`, content, occurredAt })),
      ...Object.entries(diary).flatMap(([theme, lines]) => lines.map((line, i) => ({ title: `${theme} <u data-hostile>, ${i + 1}`, content: `${line} ${image}`, occurredAt: day(i) }))),
    ],
    { wait: true, waitFor: patience },
  );
}

/** Waits until of everything that a cycle derives something is hostile and no cycle is at work, and returns a domain. */
export async function derived(memory: Orgmem): Promise<Domain> {
  const hostile = (value: unknown): boolean => /hostile|onerror/.test(JSON.stringify(value));
  let domain: Domain | undefined;
  const missing = async (): Promise<string[]> => {
    const [domains, contradictions, proposals, insights, identity, time, graph, ...atWork] = await Promise.all([
      memory.domains.list().take(50),
      memory.contradictions.list().take(50),
      memory.proposals.list({ status: "open" }).take(50),
      memory.recall.insightList().take(50),
      memory.recall.identity(),
      memory.recall.temporal(),
      memory.recall.graph(),
      ...(["queued", "running"] as const).map((status) => memory.jobs.list({ status, type: "cognition" }).take(1)),
    ]);
    domain = domains.find((d) => hostile(d.label) && d.nodeCount > 2);
    const found = {
      "a domain": domain,
      "a contradiction": contradictions.map((c) => c.explanation),
      "a proposal": proposals.map((p) => p.rationale),
      "an insight": insights.map((i) => i.title),
      "a place": identity.basins.map((b) => [b.label, b.keywords]),
      "a portrait": identity.portrait.map((p) => p.text),
      "an event": time.events.map((e) => e.title),
      "a recurrence": time.recurrences.map((r) => r.title),
      "a graph": graph.nodes,
    };
    const lacks = Object.entries(found).flatMap(([name, values]) => (values && hostile(values) ? [] : [name]));
    return [...lacks, ...(identity.voiceProfile ? [] : ["a voice"]), ...(atWork.flat().length > 0 ? ["an end of the cycle"] : [])];
  };
  await expect.poll(missing, { message: "what was not derived", timeout: patience }).toEqual([]);
  return domain!;
}

/** An organization that somebody named, with members whose addresses are quoted strings. */
async function name({ url, operatorUrl, operatorToken }: Service): Promise<Made["named"]> {
  const post = async (path: string, body: unknown): Promise<Record<string, string>> => {
    const headers = { Authorization: `Bearer ${operatorToken}`, "Content-Type": "application/json" };
    const answer = await fetch(operatorUrl + path, { method: "POST", headers, body: JSON.stringify(body) });
    if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${await answer.text()}`);
    return (await answer.json()) as Record<string, string>;
  };
  const called = `${markup["image"]} & sons ${odd["override"]}`;
  const emails = [`"<img data-hostile src=x onerror=alert(1)>"@x.example`, `"\u202egnp.\u202c שלום"@x.example`];
  const { orgId, apiKey } = await post("/operator/orgs", { name: called, ownerEmail: emails[0] });
  await post(`/operator/orgs/${orgId}/members`, { email: emails[1], role: "member" });
  const kept = await new Orgmem({ baseUrl: url, apiKey: apiKey! }).members().take(emails.length);
  return { key: apiKey!, name: called, emails: kept.map((member) => member.email) };
}

/** Puts the texts wherever the interface takes a text. */
export async function fill(service: Service): Promise<Made> {
  const { memory, receiver } = service;
  const given = [...texts, ...words];
  const items = given.map((text, i) => ({
    content: text.repeat(2),
    title: text.slice(0, 500),
    externalId: `${text}#${i}`.slice(0, 512),
    metadata: { tags: [text, text], [text.slice(0, 200)]: text, nested: { [text.slice(0, 100)]: [{ text }] } },
  }));
  await memory.add([...items, { content: texts.join("\n"), title: "All at once <b data-hostile>", externalId: "hostile-all" }, { content: long(4_000), title: long(400), externalId: "hostile-long" }], {
    wait: true,
    waitFor: 240_000,
  });
  const job = await memory.add(
    given.slice(0, 20).map((text, i) => ({ content: `${text} once more, in a job of its own`, externalId: `${text.slice(0, 400)}#job${i}` })),
    { wait: true },
  );
  await tell(memory);
  const nodes = await Promise.all(
    items.map(async ({ externalId }) => {
      const node = await memory.find(externalId);
      if (!node) throw new Error(`nothing has the external id ${JSON.stringify(externalId)}`);
      return node;
    }),
  );
  const all = (await memory.find("hostile-all"))!;
  await memory.edges.assert({ source: all.id, target: nodes[0]!.id, type: "related" });
  await memory.update(nodes[1]!.id, { title: markup["script"]! });
  await memory.supersede(nodes[2]!.id, `${markup["vector"]} instead`, markup["form"]!);
  await memory.delete(nodes[3]!.id);

  const labels = given.filter((t) => visible(t) && [...t].length <= 200);
  for (const label of labels.slice(0, 24)) await memory.keys.create({ label, scopes: ["read"] });
  for (const label of labels.slice(24)) await memory.sandbox.keys.create({ label, ttlSeconds: 3_600 });

  const subjects = given.filter((t) => fits(t, 256) && !/\p{Cc}/u.test(t)).slice(0, 45);
  for (const id of subjects) {
    await memory.subjects.put(id);
    if (/script|__proto__|gnp/.test(id)) await memory.subject(id).add(`${markup["image"]} of ${id}`, { wait: true });
  }

  const path = (text: string): string => `https://localhost:${receiver.port}/` + text.replace(/[^\x21-\x7e]/g, "_");
  const urls = [...Object.values(markup), ...Object.values(templates)].map(path).slice(0, 15);
  const hooks = [];
  for (const address of urls) hooks.push(await memory.webhooks.create({ url: address, eventTypes: ["webhook.test"] }));
  // What a receiver answers is kept with the delivery, and is somebody's text as well.
  [receiver.status, receiver.answer] = [200, markup["image"]!];
  await memory.webhooks.test(hooks[0]!.id);

  const connectors = labels.slice(0, 20);
  let connector = "";
  for (const name of connectors)
    // The generated type of config is that of no kind: see src/views/trust/connectors.ts.
    connector = (await memory.connectors.create({ type: "feed", name, enabled: false, config: { url: path(name) } } as unknown as NewConnector)).id;

  // A file's name and a session's id are the client's, too. Neither is waited for: what they become is not looked at by name.
  await memory.imports.upload(new File([`${markup["image"]}\n\nA letter about ${markup["script"]}.`], filename));
  await memory.sessions.push({ sessionId: markup["script"]!, role: "user", text: `${markup["image"]} ${odd["override"]}`, cwd: markup["element"]! });
  await memory.exports.create({});
  // The audit trail keeps the id that a caller gave its request.
  const headers = { "X-Svc-API-Key": service.key, "X-Request-Id": requestId, "Content-Type": "application/json" };
  const answer = await fetch(`${service.url}/v1/purge`, { method: "POST", headers, body: JSON.stringify({ scope: "org" }) });
  expect(answer.status, "a preview of a purge").toBe(200);
  return {
    nodes, all, subjects, urls, connectors, connector,
    labels: labels.slice(0, 24),
    sandboxLabels: labels.slice(24),
    job: job.id,
    webhook: hooks[0]!.id,
    somebody: subjects.find((id) => id.startsWith("<script"))!,
    named: await name(service),
    domain: await derived(memory),
  };
}

