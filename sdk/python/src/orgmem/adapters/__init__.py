"""What the packages are made of that plug a memory into a framework (orgmem-langgraph and others): one client for sync
and async callers, and exact records. A program that uses a memory itself needs neither."""
