"""Holds the verbs and models against docs/openapi.json: every operation, parameter, field and value."""

from __future__ import annotations

import functools
import io
import json
import re
import typing
from collections.abc import Iterator
from typing import Any, Literal, get_args, get_origin, get_type_hints

import httpx
import pytest
from pydantic import BaseModel

from both import KINDS, Both
from conftest import REPOSITORY
from orgmem import Orgmem, models
from orgmem._calls import Bound

DOCUMENT = json.loads((REPOSITORY / "docs" / "openapi.json").read_text())
SCHEMAS = DOCUMENT["components"]["schemas"]
OPERATIONS = {
    operation["operationId"]: (method.upper(), path, operation)
    for path, methods in DOCUMENT["paths"].items()
    for method, operation in methods.items()
    if method in ("get", "put", "post", "patch", "delete")
}
TIME = "2026-01-02T03:04:05Z"

# Operations that no verb calls, and why.
LEFT_OUT = {
    "getIngestStatus": "the job that jobs.get answers, with other words for its states",
    "streamEvents": "a stream: test_events.py",
    "downloadExport": "a download: test_service.py",
}

ITEM = {
    "content": "c",
    "external_id": "e",
    "title": "t",
    "kind": "belief",
    "occurred_at": TIME,
    "metadata": {"a": 1},
    "derived_from": ["x"],
}
FILTERS = {
    "as_of": TIME,
    "created_after": TIME,
    "created_before": TIME,
    "domain_id": "d",
    "kind": "event",
    "metadata": {"a": 1},
}
PATCH: dict[str, Any] = {
    "title": "t",
    "content": "c",
    "kind": "belief",
    "metadata": {},
    "domain_id": None,
    "reason": "r",
}
TURN = {
    "session_id": "s",
    "role": "user",
    "text": "t",
    "event_id": "e",
    "at": TIME,
    "cwd": "/",
    "model": "m",
    "tool": "t",
    "metadata": {},
}
SIGNAL = {"type": "loop", "at": TIME, "detail": "d", "severity": "s"}
ORG = "11111111-1111-4111-8111-111111111111"
PREVIEW = models.PurgeReport(
    counts={},
    dry_run=True,
    purged_at=None,
    request_id="r",
    scope="subject",
    total_rows=0,
    confirm_token="t",
    subject_id="ann",
)

