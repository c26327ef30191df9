import type { BrainReport } from "orgmem";
import { describe, expect, test } from "vitest";
import { calibration, verdict } from "../src/views/brain/calibration";

type Bin = BrainReport["gate"]["bins"][number];
const bin = (mean: number, won: number, lost: number): Bin => ({ mean, opened: { won, lost } }) as Bin;

describe("whether the gate is right", () => {
  test("is told by what an open gate won of the questions that it would have decided", () => {
    const [first, second, ...none] = calibration([bin(0.1, 0, 0), bin(0.2, 2, 8), bin(0.9, 10, 0)]);
    expect([first!.stood, first!.share, second!.share, none.length]).toEqual([0.2, 0.2, 1, 0]);
    // Wilson's interval of 2 of 10.
    expect(first!.low).toBeCloseTo(0.0567, 3);
    expect(first!.high).toBeCloseTo(0.5098, 3);
    expect(second!.high).toBe(1);
    expect(second!.low).toBeGreaterThan(0.7);
  });

  test("in words, says where it stood further open or less than that pays", () => {
    expect(verdict([])).toContain("no answer would have differed");
    expect(verdict(calibration([bin(0.2, 2, 8), bin(0.9, 9, 1)]))).toBe("An open gate pays about as often as it stood open.");
    expect(verdict(calibration([bin(0.05, 9, 1), bin(0.5, 5, 5)]))).toBe("In 1 of 2 stretches an open gate pays more often than it stood open.");
    expect(verdict(calibration([bin(0.9, 1, 9)]))).toBe("Everywhere an open gate pays less often than it stood open.");
    expect(verdict(calibration([bin(0.05, 9, 1), bin(0.9, 1, 9)]))).toBe("In 1 of 2 stretches an open gate pays more often than it stood open, in 1 of 2 stretches less often.");
  });
});
