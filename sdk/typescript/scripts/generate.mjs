// Writes src/openapi.ts from docs/openapi.json, or into the file that is named as
// the argument: the test that holds the committed file fresh compares the two.
import { readFile, writeFile } from "node:fs/promises";
import openapiTS, { astToString } from "openapi-typescript";
import ts from "typescript";

const root = new URL("../", import.meta.url);
const document = JSON.parse(await readFile(new URL("../../docs/openapi.json", root), "utf8"));
for (const path of Object.values(document.paths)) {
  for (const operation of Object.values(path)) {
    // What every route answers on failure is written once, in errors.ts; repeated for
    // each route it would be nine tenths of the file. Headers are read by hand.
    for (const [status, response] of Object.entries(operation.responses)) {
      if (status.startsWith("2")) delete response.headers;
      else delete operation.responses[status];
    }
    operation.parameters = operation.parameters?.filter((p) => p.in !== "header");
  }
}
const text = astToString(
  await openapiTS(document, {
    // A default that the service fills in is one that a caller may leave out.
    defaultNonNullable: false,
    // An indexed type that names itself is refused by the compiler; a named one is not.
    inject: "type Json = string | number | boolean | null | Json[] | { [key: string]: Json };\n",
    transform: (_schema, { path }) =>
      path === "#/components/schemas/MetadataValue" ? ts.factory.createTypeReferenceNode("Json") : undefined,
  }),
);
await writeFile(
  process.argv[2] ?? new URL("src/openapi.ts", root),
  "// Made by `npm run generate` from docs/openapi.json. Change that, not this.\n\n" + text,
);