# How each operation is called with everything it takes: the verb, its arguments, its options.
CALLS: dict[str, tuple[str, tuple[Any, ...], dict[str, Any]]] = {
    "listAudit": (
        "audit",
        (),
        {"action": "a", "actor": "b", "target": "c", "created_after": TIME, "created_before": TIME, "page_size": 2},
    ),
    "answerFromBrain": ("brain.answer", ("q",), {"max_words": 9}),
    "brainInfo": ("brain.info", (), {}),
    "brainTraining": ("brain.training", (), {}),
    "queryBrain": ("brain.query", ("q",), {"top_k": 3}),
    "evaluateQuality": ("quality.evaluate", (), {"scope": "org"}),
    "listQuality": ("quality.list", (), {"scope": "org", "page_size": 2}),
    "trainBrain": ("brain.train", (), {}),
    "conditionScaffold": ("condition.scaffold", ("p",), {"max_tokens": 9}),
    "conditionSession": ("condition.session", ("/work",), {"org_id": ORG, "user_id": ORG}),
    "listConnectors": ("connectors.list", (), {"page_size": 2}),
    "createConnector": (
        "connectors.create",
        ("feed", "n", {"url": "https://example.org/feed"}),
        {"interval_seconds": 300, "enabled": True},
    ),
    "deleteConnector": ("connectors.delete", ("id",), {}),
    "getConnector": ("connectors.get", ("id",), {}),
    "patchConnector": (
        "connectors.update",
        ("id",),
        {"name": "n", "config": models.GitConfig(url="u"), "interval_seconds": 300, "enabled": False},
    ),
    "syncConnector": ("connectors.sync", ("id",), {}),
    "listContradictions": ("contradictions.list", (), {"status": "open", "page_size": 2}),
    "listExports": ("exports.list", (), {"page_size": 2}),
    "createExport": ("exports.create", (), {"scope": "org", "format": "json"}),
    "getExport": ("exports.get", ("id",), {}),
    "listDomains": ("domains.list", (), {"q": "x", "page_size": 2}),
    "getDomain": ("domains.get", ("id",), {}),
    "listEdges": (
        "edges.list",
        (),
        {"node": "n", "source": "s", "target": "t", "type": "x", "origin": "ingest", "page_size": 2},
    ),
    "assertEdge": (
        "edges.assert_",
        ("s", "t", "x"),
        {"weight": 0.1, "confidence": 0.2, "note": "n", "derived_from": ["d"]},
    ),
    "forgetEdge": ("edges.delete", ("id",), {}),
    "getEdge": ("edges.get", ("id",), {}),
    "listNodes": (
        "list",
        (),
        {
            "q": "x",
            "kind": "document",
            "status": "live",
            "ids": ["a", "b"],
            "external_id": "e",
            "domain_id": "d",
            "created_after": TIME,
            "created_before": TIME,
            "as_of": TIME,
            "page_size": 2,
        },
    ),
    "forgetNode": ("delete", ("id",), {}),
    "getNode": ("get", ("id",), {}),
    "editNode": ("update", ("id", PATCH), {"if_match": '"e"'}),
    "entityElsewhere": ("elsewhere", ("id",), {}),
    "getNodeHistory": ("history", ("id",), {"page_size": 2}),
    "supersedeNode": ("supersede", ("id", "c", "r"), {}),
    "undeleteNode": ("undelete", ("id",), {}),
    "getIdentity": ("identity", ("id",), {}),
    "plotIdentity": ("recall.plot", (), {}),
    "listImports": ("imports.list", (), {}),
    "importFile": ("imports.upload", (b"x",), {"title": "t", "occurred_at": TIME, "metadata": {"a": 1}}),
    "importTranscript": ("imports.transcript", (b"x",), {"title": "t", "occurred_at": TIME, "metadata": {"a": 1}}),
    "ingest": ("add", (ITEM,), {}),
    "ingestAgentSignals": ("signals", ("s", [SIGNAL]), {}),
    "ingestBatch": ("add", ([ITEM],), {}),
    "ingestSessionBatch": ("sessions.push", ([TURN],), {}),
    "ingestSessionEvent": ("sessions.push", (TURN,), {}),
    "finalizeSessions": ("sessions.finalize", (), {}),
    "getSessionStatus": ("sessions.status", (), {}),
    "listJobs": ("jobs.list", (), {"type": "ingest", "status": "queued", "page_size": 2}),
    "getJob": ("jobs.get", ("id",), {}),
    "cancelJob": ("jobs.cancel", ("id",), {}),
    "listKeys": ("keys.list", (), {}),
    "createKey": ("keys.create", ("l",), {"scopes": ["read"]}),
    "revokeKey": ("keys.revoke", ("id",), {}),
    "deleteMe": ("delete_me", (), {}),
    "getMe": ("me", (), {}),
    "listProposals": ("proposals.list", (), {"status": "open", "page_size": 2}),
    "acceptProposal": ("proposals.accept", ("id",), {}),
    "rejectProposal": ("proposals.reject", ("id",), {}),
    "purge": ("purge.confirm", (PREVIEW,), {}),
    "recallNode": ("recall.node", ("id",), {}),
    "recallGraphSearch": ("recall.search", ("q",), {"as_of": TIME, "page_size": 2}),
    "listSessions": ("recall.sessions", (), {"page_size": 2}),
    "deleteSession": ("recall.delete_session", ("id",), {}),
    "recall": ("recall.all_insights", (), {"as_of": TIME, "page_size": 2}),
    "retrieve": ("retrieve", ("q",), {"top_k": 3, "max_hops": 2, "scope": "user"}),
    "listSandboxKeys": ("sandbox.keys.list", (), {"page_size": 2}),
    "createSandboxKey": ("sandbox.keys.create", (), {"label": "l", "ttl_seconds": 3600}),
    "revokeSandboxKey": ("sandbox.keys.revoke", ("id",), {}),
    "resetSandbox": ("sandbox.reset", (), {}),
    "search": (
        "search",
        ("q",),
        {
            "top_k": 3,
            "mode": "vector",
            "scope": "user",
            "filters": FILTERS,
            "include_superseded": True,
            "explain": True,
        },
    ),
    "getSettings": ("settings.get", (), {}),
    "patchSettings": ("settings.update", (), {"quality_mode": "fast", "learn_mode_default": True}),
    "resetSettings": ("settings.reset", (), {}),
    "listSubjects": ("subjects.list", (), {"page_size": 2}),
    "eraseSubject": ("subjects.erase", ("id",), {}),
    "getSubject": ("subjects.get", ("id",), {}),
    "putSubject": ("subjects.put", ("id",), {}),
    "getTeam": ("team", (), {}),
    "listMembers": ("members", (), {"page_size": 2}),
    "listTeamKeys": ("member_keys", (), {"ids": ["k"], "page_size": 2}),
    "getUsage": ("usage", (), {"start_time": TIME, "end_time": TIME, "group_by": "key"}),
    "listWebhooks": ("webhooks.list", (), {"page_size": 2}),
    "createWebhook": ("webhooks.create", ("https://example.org/", ["*"]), {}),
    "deleteWebhook": ("webhooks.delete", ("id",), {}),
    "getWebhook": ("webhooks.get", ("id",), {}),
    "patchWebhook": (
        "webhooks.update",
        ("id",),
        {"url": "https://example.org/", "event_types": ["brain.trained"], "disabled": False},
    ),
    "getDelivery": ("webhooks.delivery", ("id", "other"), {}),
    "testWebhook": ("webhooks.test", ("id",), {}),
}

