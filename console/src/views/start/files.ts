/** Bounds of what is taken at once; the service has its own for each file. */
export const mostFiles = 2_000;
export const mostBytes = 512 << 20;
export const largestFile = 63 << 20; // the service takes forms of 64 MiB
const deepest = 32; // folders in folders

/** A file that was dropped or chosen, by its place in the folder. */
export interface Found {
  path: string;
  file: File;
}

/** What was found, and what of it was left out, and why. */
export interface Picked {
  found: Found[];
  left: { why: string; count: number }[];
}

const system = /^(\..+|thumbs\.db|desktop\.ini|__macosx|node_modules|__pycache__)$/i;
const mute = /\.(png|jpe?g|gif|webp|avif|heic|bmp|tiff?|ico|svg|mp[34]|m4[av]|wav|flac|ogg|opus|mov|avi|mkv|webm|exe|dll|so|dylib|o|a|class|pyc|wasm|ttf|otf|woff2?|iso|dmg|sqlite|db)$/i;

/** Collects files within the bounds. */
class Collection {
  readonly found: Found[] = [];
  bytes = 0;
  readonly #left = new Map<string, number>();

  leave(why: string): void {
    this.#left.set(why, (this.#left.get(why) ?? 0) + 1);
  }

  get full(): boolean {
    return this.found.length >= mostFiles;
  }

  add(path: string, file: File): void {
    if (path.split("/").some((part) => system.test(part))) this.leave("hidden files and files of the system");
    else if (mute.test(path)) this.leave("pictures, sound, video and programs, which hold no text");
    else if (file.size > largestFile) this.leave("files of more than 63 MiB");
    else if (this.full) this.leave(`files beyond the first ${mostFiles.toLocaleString("en")}: drop the rest afterwards`);
    else if (this.bytes + file.size > mostBytes) this.leave("files beyond 512 MiB: drop the rest afterwards");
    else {
      this.bytes += file.size;
      this.found.push({ path, file });
    }
  }

  picked(): Picked {
    this.found.sort((a, b) => a.path.localeCompare(b.path));
    return { found: this.found, left: [...this.#left].map(([why, count]) => ({ why, count })) };
  }
}

const fileOf = (entry: FileSystemFileEntry): Promise<File> => new Promise((resolve, reject) => entry.file(resolve, reject));
const nextOf = (reader: FileSystemDirectoryReader): Promise<FileSystemEntry[]> => new Promise((resolve, reject) => reader.readEntries(resolve, reject));

async function walk(entry: FileSystemEntry, into: Collection, depth: number): Promise<void> {
  const path = entry.fullPath.replace(/^\//, "");
  if (system.test(entry.name)) return into.leave("hidden files and files of the system");
  if (entry.isFile) {
    try {
      into.add(path, await fileOf(entry as FileSystemFileEntry));
    } catch {
      into.leave("files that the browser could not open");
    }
    return;
  }
  if (depth > deepest) return into.leave(`folders that lie more than ${deepest} deep`);
  const reader = (entry as FileSystemDirectoryEntry).createReader();
  try {
    // A reader gives some at a time, a hundred in Chromium, and nothing at the end.
    for (let some = await nextOf(reader); some.length > 0; some = await nextOf(reader))
      for (const each of some) {
        if (into.full) return into.leave(`files beyond the first ${mostFiles.toLocaleString("en")}: drop the rest afterwards`);
        await walk(each, into, depth + 1);
      }
  } catch {
    into.leave("folders that the browser could not open"); // what was read of it before is taken in
  }
}

/** What was dropped, folders with all that is in them. Call it in the event itself: behind it the browser forgets. */
export async function dropped(data: DataTransfer): Promise<Picked> {
  const into = new Collection();
  const entries = [...data.items].flatMap((item) => (item.kind === "file" ? [item.webkitGetAsEntry?.() ?? item.getAsFile()] : []));
  for (const entry of entries) {
    if (entry instanceof File) into.add(entry.name, entry);
    else if (entry) await walk(entry, into, 0);
  }
  return into.picked();
}

/** What was chosen by a file chooser, also by one of folders. */
export function chosen(files: Iterable<File>): Picked {
  const into = new Collection();
  for (const file of files) into.add(file.webkitRelativePath || file.name, file);
  return into.picked();
}

/** What the service said of a file, for somebody who does not know the service. */
export function plainReason(said: string): string {
  if (/binary data/.test(said)) return "This is no text and no document that can be read.";
  if (/is empty/.test(said)) return "The file is empty.";
  const text = said.replace(/^file /, "The file ");
  return /[.!?]$/.test(text) ? text : text + ".";
}
