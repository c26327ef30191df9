"""A query engine that answers from a memory, without any key for a model.

export ORGMEM_BASE_URL=http://127.0.0.1:8080 ORGMEM_API_KEY=$(cat data/quickstart.key)
pip install orgmem-llamaindex && python engine.py
"""

from llama_index.core.llms import MockLLM
from llama_index.core.query_engine import RetrieverQueryEngine
from orgmem import Orgmem
from orgmem_llamaindex import OrgmemRetriever

memory = Orgmem()
memory.add(
    ["Mrs Okafor serviced the boiler in May.", "The cat has to see a vet on Friday.", "The rent is due on the first."],
    wait=True,
)

# MockLLM stands in for a model: it answers with its prompt. Put your own in its place.
engine = RetrieverQueryEngine.from_args(OrgmemRetriever(memory, similarity_top_k=1), llm=MockLLM())
answer = engine.query("who looked after the heating?")
print(answer)
print("from:", [node.metadata["title"] for node in answer.source_nodes])
