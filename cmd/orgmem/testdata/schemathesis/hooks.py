"""What schemathesis has to know of the service that the OpenAPI document cannot say."""

import hashlib
import json
import os
import random
import re
import urllib.error
import urllib.request

import jsonschema_rs
import schemathesis
from schemathesis.core.parameters import ParameterLocation

BASE = os.environ["TRUST_BASE"]
KEY = os.environ["TRUST_KEY"]
OWN = hashlib.sha256(KEY.encode()).hexdigest()
ORG, USER = os.environ["TRUST_ORG"], os.environ["TRUST_USER"]
SUBJECT = os.environ["TRUST_SUBJECT"]
HOOK = os.environ["TRUST_URL"]  # an address that the service may reach

# Rules that no schema can say, by operation: which fields they name. A request that fits
# the document and breaks one is refused, rightly.
RULES = {
    "assertEdge": r"target$",  # another node than source
    "getUsage": r"(startTime|endTime)$",  # at most 92 days, in this order
    "createWebhook": r"url$",  # resolves to public addresses
    "patchWebhook": r"url$",
    "createConnector": r"config\.(url|sitemap|pages)",
    "patchConnector": r"config",  # of the type that the connector has
    "importFile": r"file$",  # a file that can be read
    "importTranscript": r"(file|transcript)$",
    "recall": r"asOf$",  # not with identity
    "supersedeNode": r"content$",  # another text than the node holds
}

# Sizes that are counted in bytes, where a schema counts characters.
BYTES = {
    "putSubject": r"subject_id$",
    "ingestSessionEvent": r"sessionId$",
    "ingestAgentSignals": r"sessionId$",
}


def operation_id(case):
    return case.operation.definition.raw.get("operationId", "")


def positive(case, location):
    if case.meta is None:
        return False
    part = case.meta.components.get(location)
    return part is None or part.mode.is_positive


# Where the ids of things that are there are listed, by the parameter that takes one.
LISTS = {
    "node_id": "/v1/graph/nodes",
    "edge_id": "/v1/graph/edges",
    "job_id": "/v1/jobs",
    "export_id": "/v1/exports",
    "webhook_id": "/v1/webhooks",
    "proposal_id": "/v1/proposals",
    "session_id": "/v1/recall/sessions",
    "/v1/connectors/{id}": "/v1/connectors",
    "/v1/graph/domains/{id}": "/v1/graph/domains",
}
REFRESH = 20  # uses of a list before it is read again
known = {}
dice = random.Random(1)


def listed(path, subject):
    """Ids of what there is, or nothing."""
    ids, left = known.get((path, subject), ([], 0))
    if left == 0:
        request = urllib.request.Request(BASE + path, headers={"X-Svc-API-Key": KEY})
        if subject:
            request.add_header("X-Svc-Subject", subject)
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                entries = json.load(answer)["data"]
        except (urllib.error.URLError, OSError):
            entries = []
        ids, left = [e.get("id") or e.get("exportId") for e in entries], REFRESH
    known[path, subject] = (ids, left - 1)
    return ids


def list_of(case, name):
    for prefix in ("/v1/connectors/{id}", "/v1/graph/domains/{id}"):
        if name == "id" and case.operation.path.startswith(prefix):
            return LISTS[prefix]
    return LISTS.get(name)


