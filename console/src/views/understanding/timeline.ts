import type { Dated, TemporalView } from "orgmem";

type Recurrence = TemporalView["recurrences"][number];

const hour = 3_600_000;
const day = 24 * hour;

/** From when to when an axis goes, in milliseconds since 1970. */
export interface Span {
  from: number;
  until: number;
}

/** Where something stands on an axis, in pixels, and in which row of it. */
export interface Placed<T> {
  of: T;
  start: number;
  end: number;
  lane: number;
}

/** The pixel of a time. */
export const place = (at: number, span: Span, width: number): number => ((at - span.from) / (span.until - span.from)) * width;

/**
 * Puts what overlaps into different lanes: the first free one, in the order of the
 * beginnings. What begins while all lanes are taken is counted and not placed.
 */
export function layout<T extends { at: string; until?: string }>(
  events: readonly T[],
  span: Span,
  width: number,
  how: { least: number; lanes: number; gap: number },
): { placed: Placed<T>[]; more: number } {
  const free: number[] = []; // where each lane is free again
  const placed: Placed<T>[] = [];
  let more = 0;
  const inside = events
    .map((of) => ({ of, from: Date.parse(of.at), until: of.until ? Date.parse(of.until) : Date.parse(of.at) }))
    .filter((e) => Number.isFinite(e.from) && e.until >= span.from && e.from <= span.until)
    .sort((a, b) => a.from - b.from || a.until - b.until);
  for (const { of, from, until } of inside) {
    let start = Math.max(0, place(from, span, width));
    const end = Math.min(width, Math.max(start + how.least, place(until, span, width)));
    start = Math.min(start, width - how.least);
    let lane = free.findIndex((at) => at + how.gap <= start);
    if (lane < 0) lane = free.length;
    if (lane >= how.lanes) {
      more++;
      continue;
    }
    free[lane] = end;
    placed.push({ of, start, end, lane });
  }
  return { placed, more };
}

/** Lines of an axis at days, weeks, months, quarters or years, no closer than that. */
export function ticks(span: Span, width: number, closest = 74): { at: number; x: number; label: string }[] {
  const most = Math.max(1, Math.floor(width / closest));
  const days = (span.until - span.from) / day;
  const out: { at: number; x: number; label: string }[] = [];
  const add = (at: number, how: Intl.DateTimeFormatOptions): void => {
    if (at >= span.from && at <= span.until)
      out.push({ at, x: place(at, span, width), label: new Intl.DateTimeFormat("en", { ...how, timeZone: "UTC" }).format(at) });
  };
  const first = new Date(span.from);
  const eachDays = [1, 2, 7, 14].find((n) => days / n <= most);
  if (eachDays !== undefined) {
    // Weeks begin on Mondays; the first of January 1970 was a Thursday.
    const monday = Math.floor((Math.floor(span.from / day) + 3) / 7) * 7 - 3;
    for (let d = eachDays >= 7 ? monday : Math.ceil(span.from / day); d * day <= span.until; d += eachDays) add(d * day, { day: "numeric", month: "short" });
    return out;
  }
  const months = days / 30.4;
  const eachMonths = [1, 3, 6].find((n) => months / n <= most);
  if (eachMonths !== undefined) {
    for (let m = Math.floor(first.getUTCMonth() / eachMonths) * eachMonths; ; m += eachMonths) {
      const at = Date.UTC(first.getUTCFullYear(), m, 1);
      if (at > span.until) return out;
      add(at, { month: "short", year: "numeric" });
    }
  }
  const years = days / 365.25;
  const eachYears = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000].find((n) => years / n <= most) ?? 5000;
  for (let y = Math.floor(first.getUTCFullYear() / eachYears) * eachYears; ; y += eachYears) {
    const date = new Date(0);
    date.setUTCFullYear(y, 0, 1); // Date.UTC takes the years before 100 for others
    if (date.getTime() > span.until) return out;
    add(date.getTime(), { year: "numeric" });
  }
}

const names = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"];

/**
 * The days, as midnights in UTC, on which something comes again. Of what says only how often, and
 * not on which days ("twice a year"), none are known; of every other week it is not known which, unless since says so.
 */
