package storage

// Table is the record kind of a key, its first byte after the space. Numbers
// are stored: one that was ever released keeps its meaning, and the number of a
// removed table is not used again. Gaps are left so that related tables can
// stay neighbours, since a range deletion or a scan over neighbours is one.
//
// Below 0x80 a table belongs to the organization (OrgSpace), from 0x80 on to a
// partition (PartitionSpace). Space.Key panics on the wrong side: a partition's
// record under an organization key would survive the partition's erasure.
//
// Every table has ONE shape of key, given behind it. Keys of different shapes
// in one table would make prefixes ambiguous.
type Table byte

// Tables of the organization.
const (
	// TableOrg: () → Organization, the root record.
	TableOrg Table = 0x01
	// TableSetting: (Str name) → a settings record.
	TableSetting Table = 0x02
	// TableHandedOver: () → HandedOver: the activation that was stopped in good order last.
	TableHandedOver Table = 0x03
	// TableKey: (Hash32 key hash) → Key.
	TableKey Table = 0x08
	// TableKeyByUser: (ID16 user, U64 created ms, Hash32 key hash) → empty.
	TableKeyByUser Table = 0x09
	// TableKeyUse: (Hash32 key hash) → Key with only last_used_ms: apart from
	// TableKey so that noting a use never races with a revocation.
	TableKeyUse Table = 0x0A
	// TableSandboxKey: (U64Desc created ms, Hash32 key hash) → empty: the sandbox's
	// keys, newest first. They stand in TableKey too, and not in TableKeyByUser.
	TableSandboxKey Table = 0x0B
	// TableMember: (ID16 user) → Member.
	TableMember Table = 0x0C
	// TableMemberByEmail: (Str e-mail) → raw user id.
	TableMemberByEmail Table = 0x0D
	// TablePartition: (ID16 partition) → Partition.
	TablePartition Table = 0x10
	// TableSubject: (Str subject key) → raw partition id.
	TableSubject Table = 0x11
	// TableSandbox: () → Partition: the one of the sandbox's store that is meant now.
	// Apart from TablePartition, which lists the partitions of this store.
	TableSandbox Table = 0x12
	// TableJob: (ID16 job) → Job.
	TableJob Table = 0x18
	// TableJobByTime: (U64Desc created ms, ID16 job) → empty: newest first.
	TableJobByTime Table = 0x19
	// TableJobOpen: (ID16 job) → empty: jobs that are queued or running.
	TableJobOpen Table = 0x1A
	// TableTombstoneDue: (U64 restorable until, ms, ID16 partition) → empty: where
	// forgotten nodes are to be removed, and from when.
	TableTombstoneDue Table = 0x1C
	// TableCognitionDue: (ID16 partition) → empty: partitions that cognition has to
	// catch up with.
	TableCognitionDue Table = 0x1D
	// TableIdempotency: (Hash32 of credential, method, path and key) → Idempotency.
	TableIdempotency Table = 0x20
	// TableIdempotencyByTime: (U64 created ms, Hash32) → empty: expiry order.
	TableIdempotencyByTime Table = 0x21
	// TableUsage: (U64 hour ms, Str capability, Hash32 key hash, ID16 partition) → Usage.
	TableUsage Table = 0x28
	// TableAudit: (U64 sequence) → Audit.
	TableAudit Table = 0x30
	// TableAuditByTarget: (Str target, U64Desc sequence) → empty.
	TableAuditByTarget Table = 0x31
	// TableOutbox: (U64 sequence) → OutboxEvent.
	TableOutbox Table = 0x38
	// TableWebhook: (ID16 endpoint) → the endpoint.
	TableWebhook Table = 0x3A
	// TableDelivery: (ID16 endpoint, U64 sequence) → a webhook delivery.
	TableDelivery Table = 0x3B
	// TableExport: (ID16 export) → the export.
	TableExport Table = 0x40
	// TableExportPiece: (ID16 export, U32 piece) → raw bytes of the document.
	TableExportPiece Table = 0x41
	// TableExportByTime: (U64Desc created ms, ID16 export) → empty: newest first.
	TableExportByTime Table = 0x42
	// TableBrain: (U64 artifact version) → the artifact's description.
	TableBrain Table = 0x48
	// TableBrainPiece: (U64 artifact version) and pieces below it.
	TableBrainPiece Table = 0x49
	// TablePurgeTicket: (Hash32 of the confirm token) → PurgeTicket.
	TablePurgeTicket Table = 0x4A
	// TablePurgeRun: (Hash32 of the confirm token) → PurgeRun: a purge that was decided upon.
	TablePurgeRun Table = 0x4E
	// TableTraining: () → Training, the latest train of the brain.
	TableTraining Table = 0x4B
	// TableConnector: (ID16 connector) → the connector.
	TableConnector Table = 0x50
	// TableConnectorState: (ID16 connector) → raw state of its last sync, for the next.
	TableConnectorState Table = 0x51
	// TableOrgQuality: (U64Desc finished ms, ID16 job) → QualityReport of all memories: newest first.
	TableOrgQuality Table = 0x54
	// TableQualityRun: (ID16 job) → QualityRun, of an evaluation that has not ended.
	TableQualityRun Table = 0x55
	// TableOrgCounter: (Str name) → a counter record, such as the next audit sequence.
	TableOrgCounter Table = 0x58

	// TableDirectoryKey: (Hash32 key hash) → raw organization id. Meta store only.
	TableDirectoryKey Table = 0x70
	// TableDirectoryOrg: (ID16 organization) → OrgEntry. Meta store only.
	TableDirectoryOrg Table = 0x71
	// TableDirectorySlug: (Str slug) → raw organization id. Meta store only.
	TableDirectorySlug Table = 0x72
	// TableShard: () → ShardMap. Meta store only.
	TableShard Table = 0x78
	// TableNodeInfo: (Str server id) → NodeEntry. Meta store only.
	TableNodeInfo Table = 0x79
	// TableClusterSetting: (Str name) → a setting of the cluster: AuthorityEntry
	// under authority, SetClusterVersion under version. Meta store only.
	TableClusterSetting Table = 0x7A
	// TableJoinToken: (Hash32 of the token's secret) → JoinToken. Meta store only.
	TableJoinToken Table = 0x7B
)

