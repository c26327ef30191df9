import { difference } from "../../lib/diff";

const enough = 0.3; // share of the words that both texts have; below it nearly all would be marked

/** Whether two texts have so much in common that marking what differs helps a reader. */
export function alike(a: string, b: string): boolean {
  let same = 0;
  let all = 0;
  for (const run of difference(a, b)) {
    const words = (run.text.match(/[\p{L}\p{N}\p{M}]+/gu) ?? []).length;
    all += words;
    if (run.kind === "same") same += words;
  }
  return all > 0 && same / all >= enough;
}
