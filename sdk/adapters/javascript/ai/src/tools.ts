import { jsonSchema, tool } from "ai";
import type { Tool, ToolExecuteFunction } from "ai";
import { NotFound } from "orgmem";
import type { Hit, IngestItem, Orgmem } from "orgmem";

import { memoryOf, warning } from "./quote.js";
import type { Memory } from "./quote.js";

const mostHits = 20;
const longestQuery = 10_000;

export interface MemoryToolsOptions {
  /** Whose memory it is. Give each user a subject, and each request the tools of its user: `client.subject(user)`. */
  client: Orgmem;
  /** Goes with everything that is remembered, so that it can be found and filtered by. */
  metadata?: NonNullable<IngestItem["metadata"]> | undefined;
}

export interface Found {
  note: string;
  memories: Memory[];
}

export interface Remembered {
  id: string;
  /** What became of it: created, unchanged where it was known already. */
  outcome: string;
}

type Executable<INPUT, OUTPUT> = Tool<INPUT, OUTPUT> & { execute: ToolExecuteFunction<INPUT, OUTPUT, unknown> };

export type MemoryTools = {
  searchMemory: Executable<{ query: string; limit?: number }, Found>;
  remember: Executable<{ text: string }, Remembered>;
  forget: Executable<{ id: string }, { forgotten: boolean }>;
};

/**
 * Tools with which a model searches, remembers and forgets. `forget` deletes for good: leave it out, or have it approved,
 * where nobody looks at what the model does.
 */
export function memoryTools({ client, metadata }: MemoryToolsOptions): MemoryTools {
  return {
    searchMemory: tool({
      description:
        "Search long-term memory by meaning and by word. Use it before answering what depends on earlier conversations, preferences or facts about the user. Answers passages, best first.",
      inputSchema: input<{ query: string; limit?: number }>(
        {
          query: { type: "string", minLength: 1, maxLength: longestQuery, description: "What to look for, as a question or in key words." },
          limit: { type: "integer", minimum: 1, maximum: mostHits, description: "How many passages at most. Default 5." },
        },
        ["query"],
      ),
      execute: async ({ query, limit = 5 }, { abortSignal }): Promise<Found> => {
        const { results } = await client.search(query, { topK: limit, ...signalOf(abortSignal) });
        return { note: warning, memories: results.map((hit: Hit) => memoryOf(hit)) };
      },
    }),
    remember: tool({
      description:
        "Store one fact in long-term memory, in a full sentence that is understood without this conversation. Use it for what will matter later: preferences, decisions, names, dates. Never store secrets.",
      inputSchema: input<{ text: string }>({ text: { type: "string", minLength: 1, maxLength: 20_000, description: "The fact, in a sentence." } }, ["text"]),
      execute: async ({ text }, { abortSignal }): Promise<Remembered> => {
        // When this answers, a search finds it: a model that looks at once would store it again.
        const job = await client.add({ content: text, ...(metadata && { metadata }) }, { wait: true, ...signalOf(abortSignal) });
        const item = job.result?.items[0];
        return { id: item?.nodeId ?? "", outcome: item?.status ?? job.status };
      },
    }),
    forget: tool({
      description: "Delete one memory for good, by the id that searchMemory gave. Use it only when the user asks to forget something.",
      inputSchema: input<{ id: string }>({ id: { type: "string", minLength: 1, maxLength: 1_000, description: "The memory's id." } }, ["id"]),
      execute: async ({ id }, { abortSignal }): Promise<{ forgotten: boolean }> => {
        try {
          await client.delete(id, signalOf(abortSignal));
          return { forgotten: true };
        } catch (err) {
          if (err instanceof NotFound && err.code === "node_not_found") return { forgotten: false };
          throw err;
        }
      },
    }),
  };
}

const signalOf = (signal: AbortSignal | undefined): { signal?: AbortSignal } => (signal ? { signal } : {});

interface Field {
  type: "string" | "integer";
  description: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
}

/** An object of a few fields, as a schema for the model and as a check of what it says. */
function input<T>(properties: Record<string, Field>, required: string[]) {
  return jsonSchema<T>(
    { type: "object", properties, required, additionalProperties: false },
    {
      validate: (value) => {
        const wrong = faultIn(value, properties, required);
        return wrong === undefined ? { success: true, value: value as T } : { success: false, error: new TypeError(wrong) };
      },
    },
  );
}

function faultIn(value: unknown, properties: Record<string, Field>, required: string[]): string | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return "expected an object";
  const unknown = Object.keys(value).find((name) => !Object.hasOwn(properties, name));
  if (unknown !== undefined) return `there is no field ${unknown}`;
  for (const [name, field] of Object.entries(properties)) {
    const v = (value as Record<string, unknown>)[name];
    if (v === undefined) {
      if (required.includes(name)) return `${name} is missing`;
    } else if (field.type === "string") {
      if (typeof v !== "string" || v.trim() === "" || v.length > field.maxLength!) return `${name} must be a text of at most ${field.maxLength} characters`;
    } else if (!Number.isInteger(v) || (v as number) < field.minimum! || (v as number) > field.maximum!) {
      return `${name} must be a whole number from ${field.minimum} to ${field.maximum}`;
    }
  }
  return undefined;
}
