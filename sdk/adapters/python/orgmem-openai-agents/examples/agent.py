"""An agent that continues a conversation, without any key for a model.

export ORGMEM_BASE_URL=http://127.0.0.1:8080 ORGMEM_API_KEY=$(cat data/quickstart.key)
pip install orgmem-openai-agents && python agent.py
"""

import asyncio

from agents import Agent, Model, ModelResponse, Runner, Usage, set_tracing_disabled
from openai.types.responses import ResponseOutputMessage, ResponseOutputText
from orgmem import AsyncOrgmem
from orgmem_openai_agents import OrgmemSession

set_tracing_disabled(True)  # tracing would send the conversation to OpenAI


class Echo(Model):
    """Stands in for a model: it says what it was given. Leave model= out for OpenAI's."""

    async def get_response(self, system_instructions, input, *args, **kwargs) -> ModelResponse:
        said = [item["content"] for item in input if item.get("role") == "user"]
        text = ResponseOutputText(type="output_text", text=f"You said: {' '.join(said)}", annotations=[])
        message = ResponseOutputMessage(id="m", type="message", role="assistant", status="completed", content=[text])
        return ModelResponse(output=[message], usage=Usage(), response_id=None)

    def stream_response(self, *args, **kwargs):
        raise NotImplementedError("the stand-in does not stream")


async def main() -> None:
    agent = Agent(name="assistant", model=Echo())
    for said in ("I am allergic to peanuts.", "What can I not eat?"):
        session = OrgmemSession("conversation 17")  # a new one each time, as after a restart
        result = await Runner.run(agent, said, session=session)
        print(f"> {said}\n{result.final_output}")
    async with AsyncOrgmem() as memory:
        hits = (await memory.search("allergies")).results
        print("The memory has it, too:", "peanuts" in hits[0].chunk)


asyncio.run(main())
