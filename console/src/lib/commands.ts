/** A call as one would type it: the same request in four languages. */
export interface Call {
  method: "GET" | "POST" | "PATCH" | "PUT" | "DELETE";
  path: string;
  body?: unknown;
  subject?: string;
  /** The verb of the clients, for example search, with its first argument and named options. */
  verb: string;
  argument: string;
  options?: Record<string, unknown>;
}

const quote = (s: string): string => `'${s.replaceAll("'", `'\\''`)}'`;
const snake = (name: string): string => name.replace(/[A-Z]/g, (c) => "_" + c.toLowerCase());
const pascal = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1);
const goValue = (v: unknown): string => (typeof v === "string" ? JSON.stringify(v) : Array.isArray(v) ? `[]string{${v.map(goValue).join(", ")}}` : String(v));
const pyValue = (v: unknown): string => (v === true ? "True" : v === false ? "False" : JSON.stringify(v));

/** The key is named by its variable, never written out: commands are copied into chats. */
export function commands(call: Call, origin: string): { name: string; text: string }[] {
  const { method, path, body, subject, verb, argument, options = {} } = call;
  const given = Object.entries(options).filter(([, v]) => v !== undefined && v !== "");
  const curl = [
    `curl ${method === "GET" ? "" : `-X ${method} `}${origin}${path}`,
    `-H "X-Svc-API-Key: $ORGMEM_API_KEY"`,
    ...(subject ? [`-H ${quote("X-Svc-Subject: " + subject)}`] : []),
    ...(body === undefined ? [] : [`-H 'Content-Type: application/json'`, `-d ${quote(JSON.stringify(body))}`]),
  ].join(" \\\n  ");
  const ts = given.length ? `, ${JSON.stringify(Object.fromEntries(given))}` : "";
  const py = given.map(([k, v]) => `, ${snake(k)}=${pyValue(v)}`).join("");
  const go = given.map(([k, v]) => `${pascal(k)}: ${goValue(v)}`).join(", ");
  const arg = JSON.stringify(argument);
  return [
    { name: "curl", text: curl },
    {
      name: "TypeScript",
      text: `import { Orgmem } from "orgmem";\n\nconst memory = new Orgmem({ baseUrl: ${JSON.stringify(origin)} })${subject ? `.subject(${JSON.stringify(subject)})` : ""};\nconst answer = await memory.${verb}(${arg}${ts});`,
    },
    {
      name: "Python",
      text: `from orgmem import Orgmem\n\nmemory = Orgmem(base_url=${JSON.stringify(origin)})${subject ? `.subject(${JSON.stringify(subject)})` : ""}\nanswer = memory.${verb}(${arg}${py})`,
    },
    {
      name: "Go",
      text: `memory, err := orgmem.New(orgmem.Config{BaseURL: ${JSON.stringify(origin)}})\n// ...\nanswer, err := memory${subject ? `.Subject(${JSON.stringify(subject)})` : ""}.${pascal(verb)}(ctx, orgmem.${pascal(verb)}Request{Query: ${arg}${go ? ", " + go : ""}})`,
    },
  ];
}
