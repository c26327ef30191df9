// Compiled and never run: that the store is what LangGraph takes, and that its options are typed.
import type { BaseStore } from "@langchain/langgraph-checkpoint";
import { Orgmem } from "orgmem";
import { OrgmemStore } from "orgmem-langgraph";

export const store: BaseStore = new OrgmemStore({ client: new Orgmem().subject("ann"), index: { fields: ["text"] } });
// @ts-expect-error a store needs a client
export const without = new OrgmemStore({});
