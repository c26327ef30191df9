// Empties dist of the package at hand, so that nothing of an older build is tested or packed.
import { rm } from "node:fs/promises";

await rm("dist", { recursive: true, force: true });