@schemathesis.hook
def before_call(ctx, case, kwargs):
    """Act for a subject that is there, on things that are there, and keep the run's own key
    and subject."""
    if operation_id(case) == "revokeKey" and (case.path_parameters or {}).get("key_id") == OWN:
        case.path_parameters["key_id"] = "0" * 64
    if operation_id(case) == "eraseSubject" and (case.path_parameters or {}).get("subject_id") == SUBJECT:
        case.path_parameters["subject_id"] = "bob"
    if case.meta is None:
        return
    headers, subject = case.headers, None
    if headers is not None and "X-Svc-Subject" in headers and positive(case, ParameterLocation.HEADER):
        # Most values name nobody: all but a few of them would be refused before the rest is read.
        if dice.random() < 0.9:
            headers["X-Svc-Subject"] = subject = SUBJECT
    if headers is not None and "Idempotency-Key" in headers and positive(case, ParameterLocation.HEADER):
        if dice.random() < 0.7:  # else one that may have had another body
            headers["Idempotency-Key"] = str(dice.random())
    if case.path_parameters and positive(case, ParameterLocation.PATH):
        for name in case.path_parameters:
            path = list_of(case, name)
            ids = listed(path, subject) if path and dice.random() < 0.7 else []
            if ids:
                case.path_parameters[name] = dice.choice(ids)
    if case.query and positive(case, ParameterLocation.QUERY):
        # A cursor is one that a list has given, to the same list.
        case.query.pop("cursor", None)
        if operation_id(case) == "recall" and dice.random() < 0.7:
            case.query.pop("pageSize", None)
    if not isinstance(case.body, dict) or not positive(case, ParameterLocation.BODY) or dice.random() < 0.3:
        return
    body = case.body
    if operation_id(case) == "conditionSession":
        body["orgId"], body["userId"] = ORG, USER
    if operation_id(case) == "assertEdge":
        ids = listed("/v1/graph/nodes", subject)
        if len(ids) > 1:
            body["source"], body["target"] = dice.sample(ids, 2)
    for fields in (body, body.get("config")):
        if isinstance(fields, dict):
            for name in ("url", "sitemap"):
                if name in fields:
                    fields[name] = HOOK
            if "pages" in fields:
                fields["pages"] = [HOOK]
    for name in ("file", "transcript"):
        if name in body:
            body[name] = "Ann: The boiler was serviced in May.\nBob: By Mrs Okafor."


def document():
    if not known.get("document"):
        with urllib.request.urlopen(BASE + "/openapi.json", timeout=30) as answer:
            known["document"] = json.load(answer)
    return known["document"]


def body_fits(case):
    """Whether the document allows a JSON body. What the tool takes for fitting now and then is
    not: it drops additionalProperties when it joins the branches of a oneOf."""
    content = case.operation.definition.raw.get("requestBody", {}).get("content", {})
    if "application/json" not in content or not isinstance(case.body, dict):
        return True
    schema = {**content["application/json"]["schema"], "components": document()["components"]}
    return jsonschema_rs.Draft202012Validator(schema).is_valid(case.body)


@schemathesis.check
def fitting_request_accepted(ctx, response, case):
    """A request that fits the document is refused for what a schema cannot say, and nothing else."""
    if case.meta is None or not case.meta.generation.mode.is_positive or not all(positive(case, at) for at in ParameterLocation):
        return
    if response.status_code not in (400, 405, 406, 411, 413, 414, 415, 422, 431) or not body_fits(case):
        return
    problem = response.json()
    op = operation_id(case)
    if problem["code"] == "idempotency_key_reused":
        return  # the key had another body before
    if op == "recall" and problem["code"] == "pagination_unsupported":
        return  # a rule of the view and the page
    faults = problem.get("errors", [])
    rule, size = RULES.get(op), BYTES.get(op)

    def unsayable(fault):
        if fault["message"] in ("unknown field", "is required"):
            return False
        if size and re.match(size, fault["field"]):
            return over_bytes(case)
        return rule is not None and re.match(rule, fault["field"]) is not None

    if faults and all(map(unsayable, faults)):
        return
    raise AssertionError(f"{response.status_code} {problem['code']}: {problem['detail']} {problem.get('errors')}")


def over_bytes(case):
    name = (case.path_parameters or {}).get("subject_id")
    if isinstance(case.body, dict):
        name = case.body.get("sessionId")
    return name is not None and len(str(name).encode()) > 256


@schemathesis.check
def code_documented(ctx, response, case):
    """A problem's code stands in the description of its status, and the request's id on it."""
    if not response.headers.get("x-request-id"):
        raise AssertionError("no X-Request-Id")
    if response.status_code < 400:
        return
    problem = response.json()
    if response.headers["x-request-id"] != [problem["requestId"]]:
        raise AssertionError(f"requestId {problem['requestId']}, header {response.headers['x-request-id']}")
    documented = case.operation.definition.raw["responses"].get(str(response.status_code))
    if documented and f"`{problem['code']}`" not in documented["description"]:
        raise AssertionError(f"{response.status_code} {problem['code']} is not documented")
    if response.status_code in (429, 503) and not response.headers.get("retry-after"):
        raise AssertionError(f"{response.status_code} without Retry-After")


@schemathesis.check
def bad_event_rejected(ctx, response, case):
    """One bad event never fails a batch: the answer says that it was rejected."""
    if operation_id(case) != "ingestSessionBatch" or response.status_code != 200 or case.meta is None:
        return
    results = response.json()["results"]
    if not positive(case, ParameterLocation.BODY) and all(r["status"] != "rejected" for r in results):
        raise AssertionError(f"every event was taken: {results}")
