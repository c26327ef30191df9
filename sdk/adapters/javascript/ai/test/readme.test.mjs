import assert from "node:assert/strict";

import { documented } from "../../testing/readme.mjs";

documented(import.meta.url, {
  block: (printed) => assert.match(printed, /data.*<memory>.*Ann is allergic to peanuts.*Which dessert can I eat\?\n$/s),
  example: "tools.mjs",
  printed: (printed) => assert.match(printed, /outcome: 'created'.*I looked it up: Ann is allergic to peanuts\.\n$/s),
});