# The views of recall, which are one operation.
VIEWS = {
    "IdentityView": "recall.identity",
    "GraphView": "recall.graph",
    "InsightsView": "recall.insights",
    "TemporalView": "recall.temporal",
    "PageOfInsight": "recall.all_insights",
    "PageOfDated": "recall.all_events",
}


def test_every_operation_has_a_verb() -> None:
    assert set(CALLS) | set(LEFT_OUT) == set(OPERATIONS)
    assert not set(CALLS) & set(LEFT_OUT)


def resolved(schema: dict[str, Any]) -> dict[str, Any]:
    while "$ref" in schema:
        schema = SCHEMAS[schema["$ref"].rsplit("/", 1)[1]]
    return schema


def example(schema: dict[str, Any], depth: int = 0) -> Any:
    """A value of a schema with every field there is."""
    if schema.get("$ref", "").endswith("/MetadataValue"):
        return "any"
    schema = resolved(schema)
    assert depth < 20
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return schema["enum"][0]
    if "anyOf" in schema and "properties" not in schema:
        return example(schema["anyOf"][0], depth + 1)
    kind = schema.get("type")
    kind = next((k for k in kind if k != "null"), "null") if isinstance(kind, list) else kind
    if kind == "array":
        return [example(schema["items"], depth + 1)]
    if kind == "object":
        value = {name: example(field, depth + 1) for name, field in schema.get("properties", {}).items()}
        if isinstance(schema.get("additionalProperties"), dict):
            value["any"] = example(schema["additionalProperties"], depth + 1)
        value.pop("nextCursor", None)  # one page is enough
        return value
    if kind == "string":
        return TIME if schema.get("format") == "date-time" else "text"
    return {"integer": 3, "number": 0.5, "boolean": True, "null": None}[str(kind)]


def answer_schema(operation: dict[str, Any]) -> dict[str, Any] | None:
    for status, response in operation["responses"].items():
        if status.startswith("2"):
            content = response.get("content", {}).get("application/json")
            return content and typing.cast("dict[str, Any]", content["schema"])
    return None