// Tables of a partition.
const (
	// TableState: () → PartitionState, the head of the partition.
	TableState Table = 0x80
	// TableSettings: () → Settings.
	TableSettings Table = 0x81
	// TableNode: (Str node id) → Node.
	TableNode Table = 0x88
	// TableNodeByTime: (Str status, Str kind, U64Desc created ms, Str node id) → empty.
	// Of what has few values every list without a filter joins the ranges.
	TableNodeByTime Table = 0x89
	// TableContent: (Str node id) → Content.
	TableContent Table = 0x8A
	// TableHistory: (Str node id, U64Desc sequence) → Audit: a node's changes, newest first.
	TableHistory Table = 0x8B
	// TableContentHash: (Hash32 keyed content hash) → raw node id: of contents that
	// another node holds than the one whose id is made from them.
	TableContentHash Table = 0x8C
	// TableNodeByDomain: (Str domain, Str status, Str kind, U64Desc created ms, Str
	// node id) → empty: the nodes that have a domain.
	TableNodeByDomain Table = 0x8D
	// TableTombstone: (U64 restorable until, ms, Str node id) → empty: forgotten
	// nodes in the order of their removal.
	TableTombstone Table = 0x8F
	// TableChunk: (U64 sequence) → Chunk.
	TableChunk Table = 0x90
	// TableVector: (Str model, U64 chunk sequence) → Vector.
	TableVector Table = 0x91
	// TableExternalID: (Str external id) → ExternalRef.
	TableExternalID Table = 0x98
	// TableEdge: (Str edge id) → Edge.
	TableEdge Table = 0xA0
	// TableEdgeBySource: (Str source, Str place, U64Desc created ms, Str edge id) →
	// raw Str type and Str target. The place is the edge's origin, or "tombstoned".
	TableEdgeBySource Table = 0xA1
	// TableEdgeByTarget: (Str target, Str place, U64Desc created ms, Str edge id) →
	// raw Str type and Str source.
	TableEdgeByTarget Table = 0xA2
	// TableEdgeOf: (Str source, Str target, Str type, Str origin) → raw edge id.
	TableEdgeOf Table = 0xA3
	// TableEdgeByTime: (Str origin, U64Desc created ms, Str edge id) → empty: those
	// that are not tombstoned.
	TableEdgeByTime Table = 0xA4
	// TableEdgeByType: (Str type, Str origin, U64Desc created ms, Str edge id) →
	// empty: those that are not tombstoned.
	TableEdgeByType Table = 0xA5
	// TableDomain: (ID16 domain) → the domain.
	TableDomain Table = 0xA8
	// TableDomainByTime: (U64Desc created ms, ID16 domain) → empty: newest first.
	TableDomainByTime Table = 0xA9
	// TableContradiction: (U64Desc detected ms, ID16 contradiction) → Contradiction.
	TableContradiction Table = 0xAC
	// TableProposal: (ID16 proposal) → Proposal.
	TableProposal Table = 0xAD
	// TableView: (Str name) → a derived recall view, replaced as a whole:
	// IdentityView under identity, TemporalView under temporal, ManifoldPlot under
	// plot.
	TableView Table = 0xAE
	// TableInsight: (U64Desc created ms, ID16 insight) → Insight: newest first.
	TableInsight Table = 0xAF
	// TableQueue: (U64 sequence) → QueueEntry.
	TableQueue Table = 0xB0
	// TableJobItem: (ID16 job, U32 index) → JobItem.
	TableJobItem Table = 0xB1
	// TableSegment: (U64 segment) → Segment.
	TableSegment Table = 0xB8
	// TableSegmentPiece: (U64 segment) and pieces below it.
	TableSegmentPiece Table = 0xB9
	// TableSegmentLiveness: (U64 segment) → raw index liveness of the segment.
	TableSegmentLiveness Table = 0xBA
	// TableUnsealed: (U64 chunk sequence) → empty: chunks in no stored segment yet.
	TableUnsealed Table = 0xBB
	// TableSession: (Str session id) → a coding session.
	TableSession Table = 0xC0
	// TableSessionEvent: (Str session id, U64 sequence) → an event of it.
	TableSessionEvent Table = 0xC1
	// TableSessionSeen: (Str session id, Hash32 event key) → raw node id: de-duplication.
	TableSessionSeen Table = 0xC2
	// TableSessionByTime: (U64Desc created ms, Str session id) → empty: newest first.
	TableSessionByTime Table = 0xC3
	// TableImport: (U64Desc created ms, ID16 import) → an import's history entry.
	TableImport Table = 0xC8
	// TableUploadPiece: (ID16 upload) and pieces below it.
	TableUploadPiece Table = 0xC9
	// TableQuality: (U64Desc finished ms, ID16 job) → QualityReport of the partition: newest first.
	TableQuality Table = 0xCA
	// TableCounter: (Str name) → a counter or statistics record.
	TableCounter Table = 0xD0
	// TableMoment: (I64Desc at ms, ID16 moment) → Moment: latest first.
	TableMoment Table = 0xD8
	// TableProposalByTime: (U64Desc created ms, ID16 proposal) → empty: newest first.
	TableProposalByTime Table = 0xD9
	// TableProposalByPair: (Str lesser node id, Str greater node id) → raw
	// proposal id: a pair is proposed once.
	TableProposalByPair Table = 0xDA
	// TableDerivedByNode: (Str node id, ID16 derived record) → raw key of the
	// record that rests on the node.
	TableDerivedByNode Table = 0xDB
	// TableRecurrence: (I64Desc told ms, ID16 recurrence) → Recurrence: latest told
	// first.
	TableRecurrence Table = 0xDC
	// TableEntity: (Str node id) → Entity: of a node that was read out of texts.
	TableEntity Table = 0xE0
	// TableEntityKey: (Str key of a name, Str node id) → empty: the entities that a
	// name may mean.
	TableEntityKey Table = 0xE1
	// TableTrace: (Str node id) → Trace: what was read out of a node's text.
	TableTrace Table = 0xE2
	// TableCognition: () → Cognition.
	TableCognition Table = 0xE3
)

// partitionTables is the first table number of a partition.
const partitionTables Table = 0x80
