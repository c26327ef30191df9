// Compiled and never run: that tools and middleware are what the AI SDK takes.
import { generateText, wrapLanguageModel } from "ai";
import { MockLanguageModelV4 } from "ai/test";
import { Orgmem } from "orgmem";
import { memoryMiddleware, memoryTools } from "orgmem-ai";

const client = new Orgmem();
const { forget: _, ...tools } = memoryTools({ client: client.subject("ann"), metadata: { app: "chat" } });
const model = wrapLanguageModel({ model: new MockLanguageModelV4(), middleware: memoryMiddleware({ client, store: (said) => (said.length > 3 ? said : undefined) }) });
export const answer: Promise<string> = generateText({ model, tools, prompt: "x", providerOptions: { orgmem: { subject: "ann" } } }).then((r) => r.text);
// @ts-expect-error a limit is a number
memoryMiddleware({ client, limit: "5" });
