import { OrgmemError } from "./errors.js";
import type { RawBody } from "./transport.js";
import type { MetadataValue } from "./types.js";

/** What can be uploaded; a string is the path of a file, in Node alone. */
export type Upload = Blob | Uint8Array | ReadableStream<Uint8Array> | string;

export interface Progress {
  /** Bytes of the file that were handed to the connection. */
  sent: number;
  /** Bytes of the file; undefined for a stream. */
  total: number | undefined;
}

export interface UploadOptions {
  /** Default: the file's own name. It decides between kinds of text, and nothing else. */
  filename?: string | undefined;
  title?: string | undefined;
  occurredAt?: string | undefined;
  metadata?: Record<string, MetadataValue> | undefined;
  onProgress?: ((progress: Progress) => void) | undefined;
}

const slice = 64 << 10; // bytes that are read of a file, sent, and told, at once

interface Source {
  name: string;
  size: number | undefined;
  /** The whole of it where it is at hand without being read. */
  blob?: Blob;
  /** What comes next; undefined at the end. */
  next: () => Promise<Uint8Array | undefined>;
  close: () => Promise<void>;
}

/** A form on its way. */
export interface Form {
  body: RawBody;
  type: string;
  /** Tells the end of the progress, where the form could not. */
  arrived: () => void;
  /** What went wrong with the file itself. */
  failure: () => unknown;
  /** Lets go of the file, however far it was read. */
  close: () => Promise<void>;
}

/** A file as Node opens it. */
interface Handle {
  stat: () => Promise<{ size: number }>;
  read: (into: Uint8Array) => Promise<{ bytesRead: number }>;
  close: () => Promise<void>;
}

const isNode = (): boolean => (globalThis as { process?: { versions?: { node?: string } } }).process?.versions?.node !== undefined;

function streamed(stream: ReadableStream<Uint8Array>): Pick<Source, "next" | "close"> {
  const reader = stream.getReader();
  return { next: async () => (await reader.read()).value, close: () => reader.cancel() };
}

async function sourceOf(file: Upload): Promise<Source> {
  if (file instanceof Uint8Array) file = new Blob([file as Uint8Array<ArrayBuffer>]);
  if (file instanceof Blob) return { name: (file as Partial<File>).name ?? "upload", size: file.size, blob: file, ...streamed(file.stream()) };
  if (file instanceof ReadableStream) return { name: "upload", size: undefined, ...streamed(file) };
  if (typeof file !== "string" || !isNode())
    throw new OrgmemError("This cannot be uploaded. Give a Blob, a File, bytes, a ReadableStream, or in Node the path of a file.");
  // Put together so that no bundler for browsers looks for the module; scripts/build.mjs marks it for those that warn.
  const { open } = (await import(["node", "fs/promises"].join(":"))) as {
    open: (path: string) => Promise<Handle>;
  };
  let handle: Handle;
  try {
    handle = await open(file);
  } catch (cause) {
    throw new OrgmemError(`The file ${file} cannot be read (${(cause as Error).message}). A string is taken for a path; wrap text in a Blob.`, { cause });
  }
  return {
    name: file.replace(/^.*[\\/]/, ""),
    size: (await handle.stat()).size,
    next: async () => {
      const into = new Uint8Array(slice);
      const { bytesRead } = await handle.read(into);
      return bytesRead ? into.subarray(0, bytesRead) : undefined;
    },
    close: () => handle.close(),
  };
}

/** The file and what is said of it, as a form. */
export async function formOf(file: Upload, options: UploadOptions): Promise<Form> {
  const source = await sourceOf(file);
  const boundary = "orgmem-" + Array.from(crypto.getRandomValues(new Uint8Array(12)), (b) => b.toString(16).padStart(2, "0")).join("");
  // As the HTML standard writes names of files in forms.
  const name = (options.filename ?? source.name).replace(/["\r\n]/g, encodeURIComponent);
  let head = "";
  const field = (key: string, value: string | undefined) => {
    if (value !== undefined) head += `--${boundary}\r\nContent-Disposition: form-data; name="${key}"\r\n\r\n${value}\r\n`;
  };
  field("title", options.title);
  field("occurredAt", options.occurredAt);
  field("metadata", options.metadata && JSON.stringify(options.metadata));
  head += `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="${name}"\r\nContent-Type: application/octet-stream\r\n\r\n`;
  const tail = `\r\n--${boundary}--\r\n`;
  const { size: total, close } = source;
  const tell = (sent: number) => options.onProgress?.({ sent, total });
  let failed: unknown;
  const form = { type: `multipart/form-data; boundary=${boundary}`, arrived: () => {}, failure: () => failed, close };

  if (!isNode()) {
    // Browsers send no stream over HTTP/1.1, and tell nobody how far a Blob is: it is
    // read from the disk as it is sent, and progress has its two ends alone.
    const parts: BlobPart[] = [];
    if (source.blob) parts.push(source.blob);
    else for (let chunk; (chunk = await source.next()); ) parts.push(chunk as Uint8Array<ArrayBuffer>);
    tell(0);
    const blob = new Blob(parts);
    return { ...form, body: new Blob([head, blob, tail]), arrived: () => tell(blob.size) };
  }

  const encoder = new TextEncoder();
  async function* parts(): AsyncGenerator<Uint8Array> {
    yield encoder.encode(head);
    let sent = 0;
    tell(0);
    for (let chunk; (chunk = await source.next()); )
      // A Blob in memory comes as one chunk, which would be no progress.
      for (let at = 0; at < chunk.byteLength; at += slice) {
        const part = chunk.subarray(at, at + slice);
        yield part;
        tell((sent += part.byteLength));
      }
    yield encoder.encode(tail);
  }
  const iterator = parts();
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await iterator.next();
          if (done) controller.close();
          else controller.enqueue(value);
        } catch (error) {
          failed = error;
          throw error;
        }
      },
    },
    { highWaterMark: 0 },
  );
  return { ...form, body };
}
