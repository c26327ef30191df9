import assert from "node:assert/strict";

import { documented } from "../../testing/readme.mjs";

documented(import.meta.url, {
  block: (printed) => assert.equal(printed, "The boiler was serviced in May.\n"),
  example: "answer.mjs",
  printed: (printed) => assert.match(printed, /quoted as data.*Moreau.*Who looked after the heating/s),
});
