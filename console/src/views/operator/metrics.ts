/** One line of a scrape. */
export interface Sample {
  labels: Readonly<Record<string, string>>;
  value: number;
}
/** The samples of a scrape by their names. */
export type Scrape = ReadonlyMap<string, readonly Sample[]>;

const mostSamples = 100_000; // a large node has some thousands

/**
 * Reads the Prometheus text format (version 0.0.4): one sample a line, as name{label="value"} value, with \\, \" and
 * \n escaped in values. Comments and lines that are no samples are passed over; beyond mostSamples nothing more is read.
 */
export function parse(text: string): Scrape {
  const out = new Map<string, Sample[]>();
  let read = 0;
  for (let from = 0; from < text.length && read < mostSamples; ) {
    let to = text.indexOf("\n", from);
    if (to < 0) to = text.length;
    const line = text.slice(from, to).trim();
    from = to + 1;
    if (line === "" || line.startsWith("#")) continue;
    const sample = sampleOf(line);
    if (!sample) continue;
    read++;
    const of = out.get(sample.name);
    if (of) of.push(sample);
    else out.set(sample.name, [sample]);
  }
  return out;
}

const nameForm = /^[a-zA-Z_:][a-zA-Z0-9_:]*/;
const labelForm = /\s*,?\s*([a-zA-Z_][a-zA-Z0-9_]*)\s*=\s*"((?:[^"\\]|\\.)*)"/y;

function sampleOf(line: string): (Sample & { name: string }) | undefined {
  const name = nameForm.exec(line)?.[0];
  if (!name) return undefined;
  const labels: Record<string, string> = {};
  let at = name.length;
  if (line[at] === "{") {
    at++;
    labelForm.lastIndex = at;
    for (let m = labelForm.exec(line); m; m = labelForm.exec(line)) {
      labels[m[1]!] = m[2]!.replace(/\\(.)/g, (_, c: string) => (c === "n" ? "\n" : c));
      at = labelForm.lastIndex;
    }
    const rest = /^\s*,?\s*\}/.exec(line.slice(at));
    if (!rest) return undefined;
    at += rest[0].length;
  }
  const word = line.slice(at).trim().split(/\s+/)[0] ?? "";
  const value = word === "+Inf" ? Infinity : word === "-Inf" ? -Infinity : word === "NaN" ? NaN : word === "" ? undefined : Number(word);
  if (value === undefined || (Number.isNaN(value) && word !== "NaN")) return undefined;
  return { name, labels, value };
}

/** The sum of a metric over its labels; 0 where there is none. */
export function total(scrape: Scrape, name: string, of: (labels: Sample["labels"]) => boolean = () => true): number {
  let sum = 0;
  for (const s of scrape.get(name) ?? []) if (of(s.labels) && Number.isFinite(s.value)) sum += s.value;
  return sum;
}

/** Upper bounds with how many were at or below each: rising in both, the last is all. */
export type Histogram = readonly { le: number; count: number }[];

/** The histogram of a metric, summed over its other labels. */
export function histogram(scrape: Scrape, name: string, of: (labels: Sample["labels"]) => boolean = () => true): Histogram {
  const counts = new Map<number, number>();
  for (const s of scrape.get(name + "_bucket") ?? []) {
    const bound = s.labels["le"];
    if (bound === undefined || !of(s.labels)) continue;
    const le = bound === "+Inf" ? Infinity : Number(bound);
    counts.set(le, (counts.get(le) ?? 0) + s.value);
  }
  return [...counts].map(([le, count]) => ({ le, count })).sort((a, b) => a.le - b.le);
}

/** What was added between two looks; all of the later one where the counting began anew. */
export function since(before: Histogram | undefined, now: Histogram): Histogram {
  if (!before || before.length !== now.length || now.some((b, i) => b.count < before[i]!.count)) return now;
  return now.map((b, i) => ({ le: b.le, count: b.count - before[i]!.count }));
}

/**
 * The value below which the share q of what was counted lies, taken to be spread evenly within a
 * bucket, as Prometheus' histogram_quantile does; undefined where nothing was counted. Beyond the last bound it is that bound.
 */
export function quantile(h: Histogram, q: number): number | undefined {
  const all = h.at(-1)?.count ?? 0;
  if (all <= 0) return undefined;
  const rank = q * all;
  const i = h.findIndex((b) => b.count >= rank && b.count > 0);
  const bucket = h[i]!;
  const low = i > 0 ? h[i - 1]! : { le: 0, count: 0 };
  if (bucket.le === Infinity) return low.le;
  return low.le + ((bucket.le - low.le) * (rank - low.count)) / (bucket.count - low.count);
}

