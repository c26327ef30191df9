"""Conversations of the OpenAI Agents SDK, kept in orgmem.

from orgmem_openai_agents import OrgmemSession

session = OrgmemSession("conversation 17")
await Runner.run(agent, "Hello", session=session)
"""

from orgmem.adapters.records import LostRace, RecordTooLarge

from ._session import OrgmemSession

__version__ = "0.1.0"
__all__ = ["LostRace", "OrgmemSession", "RecordTooLarge"]
