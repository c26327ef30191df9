// A model that remembers, searches and answers by tools. Nothing here needs a key but the memory: the model is a stand-in
// that plays its part from a script; put a real one in its place.
//
//   npm install orgmem orgmem-ai ai
//   ORGMEM_BASE_URL=… ORGMEM_API_KEY=… node tools.mjs
import { generateText, isStepCount } from "ai";
import { MockLanguageModelV4 } from "ai/test";
import { Orgmem } from "orgmem";
import { memoryTools } from "orgmem-ai";

const client = new Orgmem();
await client.subjects.put("ann");
const { forget, ...tools } = memoryTools({ client: client.subject("ann") }); // nobody looks, so nothing is deleted

const result = (content, reason) => ({ content: [content], finishReason: { unified: reason }, usage: { inputTokens: {}, outputTokens: {} }, warnings: [] });
const calls = (toolName, input) => result({ type: "tool-call", toolCallId: toolName, toolName, input: JSON.stringify(input) }, "tool-calls");
const script = [
  () => calls("remember", { text: "Ann is allergic to peanuts." }),
  () => calls("searchMemory", { query: "what Ann must not eat" }),
  ({ prompt }) => {
    const { memories } = prompt.at(-1).content[0].output.value;
    return result({ type: "text", text: `I looked it up: ${memories[0].text}` }, "stop");
  },
];
const model = new MockLanguageModelV4({ doGenerate: async (call) => script.shift()(call) });

const { text, steps } = await generateText({ model, tools, prompt: "I am Ann. Remember that I am allergic to peanuts. What must I not eat?", stopWhen: isStepCount(5) });
for (const step of steps) for (const { toolName, output } of step.toolResults) console.log(toolName, output);
console.log(text);