export function occurrences(r: Pick<Recurrence, "every" | "since" | "until">, span: Span, most = 200): number[] {
  const { every } = r;
  const out: number[] = [];
  const since = r.since ? Date.parse(r.since) : undefined;
  if (every.interval > 1 && since === undefined) return out;
  if (every.unit === "hour" || every.times !== undefined) return out;
  const from = Math.max(span.from, since ?? -Infinity);
  const until = Math.min(span.until, r.until ? Date.parse(r.until) - 1 : Infinity);
  for (let d = Math.ceil(from / day); d * day <= until && out.length < most; d++) {
    const at = new Date(d * day);
    if (falls(at, every, since)) out.push(d * day);
  }
  return out;
}

function falls(at: Date, every: Recurrence["every"], since: number | undefined): boolean {
  const weekday = names[at.getUTCDay()] as (typeof names)[number];
  const { unit, interval, weekdays, monthDays, months, nth, except } = every;
  if (except?.weekdays?.some((w) => w === weekday) || except?.months?.includes(at.getUTCMonth() + 1)) return false;
  if (months && !months.includes(at.getUTCMonth() + 1)) return false;
  if (weekdays && !weekdays.some((w) => w === weekday)) return false;
  const inMonth = new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1, 0)).getUTCDate();
  if (monthDays && !monthDays.some((n) => (n < 0 ? inMonth + 1 + n : n) === at.getUTCDate())) return false;
  if (nth) {
    const which = Math.ceil(at.getUTCDate() / 7);
    const last = -Math.ceil((inMonth - at.getUTCDate() + 1) / 7);
    if (!nth.includes(which) && !nth.includes(last)) return false;
  }
  // A day has to be known: "every month" is on none in particular.
  if (unit === "week" && !weekdays) return false;
  if (unit === "month" && !monthDays && !(weekdays && nth)) return false;
  if (unit === "year" && !(months && (monthDays || (weekdays && nth)))) return false;
  if (interval > 1 && since !== undefined) {
    const then = new Date(since);
    const steps =
      unit === "day" ? Math.floor(at.getTime() / day) - Math.floor(since / day)
      : unit === "week" ? Math.floor((at.getTime() / day + 3) / 7) - Math.floor((Math.floor(since / day) + 3) / 7)
      : unit === "month" ? (at.getUTCFullYear() - then.getUTCFullYear()) * 12 + at.getUTCMonth() - then.getUTCMonth()
      : at.getUTCFullYear() - then.getUTCFullYear();
    return steps % interval === 0;
  }
  return true;
}

/** When an event is, as exactly as its text says and no more. Its times are the writer's own, which the service keeps as UTC. */
export function moment(e: Pick<Dated, "at" | "until" | "bound" | "precision">): string {
  const at = Date.parse(e.at);
  const f = (how: Intl.DateTimeFormatOptions, t = at): string => new Intl.DateTimeFormat("en", { ...how, timeZone: "UTC" }).format(t);
  const date: Intl.DateTimeFormatOptions = { weekday: "short", day: "numeric", month: "short", year: "numeric" };
  if (e.bound === "latest") return `by ${f(date)}`;
  if (e.bound === "earliest") return `from ${f(date)} on`;
  const last = e.until ? Date.parse(e.until) - 1 : at;
  const year = new Date(at).getUTCFullYear();
  switch (e.precision) {
    case "minute":
      return f({ ...date, hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
    case "week":
      return `week of ${f({ day: "numeric", month: "short", year: "numeric" }, last - 6 * day)}`;
    case "month":
      return f({ month: "long", year: "numeric" });
    case "quarter":
      return `${["first", "second", "third", "fourth"][Math.floor(new Date(at).getUTCMonth() / 3)]} quarter of ${year}`;
    case "year":
      return `${year}`;
    case "decade":
      return `the ${year - (year % 10)}s`;
    case "century":
      return `${Math.floor(year / 100) + 1}th century`;
  }
  return last - at > day ? `${f(date)} to ${f(date, last)}` : f(date);
}

/** The months from one time to another, both included, as YYYY-MM; the latest most. */
export function monthsOf(from: number, until: number, most: number): string[] {
  const out: string[] = [];
  const end = new Date(until);
  for (let m = end.getUTCMonth(); out.length < most; m--) {
    const first = Date.UTC(end.getUTCFullYear(), m, 1);
    out.unshift(new Date(first).toISOString().slice(0, 7));
    if (first <= from) break;
  }
  return out;
}

/** How many of the dates fall into each month. */
export function perMonth(dates: readonly string[], months: readonly string[]): number[] {
  const counts = new Map<string, number>();
  for (const d of dates) counts.set(d.slice(0, 7), (counts.get(d.slice(0, 7)) ?? 0) + 1);
  return months.map((m) => counts.get(m) ?? 0);
}
