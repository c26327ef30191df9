import assert from "node:assert/strict";

import { documented } from "../../testing/readme.mjs";

documented(import.meta.url, {
  block: (printed) => assert.equal(printed, "Ann is allergic to peanuts.\n"),
  example: "chat.mjs",
  printed: (printed) => {
    const [, second, third] = printed.split("\n\n");
    assert.match(second, /known of the user.*I am allergic to peanuts/);
    assert.match(third, /bob: Which dessert/);
    assert.doesNotMatch(third, /peanuts/);
  },
});