/** How much of a counter came in each second between two looks; 0 where it began anew. */
export const rate = (before: number, now: number, seconds: number): number => (seconds > 0 && now >= before ? (now - before) / seconds : 0);

/** What stands in a scrape about one route. */
export interface Route {
  method: string;
  route: string;
  requests: number;
  /** Answers of status 500 and above. */
  errors: number;
  /** Answers of status 400 to 499. */
  refused: number;
  /** Of slow ones: longer than a second. */
  slow: number;
  p50: number | undefined;
  p95: number | undefined;
}

const duration = "orgmem_http_request_duration_seconds";
/** Answers that last as long as their client wants. */
const streams = new Set(["/v1/events"]);

/** The routes that were asked since the start, slowest first. */
export function routesOf(scrape: Scrape): Route[] {
  const out = new Map<string, Route>();
  for (const s of scrape.get("orgmem_http_requests_total") ?? []) {
    const { method = "", route = "", status = "" } = s.labels;
    if (s.value === 0) continue;
    const key = method + " " + route;
    let r = out.get(key);
    if (!r) out.set(key, (r = { method, route, requests: 0, errors: 0, refused: 0, slow: 0, p50: undefined, p95: undefined }));
    r.requests += s.value;
    if (status >= "500") r.errors += s.value;
    else if (status >= "400") r.refused += s.value;
  }
  for (const r of out.values()) {
    if (streams.has(r.route)) continue;
    const h = histogram(scrape, duration, (l) => l["method"] === r.method && l["route"] === r.route);
    r.p50 = quantile(h, 0.5);
    r.p95 = quantile(h, 0.95);
    const all = h.at(-1)?.count ?? 0;
    r.slow = all - (h.filter((b) => b.le <= 1).at(-1)?.count ?? all);
  }
  return [...out.values()].sort((a, b) => (b.p95 ?? -1) - (a.p95 ?? -1));
}

/** The durations of all requests but streams. */
export const durations = (scrape: Scrape): Histogram => histogram(scrape, duration, (l) => !streams.has(l["route"] ?? ""));

/** What is drawn over time: one point for each look. */
export interface Point {
  at: number;
  requests: number;
  errors: number;
  refused: number;
  p95: number | undefined;
  memory: number;
  processor: number;
}

/** A scrape with when it was made. */
export interface Look {
  at: number;
  scrape: Scrape;
}

/** What happened between two looks, for each second of the time between. */
export function pointOf(before: Look, now: Look): Point {
  const seconds = (now.at - before.at) / 1000;
  const requests = "orgmem_http_requests_total";
  const of = (name: string, which?: (l: Sample["labels"]) => boolean): number => rate(total(before.scrape, name, which), total(now.scrape, name, which), seconds);
  return {
    at: now.at,
    requests: of(requests),
    errors: of(requests, (l) => (l["status"] ?? "") >= "500"),
    refused: of(requests, (l) => (l["status"] ?? "") >= "400" && (l["status"] ?? "") < "500"),
    p95: quantile(since(durations(before.scrape), durations(now.scrape)), 0.95),
    memory: total(now.scrape, "process_resident_memory_bytes"),
    processor: of("process_cpu_seconds_total"),
  };
}

/** The points of a line in a box, as SVG's polyline has them; what is undefined interrupts nothing and is left out. */
export function line(values: readonly (number | undefined)[], width: number, height: number, most: number): string {
  const step = values.length > 1 ? width / (values.length - 1) : 0;
  return values
    .map((v, i) => (v === undefined ? "" : `${(i * step).toFixed(1)},${(height - (most > 0 ? Math.min(1, v / most) : 0) * height).toFixed(1)}`))
    .filter(Boolean)
    .join(" ");
}

/** A time in words that fit it. */
export function seconds(s: number | undefined): string {
  if (s === undefined) return "–";
  if (s < 0.001) return `${Math.round(s * 1e6)} µs`;
  if (s < 1) return `${s < 0.01 ? (s * 1000).toFixed(1) : Math.round(s * 1000)} ms`;
  return `${s < 10 ? s.toFixed(1) : Math.round(s)} s`;
}

/** How much in each second, with a digit behind the point where it is little. */
export function rateText(n: number | undefined): string {
  if (n === undefined) return "–";
  return n === 0 ? "0" : n < 0.1 ? "< 0.1" : n < 10 ? n.toFixed(1) : Math.round(n).toLocaleString("en");
}
