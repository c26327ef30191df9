/** How many requests of one operation are under way at a time. */
const atOnce = 8;

/** Does something with each, a few at a time, in order of the answers. It ends when all have ended, also where one fails. */
export async function each<T, R>(all: readonly T[], work: (one: T) => Promise<R>): Promise<R[]> {
  const results = new Array<R>(all.length);
  const failures: unknown[] = [];
  let next = 0;
  const run = async (): Promise<void> => {
    while (next < all.length && failures.length === 0) {
      const at = next++;
      try {
        results[at] = await work(all[at]!);
      } catch (err) {
        failures.push(err);
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, all.length) }, run));
  if (failures.length > 0) throw failures[0];
  return results;
}
