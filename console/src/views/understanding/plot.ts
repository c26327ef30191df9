/** A circle in a plot, in pixels. */
export interface Circle {
  x: number;
  y: number;
  r: number;
}

const gap = 6; // pixels between circles before scaling
const turns = 72; // directions that are tried around each circle

/**
 * Circles whose areas are as the shares, close together and none over another, scaled to
 * fill the box; in the order of the shares. For the few basins that there are: each is put
 * where it touches one that is placed and lies nearest to the middle.
 */
export function pack(shares: readonly number[], width: number, height: number, margin = 8): Circle[] {
  const wanted = shares.map((s, i) => ({ i, r: Math.sqrt(Math.max(s, 0.0025)) * 100 })).sort((a, b) => b.r - a.r);
  const placed: (Circle & { i: number })[] = [];
  // A box that is wider than high is filled better if distances to the sides count less.
  const squeeze = height / width;
  for (const { i, r } of wanted) {
    if (placed.length === 0) {
      placed.push({ i, r, x: 0, y: 0 });
      continue;
    }
    let best: (Circle & { i: number }) | undefined;
    let nearest = Infinity;
    for (const p of placed)
      for (let t = 0; t < turns; t++) {
        const angle = (t / turns) * 2 * Math.PI;
        const d = p.r + r + gap;
        const c = { i, r, x: p.x + d * Math.cos(angle), y: p.y + d * Math.sin(angle) };
        if (placed.some((q) => Math.hypot(q.x - c.x, q.y - c.y) < q.r + r + gap - 0.01)) continue;
        const far = Math.hypot(c.x * squeeze, c.y);
        if (far < nearest - 1e-9) [best, nearest] = [c, far];
      }
    placed.push(best ?? { i, r, x: Math.max(...placed.map((p) => p.x + p.r)) + r + gap, y: 0 });
  }
  if (placed.length === 0) return [];
  const left = Math.min(...placed.map((p) => p.x - p.r));
  const right = Math.max(...placed.map((p) => p.x + p.r));
  const top = Math.min(...placed.map((p) => p.y - p.r));
  const bottom = Math.max(...placed.map((p) => p.y + p.r));
  const scale = Math.max(0, Math.min((width - 2 * margin) / (right - left), (height - 2 * margin) / (bottom - top)));
  const out: Circle[] = [];
  for (const p of placed)
    out[p.i] = {
      x: width / 2 + (p.x - (left + right) / 2) * scale,
      y: height / 2 + (p.y - (top + bottom) / 2) * scale,
      r: p.r * scale,
    };
  return out;
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
