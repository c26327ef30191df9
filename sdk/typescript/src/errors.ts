import type { FieldError } from "./types.js";

/** Names a class: its own name is gone in the minified module, and a stack begins with what the prototype says. */
function named(kind: { prototype: Error }, name: string): void {
  Object.defineProperty(kind, "name", { value: name });
  Object.defineProperty(kind.prototype, "name", { value: name, configurable: true });
}

/**
 * What every error of this package is. Its message ends with what to do next.
 * A call that is cancelled by its `signal` throws the signal's reason instead,
 * since that is the caller's own.
 */
export class OrgmemError extends Error {
  static {
    named(this, "OrgmemError");
  }
}

/** What an answer that tells of a failure says. */
export interface ApiProblem {
  status: number;
  /** Stable, and documented at /docs/errors/CODE of the service; empty where the answer is not the service's own. */
  code: string;
  title: string;
  detail: string;
  /** What to name to the operator. */
  requestId: string;
  /** Which fields are wrong. */
  errors: FieldError[];
  /** Milliseconds until the service wants to be asked again. */
  retryAfter?: number | undefined;
  suggestedAction?: string | undefined;
}

/** The service refused the request, or failed at it. */
export class ApiError extends OrgmemError implements ApiProblem {
  static {
    named(this, "ApiError");
  }
  readonly status: number;
  readonly code: string;
  readonly title: string;
  readonly detail: string;
  readonly requestId: string;
  readonly errors: FieldError[];
  readonly retryAfter: number | undefined;
  readonly suggestedAction: string | undefined;

  constructor(problem: ApiProblem, next: string) {
    const fields = problem.errors.map((e) => `${e.field}: ${e.message}`).join("; ");
    const request = problem.requestId && `, request ${problem.requestId}`;
    super(
      [`${(problem.detail || problem.title).replace(/\.$/, "")} (${problem.status} ${problem.code || "without a code"}${request})`, fields, problem.suggestedAction, next]
        .filter(Boolean)
        .map((s) => (/[.!?]$/.test(s!) ? s : s + "."))
        .join(" "),
    );
    this.status = problem.status;
    this.code = problem.code;
    this.title = problem.title;
    this.detail = problem.detail;
    this.requestId = problem.requestId;
    this.errors = problem.errors;
    this.retryAfter = problem.retryAfter;
    this.suggestedAction = problem.suggestedAction;
  }
}

/** 400, 413, 415, 422: the request is not as the route takes it. */
export class BadRequest extends ApiError {
  static {
    named(this, "BadRequest");
  }
}
/** 401: the key is missing, wrong or revoked. */
export class Unauthorized extends ApiError {
  static {
    named(this, "Unauthorized");
  }
}
/** 403: the key lacks a scope, or the subject was never provisioned. */
export class PermissionDenied extends ApiError {
  static {
    named(this, "PermissionDenied");
  }
}
/** 404, 405: there is no such thing, or no such route in this version of the service. */
export class NotFound extends ApiError {
  static {
    named(this, "NotFound");
  }
}
/** 409, 412: what is there has another state than the request assumes. */
export class Conflict extends ApiError {
  static {
    named(this, "Conflict");
  }
}
/** 429: the key's rate limit. */
export class RateLimited extends ApiError {
  static {
    named(this, "RateLimited");
  }
}
/** 5xx: the service, or something before it, failed. */
export class ServerError extends ApiError {
  static {
    named(this, "ServerError");
  }
}

/** No answer came: wrong address, nothing listens, the connection broke. */
export class ConnectionFailed extends OrgmemError {
  static {
    named(this, "ConnectionFailed");
  }
}

/** No answer came in time. */
export class TimedOut extends OrgmemError {
  static {
    named(this, "TimedOut");
  }
}

/** The answer does not come from the service: a proxy's page, a redirect, a body that is cut off or too large. */
export class BadAnswer extends OrgmemError {
  static {
    named(this, "BadAnswer");
  }
  constructor(
    message: string,
    readonly status: number,
    /** Whether the answer broke off, so that asking again may help. */
    readonly cutOff: boolean,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** The job (or export) that was waited for did not succeed. */
export class JobFailed<J = unknown> extends OrgmemError {
  static {
    named(this, "JobFailed");
  }
  constructor(
    message: string,
    /** The job, or export, as it ended. */
    readonly job: J,
  ) {
    super(message);
  }
}

/** A webhook delivery is not the service's, or not of now. */
export class BadSignature extends OrgmemError {
  static {
    named(this, "BadSignature");
  }
}

/** The class that stands for a status; undefined for statuses that the service does not answer. */
export function classOf(status: number): (new (problem: ApiProblem, next: string) => ApiError) | undefined {
  switch (status) {
    case 400:
    case 413:
    case 415:
    case 422:
      return BadRequest;
    case 401:
      return Unauthorized;
    case 403:
      return PermissionDenied;
    case 404:
    case 405:
      return NotFound;
    case 409:
    case 412:
      return Conflict;
    case 429:
      return RateLimited;
    default:
      return status >= 500 ? ServerError : undefined;
  }
}
