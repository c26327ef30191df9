// Numbers that look random and are the same for the same seed, so that a failure can be had again.

/** @param {number} seed */
export function randomOf(seed) {
  let state = seed >>> 0;
  const next = () => {
    // mulberry32
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (n) => Math.floor(next() * n);
  return { next, below, of: (all) => all[below(all.length)], chance: (p) => next() < p };
}

/** The seeds of a run: those that once found a fault stay in the list; ORGMEM_SEED runs one alone. */
export const seedsOf = (...kept) => (process.env.ORGMEM_SEED ? [Number(process.env.ORGMEM_SEED)] : kept);
