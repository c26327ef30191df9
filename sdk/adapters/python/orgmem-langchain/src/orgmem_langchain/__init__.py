"""A retriever for LangChain that searches a memory of orgmem.

from orgmem_langchain import OrgmemRetriever

documents = OrgmemRetriever(k=5).invoke("who looked after the heating?")
"""

from ._retriever import OrgmemRetriever

__version__ = "0.1.0"
__all__ = ["OrgmemRetriever"]
