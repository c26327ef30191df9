import { ApiError, type IngestItem, type Job, type Orgmem } from "orgmem";
import { plural } from "../../lib/format";
import { outage } from "../../lib/outage";
import { router } from "../../lib/router.svelte";
import { session } from "../../lib/session.svelte";
import { toasts } from "../../lib/toast.svelte";
import { pause, watchJob } from "../../lib/watch";
import { plainReason, type Picked } from "./files";

/** waiting; on its way; being read by the service; in; in already; refused. */
export type State = "waiting" | "sending" | "reading" | "in" | "same" | "refused";

const lanes = 3; // requests under way at a time
const batchFiles = 50; // notes that go in one request: few enough to see them move
const batchBytes = 1 << 20;
const longestNote = 256 << 10; // bytes; a longer text goes by itself
const mostTries = 90; // of one request that a rate limit refuses, some two minutes
const notes = /\.(md|markdown|txt|text|rst|org|adoc)$/i;

/** One file on its way into the memory. */
export class Taking {
  state = $state<State>("waiting");
  /** Why it was refused, in plain words; or what to know of one that is in. */
  why = $state("");
  /** What it became, where that is one document. */
  nodeId = $state("");
  readonly path: string;
  readonly file: File;

  constructor(path: string, file: File) {
    this.path = path;
    this.file = file;
  }

  /** The service has it, and what becomes of it cannot be seen at the moment; nothing when it can again. */
  unseen(error?: unknown): void {
    if (this.state === "reading") this.why = error === undefined ? "" : `It is accepted. ${outage(error) ?? "How far it is cannot be seen."}`;
  }

  refuse(why: string): void {
    this.state = "refused";
    this.why = why;
  }
}

const over = (t: Taking): boolean => t.state === "in" || t.state === "same" || t.state === "refused";

function reasonOf(error: unknown): string {
  const away = outage(error);
  if (away && !(error instanceof ApiError)) return `${away} Put it in again later.`;
  if (!(error instanceof ApiError)) return error instanceof Error ? error.message : String(error);
  if (error.errors[0]) return plainReason("file " + error.errors[0].message);
  // It is nothing about the file, so whoever runs the service may have to look for the request.
  return plainReason(error.detail || error.title) + (error.requestId ? ` (Request ${error.requestId})` : "");
}

/** As an import names it: by its first heading, else by the file. */
function titleOf(path: string, text: string): string {
  const heading = /\.(md|markdown)$/i.test(path) ? /^#\s+(.{1,200}?)\s*#*\s*$/m.exec(text.slice(0, 2_000))?.[1] : undefined;
  return heading ?? path.replace(/^.*\//, "").replace(/\.[^.]+$/, "");
}

/** The text of a short note as it stands; nothing where an import has to look at it: other encodings, heads, none at all. */
async function noteOf(file: File): Promise<string | undefined> {
  if (file.size > longestNote) return undefined;
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer());
    return text.trim() === "" || text.includes("\0") || text.startsWith("---") ? undefined : text;
  } catch {
    return undefined;
  }
}

interface Note {
  taking: Taking;
  item: IngestItem;
}

/**
 * Files that are being taken in. It is one for the tab, so that going to another view
 * and back loses nothing of it. Short notes go many at a time, since the service takes
 * sixty requests of a key in a minute; everything else is an import of its own.
 */
class Intake {
  files = $state.raw<Taking[]>([]);
  left = $state.raw<Picked["left"]>([]);
  running = $state(false);
  /** Grows each time that all of it has come to an end. */
  rounds = $state(0);
  readonly done = $derived(this.files.filter(over).length);
  /** What is accepted and was given up looking at, each with how to look again. */
  #unseen: (() => Promise<void>)[] = [];
  /** For whom they are taken in. */
  #client: Orgmem | undefined;

