export { Orgmem } from "./client.js";
export type { AddOptions, AsOf, BatchOptions, RetrieveOptions, SearchOptions, UpdateOptions, WaitOptions } from "./client.js";
export type { OrgmemOptions, RequestOptions } from "./transport.js";
export {
  ApiError,
  BadAnswer,
  BadRequest,
  Conflict,
  ConnectionFailed,
  JobFailed,
  NotFound,
  OrgmemError,
  PermissionDenied,
  RateLimited,
  ServerError,
  BadSignature,
  TimedOut,
  Unauthorized,
} from "./errors.js";
export type { ApiProblem } from "./errors.js";
export type { Download } from "./download.js";
export type { EventsOptions, EventType, StreamEvent, StreamGap } from "./events.js";
export { List } from "./list.js";
export type { Page } from "./list.js";
export type { Progress, Upload, UploadOptions } from "./upload.js";
export { verifyWebhook } from "./webhooks.js";
export type { VerifyOptions, WebhookEvent } from "./webhooks.js";
export type * from "./types.js";
export type { components, operations, paths } from "./openapi.js";