def unknown_fields(value: Any, where: str) -> Iterator[str]:
    """What a model was given and does not name."""
    if isinstance(value, BaseModel):
        for name in value.model_extra or {}:
            yield f"{where}: {type(value).__name__} lacks {name}"
        for name in type(value).model_fields:
            yield from unknown_fields(getattr(value, name), f"{where}.{name}")
    elif isinstance(value, list):
        for entry in value:
            yield from unknown_fields(entry, where)


def call_of(id: str, client: Any) -> Any:
    name, args, options = CALLS[id]
    return functools.reduce(getattr, name.split("."), client)(*args, **options)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("id", sorted(CALLS))
def test_verb(id: str, kind: str) -> None:
    """A verb with all its options sends all that the operation takes, and knows all that it answers."""
    method, path, operation = OPERATIONS[id]
    schema = answer_schema(operation)
    answer = None if schema is None else example({"$ref": "/PageOfInsight"} if id == "recall" else schema)

    def handler(request: httpx.Request) -> httpx.Response:
        request.read()
        return httpx.Response(204) if answer is None else httpx.Response(200, json=answer)

    with Both(kind, handler=handler) as both:
        result = both.run(call_of(id, both.client))
        assert list(unknown_fields(result, id)) == []
        request = both.seen[-1]
    assert request.method == method
    assert re.fullmatch(re.sub(r"{\w+}", "[^/]+", path), request.url.path)

    parameters = {p["name"]: p for p in operation.get("parameters", [])}
    queries = {name for name, p in parameters.items() if p["in"] == "query"}
    assert set(request.url.params) == queries - {"cursor"}
    assert ("Idempotency-Key" in parameters) == ("idempotency-key" in request.headers)
    assert ("If-Match" in parameters) == ("if-match" in request.headers)

    content = operation.get("requestBody", {}).get("content", {})
    if "application/json" in content:
        body = json.loads(request.content)
        assert set(body) == set(resolved(content["application/json"]["schema"])["properties"])
    elif "multipart/form-data" in content:
        fields = set(content["multipart/form-data"]["schema"]["properties"])
        sent = set(re.findall(rb'form-data; name="(\w+)"', request.content))
        assert {name.decode() for name in sent} == fields - ({"file"} if "transcript" in fields else set())
    else:
        assert request.content == b""


@pytest.mark.parametrize("schema", sorted(VIEWS))
def test_recall(schema: str) -> None:
    variants = {ref["$ref"].rsplit("/", 1)[1] for ref in answer_schema(OPERATIONS["recall"][2])["anyOf"]}  # type: ignore[index]
    assert variants == set(VIEWS)
    with Both("sync", handler=lambda _: httpx.Response(200, json=example({"$ref": f"/{schema}"}))) as both:
        result = both.run(functools.reduce(getattr, VIEWS[schema].split("."), both.client)())
    assert list(unknown_fields(result, schema)) == []


def literals(annotation: Any) -> set[Any]:
    """All values of the Literals in an annotation."""
    if get_origin(annotation) is Literal:
        return set(get_args(annotation))
    return set().union(*(literals(a) for a in get_args(annotation)), set())


def enums(schema: dict[str, Any]) -> Iterator[tuple[str, set[Any]]]:
    """The fields of a schema that have a list of values, with them."""
    for name, field in schema.get("properties", {}).items():
        values = field.get("enum") or field.get("items", {}).get("enum")
        if values:
            yield name, set(values)


def snake(name: str) -> str:
    return re.sub(r"(?<!^)([A-Z])", lambda found: "_" + found[1].lower(), name)


def by_name() -> Iterator[tuple[str, type[BaseModel]]]:
    renamed = {"Exception": "RecurrenceException"}
    for name in SCHEMAS:
        model = getattr(models, renamed.get(name, name), None)
        if isinstance(model, type) and issubclass(model, BaseModel):
            yield name, model


