/** How many of something fell into one stretch of time. */
export interface Bar {
  /** ISO 8601, UTC. */
  from: string;
  /** Excluded. */
  until: string;
  label: string;
  count: number;
}

const mostBars = 60;
const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/** Counts times by months, or by quarters, years or longer where those would be more bars than one can tell apart. Without gaps. */
export function overTime(times: readonly string[]): Bar[] {
  const at = times.map((t) => new Date(t)).filter((d) => !Number.isNaN(d.getTime()));
  if (at.length === 0) return [];
  const month = (d: Date): number => d.getUTCFullYear() * 12 + d.getUTCMonth();
  const [first, last] = at.map(month).reduce(([a, b], m) => [Math.min(a, m), Math.max(b, m)], [Infinity, -Infinity]);
  const step = [1, 3, 12, 60, 120, 1200].find((s) => (last - first) / s < mostBars) ?? 12_000;
  const start = Math.floor(first / step) * step;
  const bars: Bar[] = [];
  for (let m = start; m <= last; m += step) bars.push({ from: day(m), until: day(m + step), label: label(m, step), count: 0 });
  for (const d of at) bars[Math.floor((month(d) - start) / step)]!.count++;
  return bars;
}

function day(month: number): string {
  const d = new Date(0);
  d.setUTCFullYear(Math.floor(month / 12), month % 12, 1);
  return d.toISOString();
}

function label(month: number, step: number): string {
  const year = Math.floor(month / 12);
  if (step === 1) return `${months[month % 12]} ${year}`;
  if (step === 3) return `Q${Math.floor((month % 12) / 3) + 1} ${year}`;
  return step === 12 ? String(year) : `from ${year}`;
}
