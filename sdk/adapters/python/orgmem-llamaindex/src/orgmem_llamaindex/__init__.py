"""A retriever for LlamaIndex that searches a memory of orgmem.

from orgmem_llamaindex import OrgmemRetriever

nodes = OrgmemRetriever(similarity_top_k=5).retrieve("who looked after the heating?")
"""

from ._retriever import OrgmemRetriever

__version__ = "0.1.0"
__all__ = ["OrgmemRetriever"]
