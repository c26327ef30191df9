// The service's words in plain ones.
import type { Edge, HistoryEntry, ImportEntry, Job, JobItem, Node, Stale } from "orgmem";

type Tone = "plain" | "good" | "warn" | "bad" | "accent";

export const kinds: Record<Node["kind"], string> = {
  document: "Document",
  entity: "Entity",
  belief: "Belief",
  preference: "Preference",
  event: "Event",
  session: "Session",
};

export const states: Record<Node["status"], { word: string; tone: Tone; means: string }> = {
  live: { word: "Holds", tone: "good", means: "It is found and counts." },
  superseded: { word: "Superseded", tone: "warn", means: "Another node has taken its place." },
  tombstoned: { word: "Forgotten", tone: "bad", means: "Its content is gone for good; its place can be restored for a while." },
};

const sources: Record<string, string> = {
  ingest: "Sent in",
  import: "Imported file",
  session: "Coding session",
  supersede: "Took another's place",
  cognition: "Derived by the service",
  connector: "Connector",
};
/** How a node came in; a word that is not known here as it is. */
export const source = (type: string): string => sources[type] ?? type;

export const origins: Record<Edge["origin"], string> = {
  ingest: "Found in a text",
  asserted: "Asserted by hand",
  proposal: "Accepted proposal",
  supersede: "Superseding",
  cognition: "Derived by the service",
};

/** The name of a relation, without the underscores that most have. */
export const relation = (type: string): string => type.replaceAll("_", " ");

export const actions: Record<HistoryEntry["action"], string> = {
  created: "Taken in",
  updated: "Changed",
  superseded: "Superseded",
  revived: "Live again, since the same was sent again",
  forgotten: "Forgotten",
  restored: "Restored",
  edge_asserted: "Edge asserted",
  edge_forgotten: "Edge forgotten",
};

export const fields: Record<HistoryEntry["changes"][number]["field"], string> = {
  title: "Title",
  content: "Text",
  kind: "Kind",
  metadata: "Metadata",
  domainId: "Domain",
  status: "State",
  supersededBy: "Superseded by",
  source: "From",
  type: "Relation",
  target: "To",
  weight: "Weight",
  confidence: "Confidence",
};

export const staleBecause: Record<Stale["reason"], string> = {
  superseded: "was superseded",
  forgotten: "was forgotten",
  ended: "is stated by nothing any more",
  contradicted: "is contradicted",
};

export const jobTypes: Record<Job["type"], string> = {
  ingest: "Text taken in",
  ingest_batch: "Batch taken in",
  import: "File imported",
  transcript: "Transcript imported",
  session_finalize: "Sessions finished",
  cognition: "Memory reviewed",
  brain_train: "Brain trained",
  export: "Export made",
  subject_erase: "Subject erased",
  connector_sync: "Connector fetched",
  quality: "Quality measured",
};

/** What the items of a job's progress are. */
export const jobUnits: Record<Job["type"], string> = {
  ingest: "texts",
  ingest_batch: "texts",
  import: "documents",
  transcript: "documents",
  session_finalize: "steps",
  cognition: "steps",
  brain_train: "steps",
  export: "records",
  subject_erase: "steps",
  connector_sync: "documents",
  quality: "questions",
};

export const jobStates: Record<Job["status"], { word: string; tone: Tone }> = {
  queued: { word: "Waiting", tone: "plain" },
  running: { word: "Under way", tone: "accent" },
  succeeded: { word: "Done", tone: "good" },
  failed: { word: "Failed", tone: "bad" },
  cancelled: { word: "Cancelled", tone: "warn" },
};

export const itemStates: Record<JobItem["status"], { word: string; tone: Tone }> = {
  created: { word: "New", tone: "good" },
  unchanged: { word: "Known already", tone: "plain" },
  superseded: { word: "New version", tone: "accent" },
  revived: { word: "Live again", tone: "accent" },
  failed: { word: "Failed", tone: "bad" },
};

export const formats: Record<ImportEntry["format"], string> = {
  text: "Text",
  markdown: "Markdown",
  json: "JSON",
  jsonl: "JSON lines",
  vtt: "Subtitles (VTT)",
  srt: "Subtitles (SRT)",
  lines: "Transcript",
  html: "Web page",
  csv: "Table (CSV)",
  eml: "Mail",
  mbox: "Mailbox",
  zip: "Archive (ZIP)",
  tar: "Archive (tar)",
  docx: "Word",
  pptx: "PowerPoint",
  xlsx: "Excel",
  odt: "OpenDocument text",
  ods: "OpenDocument table",
  odp: "OpenDocument slides",
  epub: "Book (EPUB)",
  rtf: "Rich text",
  ics: "Calendar",
  pdf: "PDF",
  slack: "Slack export",
  chatgpt: "ChatGPT export",
  claude: "Claude export",
  mem0: "mem0 export",
  zep: "Zep export",
  "orgmem-export": "Export of this service",
};

/** A person's name for a node: its title, or that it has none. */
export const titleOf = (node: Pick<Node, "title">): string => node.title || "Without a title";

/** The end of an id, by which people tell two apart. */
export const shortId = (id: string): string => {
  const last = id.slice(id.lastIndexOf(":") + 1);
  return last.length > 12 ? last.slice(0, 8) + "…" : last;
};

/** Options of a select, from a table of words. */
export const options = (words: Record<string, string | { word: string }>): { value: string; title: string }[] =>
  Object.entries(words).map(([value, word]) => ({ value, title: typeof word === "string" ? word : word.word }));

/** A day of an address as the service takes times: its beginning, or its end. What is no day goes along as it is, and is refused by name. */
export function moment(day: string, end = false): string | undefined {
  if (!day) return undefined;
  const at = new Date(day.length === 10 ? `${day}T${end ? "23:59:59.999" : "00:00:00.000"}` : day);
  return Number.isNaN(at.getTime()) ? day : at.toISOString();
}
