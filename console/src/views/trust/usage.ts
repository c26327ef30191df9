import type { UsageReport } from "orgmem";

export type Metric = "readUnits" | "embedTokens";
export type By = "subject" | "capability" | "key";
export type Step = "hour" | "day";

const hour = 3_600_000;
const day = 24 * hour;
const mostHours = 7; // days that the service answers by the hour

/** What the address may ask for. Nothing in it is longer than the 92 days that the service answers. */
export const ranges = [
  { id: "1d", title: "24 hours", days: 1 },
  { id: "7d", title: "7 days", days: 7 },
  { id: "30d", title: "30 days", days: 30 },
  { id: "92d", title: "92 days", days: 92 },
] as const;

/** The begin and end of a range, and by what it can be drawn. The whole hour or day of its begin is in it. */
export function span(id: string, now: number): { from: number; to: number; steps: readonly Step[] } {
  const range = ranges.find((r) => r.id === id) ?? ranges[1];
  const hours = range.days <= mostHours;
  // One hour less than whole days: the hour that the range begins in is answered whole.
  const from = hours ? Math.floor((now - range.days * day) / hour) * hour + hour : Math.floor((now - range.days * day) / day) * day + day;
  return { from, to: now, steps: hours ? ["hour", "day"] : ["day"] };
}

export interface Series {
  name: string;
  total: number;
  /** As many as there are times; what was not used is 0. */
  values: number[];
}
export interface Chart {
  /** Begins of the buckets, seconds since 1970, all of the range. */
  times: number[];
  /** The largest first; the last may be "other". */
  series: Series[];
  total: number;
}

const mostSeries = 6; // beyond it colours are no longer told apart

/** Draws one metric of a report: a bar for each bucket of the range, also for those in which nothing was used. */
export function chart(report: UsageReport, metric: Metric, by: By, step: Step, from: number, to: number): Chart {
  const size = step === "hour" ? hour : day;
  const first = Math.floor(from / size) * size;
  const times: number[] = [];
  for (let t = first; t < to; t += size) times.push(t / 1000);
  const all = new Map<string, Series>();
  let total = 0;
  for (const bucket of report.buckets) {
    const i = Math.floor((Date.parse(bucket.startTime) - first) / size);
    if (i < 0 || i >= times.length) continue;
    for (const group of bucket.groups) {
      const name = by === "subject" ? group.subject : by === "capability" ? (group.capability ?? "") : (group.key ?? "");
      const units = group.units[metric];
      if (units === 0) continue;
      let series = all.get(name);
      if (!series) all.set(name, (series = { name, total: 0, values: times.map(() => 0) }));
      series.values[i]! += units;
      series.total += units;
      total += units;
    }
  }
  const sorted = [...all.values()].sort((a, b) => b.total - a.total || (a.name < b.name ? -1 : 1));
  if (sorted.length <= mostSeries) return { times, series: sorted, total };
  const rest = sorted.splice(mostSeries - 1);
  const other: Series = { name: `${rest.length} others`, total: 0, values: times.map(() => 0) };
  for (const series of rest) {
    other.total += series.total;
    series.values.forEach((v, i) => (other.values[i]! += v));
  }
  return { times, series: [...sorted, other], total };
}

/** Bars that stand on each other: of each series, what it and all before it come to. */
export function stacked(series: readonly Series[]): number[][] {
  const out: number[][] = [];
  for (const s of series) {
    const below = out.at(-1);
    out.push(s.values.map((v, i) => v + (below?.[i] ?? 0)));
  }
  return out;
}
