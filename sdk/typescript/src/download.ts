import { BadAnswer } from "./errors.js";
import { mayPass, type Call, type RequestOptions, type Transport } from "./transport.js";

/** An export on its way. */
export interface Download {
  /** The document. A connection that breaks is taken up again where it broke. */
  stream: ReadableStream<Uint8Array>;
  /** How long the document is. */
  bytes: number | undefined;
  etag: string | undefined;
}

export async function download(transport: Transport, call: Call, options: RequestOptions): Promise<Download> {
  let { response, abort } = await transport.open(call, options);
  const etag = response.headers.get("ETag") ?? undefined;
  const length = response.headers.get("Content-Length");
  const bytes = length === null || response.headers.has("Content-Encoding") ? undefined : Number(length);
  let reader = response.body!.getReader();
  let got = 0;
  let failures = 0;
  /** One read, which a connection that has fallen silent does not hold up. */
  const read = async () => {
    const timer = setTimeout(abort, options.timeout ?? transport.timeout);
    try {
      const { done, value } = await reader.read();
      if (done && bytes !== undefined && got < bytes) throw new TypeError("the connection ended early");
      return done ? undefined : value;
    } finally {
      clearTimeout(timer);
    }
  };
  const stream = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        for (;;) {
          try {
            const chunk = await read();
            if (!chunk) {
              abort();
              return controller.close();
            }
            got += chunk.byteLength;
            failures = 0;
            return controller.enqueue(chunk);
          } catch (cause) {
            abort();
            options.signal?.throwIfAborted();
            const broke = new BadAnswer(`The download broke off after ${got} bytes. Ask for it again.`, 200, true, { cause });
            // Without the name of what was there, the rest might be another document's.
            if (!etag || failures++ >= (options.maxRetries ?? transport.maxRetries)) throw broke;
            await transport.sleep(transport.backOff(failures), options.signal);
            const rest = { ...call, headers: { Range: `bytes=${got}-`, "If-Range": etag } };
            try {
              ({ response, abort } = await transport.open(rest, options));
            } catch (error) {
              if (mayPass(error)) continue;
              throw error;
            }
            if (response.status !== 206) {
              abort();
              throw broke;
            }
            reader = response.body!.getReader();
          }
        }
      },
      cancel: () => abort(),
    },
    { highWaterMark: 0 },
  );
  return { stream, bytes, etag };
}
