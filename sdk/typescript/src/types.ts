// The service's own types by their own names, from the generated file.
import type { components, operations } from "./openapi.js";

type S = components["schemas"];
/** The query parameters of an operation, without those that a List turns over by itself. */
type Filters<O extends keyof operations> = operations[O]["parameters"] extends { query?: infer Q }
  ? Omit<NonNullable<Q>, "cursor">
  : never;

export type Accepted = S["Accepted"];
export type AgentSignals = S["AgentSignals"];
export type ApiKey = S["ApiKey"];
export type AssertEdge = S["AssertEdge"];
export type AuditEntry = S["AuditEntry"];
export type BrainFound = S["BrainFound"];
export type BrainInfo = S["BrainInfo"];
export type Citation = S["Citation"];
export type ConditionSession = S["ConditionSession"];
export type ConditioningPack = S["ConditioningPack"];
export type Connector = S["Connector"];
export type Contradiction = S["Contradiction"];
export type CreateExport = S["CreateExportRequest"];
export type CreateKey = S["CreateKey"];
export type CreateSandboxKey = S["CreateSandboxKey"];
export type Dated = S["Dated"];
export type Domain = S["Domain"];
export type Edge = S["Edge"];
export type Elsewhere = S["Elsewhere"];
export type EvaluateQuality = S["EvaluateQualityRequest"];
export type EvaluationAccepted = S["EvaluationAccepted"];
export type Export = S["Export"];
export type FieldError = S["FieldError"];
export type GraphView = S["GraphView"];
export type HistoryEntry = S["HistoryEntry"];
export type Hit = S["Hit"];
export type IdentityView = S["IdentityView"];
export type ImportEntry = S["ImportEntry"];
export type IngestItem = S["IngestItem"];
export type Insight = S["Insight"];
export type InsightsView = S["InsightsView"];
export type Job = S["Job"];
export type JobItem = S["JobItem"];
export type MetadataValue = S["MetadataValue"];
export type NewConnector = S["NewConnector"];
export type NewKey = S["NewKey"];
export type NewSandboxKey = S["NewSandboxKey"];
export type NewWebhook = S["NewWebhook"];
export type Node = S["Node"];
export type NodeMatch = S["NodeMatch"];
export type NodePatch = S["NodePatch"];
export type PatchConnector = S["PatchConnector"];
export type PatchWebhook = S["PatchWebhook"];
export type Principal = S["Principal"];
export type Proposal = S["Proposal"];
export type PurgeReport = S["PurgeReport"];
export type QualityReport = S["QualityReport"];
export type RecalledNode = S["RecalledNode"];
export type Retrieved = S["Retrieved"];
export type SandboxKey = S["SandboxKey"];
export type SandboxReset = S["SandboxReset"];
export type ScaffoldedPrompt = S["ScaffoldedPrompt"];
export type SearchFilters = S["SearchFilters"];
export type SearchResult = S["SearchResult"];
export type SentDelivery = S["SentDelivery"];
export type Session = S["Session"];
export type SessionEvent = S["SessionEvent"];
export type SessionResult = S["SessionResult"];
export type SessionState = S["SessionState"];
export type Settings = S["Settings"];
export type SettingsPatch = S["SettingsPatch"];
export type SignalsAccepted = S["SignalsAccepted"];
export type Stale = S["Stale"];
export type Subject = S["Subject"];
export type Superseded = S["Superseded"];
export type Team = S["Team"];
export type TeamMember = S["TeamMember"];
export type TemporalView = S["TemporalView"];
export type TrainAccepted = S["TrainAccepted"];
export type UsageReport = S["UsageReport"];
export type UserIdentity = S["UserIdentity"];
export type Webhook = S["Webhook"];
export type WebhookTest = S["WebhookTest"];
export type WrittenAnswer = S["WrittenAnswer"];

export type AuditFilters = Filters<"listAudit">;
export type ContradictionFilters = Filters<"listContradictions">;
export type DomainFilters = Filters<"listDomains">;
export type EdgeFilters = Filters<"listEdges">;
export type JobFilters = Filters<"listJobs">;
export type NodeFilters = Filters<"listNodes">;
export type ProposalFilters = Filters<"listProposals">;
export type QualityFilters = Filters<"listQuality">;
export type UsageFilters = Filters<"getUsage">;
export type PageSize = Filters<"listSubjects">;

/** A node with the name of its version, for the `ifMatch` of an update. */
export type VersionedNode = Node & { etag?: string };
