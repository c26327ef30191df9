import type { LanguageModelMiddleware } from "ai";
import type { IngestItem, Orgmem } from "orgmem";

import { memoryOf, quote } from "./quote.js";

type Params = Parameters<NonNullable<LanguageModelMiddleware["transformParams"]>>[0]["params"];
type Message = Params["prompt"][number];

const longestQuery = 10_000;
/** Conversations whose memories are kept for the steps that follow their first. */
const mostRemembered = 100;

export interface MemoryMiddlewareOptions {
  client: Orgmem;
  /**
   * Whose memory it is, unless a call says so itself, with `providerOptions: { orgmem: { subject } }`. Without either it
   * is the client's own. A subject must have been made before, with `client.subjects.put`.
   */
  subject?: string | undefined;
  /** How many passages a prompt gets at most. Default 5. */
  limit?: number | undefined;
  /** Passages that score less are left out. Default: all are kept. */
  minScore?: number | undefined;
  /**
   * What of a user's message is stored: false for nothing, or a function that answers the text to store, undefined for
   * none. Default: the message.
   */
  store?: boolean | ((said: string) => string | undefined) | undefined;
  /** Goes with what is stored. */
  metadata?: NonNullable<IngestItem["metadata"]> | undefined;
  /**
   * Called when memory fails; the call then continues without it. Default: the call fails, so that nothing is lost in
   * silence.
   */
  onError?: ((error: unknown, during: "search" | "store") => void) | undefined;
}

/** What wrapGenerate and wrapStream need to know of what transformParams has seen. */
interface Turn {
  client: Orgmem;
  said: string;
}

/**
 * A middleware for `wrapLanguageModel`: what memory has about the user's last message is put before it, quoted and marked
 * as data, and the message is stored once the model has taken it.
 */
export function memoryMiddleware(options: MemoryMiddlewareOptions): LanguageModelMiddleware {
  const { limit = 5, minScore, store = true, metadata, onError } = options;
  const turns = new WeakMap<Params, Turn>();
  const shown = new Map<string, string>();

  async function guarded<T>(during: "search" | "store", signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work();
    } catch (err) {
      // Who cancels the call means all of it.
      if (!onError || signal?.aborted) throw err;
      onError(err, during);
      return undefined;
    }
  }

  async function about(client: Orgmem, said: string, signal: AbortSignal | undefined): Promise<string> {
    const query = said.slice(0, longestQuery).toWellFormed();
    const { results } = await client.search(query, { topK: limit, ...(signal && { signal }) });
    const memories = results.filter((hit) => minScore === undefined || hit.score >= minScore).map(memoryOf);
    return memories.length === 0 ? "" : quote(memories);
  }

  async function remember(params: Params): Promise<void> {
    const turn = turns.get(params);
    if (!turn) return;
    const text = typeof store === "function" ? store(turn.said) : store ? turn.said : undefined;
    if (text === undefined || text.trim() === "") return;
    const signal = params.abortSignal;
    await guarded("store", signal, () => turn.client.add({ content: text.replaceAll("\0", " ").toWellFormed(), ...(metadata && { metadata }) }, { ...(signal && { signal }) }));
  }

  return {
    specificationVersion: "v4",

    async transformParams({ params }) {
      const { subject, rest } = ours(params, options.subject);
      const at = params.prompt.findLastIndex((message) => message.role === "user");
      const said = at < 0 ? "" : textOf(params.prompt[at]!);
      if (said.trim() === "") return rest;
      const client = subject === undefined ? options.client : options.client.subject(subject);
      // In the later steps of one answer, after tools, the prompt must not change, and the message is stored already.
      const first = at === params.prompt.length - 1;
      const turn = JSON.stringify([subject, at, said]);
      let note = first ? undefined : shown.get(turn);
      note ??= (await guarded("search", params.abortSignal, () => about(client, said, params.abortSignal))) ?? "";
      shown.delete(turn);
      shown.set(turn, note);
      if (shown.size > mostRemembered) shown.delete(shown.keys().next().value!);
      const prompt = note === "" ? params.prompt : params.prompt.with(at, withNote(params.prompt[at]!, note));
      const changed = { ...rest, prompt };
      if (first) turns.set(changed, { client, said });
      return changed;
    },

    async wrapGenerate({ doGenerate, params }) {
      const result = await doGenerate();
      await remember(params);
      return result;
    },

    async wrapStream({ doStream, params }) {
      // The stream has begun, so the model has taken the message; who stops reading it has said it all the same.
      const result = await doStream();
      await remember(params);
      return result;
    },
  };
}

/** Takes what is for this package out of the provider options, which the model's provider has no business with. */
function ours(params: Params, fallback: string | undefined): { subject: string | undefined; rest: Params } {
  if (params.providerOptions?.["orgmem"] === undefined) return { subject: fallback, rest: params };
  const { orgmem, ...others } = params.providerOptions;
  const { subject, ...unknown } = orgmem;
  if (subject !== undefined && typeof subject !== "string") throw new TypeError("providerOptions.orgmem.subject is a subject's id, a text.");
  const [name] = Object.keys(unknown);
  if (name !== undefined) throw new TypeError(`providerOptions.orgmem has no ${name}; there is subject.`);
  return { subject: subject ?? fallback, rest: { ...params, providerOptions: others } };
}

function textOf(message: Message): string {
  if (message.role !== "user") return "";
  return message.content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
}

/** The message with the note before it: no message of its own, since some models want the roles to take turns. */
function withNote(message: Message, note: string): Message {
  if (message.role !== "user") return message;
  return { ...message, content: [{ type: "text", text: note }, ...message.content] };
}
