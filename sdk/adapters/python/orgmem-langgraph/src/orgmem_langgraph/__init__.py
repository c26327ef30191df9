"""Long-term memory of LangGraph graphs, kept in orgmem.

from orgmem_langgraph import OrgmemStore

store = OrgmemStore()
store.put(("users", "ann"), "food", {"text": "Ann is allergic to peanuts."})
"""

from orgmem.adapters.records import LostRace, RecordTooLarge

from ._store import OrgmemStore

__version__ = "0.1.0"
__all__ = ["LostRace", "OrgmemStore", "RecordTooLarge"]
