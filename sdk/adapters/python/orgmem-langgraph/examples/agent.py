"""A graph that remembers over conversations, without any key for a model.

export ORGMEM_BASE_URL=http://127.0.0.1:8080 ORGMEM_API_KEY=$(cat data/quickstart.key)
pip install orgmem-langgraph langgraph && python agent.py
"""

import uuid

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.runtime import Runtime
from orgmem_langgraph import OrgmemStore


class Echo(BaseChatModel):
    """Stands in for a model: it says what it was told to know. Put your own in its place."""

    @property
    def _llm_type(self) -> str:
        return "echo"

    def _generate(self, messages: list[BaseMessage], stop=None, run_manager=None, **kwargs) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=AIMessage(messages[0].content))])


model = Echo()


def remember(state: MessagesState, runtime: Runtime) -> None:
    """Keeps what the user says; a real agent would let its model decide what is worth it."""
    said = state["messages"][-1].content
    if not said.endswith("?"):
        runtime.store.put(("users", "ann"), str(uuid.uuid4()), {"text": said})


def answer(state: MessagesState, runtime: Runtime) -> dict:
    """Answers with what fits the question."""
    found = runtime.store.search(("users", "ann"), query=state["messages"][-1].content, limit=1)
    known = "\n".join(item.value["text"] for item in found)
    return {"messages": [model.invoke([SystemMessage(f"You know: {known}"), *state["messages"]])]}


builder = StateGraph(MessagesState)
builder.add_sequence([remember, answer])
builder.add_edge(START, "remember")
graph = builder.compile(store=OrgmemStore())

for said in ("I am allergic to peanuts.", "My sister lives in Lisbon.", "What can I not eat?"):
    result = graph.invoke({"messages": [HumanMessage(said)]})  # each a conversation of its own
    print(f"> {said}\n{result['messages'][-1].content}")
