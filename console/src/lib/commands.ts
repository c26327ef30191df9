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

function pyValue(v: unknown): string {
  if (v === true) return "True";
  if (v === false) return "False";
  if (v === null || v === undefined) return "None";
  if (Array.isArray(v)) return `[${v.map(pyValue).join(", ")}]`;
  if (isFields(v)) return `{${Object.entries(v).map(([k, each]) => `${JSON.stringify(k)}: ${pyValue(each)}`).join(", ")}}`;
  return JSON.stringify(v);
}

function goTime(iso: string): string {
  const t = new Date(iso);
  const parts = [t.getUTCFullYear(), t.getUTCMonth() + 1, t.getUTCDate(), t.getUTCHours(), t.getUTCMinutes(), t.getUTCSeconds(), t.getUTCMilliseconds() * 1_000_000];
  return `time.Date(${parts.join(", ")}, time.UTC)`;
}

function goValue(v: unknown, name: string): string {
  if (isTime(v)) return goTime(v);
  if (Array.isArray(v)) return `[]string{${v.map((each) => goValue(each, name)).join(", ")}}`;
  if (!isFields(v)) return typeof v === "string" ? JSON.stringify(v) : String(v);
  // What a client writes into metadata has names of its own; every other object is a struct of the client's.
  if (name === "metadata") return `map[string]any{${Object.entries(v).map(([k, each]) => `${JSON.stringify(k)}: ${typeof each === "string" ? JSON.stringify(each) : String(each)}`).join(", ")}}`;
  return `orgmem.Search${pascal(name)}{${goFields(v)}}`;
}

const goFields = (fields: Fields): string => Object.entries(fields).map(([k, v]) => `${pascal(k)}: ${goValue(v, k)}`).join(", ");

/** The key is named by its variable, never written out: commands are copied into chats. */
export function commands(call: Call, origin: string): { name: string; text: string }[] {
  const { method, path, body, subject, verb, argument, options = {} } = call;
  const given = Object.fromEntries(Object.entries(options).filter(([, v]) => v !== undefined && v !== "" && !(isFields(v) && Object.keys(v).length === 0)));
  const some = Object.keys(given).length > 0;
  const curl = [
    `curl ${method === "GET" ? "" : `-X ${method} `}${quote(origin + path)}`,
    `-H "X-Svc-API-Key: $ORGMEM_API_KEY"`,
    ...(subject ? [`-H ${quote("X-Svc-Subject: " + encodeURIComponent(subject))}`] : []),
    ...(body === undefined ? [] : [`-H 'Content-Type: application/json'`, `-d ${quote(JSON.stringify(body))}`]),
  ].join(" \\\n  ");
  // The clients send no key over plain HTTP to another machine, unless they are told to.
  const { protocol, hostname } = new URL(origin);
  const insecure = protocol === "http:" && !/^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
  const address = JSON.stringify(origin);
  const names = verb.split(".");
  // What asks has a request of its own; what names one thing takes its id.
  const go = method === "GET" && !some ? `${names.map(pascal).join(".")}(ctx, ${JSON.stringify(argument)})` : `${names.map(pascal).join(".")}(ctx, orgmem.${verb === "brain.query" ? "BrainQuery" : `${pascal(names.at(-1)!)}Request`}{Query: ${JSON.stringify(argument)}${some ? ", " + goFields(given) : ""}})`;
  return [
    { name: "curl", text: curl },
    {
      name: "TypeScript",
      text: `import { Orgmem } from "orgmem"; // the key is in ORGMEM_API_KEY\n\nconst memory = new Orgmem({ baseUrl: ${address}${insecure ? ", allowInsecure: true" : ""} })${subject ? `.subject(${JSON.stringify(subject)})` : ""};\nconst answer = await memory.${verb}(${JSON.stringify(argument)}${some ? `, ${JSON.stringify(given)}` : ""});`,
    },
    {
      name: "Python",
      text: `from orgmem import Orgmem  # the key is in ORGMEM_API_KEY\n\nmemory = Orgmem(base_url=${address}${insecure ? ", allow_insecure=True" : ""})${subject ? `.subject(${JSON.stringify(subject)})` : ""}\nanswer = memory.${names.map(snake).join(".")}(${JSON.stringify(argument)}${Object.entries(given).map(([k, v]) => `, ${snake(k)}=${pyValue(v)}`).join("")})`,
    },
    {
      name: "Go",
      text: `memory, err := orgmem.New(orgmem.Config{BaseURL: ${address}${insecure ? ", AllowInsecure: true" : ""}}) // the key is in ORGMEM_API_KEY\nif err != nil {\n\treturn err\n}\nanswer, err := memory${subject ? `.Subject(${JSON.stringify(subject)})` : ""}.${go}`,
    },
  ];
}
