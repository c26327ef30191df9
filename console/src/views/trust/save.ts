/** What a browser that can write to a file offers. */
interface Picker {
  showSaveFilePicker?: (options: { suggestedName: string; types: { description: string; accept: Record<string, string[]> }[] }) => Promise<{
    createWritable(): Promise<WritableStream<Uint8Array> & { abort(): Promise<void> }>;
  }>;
}

/** A file that somebody has chosen, or the browser's own way where it lets no page write to one. */
export interface Target {
  /** Whether what arrives goes to the disk at once. Otherwise the browser holds it until all is there. */
  direct: boolean;
  save(stream: ReadableStream<Uint8Array>, signal: AbortSignal): Promise<void>;
}

/** Asks where to; undefined when the person has thought better of it. It has to be called by a click. */
export async function choose(name: string): Promise<Target | undefined> {
  const { showSaveFilePicker } = window as Picker;
  if (!showSaveFilePicker)
    return {
      direct: false,
      async save(stream, signal) {
        const gone = (): void => void stream.cancel().catch(() => undefined);
        signal.addEventListener("abort", gone, { once: true });
        const blob = await new Response(stream, { headers: { "Content-Type": "application/json" } }).blob();
        signal.throwIfAborted();
        offer(blob, name);
      },
    };
  try {
    const file = await showSaveFilePicker({ suggestedName: name, types: [{ description: "JSON", accept: { "application/json": [".json"] } }] });
    // What was there before is replaced when all has arrived, and stays if it does not.
    return { direct: true, save: async (stream, signal) => stream.pipeTo(await file.createWritable(), { signal }) };
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") return undefined;
    throw error;
  }
}

/** Has the browser download what the page holds. */
export function offer(blob: Blob, name: string): void {
  const address = URL.createObjectURL(blob);
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000); // the browser reads it after the click
}

/** Tells how many bytes have gone through. */
export function counted(stream: ReadableStream<Uint8Array>, each: (bytes: number) => void): ReadableStream<Uint8Array> {
  let all = 0;
  return stream.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        each((all += chunk.byteLength));
        controller.enqueue(chunk);
      },
    }),
  );
}
