// How records are called in a memory. A Python process names them the same: sdk/python, adapters/records.py.

/**
 * A made-up word for some names, the same for the same ones: letters a to p for the digits of a SHA-256. It has no
 * digits, or it would be taken for the name of a ticket.
 */
export async function word(parts: readonly string[], letters = 12): Promise<string> {
  const text = new TextEncoder().encode(asPythonSpells(parts));
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", text));
  let made = "";
  for (const byte of digest) made += letter(byte >> 4) + letter(byte & 15);
  return made.slice(0, letters);
}

const letter = (digit: number): string => String.fromCharCode(97 + digit);

/** Texts, and lists of them, as Python's json.dumps spells them: a space behind each comma, and all but ASCII escaped. */
function asPythonSpells(v: Spelt): string {
  if (typeof v !== "string") return `[${v.map(asPythonSpells).join(", ")}]`;
  return JSON.stringify(v).replace(/[\x7f-\uffff]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

type Spelt = string | readonly Spelt[];

/** The id of an item's record. It is spelt out and not joined, since a key may hold any character. */
export const recordOf = (namespace: readonly string[], key: string): string => asPythonSpells([namespace, key]);

/** Names within one store. */
export class Names {
  static readonly app = "langgraph";
  readonly #store: string;

  constructor(store: string) {
    this.#store = store;
  }

  /** The client's own id of a record, by which the service finds it exactly. */
  async external(record: string): Promise<string> {
    return `${Names.app}:${await word([Names.app, this.#store, record], 32)}`;
  }

  /** The word that is in a record's text and in no other's. */
  own(record: string): Promise<string> {
    return word([Names.app, this.#store, "record", record], 24);
  }

  group(...names: string[]): Promise<string> {
    return word([Names.app, this.#store, "group", ...names]);
  }

  /** The group of all records at or under a namespace. */
  under(path: readonly string[]): Promise<string> {
    return this.group("namespace", ...path);
  }

  /** The group of the records that are found by what they say. */
  indexed(): Promise<string> {
    return this.group("indexed");
  }

  /** The group of the records whose field is a text. */
  equal(field: string, text: string): Promise<string> {
    return this.group("equal", field, text);
  }
}
