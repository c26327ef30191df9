// Compiled and never run: that the retriever is what LangChain takes, and that its options are typed.
import type { BaseRetrieverInterface } from "@langchain/core/retrievers";
import { Orgmem } from "orgmem";
import { OrgmemRetriever } from "orgmem-langchain";

export const retriever: BaseRetrieverInterface = new OrgmemRetriever({ client: new Orgmem().subject("ann"), k: 3, filters: { kind: "document" } });
export const title: Promise<string | undefined> = new OrgmemRetriever({ client: new Orgmem() }).invoke("x").then(([found]) => found?.metadata.title);
// @ts-expect-error there is no such mode
export const wrong = new OrgmemRetriever({ client: new Orgmem(), mode: "fuzzy" });
