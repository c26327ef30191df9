import { OrgmemError } from "./errors.js";
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

interface Source {
  name: string;
  size: number | undefined;
  /** The whole of it where it is at hand without being read. */
  blob: Blob | undefined;
  chunks: () => AsyncIterable<Uint8Array>;
}

const isNode = (): boolean => (globalThis as { process?: { versions?: { node?: string } } }).process?.versions?.node !== undefined;

async function* readAll(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = stream.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    await reader.cancel();
  }
}

async function sourceOf(file: Upload): Promise<Source> {
  if (file instanceof Uint8Array) file = new Blob([file as Uint8Array<ArrayBuffer>]);
  if (file instanceof Blob) {
    const blob = file;
    return { name: (blob as Partial<File>).name ?? "upload", size: blob.size, blob, chunks: () => readAll(blob.stream()) };
  }
  if (file instanceof ReadableStream) {
    const stream = file;
    return { name: "upload", size: undefined, blob: undefined, chunks: () => readAll(stream) };
  }
  if (typeof file !== "string" || !isNode())
    throw new OrgmemError("This cannot be uploaded. Give a Blob, a File, bytes, a ReadableStream, or in Node the path of a file.");
  // Put together so that no bundler for browsers looks for the module.
  const { open } = (await import(/* webpackIgnore: true */ /* @vite-ignore */ ["node", "fs/promises"].join(":"))) as {
    open: (path: string) => Promise<{ stat: () => Promise<{ size: number }>; createReadStream: () => AsyncIterable<Uint8Array> }>;
  };
  let handle;
  try {
    handle = await open(file);
  } catch (cause) {
    throw new OrgmemError(`The file ${file} cannot be read (${(cause as Error).message}). A string is taken for a path; wrap text in a Blob.`, { cause });
  }
  const { size } = await handle.stat();
  return { name: file.replace(/^.*[\\/]/, ""), size, blob: undefined, chunks: () => handle.createReadStream() };
}

/** The form as a body, with its Content-Type. */
export async function formOf(file: Upload, options: UploadOptions): Promise<{ body: BodyInit; type: string }> {
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
  const type = `multipart/form-data; boundary=${boundary}`;
  const { size: total } = source;
  const tell = (sent: number) => options.onProgress?.({ sent, total });

  if (!isNode()) {
    // Browsers send no stream over HTTP/1.1, and tell nobody how far a Blob is: it is
    // read from the disk as it is sent, and progress has its two ends alone.
    let blob = source.blob;
    if (!blob) {
      const parts: BlobPart[] = [];
      for await (const chunk of source.chunks()) parts.push(chunk as Uint8Array<ArrayBuffer>);
      blob = new Blob(parts);
    }
    tell(0);
    return { body: new Blob([head, blob, tail]), type };
  }

  const encoder = new TextEncoder();
  async function* parts(): AsyncGenerator<Uint8Array> {
    yield encoder.encode(head);
    let sent = 0;
    tell(0);
    for await (const chunk of source.chunks()) {
      yield chunk;
      tell((sent += chunk.byteLength));
    }
    yield encoder.encode(tail);
  }
  const iterator = parts();
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await iterator.next();
        if (done) controller.close();
        else controller.enqueue(value);
      },
      // The file is closed also where the upload is cancelled.
      cancel: async () => void (await iterator.return(undefined)),
    },
    { highWaterMark: 0 },
  );
  return { body, type };
}
