import type { IdentityPlot, PlotBasin, PlotSignal } from "orgmem";

/** How a plot stands in its box: pixels of coordinates. Both axes have one scale, or distances would lie. */
export interface Fit {
  width: number;
  height: number;
  x: (v: number) => number;
  y: (v: number) => number;
  /** Pixels of one unit. */
  unit: number;
}

/** Room around the plot: for the names of the axes, and for labels. */
const room = { side: 34, top: 30, bottom: 40 };
const [lowest, highest] = [200, 460]; // pixels of the plot's height
const onLine = 96; // the height where all lies on a line

/** How far an ellipse reaches along the two axes. */
export function reach({ major, minor, angle }: PlotBasin["spread"]): { x: number; y: number } {
  const [c, s] = [Math.cos(angle), Math.sin(angle)];
  return { x: Math.hypot(major * c, minor * s), y: Math.hypot(major * s, minor * c) };
}

/** Fits all that is drawn into a width. */
export function fit(plot: Pick<IdentityPlot, "axes" | "basins" | "points">, width: number): Fit {
  const boxes = [
    ...plot.points.map((p) => ({ x: p.x, y: p.y, r: { x: 0, y: 0 } })),
    ...plot.basins.map((b) => ({ x: b.x, y: b.y, r: reach(b.spread) })),
  ];
  const edge = (least: boolean, of: (b: (typeof boxes)[number]) => number): number =>
    boxes.length === 0 ? 0 : boxes.reduce((m, b) => (least ? Math.min(m, of(b)) : Math.max(m, of(b))), least ? Infinity : -Infinity);
  const left = edge(true, (b) => b.x - b.r.x);
  const low = edge(true, (b) => b.y - b.r.y);
  const wide = Math.max(edge(false, (b) => b.x + b.r.x) - left, 1e-6);
  const high = Math.max(edge(false, (b) => b.y + b.r.y) - low, 0);
  const inner = Math.max(width - 2 * room.side, 40);
  const tall = plot.axes.length < 2 ? onLine : Math.min(Math.max((high / wide) * inner, lowest), highest);
  const unit = Math.min(inner / wide, high > 0 ? tall / high : Infinity);
  const [middleX, middleY] = [left + wide / 2, low + high / 2];
  return {
    width,
    height: tall + room.top + room.bottom,
    unit,
    x: (v) => room.side + inner / 2 + (v - middleX) * unit,
    y: (v) => room.top + tall / 2 - (v - middleY) * unit, // up is more
  };
}

/** A label of a basin, by its middle and baseline. */
export interface Label {
  text: string;
  x: number;
  y: number;
}

const letter = 7.6; // pixels, about
const lineHeight = 17;

/** Puts each basin's label above its ellipse, or below it where there is another already. */
export function labels(basins: readonly PlotBasin[], f: Fit): Label[] {
  const taken: { left: number; right: number; y: number }[] = [];
  return basins.map((b) => {
    const text = lines(b.label || "Without a name", Math.max(8, Math.min(28, Math.floor((f.width * 0.6) / letter))), 1)[0]!;
    const half = ((text.length + 2) * letter) / 2; // the basin's colour stands before it
    const x = Math.min(Math.max(f.x(b.x), half + 4), f.width - half - 4);
    const free = (y: number): boolean =>
      y > lineHeight && y < f.height - room.bottom + 12 && !taken.some((t) => t.left < x + half && x - half < t.right && Math.abs(t.y - y) < lineHeight);
    const r = reach(b.spread).y * f.unit;
    const wanted = [f.y(b.y) - r - 7, f.y(b.y) + r + 16];
    for (let step = 1; step <= 8; step++) wanted.push(wanted[0]! - step * lineHeight, wanted[1]! + step * lineHeight);
    const y = wanted.find(free) ?? Math.min(Math.max(wanted[0]!, lineHeight), f.height - room.bottom);
    taken.push({ left: x - half, right: x + half, y });
    return { text, x, y };
  });
}

const ways: Record<string, readonly [x: number, y: number]> = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

/** The point that a key leads to from another: the nearest in that direction; Home and End go to the earliest and latest. */
export function step(points: readonly Pick<PlotSignal, "x" | "y" | "at">[], from: number, key: string): number | undefined {
  const here = points[from];
  if (!here) return undefined;
  if (key === "Home" || key === "End") {
    const sign = key === "Home" ? 1 : -1;
    return points.reduce((best, p, i) => (sign * (Date.parse(p.at) - Date.parse(points[best]!.at)) < 0 ? i : best), 0);
  }
  const way = ways[key];
  if (!way) return undefined;
  let [next, least]: [number | undefined, number] = [undefined, Infinity];
  points.forEach((p, i) => {
    const [dx, dy] = [p.x - here.x, p.y - here.y];
    const along = dx * way[0] + dy * way[1];
    const across = Math.abs(dx * way[1] + dy * way[0]);
    // Points that lie upon each other come one after the other.
    if (i === from || along < 0 || (along === 0 && (across > 0 || i < from))) return;
    if (across > along * 2) return;
    const far = along + 2 * across;
    if (far < least) [next, least] = [i, far];
  });
  return next;
}

/** The months in which points lie, the earliest first, as 2026-09. */
export const monthsWith = (points: readonly Pick<PlotSignal, "at">[]): string[] => [...new Set(points.map((p) => p.at.slice(0, 7)))].sort();

const monthNames = new Intl.DateTimeFormat("en", { month: "long", year: "numeric", timeZone: "UTC" });
export const monthName = (month: string): string => monthNames.format(new Date(`${month}-01T00:00:00Z`));

/** In which basin most of a month's points lie, and how many of how many. */
export function mostlyIn(plot: Pick<IdentityPlot, "basins" | "points">, month: string): { basin: PlotBasin; of: number; all: number } | undefined {
  const there = plot.points.filter((p) => p.at.startsWith(month));
  let best: { basin: PlotBasin; of: number; all: number } | undefined;
  for (const basin of plot.basins) {
    const of = there.filter((p) => p.basin === basin.id).length;
    if (of > (best?.of ?? 0)) best = { basin, of, all: there.length };
  }
  return best;
}

/** How distinct the places are, by their silhouette (Rousseeuw 1987), in words. */
export function distinct(silhouette: number, basins: number): string {
  if (basins < 2) return "There is one place: everything lies around one middle.";
  if (silhouette >= 0.5) return "The places are clearly apart.";
  if (silhouette >= 0.25) return "The places are apart, with some between them.";
  return "The places run into each other.";
}

/** Lines of a label, of about so many characters each; the last ends with … where words are left out. */
export function lines(label: string, longest: number, most: number): string[] {
  const out: string[] = [];
  let left = false;
  for (const word of label.split(/\s+/).filter(Boolean)) {
    const last = out.at(-1);
    if (last !== undefined && (last + " " + word).length <= longest) out[out.length - 1] = last + " " + word;
    else if (out.length < most) out.push(word.length > longest ? word.slice(0, Math.max(1, longest - 1)) + "…" : word);
    else {
      left = true;
      break;
    }
  }
  if (left) out[out.length - 1] = out.at(-1)!.replace(/…$/, "").slice(0, Math.max(1, longest - 1)) + "…";
  return out;
}