@pytest.mark.parametrize(("name", "model"), list(by_name()))
def test_model(name: str, model: type[BaseModel]) -> None:
    """A model has every field of its schema, and every value of each."""
    fields = {field.alias or field_name: field for field_name, field in model.model_fields.items()}
    assert set(SCHEMAS[name]["properties"]) <= set(fields)
    for field, values in enums(SCHEMAS[name]):
        assert values <= literals(fields[field].annotation), f"{name}.{field}"
    for field in SCHEMAS[name].get("required", ()):
        assert fields[field].is_required() or field in ("stale",), f"{name}.{field} is always there"


def test_every_schema_of_an_answer_has_a_model() -> None:
    """No answer is left to a dict: what test_verb cannot see, since a dict has no unknown fields."""
    known = {name for name, _ in by_name()}
    pending, seen = [answer_schema(OPERATIONS[id][2]) for id in CALLS], set()
    while pending:
        for name in re.findall(r"#/components/schemas/(\w+)", json.dumps(pending.pop())):
            if name not in seen:
                seen.add(name)
                pending.append(SCHEMAS[name])
    assert "Hit" in seen
    assert {name for name in seen if not name.startswith("PageOf")} <= known


@pytest.mark.parametrize("id", sorted(CALLS))
def test_values_of_arguments(id: str) -> None:
    """Where the interface lists the values of an argument, its type does too."""
    operation = OPERATIONS[id][2]
    wanted = {p["name"]: set(p["schema"]["enum"]) for p in operation.get("parameters", []) if "enum" in p["schema"]}
    wanted.pop("recall_type", None)  # each is a verb of its own
    content = operation.get("requestBody", {}).get("content", {}).get("application/json")
    if content and not content["schema"].get("$ref", "").endswith(("/IngestItem", "/SessionEvent", "/NodePatch")):
        wanted |= dict(enums(resolved(content["schema"])))
    if id == "purge":
        wanted, verb = {"scope": wanted["scope"]}, "purge.preview"
    else:
        verb = CALLS[id][0]
    client = Orgmem("key", "http://127.0.0.1:1")
    bound = functools.reduce(getattr, verb.split("."), client)
    client.close()
    hints = get_type_hints(bound._describe if isinstance(bound, Bound) else bound)
    for name, values in wanted.items():
        assert values <= literals(hints[snake(name)]), f"{verb}({name}=…)"


def test_scopes_and_events() -> None:
    scopes = SCHEMAS["CreateKey"]["properties"]["scopes"]["items"]["enum"]
    assert set(get_args(models.Scope)) == set(scopes)
    types = set(SCHEMAS["NewWebhook"]["properties"]["eventTypes"]["items"]["enum"]) - {"*"}
    assert set(get_args(models.EventType)) == types
    table = re.findall(r"^\| (`[a-z.`, ]+) \|.*\| streams only \|$", _interface(), re.MULTILINE)
    streamed = {name for row in table for name in re.findall(r"`([a-z.]+)`", row)}
    assert set(get_args(models.StreamedType)) == types | {name for name in streamed if "." in name}


def _interface() -> str:
    return (REPOSITORY / "docs" / "interface.md").read_text()


def test_the_check_sees_a_new_field() -> None:
    """The walk itself: a field that no model names is found, however deep."""
    answer = example({"$ref": "/SearchResult"})
    answer["results"][0]["scores"]["novelty"] = 1
    with Both("sync", handler=lambda _: httpx.Response(200, json=answer)) as both:
        result = both.client.search("x")
    assert list(unknown_fields(result, "search")) == ["search.results.scores: HitScores lacks novelty"]
    assert result.results[0].scores.novelty == 1  # kept all the same


def test_form_of_an_open_file() -> None:
    with Both(
        "sync", handler=lambda r: (r.read(), httpx.Response(202, json=example({"$ref": "/Accepted"})))[1]
    ) as both:
        both.client.imports.upload(io.BytesIO(b"hello"), filename='a"b.txt')
        sent = both.seen[0]
    assert b'filename="a%22b.txt"' in sent.content and b"\r\n\r\nhello\r\n--" in sent.content
    assert int(sent.headers["content-length"]) == len(sent.content)
