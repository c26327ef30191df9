/** A call as one would type it: the same request in four languages. */
export interface Call {
  method: "GET" | "POST" | "PATCH" | "PUT" | "DELETE";
  path: string;
  body?: unknown;
  subject?: string;
  /** The verb of the clients, for example search or brain.query, with its first argument and named options. */
  verb: string;
  argument: string;
  /** Values of JSON; objects in them, too, such as the filters of a search. */
  options?: Record<string, unknown>;
}

type Fields = Record<string, unknown>;

const quote = (s: string): string => `'${s.replaceAll("'", `'\\''`)}'`;
const snake = (name: string): string => name.replace(/[A-Z]/g, (c) => "_" + c.toLowerCase());
/** As Go writes names: domainId is DomainID. */
const pascal = (name: string): string => (name.charAt(0).toUpperCase() + name.slice(1)).replace(/Id$/, "ID");
const isFields = (v: unknown): v is Fields => typeof v === "object" && v !== null && !Array.isArray(v);
const isTime = (v: unknown): v is string => typeof v === "string" && /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(v);

/**
 * A value as JSON, with what nobody sees written as its number: Go takes no U+FEFF within a file, some terminals and editors
 * drop or obey such characters, and who copies a command is to see all of it. What JSON says of a text, each of the four
 * languages says likewise. Characters beyond the first 65,536 are pairs of numbers in JSON alone, and stay as they are.
 */
const json = (v: unknown): string => JSON.stringify(v).replace(/[\u007f-\uffff]/g, (c) => (/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(c) ? "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0") : c));

const listed = (fields: Fields, each: (value: unknown, name: string) => string, name: (name: string) => string = json): string =>
  Object.entries(fields).map(([k, v]) => `${name(k)}: ${each(v, k)}`).join(", ");

function tsValue(v: unknown): string {
  if (Array.isArray(v)) return `[${v.map(tsValue).join(", ")}]`;
  // In an object that is written out, a plain "__proto__" sets what it inherits from.
  if (isFields(v)) return `{ ${listed(v, tsValue, (k) => (k === "__proto__" ? `[${json(k)}]` : /^[a-z]\w*$/i.test(k) ? k : json(k)))} }`;
  return json(v);
}

function pyValue(v: unknown): string {
  if (v === true) return "True";
  if (v === false) return "False";
  if (v === null || v === undefined) return "None";
  if (Array.isArray(v)) return `[${v.map(pyValue).join(", ")}]`;
  return isFields(v) ? `{${listed(v, pyValue)}}` : json(v);
}

function goTime(iso: string): string {
  const t = new Date(iso);
  const parts = [t.getUTCFullYear(), t.getUTCMonth() + 1, t.getUTCDate(), t.getUTCHours(), t.getUTCMinutes(), t.getUTCSeconds(), t.getUTCMilliseconds() * 1_000_000];
  return `time.Date(${parts.join(", ")}, time.UTC)`;
}

function goValue(v: unknown, name: string): string {
  if (isTime(v)) return goTime(v);
  if (Array.isArray(v)) return `[]string{${v.map((each) => goValue(each, name)).join(", ")}}`;
  if (!isFields(v)) return json(v);
  // What a client writes into metadata has names of its own; every other object is a struct of the client's.
  return name === "metadata" ? `map[string]any{${listed(v, json)}}` : `orgmem.Search${pascal(name)}{${goFields(v)}}`;
}

const goFields = (fields: Fields): string => listed(fields, goValue, pascal);

/** What is asked, as a whole program: a visitor would have to complete a part of one. */
function goProgram(config: string, client: string, asked: string): string {
  const packages = ["context", "encoding/json", "log", "os", ...(asked.includes("time.Date(") ? ["time"] : [])];
  return `package main

import (
${packages.map((name) => `\t"${name}"`).join("\n")}

\torgmem "orgmem/sdk/go"
)

func main() {
\tmemory, err := orgmem.New(orgmem.Config{${config}}) // the key is in ORGMEM_API_KEY
\tif err != nil {
\t\tlog.Fatal(err)
\t}
\tanswer, err := ${client}.${asked}
\tif err != nil {
\t\tlog.Fatal(err)
\t}
\tout := json.NewEncoder(os.Stdout)
\tout.SetIndent("", "  ")
\tif err := out.Encode(answer); err != nil {
\t\tlog.Fatal(err)
\t}
}
`;
}

/** Commands that print what the service answers. The key is named by its variable, never written out: they are copied into chats. */
export function commands(call: Call, origin: string): { name: string; text: string }[] {
  const { method, path, body, subject, verb, argument, options = {} } = call;
  const given = Object.fromEntries(Object.entries(options).filter(([, v]) => v !== undefined && v !== "" && !(isFields(v) && Object.keys(v).length === 0)));
  const some = Object.keys(given).length > 0;
  const curl = [
    `curl ${method === "GET" ? "" : `-X ${method} `}${quote(origin + path)}`,
    `-H "X-Svc-API-Key: $ORGMEM_API_KEY"`,
    ...(subject ? [`-H ${quote("X-Svc-Subject: " + encodeURIComponent(subject))}`] : []),
    ...(body === undefined ? [] : [`-H 'Content-Type: application/json'`, `-d ${quote(json(body))}`]),
  ].join(" \\\n  ");
  // The clients send no key over plain HTTP to another machine, unless they are told to.
  const { protocol, hostname } = new URL(origin);
  const insecure = protocol === "http:" && !/^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
  const [address, first] = [json(origin), json(argument)];
  const acting = subject ? json(subject) : "";
  const names = verb.split(".");
  // What asks has a request of its own; what names one thing takes its id.
  const request = verb === "brain.query" ? "BrainQuery" : `${pascal(names.at(-1)!)}Request`;
  const go = method === "GET" && !some ? first : `orgmem.${request}{Query: ${first}${some ? ", " + goFields(given) : ""}}`;
  return [
    { name: "curl", text: curl },
    {
      name: "TypeScript",
      text: `import { Orgmem } from "orgmem"; // the key is in ORGMEM_API_KEY

const memory = new Orgmem({ baseUrl: ${address}${insecure ? ", allowInsecure: true" : ""} })${acting && `.subject(${acting})`};
const answer = await memory.${verb}(${first}${some ? `, ${tsValue(given)}` : ""});
console.log(JSON.stringify(answer, null, 2));
`,
    },
    {
      name: "Python",
      text: `from orgmem import Orgmem  # the key is in ORGMEM_API_KEY

memory = Orgmem(base_url=${address}${insecure ? ", allow_insecure=True" : ""})${acting && `.subject(${acting})`}
answer = memory.${names.map(snake).join(".")}(${first}${Object.entries(given).map(([k, v]) => `, ${snake(k)}=${pyValue(v)}`).join("")})
print(answer.model_dump_json(by_alias=True, indent=2))
`,
    },
    {
      name: "Go",
      text: goProgram(`BaseURL: ${address}${insecure ? ", AllowInsecure: true" : ""}`, `memory${acting && `.Subject(${acting})`}`, `${names.map(pascal).join(".")}(context.Background(), ${go})`),
    },
  ];
}