  constructor() {
    // Who signs in next, or acts for another, sees nothing of them; what is not sent by then stays where it was.
    $effect.root(() => {
      $effect(() => {
        if (session.client !== this.#client) this.#end();
      });
    });
  }

  #end(): void {
    this.#client = undefined;
    [this.files, this.left, this.#unseen, this.running] = [[], [], [], false];
  }

  count(...states: State[]): number {
    return this.files.filter((t) => states.includes(t.state)).length;
  }

  /** Takes in what was picked, for whom the page acts now. */
  async take(picked: Picked): Promise<void> {
    if (this.running) return;
    this.left = picked.left;
    this.files = picked.found.map(({ path, file }) => new Taking(path, file));
    this.#unseen = [];
    const client = (this.#client = session.client);
    if (this.files.length > 0) await this.#busy(() => this.#run(client, this.files));
  }

  /** Looks again at what is accepted and was given up looking at. */
  look = async (): Promise<void> => {
    if (this.running) return;
    const again = this.#unseen;
    this.#unseen = [];
    if (again.length > 0) await this.#busy(() => Promise.all(again.map((look) => look())));
  };

  async #busy(act: () => Promise<unknown>): Promise<void> {
    const client = this.#client;
    this.running = true;
    try {
      await act();
    } finally {
      if (client !== this.#client) return; // it is nobody's here any more
      this.running = false;
      this.rounds++;
      if (router.path !== "/") this.#tell(); // the start page says it where it is looked at
    }
  }

  #tell(): void {
    const refused = this.count("refused");
    const taken = this.count("in", "same");
    const reading = this.count("reading");
    toasts.say(
      `${plural(taken, "file is", "files are")} in.${refused ? ` ${plural(refused, "was", "were")} refused: the list on the start page says why.` : ""}${reading ? ` ${plural(reading, "is", "are")} accepted, and cannot be seen yet.` : ""}`,
      refused && !taken ? "bad" : "plain",
    );
  }

  clear(): void {
    if (!this.running) [this.files, this.left, this.#unseen] = [[], [], []];
  }

  async #run(client: Orgmem, files: Taking[]): Promise<void> {
    const rest = [...files];
    const lane = async (): Promise<void> => {
      for (let taking = rest.shift(); taking && client === this.#client; taking = rest.shift()) {
        const batch: Note[] = [];
        let bytes = 0;
        for (;;) {
          const text = notes.test(taking.path) ? await noteOf(taking.file) : undefined;
          if (text === undefined) {
            // What cannot go along goes by itself, behind what was collected so far.
            await this.#batch(client, batch);
            batch.length = 0;
            await this.#upload(client, taking);
            break;
          }
          batch.push({ taking, item: { content: text, title: titleOf(taking.path, text), metadata: { path: taking.path.slice(0, 1_000) } } });
          bytes += taking.file.size;
          const next: Taking | undefined = rest[0];
          if (!next || batch.length >= batchFiles || bytes >= batchBytes) break;
          taking = rest.shift()!;
        }
        await this.#batch(client, batch);
      }
    };
    await Promise.all(Array.from({ length: lanes }, lane));
  }

  /** Waits where the service asks for patience, for which the clients give up sooner. */
  async #patient<T>(ask: () => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries++) {
      try {
        return await ask();
      } catch (error) {
        const wait = error instanceof ApiError && (error.status === 429 || error.status === 503) ? (error.retryAfter ?? 2_000) : undefined;
        if (wait === undefined || tries >= mostTries) throw error;
        await pause(wait);
      }
    }
  }

  async #batch(client: Orgmem, batch: Note[]): Promise<void> {
    for (let some = batch; some.length > 0; ) {
      for (const { taking } of some) taking.state = "sending";
      try {
        const accepted = await this.#patient(() => client.add(some.map((n) => n.item)));
        const sent = some;
        for (const { taking } of sent) taking.state = "reading";
        await this.#follow(client, accepted.jobId, sent.map((n) => n.taking), {
          tell: (seen) => {
            for (const { taking } of sent.slice(0, seen.progress.done)) if (taking.state === "reading") taking.state = "in";
          },
          ended: (job) => this.#outcome(job, sent),
        });
        return;
      } catch (error) {
        session.heard(error);
        // One item that is refused refuses the whole request, and is named.
        const named = new Map<number, string>();
        if (error instanceof ApiError)
          for (const { field, message } of error.errors) {
            const at = /^items\[(\d+)\]/.exec(field);
            if (at) named.set(Number(at[1]), message);
          }
        some.forEach(({ taking }, i) => {
          if (named.size === 0 || named.has(i)) taking.refuse(named.size ? plainReason("file " + named.get(i)!) : reasonOf(error));
        });
        some = named.size ? some.filter((_, i) => !named.has(i)) : [];
      }
    }
  }

  /** Looks at a job that was accepted until it has ended. That it cannot be seen says nothing of the files. */
  async #follow(client: Orgmem, id: string, of: Taking[], told: { tell: (job: Job) => void; ended: (job: Job) => void }): Promise<void> {
    const away = (error?: unknown): void => of.forEach((taking) => taking.unseen(error));
    let job: Job;
    try {
      job = await watchJob(client, id, told.tell, { away });
    } catch (error) {
      session.heard(error);
      away(error);
      this.#unseen.push(() => this.#follow(client, id, of, told));
      return;
    }
    told.ended(job);
  }

  #outcome(job: Job, some: Note[]): void {
    const items = new Map(job.result?.items.map((i) => [i.index, i]));
    some.forEach(({ taking }, i) => {
      const item = items.get(i);
      if (item && item.status !== "failed") {
        taking.state = item.status === "unchanged" ? "same" : "in";
        taking.nodeId = item.nodeId ?? "";
        taking.why = "";
      } else taking.refuse(plainReason(item?.error ?? job.error?.detail ?? "it was not taken in, and the service does not say why"));
    });
  }

  async #upload(client: Orgmem, taking: Taking): Promise<void> {
    if (taking.file.size === 0) return taking.refuse("The file is empty.");
    taking.state = "sending";
    try {
      const accepted = await this.#patient(() => client.imports.upload(taking.file, { metadata: { path: taking.path.slice(0, 1_000) } }));
      taking.state = "reading";
      await this.#follow(client, accepted.jobId, [taking], {
        tell: (seen) => {
          if (seen.progress.total > 1) taking.why = `${seen.progress.done} of ${seen.progress.total} documents`;
        },
        ended: (job) => this.#imported(job, taking),
      });
    } catch (error) {
      session.heard(error);
      taking.refuse(reasonOf(error));
    }
  }

  #imported(job: Job, taking: Taking): void {
    const items = job.result?.items ?? [];
    const failed = items.filter((i) => i.status === "failed");
    const good = items.filter((i) => i.status !== "failed");
    if (job.status !== "succeeded" || good.length === 0)
      return taking.refuse(plainReason(job.error?.detail ?? failed[0]?.error ?? "nothing in it could be read"));
    taking.state = good.every((i) => i.status === "unchanged") ? "same" : "in";
    taking.nodeId = good.length === 1 ? (good[0]!.nodeId ?? "") : "";
    taking.why = [good.length > 1 ? plural(good.length, "document") : "", failed.length ? `${plural(failed.length, "part")} could not be read: ${plainReason(failed[0]!.error ?? "")}` : ""]
      .filter(Boolean)
      .join(", ");
  }
}

export const intake = new Intake();
