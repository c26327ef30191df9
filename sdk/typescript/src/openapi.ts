// Made by `npm run generate` from docs/openapi.json. Change that, not this.

type Json = string | number | boolean | null | Json[] | {
    [key: string]: Json;
};
export interface paths {
    "/v1/audit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the audit trail
         * @description What was done in the organization, by which key and user, for which subject, to what, when, with which request id; never content. The newest act first, in the order in which they became true. An act must pass all filters; a page may hold fewer than pageSize while hasMore is true. An act stays for 400 days, and the newest 1,000,000 do. What happens in the sandbox is not in it. The acts are described in docs/audit.md.
         */
        get: operations["listAudit"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/brain/answer": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Ask for a written answer
         * @description The answer is put together from sentences of the cited passages, in their own words but for the asker's manner, with who wrote them and when where that was another; where the operator has named a language model, that may word it, and no sentence stands in it that the passages which it names do not say. Citations stand in the order in which the answer comes to rest on them. Where memory does not answer the question it says so, in the question's language. It draws on every partition of the organization but the sandbox. Without a trained brain it rests on hybrid search, and gateConfidence is 0.
         */
        post: operations["answerFromBrain"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/brain/info": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What brain is loaded */
        get: operations["brainInfo"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/brain/query": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Query the brain
         * @description One forward pass of the organization's trained model, beside what plain likeness of meaning finds. topK governs both lists.
         */
        post: operations["queryBrain"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/brain/train": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Train the brain anew
         * @description Queues a job of type brain_train; its outcome is in GET /v1/brain/info too.
         */
        post: operations["trainBrain"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/brain/training": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * How the brain was trained, and where it wins and loses
         * @description The curve of the training's loss, and how the questions that judge were answered: by how far the gate stood open, by kind and by length. Figures only.
         */
        get: operations["brainTraining"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/condition/scaffold": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Wrap a prompt in what memory knows
         * @description Puts passages that are about the prompt before it, best first, as many as maxTokens holds; the prompt itself is never cut, and is answered as it is when memory has nothing about it. Tokens are those of the embedding model.
         */
        post: operations["conditionScaffold"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/condition/session": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Get a session's conditioning pack
         * @description What another model should know before a session: orgId and userId must be those of the key. Texts that name the last part of cwd, and mean it as a name, are mentioned.
         */
        post: operations["conditionSession"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/connectors": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the connectors
         * @description The caller's own, newest first.
         */
        get: operations["listConnectors"];
        put?: never;
        /**
         * Make a connector
         * @description config depends on the type. feed: url, and authorization (the header's value). web: sitemap or pages, and authorization. git: url, and branch, path, token. Addresses obey the rules of webhook URLs. authorization and token are written and never shown.
         */
        post: operations["createConnector"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/connectors/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get a connector */
        get: operations["getConnector"];
        put?: never;
        post?: never;
        /**
         * Delete a connector
         * @description What it fetched stays.
         */
        delete: operations["deleteConnector"];
        options?: never;
        head?: never;
        /**
         * Change a connector
         * @description config replaces the whole config, but for a secret that it leaves out; an empty one removes it. The type stays.
         */
        patch: operations["patchConnector"];
        trace?: never;
    };
    "/v1/connectors/{id}/sync": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Fetch now
         * @description The work is a job of type connector_sync, whose items are what is new. One that is under way is named again.
         */
        post: operations["syncConnector"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/contradictions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List open contradictions
         * @description Newest first. Every contradiction is open: it is resolved by superseding the losing side, and is then no longer listed.
         */
        get: operations["listContradictions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Watch what happens
         * @description A stream of server-sent events: `event: <type>`, `id: <uuid>` and `data: <json>` with `type`, `data` and `timestamp`. It is a live view: nothing is replayed, and Last-Event-ID is ignored. After 15 seconds without an event comes the comment `: ping`. The caller sees what it did itself, what concerns its own memory, and what concerns provisioned subjects or the whole organization. A reader that falls some hundred events behind is cut off; a comment is the last it gets. A comment also ends the stream where the node stops or the organization moves to another: connect again.
         */
        get: operations["streamEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/exports": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the exports
         * @description Those of the effective subject, newest first; without a subject also those of the organization that the key's user has made.
         */
        get: operations["listExports"];
        put?: never;
        /**
         * Begin an export
         * @description Scope `user` is the effective subject's memory and needs `write`; scope `org` is every memory of the organization but the sandbox, needs `admin`, which suffices, and is for no subject. The document is described in docs/export.md.
         */
        post: operations["createExport"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/exports/{export_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get an export */
        get: operations["getExport"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/exports/{export_id}/download": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Download an export
         * @description The document, with its length and an ETag. A Range of one part is served with 206, so that a download that broke off goes on where it stopped; send the ETag in If-Range. An export that has expired is not ready any more.
         */
        get: operations["downloadExport"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/graph/domains": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List domains
         * @description The topics that the background cycle has found among the effective subject's nodes, newest first; none until it has run. What has no label is not listed, and can be got by its id.
         */
        get: operations["listDomains"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/graph/domains/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get a domain */
        get: operations["getDomain"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/graph/edges": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List edges
         * @description The edges between the effective subject's nodes, newest first, without those that were forgotten. An edge must pass all filters.
         */
        get: operations["listEdges"];
        put?: never;
        /**
         * Assert an edge
         * @description Says that two live nodes are related: 201. Asserting the same source, target and type again updates the edge, 200, and leaves what it does not name. An edge that the service derived between the same nodes stands beside it.
         */
        post: operations["assertEdge"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/graph/edges/{edge_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get an edge
         * @description A forgotten edge is not found.
         */
        get: operations["getEdge"];
        put?: never;
        post?: never;
        /**
         * Forget an edge
         * @description The edge is tombstoned: its note and evidence are erased, and it is in no list and no answer any more. Asserted again, it is a new edge.
         */
        delete: operations["forgetEdge"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/graph/nodes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List nodes
         * @description The effective subject's nodes, newest first, without their content. Superseded nodes are listed, tombstoned ones only with status=tombstoned. With q, those that hold every word of it, in any form of the word, in their title or content.
         */
        get: operations["listNodes"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/graph/nodes/{node_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a node
         * @description A forgotten node is not found. The ETag names this version of the node, for the If-Match of an edit.
         */
        get: operations["getNode"];
        put?: never;
        post?: never;
        /**
         * Forget a node
         * @description Erases content, title, metadata and external ids, from the history and from what waits to be ingested too, and leaves a tombstone: id, kind, times, and the place in the graph. Until restorableUntil the place can be restored, the content never; after that the node is removed with its edges. The same content, sent again later, is a new node under the same id.
         */
        delete: operations["forgetNode"];
        options?: never;
        head?: never;
        /**
         * Edit a node
         * @description Changes the fields that are named, and nothing else; the id stays, whatever the content. New content is found by search before the answer is sent. Ingestion leaves an edited node alone until its document says something new. A superseded node is not edited.
         */
        patch: operations["editNode"];
        trace?: never;
    };
    "/v1/graph/nodes/{node_id}/elsewhere": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Where else an entity is named
         * @description The other memories of the organization that name the same entity, as far as its name alone can tell: whose, by which node, in how many texts. Nothing of what they say. A selected subject may not ask. Computed when it is asked, at most 1,000.
         */
        get: operations["entityElsewhere"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/graph/nodes/{node_id}/history": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * History of a node
         * @description What happened to the node, newest first: by ingestion and by hand. Of a forgotten node the entries remain, and their texts are gone; a removed node has none.
         */
        get: operations["getNodeHistory"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/graph/nodes/{node_id}/supersede": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Supersede a node
         * @description Puts another content in a node's place. The new node takes its kind, title, metadata, domain and edges, which keep their ids; the old one stays readable and leaves search. created is false where the content is known already: then the node that holds it takes the place, and is live again if it was superseded itself.
         */
        post: operations["supersedeNode"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/graph/nodes/{node_id}/undelete": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Restore a forgotten node
         * @description Brings back the node's place: its status, its domain and the edges that were forgotten with it. It has no content and no title until an edit, or the same content ingested again, gives it some.
         */
        post: operations["undeleteNode"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/identity/plot": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Where the basins lie, to be drawn
         * @description The manifold of the effective subject (GET /v1/recall/identity) seen along its strongest two axes: where its basins lie, and at most 500 of its passages. Whatever is forgotten, superseded or edited is gone from it at once; the basins' own places are of the last cycle.
         */
        get: operations["plotIdentity"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/identity/user/{user_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a member's identity
         * @description One's own; another member's needs the scopes read and admin.
         */
        get: operations["getIdentity"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/import": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the imports
         * @description The 20 most recent of the subject, newest first; it does not paginate.
         */
        get: operations["listImports"];
        put?: never;
        /**
         * Import a file
         * @description A multipart form. Plain text in any common encoding, Markdown, HTML, PDF, RTF, DOCX, PPTX, XLSX, OpenDocument, EPUB, CSV, JSON and JSONL of items as ingest takes them, mails and mailboxes, calendars, VTT and SRT, exports of Slack, Notion, ChatGPT, Claude, mem0, Zep and this service, and ZIP and tar archives of those; what a file is, its content decides. One job for all documents of the file. A file that cannot be read is refused at once, and nothing of it is kept; of an archive or a mailbox the parts that cannot be read are failed items of the job, each with its reason. The form may be 64 MiB large, and what is made of its file 16 MiB: text, titles and metadata, with the form's own for each document. Above either, and for a document of JSON that is longer than a content may be, the answer is 413; a longer plain text is cut into several documents.
         */
        post: operations["importFile"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/import/transcript": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Import a transcript
         * @description A multipart form with the part file or transcript: VTT, SRT, JSON of speaker and text, or lines of the form Name: text. The form may be 64 MiB large, and what is made of its file 16 MiB: text, titles and metadata, with the form's own for each document. Above either, and for a document of JSON that is longer than a content may be, the answer is 413; a longer plain text is cut into several documents.
         */
        post: operations["importTranscript"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/ingest": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Ingest one item
         * @description 202 means that the item is queued, on disk: it can be found once its job has finished. An externalId makes it an upsert.
         */
        post: operations["ingest"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/ingest/agent-signals": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Report what an agent did wrong
         * @description Failures that the client noticed, of a tool, a test, or the agent itself, and what the person corrected. Each becomes a node of the session and an insight. One that says when it was is stored once, however often it is sent.
         */
        post: operations["ingestAgentSignals"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/ingest/batch": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Ingest many items
         * @description One job for all items; its result has an entry for each. One bad field refuses the whole batch, naming the item.
         */
        post: operations["ingestBatch"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/ingest/session-batch": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Push events of coding sessions
         * @description Up to 500. Each has a result of its own: a bad event is rejected and the others are stored.
         */
        post: operations["ingestSessionBatch"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/ingest/session-event": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Push one event of a coding session
         * @description An event that is stored already is deduped: by its eventId, else by its session, role, time and text. Each stored event becomes a node of kind session, in the background.
         */
        post: operations["ingestSessionEvent"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/ingest/session-finalize": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Finish a backfill of sessions
         * @description Call it once after the last batch. The work is a job behind everything that was sent before.
         */
        post: operations["finalizeSessions"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/ingest/session-status": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** How far the sessions are */
        get: operations["getSessionStatus"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/ingest/{job_id}/status": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Progress of an ingestion
         * @description The job as GET /v1/jobs/{job_id} shows it, but for its status, which here reads pending, running, done, failed or cancelled.
         */
        get: operations["getIngestStatus"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/jobs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List jobs
         * @description The caller's jobs and those of provisioned subjects, newest first. A finished job can be read for 90 days after it was accepted.
         */
        get: operations["listJobs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/jobs/{job_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a job
         * @description Another member's job is not found, for an admin too, nor one that ended and was accepted more than 90 days ago.
         */
        get: operations["getJob"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/jobs/{job_id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Cancel a job
         * @description What the job has done stays done; a running job stops within a second, also inside of a long document.
         */
        post: operations["cancelJob"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the caller's keys
         * @description All keys of the caller, active and revoked, newest first. The keys themselves are never shown again.
         */
        get: operations["listKeys"];
        put?: never;
        /**
         * Create a key
         * @description The key is shown in this answer and never again; a replay carries a marker in its place. Without scopes it inherits the caller's; naming one that the caller lacks is refused.
         */
        post: operations["createKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/keys/{key_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Revoke a key
         * @description Takes effect on the next request. Revoking a revoked key succeeds again; a key of somebody else is not found.
         */
        delete: operations["revokeKey"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/me": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Who the key stands for
         * @description The organization, the user who minted the key, the scopes it holds and the organization's plan.
         */
        get: operations["getMe"];
        put?: never;
        post?: never;
        /**
         * Delete the account
         * @description A personal organization is removed as a whole, with all keys, its sandbox and everything in it. In a team the caller goes, with their keys, the sandbox keys they made and their own memory; the other members and the provisioned subjects stay. The only owner of a team cannot go. From the answer on nothing of it can be reached; its bytes are erased in the background. A sandbox key is refused.
         */
        delete: operations["deleteMe"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/proposals": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List proposals
         * @description Connections that the background cycle believes exist, newest first.
         */
        get: operations["listProposals"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/proposals/{proposal_id}/accept": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Accept a proposal
         * @description Writes the edge, with the origin proposal and the proposal's score as its weight and confidence. Accepting it again changes nothing.
         */
        post: operations["acceptProposal"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/proposals/{proposal_id}/reject": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Reject a proposal
         * @description The pair of nodes is not proposed again. Rejecting it again changes nothing.
         */
        post: operations["rejectProposal"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/purge": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Purge a subject's memory, or the organization's
         * @description In two steps. A dry run (the default) counts what would go and issues a confirm token, which lives 10 minutes, is spent by use, and stands for this scope, this subject, these counts and this caller. The second call, with `dryRun` false and the token, deletes, unless the counts have changed. Once it has begun it is carried to its end, also where the node crashes meanwhile. Sent again it deletes nothing: it is refused and told when the purge was done, or, behind a restart, answered the report of that purge for a day. Scope `subject` empties a provisioned subject's memory and keeps it provisioned; scope `org` empties every memory but the sandbox, and deletes exports and the trained brain; people, keys, subjects, settings, webhooks, connectors and usage stay. Within a minute nothing of it is left on the node's disk.
         */
        post: operations["purge"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/quality": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the reports on a memory
         * @description Newest first; the last 100 are kept. Each is what one evaluation counted, so that they tell how the memory moved. They hold no text and name no node. Scope `org` needs `admin`, and is for no subject.
         */
        get: operations["listQuality"];
        put?: never;
        /**
         * Evaluate a memory
         * @description Queues a job of type quality, which asks the memory about its own content; its report is in GET /v1/quality. Scope `user` is the effective subject's memory and needs `write`; scope `org` is every memory of the organization but the sandbox, needs `admin`, which suffices, and is for no subject. What the figures mean is described in docs/quality.md.
         */
        post: operations["evaluateQuality"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/recall/graph/node/{node_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Recall a node with its chunks and neighbours
         * @description Chunks come in the order of the text. Of a node with more than 100 edges the neighbours by the newest 100 are shown; GET /v1/graph/edges with node lists them all.
         */
        get: operations["recallNode"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/recall/graph/search": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Search the text of nodes
         * @description The nodes that hold every word of q, in any form of the word, in their title or content, each with a passage that holds one; superseded nodes too. Newest first and not by rank, so that pages stay true while the memory changes; POST /v1/search ranks.
         */
        get: operations["recallGraphSearch"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/recall/sessions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the coding sessions
         * @description Those of the subject, by when they began to be stored, newest first.
         */
        get: operations["listSessions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/recall/sessions/{session_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Delete a coding session
         * @description Its events are forgotten like nodes are, and nothing else of it is left.
         */
        delete: operations["deleteSession"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/recall/{recall_type}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Recall a derived view
         * @description What the cognition cycle has derived of the effective subject; until it has run, views are empty. recall_type is identity, graph, insights or temporal. graph holds the strongest 200 live nodes (authority times confidence times one plus the logarithm of one plus their edges, among the newest 4,000 of each kind), the edges among them and the domains they are in; its counts are those of the whole partition and stop at 100,000. insights (newest first) and temporal (latest first) answer at most 200 entries, and as pages when cursor or pageSize is given; the other two do not paginate.
         */
        get: operations["recall"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/retrieve": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Retrieve by following the graph
         * @description Searches, then follows edges of what it found for up to maxHops; a node's score is that of the node before it times the edge's weight times one half. paths[i] leads to results[i]. contradictions are the open ones of the results.
         */
        post: operations["retrieve"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sandbox/keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the sandbox's keys
         * @description The keys that have not expired, active and revoked, whoever made them, newest first.
         */
        get: operations["listSandboxKeys"];
        put?: never;
        /**
         * Create a key for the sandbox
         * @description It reads and writes a memory of its own, apart from the organization's, until it expires. The key is shown in this answer and never again. The creation is never replayed: a retry makes another key.
         */
        post: operations["createSandboxKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sandbox/keys/{key_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Revoke a key of the sandbox
         * @description Takes effect on the next request. Revoking a revoked key succeeds again; a key that is not the sandbox's is not found.
         */
        delete: operations["revokeSandboxKey"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sandbox/reset": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Empty the sandbox
         * @description From the answer on the sandbox is new and empty: its memory, settings, jobs, exports, connectors and webhook endpoints are gone, and their bytes are erased in the background. Its keys survive.
         */
        post: operations["resetSandbox"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/search": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Search
         * @description Finds passages by meaning and by word, best first, one per document; what says the same in the same words as a hit stands behind those that do not. scope user is the effective subject's memory; org is the whole organization's, which a selected subject may not search.
         */
        post: operations["search"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/settings": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the settings
         * @description Those of the effective subject; the server's defaults where it wrote none. qualityMode: fast ranks by the index alone, without the brain, and extracts no relations; balanced, the default, ranks the leading passages anew by their exact vectors, or by the brain; thorough looks at more candidates, ranks more of them exactly, reads the first as answers to a question in English and runs every pass: what the brain begins at is ranked exactly, too. learnModeDefault false keeps what is taken in from then on searchable, but out of the recalled graph, cognition and the brain, until the same content is sent again with it true.
         */
        get: operations["getSettings"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Change settings
         * @description Fields that are not named stay as they are. qualityMode: fast ranks by the index alone, without the brain, and extracts no relations; balanced, the default, ranks the leading passages anew by their exact vectors, or by the brain; thorough looks at more candidates, ranks more of them exactly, reads the first as answers to a question in English and runs every pass: what the brain begins at is ranked exactly, too. learnModeDefault false keeps what is taken in from then on searchable, but out of the recalled graph, cognition and the brain, until the same content is sent again with it true.
         */
        patch: operations["patchSettings"];
        trace?: never;
    };
    "/v1/settings/reset": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Go back to the default settings
         * @description Answers the restored defaults.
         */
        post: operations["resetSettings"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/subjects": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the provisioned subjects
         * @description In the order of their ids, bytewise: an order that no write changes.
         */
        get: operations["listSubjects"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/subjects/{subject_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get a subject */
        get: operations["getSubject"];
        /**
         * Provision a subject
         * @description 201 the first time, 200 after. An erased subject that is provisioned again starts empty.
         */
        put: operations["putSubject"];
        post?: never;
        /**
         * Erase a subject
         * @description The subject refuses use at once; when the job has succeeded, nothing of it is left.
         */
        delete: operations["eraseSubject"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/team": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the organization
         * @description memberCount counts people: neither provisioned subjects nor the sandbox.
         */
        get: operations["getTeam"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/team/keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the keys of all members
         * @description Whose keys there are, active and revoked, without the sandbox's: member by member in the order of their ids, and of each the oldest first. The keys themselves are never shown, and a key of somebody else cannot be revoked.
         */
        get: operations["listTeamKeys"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/team/members": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the organization's members
         * @description People only, in the order of their e-mail addresses, bytewise: an order that no write changes.
         */
        get: operations["listMembers"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/usage": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What was used
         * @description Read units and embedding tokens of the whole organization, in buckets: UTC hours for a range of up to 7 days, UTC days beyond. A bucket that the range touches is answered whole; one in which nothing was used is left out. All that was answered before this request is in it. The sandbox is not metered.
         */
        get: operations["getUsage"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhooks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the webhook endpoints
         * @description Those of the whole organization, newest first.
         */
        get: operations["listWebhooks"];
        put?: never;
        /**
         * Register a webhook endpoint
         * @description The answer holds the signing secret, this once. The URL must be https, with the default port and without user name, and its host must resolve to public addresses only; that is looked at again at every delivery, and redirects are never followed. The endpoint receives what the caller may read.
         */
        post: operations["createWebhook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhooks/{webhook_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a webhook endpoint
         * @description With its last 50 delivery attempts, newest first.
         */
        get: operations["getWebhook"];
        put?: never;
        post?: never;
        /** Delete a webhook endpoint */
        delete: operations["deleteWebhook"];
        options?: never;
        head?: never;
        /**
         * Change a webhook endpoint
         * @description disabled: false enables it again and clears its streak of failures. The secret stays as it is. The endpoint goes on to receive what its creator may read, whoever changes it.
         */
        patch: operations["patchWebhook"];
        trace?: never;
    };
    "/v1/webhooks/{webhook_id}/deliveries/{delivery_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get what a delivery attempt has sent
         * @description One of the last 50 attempts with its body, byte for byte, and its signature. The service keeps no bodies: it makes this one from its event again. Where the event was erased, is older than 72 hours or was sent by a version that did not note it, unavailable is gone; where it concerns another member's memory, it is withheld.
         */
        get: operations["getDelivery"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhooks/{webhook_id}/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a test event
         * @description One delivery of webhook.test, at once; the answer is 200 also where the receiver refuses or cannot be reached. It is written to the delivery log, and neither counts towards the streak of failures nor is retried.
         */
        post: operations["testWebhook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        Accepted: {
            /** Format: uuid */
            jobId: string;
            /** @enum {string} */
            status: "pending";
        };
        ActivatedEntity: {
            /** Format: double */
            activation: number;
            nodeId: string;
            title: string;
        };
        AgentSignal: {
            /** Format: date-time */
            at?: string;
            detail?: string;
            severity?: string;
            /** @description Such as tool_failure, loop, user_correction, test_failure or abandoned. */
            type: string;
        };
        AgentSignals: {
            /** @description 1 to 256 bytes without control characters. */
            sessionId: string;
            signals: components["schemas"]["AgentSignal"][];
        };
        ApiKey: {
            /** Format: date-time */
            createdAt: string;
            /** @description The SHA-256 of the key, in hexadecimal; it cannot authenticate. */
            id: string;
            label: string;
            /**
             * Format: date-time
             * @description To the minute; null if the key was never used.
             */
            lastUsedAt: string | null;
            /**
             * Format: date-time
             * @description Null while the key is active.
             */
            revokedAt: string | null;
            /** @description What the key may do; of the sandbox always read and write. */
            scopes: string[];
            /** @enum {string} */
            status: "active" | "revoked";
        };
        AssertEdge: {
            /**
             * Format: double
             * @description As weight.
             */
            confidence?: number;
            /** @description What the relation rests on: ids of nodes, or externalIds of documents, of the same memory. On an update it takes the place of what was there; an empty list takes it away. */
            derivedFrom?: string[];
            /** @description Why it is so, in the client's words. Empty text takes the note away. */
            note?: string;
            /** @description The id of the node that the edge leads from. */
            source: string;
            /** @description The id of the node that it leads to, another one. */
            target: string;
            /** @description What the relation is called: 1 to 64 letters, digits and _ - . : beginning with a letter. superseded_by is the service's own. */
            type: string;
            /**
             * Format: double
             * @description A value above 0.4 is stored, and answered, as 0.4, which is also what a new edge has by default.
             */
            weight?: number;
        };
        AuditEntry: {
            /** @description What was done, such as node.forget; more may come. */
            action: string;
            actor: components["schemas"]["AuditEntryActor"];
            /** Format: date-time */
            at: string;
            /** @description Larger of a later act; unique in the organization. */
            id: string;
            /** @description The memory that it was done for, as in the ids of its nodes; it stays when a subject is erased. Null where it was done for none. */
            partitionId: string | null;
            /** @description Null where no request did it. */
            requestId: string | null;
            /** @description The provisioned subject it was done for, while it is provisioned; null for a person's own memory, and once the subject was erased. */
            subject: string | null;
            /** @description The id of what it was done to; null where that is the organization or the memory itself, or has an id of the client's making. A subject that was erased is named by its partitionId. */
            target: string | null;
        };
        AuditEntryActor: {
            keyId: string | null;
            /**
             * @description operator: through the operator interface. service: by itself.
             * @enum {string}
             */
            type: "key" | "operator" | "service";
            userId: string | null;
        };
        Basin: {
            /** @description The person is in it: by the latest signals. */
            current: boolean;
            id: string;
            keywords: string[];
            label: string;
            /** @description The evidence. */
            nodeIds: string[];
            /**
             * Format: double
             * @description Of the signals.
             */
            share: number;
            /** @description The time of the text by which the person came there; null in a basin where they are not. */
            since: string | null;
        };
        BrainAnswer: {
            /**
             * Format: int32
             * @default 150
             */
            maxWords?: number;
            query: string;
        };
        BrainAnswered: {
            againstCosine: components["schemas"]["BrainDuel"];
            againstSearch: components["schemas"]["BrainDuel"];
            brain: components["schemas"]["BrainMarks"];
            cosine: components["schemas"]["BrainMarks"];
            /**
             * Format: int32
             * @description That judged, and were not learned from.
             */
            questions: number;
            search: components["schemas"]["BrainMarks"];
        };
        BrainArtifact: {
            /** Format: int64 */
            edges: number;
            metrics: {
                [key: string]: number;
            };
            /** Format: int64 */
            nodes: number;
            /** Format: int64 */
            parameters: number;
            sha256: string;
            /** Format: date-time */
            trainedAt: string;
            /** Format: int64 */
            version: number;
        };
        BrainChange: {
            /**
             * Format: double
             * @description walk, meaning, words and near together.
             */
            change: number;
            /** @description Whether the brain knows the passage. One that is younger gains by likeness and words only. */
            known: boolean;
            /** Format: double */
            meaning: number;
            /**
             * Format: double
             * @description By nearness to the projected question.
             */
            near: number;
            /**
             * Format: int32
             * @description Its place by the brain.
             */
            rank: number;
            /**
             * Format: double
             * @description total and change together, which the brain ranks by.
             */
            total: number;
            /**
             * Format: double
             * @description What the walk over the graph brought, as the gate lets it through; so are the next three.
             */
            walk: number;
            /** Format: double */
            words: number;
        };
        BrainDuel: {
            /**
             * Format: int32
             * @description Questions answered worse.
             */
            lost: number;
            /**
             * Format: int32
             * @description Questions answered better: more found, or as much and higher.
             */
            won: number;
        };
        BrainFound: {
            activatedEntities: components["schemas"]["ActivatedEntity"][];
            /** Format: int64 */
            artifactVersion: number;
            /** @description What likeness of meaning alone finds. */
            cosineTopK: components["schemas"]["CosineHit"][];
            /**
             * Format: double
             * @description How far the graph has moved since the training.
             */
            driftRate: number;
            /** @description The nodes that hold text, best first. */
            focalNodes: components["schemas"]["FocalHit"][];
            /** Format: double */
            gateConfidence: number;
            /**
             * @description How far the walk went for what it found: none, nothing is owed to it; local, one hop; regional, two; global, further.
             * @enum {string}
             */
            propagationTier: "none" | "local" | "regional" | "global";
            usage: components["schemas"]["Usage"];
        };
        BrainGateBand: {
            /**
             * Format: double
             * @description The least gate of these questions.
             */
            from: number;
            judged: components["schemas"]["BrainAnswered"];
            /** Format: double */
            mean: number;
            /** @description The brain, were its gate wide open: where the gate is rightly low, it is worse than search. */
            open: components["schemas"]["BrainMarks"];
            /** @description Against search, with the gate open. */
            opened: components["schemas"]["BrainDuel"];
            /**
             * Format: double
             * @description The greatest.
             */
            to: number;
        };
        BrainGateBins: {
            /** @description The questions in order of their gate, in up to ten bins of ten at least, of about as many each. Empty: none were judged. */
            bins: components["schemas"]["BrainGateBand"][];
            /**
             * Format: double
             * @description Below it the walk goes no further than one step.
             */
            shut: number;
        };
        BrainInfo: {
            /** @description The brain that serves; null where none does: none was trained, or it cannot be read and is to be trained again. */
            artifact: components["schemas"]["BrainArtifact"] | null;
            /** @description The latest training. */
            training: components["schemas"]["Training"];
        };
        BrainKind: {
            judged: components["schemas"]["BrainAnswered"];
            /**
             * @description sentence: some of a sentence's words. title: a title and some words. two_hops, three_hops: words that lead over a name to another document. comparison: two titles. former: words of what was superseded. accepted: two documents that an accepted proposal joined.
             * @enum {string}
             */
            kind: "sentence" | "title" | "two_hops" | "three_hops" | "comparison" | "former" | "accepted";
        };
        BrainLength: {
            /**
             * Format: int32
             * @description Words at least.
             */
            from: number;
            judged: components["schemas"]["BrainAnswered"];
            /** @description Words at most; null: no bound. */
            to: (number | null) | null;
        };
        BrainMarks: {
            /**
             * Format: double
             * @description One over the place of the first that answers, in the mean.
             */
            mrr: number;
            /**
             * Format: double
             * @description Of what answers, the share among the first ten.
             */
            recall10: number;
        };
        BrainPoint: {
            /** @description Whether that is the least so far. */
            best: boolean;
            /**
             * Format: double
             * @description Mean loss of the questions that say when to stop, in nats.
             */
            checked: number;
            /**
             * Format: double
             * @description Mean loss of the questions that are learned from, in nats, with what holds the parameters near the untrained ones. Absent where it was not evaluated.
             */
            learned?: number;
            /**
             * Format: int32
             * @description Of the parameters, within the stage; 0: before any.
             */
            move: number;
            /**
             * @description part: on a quarter of the questions that are learned from. all: on all of them. further: what the hits of the projected question count.
             * @enum {string}
             */
            stage: "part" | "all" | "further";
        };
        BrainQuery: {
            query: string;
            /**
             * Format: int32
             * @default 10
             */
            topK?: number;
        };
        BrainReport: {
            /** @description Looks at the loss, in their order; at most 64. */
            curve: components["schemas"]["BrainPoint"][];
            gate: components["schemas"]["BrainGateBins"];
            /** @description By how the questions were made; those of which there were none are left out. */
            kinds: components["schemas"]["BrainKind"][];
            /** @description By the questions' words, shortest first. */
            lengths: components["schemas"]["BrainLength"][];
        };
        BrainTraining: {
            /** @description Of the latest training, where that does not serve: its curve while it runs, all of it where it was rejected. Null otherwise. */
            latest: components["schemas"]["BrainReport"] | null;
            /** @description Of the brain that serves; null where none does, or where a version of this service trained it that kept none. */
            report: components["schemas"]["BrainReport"] | null;
            /**
             * @description Of the latest training.
             * @enum {string}
             */
            status: "none" | "queued" | "running" | "succeeded" | "rejected" | "failed";
            /** @description The brain that serves; null where none does. */
            version: (number | null) | null;
        };
        Cadence: {
            /**
             * Format: double
             * @description The median time between two days of writing.
             */
            everyDays: number;
            /**
             * Format: double
             * @description 0 is any gap, 1 always the same.
             */
            regularity: number;
            /**
             * Format: int32
             * @description How many were counted.
             */
            times: number;
        };
        Citation: {
            chunk: string;
            nodeId: string;
            /** Format: double */
            score: number;
            /** @description What of the chunk the answer rests on, in characters (Unicode code points), end exclusive. Absent: all of it. */
            span?: components["schemas"]["CitedSpan"];
            /** @description The cited node and what it was derived from, as far as it no longer stands: nearest first. Absent where all of it stands. */
            stale?: components["schemas"]["Stale"][];
            /** @description True where what it rests on is more than was followed (32 steps, 256 nodes, or 2,000 for all that one answer shows), or more than 64 of it no longer stand: then stale does not tell all. Absent otherwise. */
            staleIncomplete?: boolean;
            /** @description The provisioned subject whose memory it is in; null for a person's own. */
            subject: string | null;
        };
        CitedSpan: {
            /** Format: int64 */
            end: number;
            /** Format: int64 */
            start: number;
        };
        ConditionSession: {
            /** @description The working directory of the session. */
            cwd: string;
            /** Format: uuid */
            orgId: string;
            /** Format: uuid */
            userId: string;
        };
        ConditioningPack: {
            /**
             * Format: date-time
             * @description How long the pack may be kept.
             */
            expiresAt: string;
            /** @description What the latest texts are about, newest first, from the effective subject's own memory: titles, once for each thread, and of texts without one a sentence that tells something, with who wrote it. Latest is by when the text's content happened (occurredAt), else by when it came in. */
            orgRecentContext: string[];
            systemPrompt: string;
            /** @description Absent until there is enough writing, and where several people write the memory. */
            userVoiceHint?: string;
        };
        Connector: {
            /** @description Without its secrets. */
            config: {
                [key: string]: unknown;
            };
            /** Format: date-time */
            createdAt: string;
            /** Format: int64 */
            documents: number;
            enabled: boolean;
            /** Format: uuid */
            id: string;
            /** Format: int32 */
            intervalSeconds: number;
            lastError: string | null;
            lastStatus: string | null;
            /** Format: date-time */
            lastSyncAt: string | null;
            name: string;
            /** @enum {string} */
            type: "feed" | "web" | "git";
        };
        Contradiction: {
            /** Format: date-time */
            detectedAt: string;
            explanation: string;
            /** Format: uuid */
            id: string;
            /** @enum {string} */
            kind: "negation" | "value" | "temporal" | "antonym" | "semantic";
            nodeA: string;
            nodeB: string;
            /** @description The texts that hold the claims: nodeA's, then nodeB's. */
            passages: components["schemas"]["Passage"][];
            /** Format: double */
            severity: number;
            /** @enum {string} */
            status: "open";
        };
        CosineHit: {
            externalId: string | null;
            nodeId: string;
            /** Format: double */
            score: number;
            /** @description What the node was derived from, as far as it no longer stands: nearest first. Absent where all of it stands. */
            stale?: components["schemas"]["Stale"][];
            /** @description True where what it rests on is more than was followed (32 steps, 256 nodes, or 2,000 for all that one answer shows), or more than 64 of it no longer stand: then stale does not tell all. Absent otherwise. */
            staleIncomplete?: boolean;
            title: string;
        };
        CreateExportRequest: {
            /**
             * @default json
             * @enum {string}
             */
            format?: "json";
            /**
             * @default user
             * @enum {string}
             */
            scope?: "user" | "org";
        };
        CreateKey: {
            /** @description What the key is for. */
            label: string;
            /** @description What the key may do, at most what the caller may. Omitted: all of the caller's scopes. */
            scopes?: ("read" | "write" | "admin" | "graph:write" | "memory:forget" | "subjects:provision" | "usage:read")[];
        };
        CreateSandboxKey: {
            /** @description What the key is for. */
            label?: string;
            /**
             * Format: int64
             * @description How long the key works: an hour to 90 days. Omitted: 7 days, where the operator has not set another time.
             */
            ttlSeconds?: number;
        };
        Dated: {
            /**
             * Format: date-time
             * @description When it begins. Of what is named by its end alone, that end; and what a week or month is still to bring, while it runs, is shown on the day of writing.
             */
            at: string;
            /**
             * @description Where the text names one end only: latest, it is then or before; earliest, from then on.
             * @enum {string}
             */
            bound?: "latest" | "earliest";
            /** Format: uuid */
            id: string;
            kind: string;
            nodeId: string;
            /** @description How exactly the text names the time: minute, day (also of several), week, month, quarter, year, decade or century. What is of a week happens between at and until, on no day that is known. Absent where an end is open. */
            precision?: string;
            title: string;
            /**
             * Format: date-time
             * @description When it is over, excluded: of a day the next one, of a week the Monday behind it. Absent where the text does not say.
             */
            until?: string;
        };
        DeliveryAttempt: {
            /** Format: date-time */
            at: string;
            /**
             * Format: int32
             * @description 1 for the first, 2 and 3 for retries.
             */
            attempt: number;
            /** Format: int32 */
            durationMs: number;
            error: string | null;
            /** Format: uuid */
            eventId: string;
            eventType: string;
            /**
             * Format: uuid
             * @description X-Svc-Delivery of the attempt.
             */
            id: string;
            ok: boolean;
            responseSnippet: string;
            /** Format: int32 */
            responseStatus: number | null;
        };
        Domain: {
            /**
             * Format: double
             * @description The share of its nodes' edges that stay inside.
             */
            cohesion: number;
            /** Format: date-time */
            createdAt: string;
            /**
             * Format: int32
             * @description Edges between its nodes.
             */
            edgeCount: number;
            /**
             * Format: uuid
             * @description The same from cycle to cycle, as long as most of its nodes are.
             */
            id: string;
            keywords: string[];
            label: string;
            /** Format: int32 */
            nodeCount: number;
            /** @description The ids of its most central nodes. */
            topNodes: string[];
            /** Format: date-time */
            updatedAt: string;
        };
        Edge: {
            /** Format: double */
            confidence: number;
            /** Format: date-time */
            createdAt: string;
            /** @description The nodes that the client said it rests on; absent where it named none. */
            derivedFrom?: string[];
            /** @description The chunkIds of the passages that it was found in. */
            evidence: string[];
            id: string;
            /** @description What the client said of it. */
            note: string | null;
            /** @enum {string} */
            origin: "ingest" | "asserted" | "proposal" | "supersede" | "cognition";
            source: string;
            /** @description What the edge was derived from, as far as it no longer stands: nearest first. Absent where all of it stands. */
            stale?: components["schemas"]["Stale"][];
            /** @description True where what it rests on is more than was followed (32 steps, 256 nodes, or 2,000 for all that one answer shows), or more than 64 of it no longer stand: then stale does not tell all. Absent otherwise. */
            staleIncomplete?: boolean;
            /** @enum {string} */
            status: "live" | "superseded" | "tombstoned";
            /** @description The provisioned subject it belongs to; null for the key owner's own. */
            subject: string | null;
            target: string;
            /** Format: date-time */
            tombstonedAt: string | null;
            type: string;
            /** Format: date-time */
            updatedAt: string;
            /** Format: date-time */
            validFrom: string | null;
            /**
             * Format: date-time
             * @description Null while it holds.
             */
            validTo: string | null;
            /** Format: double */
            weight: number;
        };
        Elsewhere: {
            data: components["schemas"]["Sighting"][];
            hasMore: boolean;
        };
        EmbeddingState: {
            /**
             * Format: int64
             * @description Chunks of all memories.
             */
            chunks: number;
            /**
             * Format: int64
             * @description Those embedded with the model; the others are served by a former one until they are.
             */
            embedded: number;
            /** @description The model that content is embedded with. */
            model: string;
        };
        EvaluateQualityRequest: {
            /**
             * @default user
             * @enum {string}
             */
            scope?: "user" | "org";
        };
        EvaluationAccepted: {
            /** Format: uuid */
            jobId: string;
            /** @enum {string} */
            status: "queued";
        };
        Every: {
            /** @description Times of the day, such as 09:30, in the writer's own time. */
            at?: string[];
            /** @description When it ends, of the one time in at. */
            end?: string;
            except?: components["schemas"]["Exception"];
            /**
             * Format: int32
             * @description 2 is every other.
             */
            interval: number;
            /** @description Days of the month; -1 is the last. */
            monthDays?: number[];
            /** @description 1 to 12. */
            months?: number[];
            /** @description Which of the weekdays in the month, or in the unit where it is a longer one: 1 is the first, -1 the last. */
            nth?: number[];
            /**
             * Format: int32
             * @description How often in each.
             */
            times?: number;
            /** @enum {string} */
            unit: "hour" | "day" | "week" | "month" | "year";
            weekdays?: ("monday" | "tuesday" | "wednesday" | "thursday" | "friday" | "saturday" | "sunday")[];
        };
        Exception: {
            months?: number[];
            /** @description In the sentence's words. */
            text: string;
            weekdays?: ("monday" | "tuesday" | "wednesday" | "thursday" | "friday" | "saturday" | "sunday")[];
        };
        Export: {
            /**
             * Format: int64
             * @description Length of the document; null until it is written.
             */
            bytes: number | null;
            /** Format: date-time */
            createdAt: string;
            /** @description Why it failed; null otherwise. */
            error: string | null;
            /** Format: date-time */
            expiresAt: string | null;
            /**
             * Format: uuid
             * @description Also the id of its job.
             */
            exportId: string;
            /** Format: date-time */
            finishedAt: string | null;
            /** @enum {string} */
            format: "json";
            /** @enum {string} */
            scope: "user" | "org";
            /** @description Of the document, in hexadecimal; null until it is written. */
            sha256: string | null;
            /**
             * @description An export expires after some days, and as soon as something in it is forgotten.
             * @enum {string}
             */
            status: "queued" | "running" | "succeeded" | "failed" | "expired";
        };
        FeedConfig: {
            authorization?: string;
            url: string;
        };
        FieldError: {
            /** @description Path of the field, such as items[3].content. */
            field: string;
            /** @description What is expected. It never repeats what was sent. */
            message: string;
        };
        FocalHit: {
            /** Format: double */
            activation: number;
            externalId: string | null;
            nodeId: string;
            /** Format: double */
            score: number;
            /** @description What the node was derived from, as far as it no longer stands: nearest first. Absent where all of it stands. */
            stale?: components["schemas"]["Stale"][];
            /** @description True where what it rests on is more than was followed (32 steps, 256 nodes, or 2,000 for all that one answer shows), or more than 64 of it no longer stand: then stale does not tell all. Absent otherwise. */
            staleIncomplete?: boolean;
            title: string;
        };
        FocalNode: {
            nodeId: string;
            title: string;
            /**
             * Format: double
             * @description Their weights add up to 1.
             */
            weight: number;
        };
        GateExplanation: {
            /**
             * Format: double
             * @description How far the brain trusts itself here.
             */
            gate: number;
            /**
             * @description How far the walk went for what it found: none, nothing is owed to it; local, one hop; regional, two; global, further.
             * @enum {string}
             */
            propagationTier: "none" | "local" | "regional" | "global";
            /**
             * Format: double
             * @description Where gate is below, the walk goes no further than one step.
             */
            shut: number;
            /** @description What the gate went by. The pulls add up to its logit. */
            signs: components["schemas"]["GateSign"][];
        };
        GateSign: {
            /**
             * Format: double
             * @description By how many nats that opens the gate; below 0: shuts it.
             */
            pull: number;
            /** Format: double */
            seen: number;
            /**
             * @description always: nothing, where training left the gate. best: the best hit's score. margin: by how much the fifth is behind. agreement: how many of the five best by meaning and by words are the same. names: what of the graph the question names, up to four as 1. density: how many steps lead away. subjects: whether a document is about something that it names. cover: how much of its words such names are.
             * @enum {string}
             */
            sign: "always" | "best" | "margin" | "agreement" | "names" | "density" | "subjects" | "cover";
        };
        GitConfig: {
            branch?: string;
            path?: string;
            token?: string;
            url: string;
        };
        GraphCounts: {
            /** Format: int64 */
            domains: number;
            /**
             * Format: int64
             * @description Edges of the partition that were not forgotten.
             */
            edges: number;
            /**
             * Format: int64
             * @description Live nodes of the partition: now, whatever asOf is, as are the other counts.
             */
            nodes: number;
        };
        GraphView: {
            counts: components["schemas"]["GraphCounts"];
            /** @description Those that the nodes are in. */
            domains: components["schemas"]["Domain"][];
            /** @description Those among the nodes, at most 2,000. */
            edges: components["schemas"]["Edge"][];
            /** @description The strongest, best first, without their content. */
            nodes: components["schemas"]["Node"][];
        };
        HistoryActor: {
            /** @description The id of the API key; for ingestion that of the key that sent the content. */
            keyId: string | null;
            /** @description The provisioned subject it was done for; null for a person's own memory. */
            subject: string | null;
            userId: string | null;
        };
        HistoryChange: {
            after: string | null;
            /** @description Metadata as the text of its JSON. Null where there was none, or it was forgotten. */
            before: string | null;
            /** @enum {string} */
            field: "title" | "content" | "kind" | "metadata" | "domainId" | "status" | "supersededBy" | "source" | "type" | "target" | "weight" | "confidence";
            /** @description Before, or after, is the beginning of a text of more than 16 KiB. */
            truncated: boolean;
        };
        HistoryEntry: {
            /** @enum {string} */
            action: "created" | "updated" | "superseded" | "revived" | "forgotten" | "restored" | "edge_asserted" | "edge_forgotten";
            actor: components["schemas"]["HistoryActor"];
            /** Format: date-time */
            at: string;
            changes: components["schemas"]["HistoryChange"][];
            reason: string | null;
        };
        Hit: {
            /** @description The passage. */
            chunk: string;
            chunkId: string;
            /** Format: date-time */
            createdAt: string;
            /** @description Where explain was asked for. */
            explanation?: components["schemas"]["HitExplanation"];
            /** @description The client's own id of the document it is from. */
            externalId: string | null;
            nodeId: string;
            /**
             * Format: double
             * @description How well it fits, fused from scores; higher is better.
             */
            score: number;
            scores: components["schemas"]["HitScores"];
            /** @description What the node was derived from, as far as it no longer stands: nearest first. Absent where all of it stands. */
            stale?: components["schemas"]["Stale"][];
            /** @description True where what it rests on is more than was followed (32 steps, 256 nodes, or 2,000 for all that one answer shows), or more than 64 of it no longer stand: then stale does not tell all. Absent otherwise. */
            staleIncomplete?: boolean;
            /** @description The provisioned subject whose memory it is from; null for a person's. */
            subject: string | null;
            title: string;
        };
        HitExplanation: {
            /** @description What the brain added; absent where none ranked. */
            brain?: components["schemas"]["BrainChange"];
            /** @description The node of the hit that says the same in the same words, for which it stands behind all hits that do not; absent: none does. */
            duplicateOf?: string;
            /**
             * Format: int32
             * @description Absent: it is not among those compared, or meaning was not asked.
             */
            meaningRank?: number;
            parts: components["schemas"]["ScoreParts"];
            /**
             * Format: int32
             * @description Its place by total, among the nodes that were compared; absent: it was not among them, and the brain brought it.
             */
            rank?: number;
            /**
             * Format: double
             * @description The parts together, which search ranks by; score where no brain ranked, and no other hit says the same.
             */
            total: number;
            /**
             * Format: int32
             * @description Absent: none of the words is in it, or words were not asked.
             */
            wordsRank?: number;
        };
        HitScores: {
            /**
             * Format: double
             * @description Weight of the words in common.
             */
            keyword: number;
            /**
             * Format: double
             * @description Likeness of meaning.
             */
            vector: number;
        };
        HopPath: {
            /** Format: double */
            activation: number;
            /** @description edges[i] joins nodes[i] and nodes[i+1]. */
            edges: string[];
            nodeId: string;
            /** @description From what the search found to the result itself. */
            nodes: string[];
            /** @description What the edges of the path were derived from, as far as it no longer stands: nearest first. Absent where all of it stands. */
            stale?: components["schemas"]["Stale"][];
            /** @description True where what it rests on is more than was followed (32 steps, 256 nodes, or 2,000 for all that one answer shows), or more than 64 of it no longer stand: then stale does not tell all. Absent otherwise. */
            staleIncomplete?: boolean;
        };
        IdentityPlot: {
            /** @description The strongest dimensions of the manifold: two, and x is along the first. There is one where the passages lie on a line; y is 0 then. */
            axes: components["schemas"]["PlotAxis"][];
            /** @description As GET /v1/recall/identity has them, in its order. */
            basins: components["schemas"]["PlotBasin"][];
            /** @description Some of the passages, at most 500, in the order in which they were written. Which of them is chosen once: as others come, those that are shown stay, or make room. */
            points: components["schemas"]["PlotSignal"][];
            /**
             * Format: int32
             * @description Passages of the manifold; points shows some of them.
             */
            signalCount: number;
            /** @description That of the manifold; null where no plot was derived: before the first cycle that found a manifold, and of a memory that a version of this service which made none looked through last. */
            version: (number | null) | null;
        };
        IdentityView: {
            /** @description As many as manifold.n_basins. */
            basins: components["schemas"]["Basin"][];
            /** @description Null before the first cycle. */
            manifold: components["schemas"]["Manifold"] | null;
            /** @description Who the person is, in plain words: at most 12 sentences, in the order in which one would say them. Each rests on more than one text, and goes at once with any of its nodes that is forgotten or superseded; empty while too little is known. Of a memory that several people write only a line of themes is told. */
            portrait: components["schemas"]["Portrayal"][];
            traits: components["schemas"]["Trait"][];
            /** @description Of what the memory's person wrote; of all that is written where several people write the memory, and there are no traits then. Null until there is enough writing. */
            voiceProfile: components["schemas"]["VoiceProfile"] | null;
        };
        ImportEntry: {
            /** Format: int64 */
            bytes: number;
            /** Format: date-time */
            createdAt: string;
            /**
             * Format: int64
             * @description Null until the job has ended, and 0 until the first cognition cycle behind it has run: how many domains its documents are in then.
             */
            domainsDetected: number | null;
            error: string | null;
            /** @description Empty once what came with the file was forgotten. */
            filename: string;
            /** Format: date-time */
            finishedAt: string | null;
            /** @enum {string} */
            format: "text" | "markdown" | "json" | "jsonl" | "vtt" | "srt" | "lines" | "html" | "csv" | "eml" | "mbox" | "zip" | "tar" | "docx" | "pptx" | "xlsx" | "odt" | "ods" | "odp" | "epub" | "rtf" | "ics" | "pdf" | "slack" | "chatgpt" | "claude" | "mem0" | "zep" | "orgmem-export";
            /** Format: uuid */
            id: string;
            /** Format: uuid */
            jobId: string;
            /**
             * Format: int64
             * @description Null until the job has ended.
             */
            nodesCreated: number | null;
            /** @enum {string} */
            status: "queued" | "running" | "succeeded" | "failed" | "cancelled";
        };
        IngestBatch: {
            items: components["schemas"]["IngestItem"][];
        };
        IngestItem: {
            /** @description The text. */
            content: string;
            /** @description What it rests on: ids of nodes, or externalIds of documents, of the same memory. They must be there when the item's turn in the queue comes, and must not rest on it themselves; otherwise the item fails and its job says which. Sent again, it rests on what the last request names; an empty list is as none. */
            derivedFrom?: string[];
            /** @description The client's own id of the document: new content under a known id supersedes the old. */
            externalId?: string;
            /**
             * @default document
             * @enum {string}
             */
            kind?: "document" | "belief" | "preference" | "event";
            /** @description Anything the client wants to find or filter by; at most 64 KiB. */
            metadata?: {
                [key: string]: components["schemas"]["MetadataValue"];
            };
            /**
             * Format: date-time
             * @description When what the text tells happened; by default, when it was ingested.
             */
            occurredAt?: string;
            title?: string;
        };
        IngestJob: {
            /**
             * Format: int32
             * @description How often the work that is left of it was begun, not counting what a stop, a crash or a move of the service has interrupted. After 5 that failed the item at its head, or the job, is given up; an erasure never is.
             */
            attempts: number;
            /** Format: date-time */
            createdAt: string;
            /** @description Why it failed; null otherwise. */
            error: components["schemas"]["JobError"] | null;
            /** Format: date-time */
            finishedAt: string | null;
            /** Format: uuid */
            id: string;
            progress: components["schemas"]["JobProgress"];
            /** @description Null until it has finished, in lists, and for jobs that answer nothing. */
            result: components["schemas"]["JobResult"] | null;
            /** Format: date-time */
            startedAt: string | null;
            /** @enum {string} */
            status: "pending" | "running" | "done" | "failed" | "cancelled";
            /** @description The provisioned subject it works for; null for a person's own. */
            subject: string | null;
            /** @enum {string} */
            type: "ingest" | "ingest_batch" | "import" | "transcript" | "session_finalize" | "cognition" | "brain_train" | "export" | "subject_erase" | "connector_sync" | "quality";
        };
        Insight: {
            /** Format: double */
            confidence: number;
            /** Format: date-time */
            createdAt: string;
            detail: string;
            /** Format: uuid */
            id: string;
            /** @description responsibility, change, due, recurrence, commitment, open_question, rising_topic, fading_topic, outlier or agent_signal; there may be others later. */
            kind: string;
            /** @description The evidence. */
            nodeIds: string[];
            /** @description The evidence and what it was derived from, as far as it no longer stands: nearest first. Absent where all of it stands. */
            stale?: components["schemas"]["Stale"][];
            /** @description True where what it rests on is more than was followed (32 steps, 256 nodes, or 2,000 for all that one answer shows), or more than 64 of it no longer stand: then stale does not tell all. Absent otherwise. */
            staleIncomplete?: boolean;
            title: string;
        };
        InsightsView: {
            insights: components["schemas"]["Insight"][];
        };
        Job: {
            /**
             * Format: int32
             * @description How often the work that is left of it was begun, not counting what a stop, a crash or a move of the service has interrupted. After 5 that failed the item at its head, or the job, is given up; an erasure never is.
             */
            attempts: number;
            /** Format: date-time */
            createdAt: string;
            /** @description Why it failed; null otherwise. */
            error: components["schemas"]["JobError"] | null;
            /** Format: date-time */
            finishedAt: string | null;
            /** Format: uuid */
            id: string;
            progress: components["schemas"]["JobProgress"];
            /** @description Null until it has finished, in lists, and for jobs that answer nothing. */
            result: components["schemas"]["JobResult"] | null;
            /** Format: date-time */
            startedAt: string | null;
            /** @enum {string} */
            status: "queued" | "running" | "succeeded" | "failed" | "cancelled";
            /** @description The provisioned subject it works for; null for a person's own. */
            subject: string | null;
            /** @enum {string} */
            type: "ingest" | "ingest_batch" | "import" | "transcript" | "session_finalize" | "cognition" | "brain_train" | "export" | "subject_erase" | "connector_sync" | "quality";
        };
        JobError: {
            code: string;
            detail: string;
        };
        JobItem: {
            /** @description Why the item failed. */
            error?: string;
            externalId: string | null;
            /** Format: int32 */
            index: number;
            nodeId: string | null;
            /** @enum {string} */
            status: "created" | "unchanged" | "superseded" | "revived" | "failed";
        };
        JobProgress: {
            /** Format: int64 */
            done: number;
            /** Format: int64 */
            total: number;
        };
        JobResult: {
            /** @description Of an ingestion: what became of each item. */
            items: components["schemas"]["JobItem"][];
        };
        KeyList: {
            keys: components["schemas"]["ApiKey"][];
        };
        KindRecall: {
            /**
             * @description words: a sentence without its most telling words. paraphrase: some of its words in another order. title: the title and two words. former: words of what a superseded memory said; what took its place answers.
             * @enum {string}
             */
            kind: "words" | "paraphrase" | "title" | "former";
            recall: components["schemas"]["QualityRecall"];
        };
        LanguagePart: {
            /** @description An ISO 639-1 code, or und. */
            language: string;
            memories: components["schemas"]["QualityShare"];
        };
        Manifold: {
            /** Format: double */
            cumulative_variance: number;
            /** Format: date-time */
            discovered_at: string;
            /** Format: int32 */
            n_basins: number;
            /** Format: int32 */
            n_dimensions: number;
            /** Format: int32 */
            n_signals: number;
            /** Format: int32 */
            refresh_count: number;
            /** Format: double */
            silhouette_score: number;
            variance_ratios: number[];
            /** Format: int32 */
            version: number;
        };
        /** @description Any JSON value without the character U+0000. */
        MetadataValue: Json;
        Neighbour: {
            edge: components["schemas"]["Edge"];
            node: components["schemas"]["Node"];
        };
        NewConnector: {
            /** @description Its fields depend on the type. */
            config: Record<string, never>;
            /** @default true */
            enabled?: boolean;
            /**
             * Format: int32
             * @default 3600
             */
            intervalSeconds?: number;
            name: string;
            /** @enum {string} */
            type: "feed" | "web" | "git";
        } & ({
            config?: components["schemas"]["FeedConfig"];
            /** @constant */
            type?: "feed";
        } | {
            config?: components["schemas"]["GitConfig"];
            /** @constant */
            type?: "git";
        } | {
            config?: components["schemas"]["WebConfig"];
            /** @constant */
            type?: "web";
        });
        NewKey: {
            /** @description The key. It is shown this once; a replay carries a marker in its place. */
            apiKey: string;
            id: string;
            label: string;
        };
        NewSandboxKey: {
            /** @description The key. It is shown this once. */
            apiKey: string;
            /** Format: date-time */
            expiresAt: string;
            id: string;
            label: string;
            /** @description Always read and write. */
            scopes: string[];
            /** @description The name of the sandbox's one partition. */
            subject: string;
        };
        NewWebhook: {
            /** @description What to deliver; * alone stands for everything. */
            eventTypes: ("*" | "graph.updated" | "job.completed" | "insight.proposed" | "contradiction.detected" | "belief.superseded" | "basin.shifted" | "brain.trained" | "webhook.test")[] & (unknown | unknown);
            url: string;
        };
        Node: {
            /** Format: double */
            authority: number;
            /** Format: double */
            confidence: number;
            /** @description The text; absent once it was forgotten, and in lists. */
            content?: string;
            /** Format: date-time */
            createdAt: string;
            /**
             * Format: int32
             * @description The number of its edges.
             */
            degree: number;
            /** @description The nodes that it was derived from, as its edges of type derived_from say; absent where there are none. */
            derivedFrom?: string[];
            domainId: string | null;
            id: string;
            /** @enum {string} */
            kind: "document" | "entity" | "belief" | "preference" | "event" | "session";
            metadata: {
                [key: string]: unknown;
            };
            /**
             * Format: date-time
             * @description Until when a forgotten node can be restored.
             */
            restorableUntil: string | null;
            source: components["schemas"]["NodeSource"];
            /** @description What the node was derived from, as far as it no longer stands: nearest first. Absent where all of it stands. */
            stale?: components["schemas"]["Stale"][];
            /** @description True where what it rests on is more than was followed (32 steps, 256 nodes, or 2,000 for all that one answer shows), or more than 64 of it no longer stand: then stale does not tell all. Absent otherwise. */
            staleIncomplete?: boolean;
            /** @enum {string} */
            status: "live" | "superseded" | "tombstoned";
            /** @description The provisioned subject it belongs to; null for the key owner's own. */
            subject: string | null;
            supersededBy: string | null;
            /** @description Of a forgotten node empty; of one that was restored what it is, until it is given a title. */
            title: string;
            /** Format: date-time */
            tombstonedAt: string | null;
            /** Format: date-time */
            updatedAt: string;
            /** Format: date-time */
            validFrom: string | null;
            /**
             * Format: date-time
             * @description Null while it holds.
             */
            validTo: string | null;
        };
        NodeChunk: {
            /** @description As in the hits of a search. */
            chunkId: string;
            text: string;
            /** @description The headings above it, outermost first. */
            titlePath: string[];
        };
        NodeMatch: {
            /** Format: double */
            authority: number;
            /** Format: double */
            confidence: number;
            /** @description The text; absent once it was forgotten, and in lists. */
            content?: string;
            /** Format: date-time */
            createdAt: string;
            /**
             * Format: int32
             * @description The number of its edges.
             */
            degree: number;
            /** @description The nodes that it was derived from, as its edges of type derived_from say; absent where there are none. */
            derivedFrom?: string[];
            domainId: string | null;
            id: string;
            /** @enum {string} */
            kind: "document" | "entity" | "belief" | "preference" | "event" | "session";
            metadata: {
                [key: string]: unknown;
            };
            /** @description A passage that holds the rarest of the words. */
            passage: components["schemas"]["NodeChunk"];
            /**
             * Format: date-time
             * @description Until when a forgotten node can be restored.
             */
            restorableUntil: string | null;
            source: components["schemas"]["NodeSource"];
            /** @description What the node was derived from, as far as it no longer stands: nearest first. Absent where all of it stands. */
            stale?: components["schemas"]["Stale"][];
            /** @description True where what it rests on is more than was followed (32 steps, 256 nodes, or 2,000 for all that one answer shows), or more than 64 of it no longer stand: then stale does not tell all. Absent otherwise. */
            staleIncomplete?: boolean;
            /** @enum {string} */
            status: "live" | "superseded" | "tombstoned";
            /** @description The provisioned subject it belongs to; null for the key owner's own. */
            subject: string | null;
            supersededBy: string | null;
            /** @description Of a forgotten node empty; of one that was restored what it is, until it is given a title. */
            title: string;
            /** Format: date-time */
            tombstonedAt: string | null;
            /** Format: date-time */
            updatedAt: string;
            /** Format: date-time */
            validFrom: string | null;
            /**
             * Format: date-time
             * @description Null while it holds.
             */
            validTo: string | null;
        };
        NodePatch: {
            /** @description The text. A title that was made from the old one is made anew. */
            content?: string;
            /** @description A domain of the same memory; null for none. */
            domainId?: string | null;
            /** @enum {string} */
            kind?: "document" | "entity" | "belief" | "preference" | "event" | "session";
            /** @description Replaces all of it; at most 64 KiB. */
            metadata?: {
                [key: string]: components["schemas"]["MetadataValue"];
            };
            /** @description Why, for the history. */
            reason?: string;
            title?: string;
        } | unknown | unknown | unknown | unknown | unknown;
        NodeSource: {
            /** @description The first of externalIds. */
            externalId: string | null;
            /** @description Every id under which the client sent this content, earliest first. */
            externalIds: string[];
            /** Format: uuid */
            jobId: string | null;
            /** @description How it came in: ingest, import, session, supersede or cognition. */
            type: string;
        };
        OrganizationRef: {
            displayName: string;
            /** Format: uuid */
            id: string;
            /** @description What holds for the whole organization. */
            settings: components["schemas"]["OrganizationSettings"];
            slug: string;
        };
        OrganizationSettings: {
            /** @description How far the organization is embedded with the model of today. */
            embedding: components["schemas"]["EmbeddingState"];
        };
        PageOfAuditEntry: {
            data: components["schemas"]["AuditEntry"][];
            hasMore: boolean;
            /** @description The cursor of the next page; absent on the last. */
            nextCursor?: string;
        };
        PageOfConnector: {
            data: components["schemas"]["Connector"][];
            hasMore: boolean;
            /** @description The cursor of the next page; absent on the last. */
            nextCursor?: string;
        };
        PageOfContradiction: {
            data: components["schemas"]["Contradiction"][];
            hasMore: boolean;
            /** @description The cursor of the next page; absent on the last. */
            nextCursor?: string;
        };
        PageOfDated: {
            data: components["schemas"]["Dated"][];
            hasMore: boolean;
            /** @description The cursor of the next page; absent on the last. */
            nextCursor?: string;
        };
        PageOfDomain: {
            data: components["schemas"]["Domain"][];
            hasMore: boolean;
            /** @description The cursor of the next page; absent on the last. */
            nextCursor?: string;
        };
        PageOfEdge: {
            data: components["schemas"]["Edge"][];
            hasMore: boolean;
            /** @description The cursor of the next page; absent on the last. */
            nextCursor?: string;
        };
        PageOfExport: {
            data: components["schemas"]["Export"][];
            hasMore: boolean;
            /** @description The cursor of the next page; absent on the last. */
            nextCursor?: string;
        };
        PageOfHistoryEntry: {
            data: components["schemas"]["HistoryEntry"][];
            hasMore: boolean;
            /** @description The cursor of the next page; absent on the last. */
            nextCursor?: string;
        };
        PageOfImportEntry: {
            data: components["schemas"]["ImportEntry"][];
            hasMore: boolean;
            /** @description The cursor of the next page; absent on the last. */
            nextCursor?: string;
        };
        PageOfInsight: {
            data: components["schemas"]["Insight"][];
            hasMore: boolean;
            /** @description The cursor of the next page; absent on the last. */
            nextCursor?: string;
        };
        PageOfJob: {
            data: components["schemas"]["Job"][];
            hasMore: boolean;
            /** @description The cursor of the next page; absent on the last. */
            nextCursor?: string;
        };
        PageOfNode: {
            data: components["schemas"]["Node"][];
            hasMore: boolean;
            /** @description The cursor of the next page; absent on the last. */
            nextCursor?: string;
        };
        PageOfNodeMatch: {
            data: components["schemas"]["NodeMatch"][];
            hasMore: boolean;
            /** @description The cursor of the next page; absent on the last. */
            nextCursor?: string;
        };
        PageOfProposal: {
            data: components["schemas"]["Proposal"][];
            hasMore: boolean;
            /** @description The cursor of the next page; absent on the last. */
            nextCursor?: string;
        };
        PageOfQualityReport: {
            data: components["schemas"]["QualityReport"][];
            hasMore: boolean;
            /** @description The cursor of the next page; absent on the last. */
            nextCursor?: string;
        };
        PageOfSandboxKey: {
            data: components["schemas"]["SandboxKey"][];
            hasMore: boolean;
            /** @description The cursor of the next page; absent on the last. */
            nextCursor?: string;
        };
        PageOfSession: {
            data: components["schemas"]["Session"][];
            hasMore: boolean;
            /** @description The cursor of the next page; absent on the last. */
            nextCursor?: string;
        };
        PageOfSubject: {
            data: components["schemas"]["Subject"][];
            hasMore: boolean;
            /** @description The cursor of the next page; absent on the last. */
            nextCursor?: string;
        };
        PageOfTeamKey: {
            data: components["schemas"]["TeamKey"][];
            hasMore: boolean;
            /** @description The cursor of the next page; absent on the last. */
            nextCursor?: string;
        };
        PageOfTeamMember: {
            data: components["schemas"]["TeamMember"][];
            hasMore: boolean;
            /** @description The cursor of the next page; absent on the last. */
            nextCursor?: string;
        };
        PageOfWebhook: {
            data: components["schemas"]["Webhook"][];
            hasMore: boolean;
            /** @description The cursor of the next page; absent on the last. */
            nextCursor?: string;
        };
        Passage: {
            nodeId: string;
            text: string;
        };
        PatchConnector: {
            config?: components["schemas"]["FeedConfig"] | components["schemas"]["GitConfig"] | components["schemas"]["WebConfig"];
            enabled?: boolean;
            /** Format: int32 */
            intervalSeconds?: number;
            name?: string;
        };
        PatchWebhook: {
            disabled?: boolean;
            eventTypes?: ("*" | "graph.updated" | "job.completed" | "insight.proposed" | "contradiction.detected" | "belief.superseded" | "basin.shifted" | "brain.trained" | "webhook.test")[] & (unknown | unknown);
            url?: string;
        };
        PlotAxis: {
            /**
             * Format: double
             * @description Of the variance, as in manifold.variance_ratios.
             */
            share: number;
        };
        PlotBasin: {
            /** @description The person is in it: by the latest passages. */
            current: boolean;
            id: string;
            label: string;
            /**
             * Format: double
             * @description Of the passages.
             */
            share: number;
            /** @description The ellipse around its middle that is two standard deviations of its passages long and wide: of a round cloud 86 of 100 lie in it. */
            spread: components["schemas"]["PlotEllipse"];
            /**
             * Format: double
             * @description Of the middle of its passages.
             */
            x: number;
            /** Format: double */
            y: number;
        };
        PlotEllipse: {
            /**
             * Format: double
             * @description How far the longer half axis is turned from the first axis towards the second, in radians.
             */
            angle: number;
            /**
             * Format: double
             * @description The longer half axis.
             */
            major: number;
            /**
             * Format: double
             * @description The shorter half axis.
             */
            minor: number;
        };
        PlotSignal: {
            /**
             * Format: date-time
             * @description When what the text tells happened, else when it was written down.
             */
            at: string;
            /** @description The id of its basin. */
            basin: string;
            /** @description The text that the passage is of; several passages may be of one. */
            nodeId: string;
            /** @description Of the node. */
            title: string;
            /** Format: double */
            x: number;
            /** Format: double */
            y: number;
        };
        Portrayal: {
            /** @description manner (how they write), themes (what about, mostly and lately), preference and belief (what they say, quoted), people (whom and what they mention), rhythm (when they write); there may be others later. */
            kind: string;
            /** @description The evidence, at most 20: of texts the latest. */
            nodes: string[];
            text: string;
        };
        Principal: {
            org: components["schemas"]["OrganizationRef"];
            /** @description The organization's rate-limit plan. */
            plan: string;
            /** @description The scopes the key holds. */
            scopes: string[];
            /**
             * Format: uuid
             * @description The user's id: whose memory is meant when no subject is selected. It is not a selector.
             */
            subjectDefault: string;
            /** @description The user who minted the key. */
            user: components["schemas"]["UserRef"];
        };
        Problem: {
            /** @description What went wrong, for a program: stable. */
            code: string;
            /** @description What went wrong, for a person. */
            detail: string;
            /** Format: uri-reference */
            documentationUrl?: string;
            /** @description On validation_failed: each field that is wrong. */
            errors?: components["schemas"]["FieldError"][];
            /** @description The value of the X-Request-Id header. */
            requestId: string;
            /**
             * Format: int64
             * @description The HTTP status.
             */
            status: number;
            suggestedAction?: string;
            title: string;
            /**
             * Format: uri-reference
             * @description Address of the page that explains the code.
             */
            type: string;
        };
        Proposal: {
            /** Format: date-time */
            createdAt: string;
            /** Format: date-time */
            decidedAt: string | null;
            /** @description The edge that accepting it wrote. */
            edgeId: string | null;
            /** Format: uuid */
            id: string;
            rationale: string;
            /** Format: double */
            score: number;
            source: string;
            /** @enum {string} */
            status: "open" | "accepted" | "rejected";
            target: string;
            type: string;
        };
        PurgeReport: {
            /** @description Only from a dry run. */
            confirmToken?: string;
            /** @description Records per store: vault_nodes, memory_chunks, graph_edges and others. What cycles derive (domains, contradictions, edges of origin cognition …) goes too and is not counted, since it changes by itself. */
            counts: {
                [key: string]: number;
            };
            dryRun: boolean;
            /**
             * Format: date-time
             * @description When the token expires.
             */
            expiresAt?: string;
            /**
             * Format: date-time
             * @description Null on a dry run.
             */
            purgedAt: string | null;
            requestId: string;
            /** @enum {string} */
            scope: "subject" | "org";
            subjectId?: string;
            /** Format: int64 */
            totalRows: number;
        };
        PurgeRequest: {
            /** @description From the dry run, where dryRun is false. */
            confirmToken?: string;
            /** @default true */
            dryRun?: boolean;
            /** @enum {string} */
            scope: "subject" | "org";
            /** @description The provisioned subject, with scope subject. */
            subjectId?: string;
        } & ({
            confirmToken?: unknown;
            /** @constant */
            dryRun?: true;
            /** @constant */
            scope: "subject";
            subjectId: unknown;
        } | {
            confirmToken: unknown;
            /** @constant */
            dryRun: false;
            /** @constant */
            scope: "subject";
            subjectId: unknown;
        } | {
            confirmToken?: unknown;
            /** @constant */
            dryRun?: true;
            /** @constant */
            scope: "org";
            subjectId?: unknown;
        } | {
            confirmToken: unknown;
            /** @constant */
            dryRun: false;
            /** @constant */
            scope: "org";
            subjectId?: unknown;
        });
        QualityRecall: {
            at1: components["schemas"]["QualityShare"];
            at10: components["schemas"]["QualityShare"];
            at5: components["schemas"]["QualityShare"];
            /** Format: int64 */
            questions: number;
        };
        QualityReport: {
            /**
             * Format: date-time
             * @description When it was finished.
             */
            at: string;
            /**
             * Format: int64
             * @description Of the brain that ranked; null: none did.
             */
            brainVersion: number | null;
            /** @description The same by how the questions were made; kinds of which there are none are left out. */
            byKind: components["schemas"]["KindRecall"][];
            /** @description Of memories, those that are in an open contradiction. */
            contradicted: components["schemas"]["QualityShare"];
            /** @description Of the rankings of questions, those that put what no longer holds before what does. */
            formerFirst: components["schemas"]["QualityShare"];
            /**
             * Format: uuid
             * @description The job that made it.
             */
            jobId: string;
            /** @description Of the sampled, the most frequent first. */
            languages: components["schemas"]["LanguagePart"][];
            /**
             * Format: int64
             * @description Live nodes with text that were looked at.
             */
            memories: number;
            /** @description The embedding model that served. */
            model: string;
            /** @description Of the sampled, those of which another live memory says nearly the same in nearly the same words. */
            nearDuplicates: components["schemas"]["QualityShare"];
            /** @description There are more of them than are looked at (100,000). */
            partial: boolean;
            /** @description Of questions made of the memory's own content, without the former ones: the share that what they are made of, or a near duplicate, answers among the first 1, 5 and 10 hits. */
            recall: components["schemas"]["QualityRecall"];
            /**
             * Format: int64
             * @description How many of them were read and asked about.
             */
            sampled: number;
            /** @enum {string} */
            scope: "user" | "org";
            /** @description Of memories, those that state what has ended, or rest on what no longer stands. */
            stale: components["schemas"]["QualityShare"];
            /** @description Of the memories that gave a question, those that none of their own questions found among the first 10 hits. */
            unfound: components["schemas"]["QualityShare"];
        };
        QualityShare: {
            /** Format: int64 */
            count: number;
            /** Format: double */
            high: number;
            /**
             * Format: double
             * @description The 95 % score interval of the share (Wilson), as if those counted were drawn at random.
             */
            low: number;
            /** Format: int64 */
            of: number;
            /**
             * Format: double
             * @description 0 of nothing.
             */
            share: number;
        };
        RecalledNode: {
            /** Format: double */
            authority: number;
            chunks: components["schemas"]["NodeChunk"][];
            /** Format: double */
            confidence: number;
            /** @description The text; absent once it was forgotten, and in lists. */
            content?: string;
            /** Format: date-time */
            createdAt: string;
            /**
             * Format: int32
             * @description The number of its edges.
             */
            degree: number;
            /** @description The nodes that it was derived from, as its edges of type derived_from say; absent where there are none. */
            derivedFrom?: string[];
            domainId: string | null;
            id: string;
            /** @enum {string} */
            kind: "document" | "entity" | "belief" | "preference" | "event" | "session";
            metadata: {
                [key: string]: unknown;
            };
            neighbours: components["schemas"]["Neighbour"][];
            /**
             * Format: date-time
             * @description Until when a forgotten node can be restored.
             */
            restorableUntil: string | null;
            source: components["schemas"]["NodeSource"];
            /** @description What the node was derived from, as far as it no longer stands: nearest first. Absent where all of it stands. */
            stale?: components["schemas"]["Stale"][];
            /** @description True where what it rests on is more than was followed (32 steps, 256 nodes, or 2,000 for all that one answer shows), or more than 64 of it no longer stand: then stale does not tell all. Absent otherwise. */
            staleIncomplete?: boolean;
            /** @enum {string} */
            status: "live" | "superseded" | "tombstoned";
            /** @description The provisioned subject it belongs to; null for the key owner's own. */
            subject: string | null;
            supersededBy: string | null;
            /** @description Of a forgotten node empty; of one that was restored what it is, until it is given a title. */
            title: string;
            /** Format: date-time */
            tombstonedAt: string | null;
            /** Format: date-time */
            updatedAt: string;
            /** Format: date-time */
            validFrom: string | null;
            /**
             * Format: date-time
             * @description Null while it holds.
             */
            validTo: string | null;
        };
        Recurrence: {
            every: components["schemas"]["Every"];
            /** Format: uuid */
            id: string;
            nodeId: string;
            /**
             * Format: date-time
             * @description Null where the sentence does not say.
             */
            since: string | null;
            /** @description The words that say how often. */
            text: string;
            /** @description The sentence that says so. */
            title: string;
            /**
             * Format: date-time
             * @description Exclusive; null where the sentence does not say.
             */
            until: string | null;
        };
        Retrieve: {
            /**
             * Format: int32
             * @default 2
             */
            maxHops?: number;
            query: string;
            /**
             * @default user
             * @enum {string}
             */
            scope?: "user" | "org";
            /**
             * Format: int32
             * @default 10
             */
            topK?: number;
        };
        Retrieved: {
            contradictions: components["schemas"]["Contradiction"][];
            /** @description One for each result, in their order. */
            paths: components["schemas"]["HopPath"][];
            results: components["schemas"]["Hit"][];
            usage: components["schemas"]["Usage"];
        };
        SandboxKey: {
            /** Format: date-time */
            createdAt: string;
            /** Format: date-time */
            expiresAt: string;
            /** @description The SHA-256 of the key, in hexadecimal; it cannot authenticate. */
            id: string;
            label: string;
            /**
             * Format: date-time
             * @description To the minute; null if the key was never used.
             */
            lastUsedAt: string | null;
            /**
             * Format: date-time
             * @description Null while the key is active.
             */
            revokedAt: string | null;
            /** @description What the key may do; of the sandbox always read and write. */
            scopes: string[];
            /** @enum {string} */
            status: "active" | "revoked";
        };
        SandboxReset: {
            /** Format: date-time */
            resetAt: string;
            subject: string;
        };
        Scaffold: {
            /**
             * Format: int32
             * @description Of the whole answer's prompt.
             * @default 1500
             */
            maxTokens?: number;
            prompt: string;
        };
        ScaffoldedPrompt: {
            /** @description What shaped it, best first. */
            focalNodes: components["schemas"]["FocalNode"][];
            prompt: string;
            usage: components["schemas"]["Usage"];
        };
        ScoreParts: {
            /**
             * Format: double
             * @description What it loses for being short; not above 0.
             */
            brevity: number;
            /**
             * Format: double
             * @description Likeness of meaning.
             */
            meaning: number;
            /**
             * Format: double
             * @description What the messages around it add.
             */
            neighbours: number;
            /**
             * Format: double
             * @description Words of the question that stand side by side.
             */
            phrases: number;
            /**
             * Format: double
             * @description What a reader made of it beside the question; 0 where none read it, and never less.
             */
            reading: number;
            /**
             * Format: double
             * @description That it is of the time that the question asks about.
             */
            time: number;
            /**
             * Format: double
             * @description The weight of the words in common, as the score counts it.
             */
            words: number;
        };
        Search: {
            /** @description Each hit tells its places by meaning, by words and by both, the parts of its score, and what the brain changed. */
            explain?: boolean;
            /** @description All conditions must hold. */
            filters?: components["schemas"]["SearchFilters"];
            /** @description Find what has been superseded as well. */
            includeSuperseded?: boolean;
            /**
             * @default hybrid
             * @enum {string}
             */
            mode?: "hybrid" | "vector" | "keyword";
            query: string;
            /**
             * @default user
             * @enum {string}
             */
            scope?: "user" | "org";
            /**
             * Format: int32
             * @default 10
             */
            topK?: number;
        };
        SearchExplanation: {
            /** @description Absent where none ranked. */
            brain?: components["schemas"]["GateExplanation"];
            /**
             * Format: int32
             * @description That these are of.
             */
            nodes: number;
            /**
             * Format: int32
             * @description That were compared by all parts of the score.
             */
            passages: number;
        };
        SearchFilters: {
            /**
             * Format: date-time
             * @description What held at this time, whatever has superseded it since: by when a text's matter happened, else when it was ingested.
             */
            asOf?: string;
            /** Format: date-time */
            createdAfter?: string;
            /** Format: date-time */
            createdBefore?: string;
            domainId?: string;
            /** @enum {string} */
            kind?: "document" | "entity" | "belief" | "preference" | "event" | "session";
            /** @description Up to 16 names of metadata fields, each with the text, number or boolean that it must equal. */
            metadata?: {
                [key: string]: string | number | boolean;
            };
        };
        SearchResult: {
            /** @description Where explain was asked for. */
            explanation?: components["schemas"]["SearchExplanation"];
            results: components["schemas"]["Hit"][];
            usage: components["schemas"]["Usage"];
        };
        SentDelivery: {
            /** @description The body as it was sent, byte for byte; null where it cannot be told. */
            body: string | null;
            delivery: components["schemas"]["DeliveryAttempt"];
            /** @description X-Svc-Signature as it was sent. */
            signature: string | null;
            /** @description Why there is no body: gone or withheld; null where there is one. */
            unavailable: string | null;
        };
        Session: {
            /** Format: date-time */
            createdAt: string;
            cwd: string | null;
            /** Format: int64 */
            eventCount: number;
            /** Format: date-time */
            firstEventAt: string | null;
            id: string;
            /** Format: date-time */
            lastEventAt: string | null;
            model: string | null;
            /** Format: int64 */
            signalCount: number;
            /** Format: date-time */
            updatedAt: string;
        };
        SessionBatch: {
            /** @description Each an event as session-event takes it. */
            events: components["schemas"]["SessionEvent"][];
        };
        SessionEvent: {
            /**
             * Format: date-time
             * @description When it was said; by default, when it was stored.
             */
            at?: string;
            cwd?: string;
            /** @description The client's own id of the event, by which it is deduped. */
            eventId?: string;
            /** @description Anything the client wants to find or filter by; at most 64 KiB. */
            metadata?: {
                [key: string]: components["schemas"]["MetadataValue"];
            };
            model?: string;
            /** @enum {string} */
            role: "user" | "assistant" | "tool" | "system";
            /** @description 1 to 256 bytes without control characters. */
            sessionId: string;
            text: string;
            tool?: string;
        };
        SessionResult: {
            /** @description Why it was rejected. */
            error?: string;
            /** Format: int64 */
            index: number;
            /** @description The node that the event becomes; it can be found once it is ingested. */
            nodeId: string | null;
            /** @enum {string} */
            status: "stored" | "deduped" | "rejected";
        };
        SessionResults: {
            results: components["schemas"]["SessionResult"][];
        };
        SessionState: {
            /** @description Of session-finalize: an earlier one was still under way. */
            alreadyInFlight?: boolean;
            /** @description What is derived from sessions is being built. */
            building: boolean;
            finalizePending: boolean;
            /**
             * Format: int64
             * @description Events that are stored and not yet ingested.
             */
            ingestPending: number;
            /** Format: date-time */
            lastIngestedAt: string | null;
            /**
             * Format: int64
             * @description The edges of those nodes, as the last cognition cycle counted them.
             */
            sessionEdgeCount: number;
            /** Format: int64 */
            sessionNodeCount: number;
            /**
             * Format: int64
             * @description All nodes of the subject.
             */
            totalNodeCount: number;
            /** @description The recall views that hold something. Depends on the data: do not wait for it. */
            warmLayers: string[];
        };
        Settings: {
            learnModeDefault: boolean;
            /** @enum {string} */
            qualityMode: "fast" | "balanced" | "thorough";
        };
        SettingsPatch: {
            learnModeDefault?: boolean;
            /** @enum {string} */
            qualityMode?: "fast" | "balanced" | "thorough";
        };
        Sighting: {
            /**
             * Format: int32
             * @description How many texts there name it.
             */
            mentions: number;
            nodeId: string;
            /** @description Whose memory it is, where that is a provisioned subject's. */
            subject: (string | null) | null;
            /** @description Whose memory it is, where that is a member's. */
            userId: (string | null) | null;
        };
        SignalsAccepted: {
            /**
             * Format: int32
             * @description How many signals were stored.
             */
            accepted: number;
        };
        Stale: {
            /** @description The id of the node. */
            because: string;
            /**
             * @description superseded: another node took its place. forgotten: it was. ended: nothing states it any more. contradicted: an open contradiction is about it.
             * @enum {string}
             */
            reason: "superseded" | "forgotten" | "ended" | "contradicted";
            /**
             * Format: date-time
             * @description Null where that is no longer known.
             */
            since: string | null;
        };
        Subject: {
            /** Format: date-time */
            createdAt: string;
            /** @description The client's own id. */
            id: string;
        };
        /** @description The id of a provisioned subject, percent-encoded UTF-8. */
        SubjectSelector: string;
        Supersede: {
            /** @description What holds now. */
            content: string;
            /** @description Why, for the history. */
            reason: string;
        };
        Superseded: {
            created: boolean;
            edgeId: string;
            /** Format: double */
            newAuthority: number;
            newNodeId: string;
            oldNodeId: string;
        };
        Team: {
            /** Format: date-time */
            createdAt: string;
            /** Format: uuid */
            id: string;
            /**
             * Format: int64
             * @description The organization's people.
             */
            memberCount: number;
            name: string;
            slug: string;
        };
        TeamKey: {
            /** Format: date-time */
            createdAt: string;
            /** @description The SHA-256 of the key, in hexadecimal; it cannot authenticate. */
            id: string;
            label: string;
            /**
             * Format: date-time
             * @description To the minute; null if the key was never used.
             */
            lastUsedAt: string | null;
            /**
             * Format: date-time
             * @description Null while the key is active.
             */
            revokedAt: string | null;
            /** @description What the key may do; of the sandbox always read and write. */
            scopes: string[];
            /** @enum {string} */
            status: "active" | "revoked";
            /** Format: uuid */
            userId: string;
        };
        TeamMember: {
            /** Format: date-time */
            createdAt: string;
            email: string;
            /**
             * Format: uuid
             * @description The user id.
             */
            id: string;
            /** @enum {string} */
            role: "owner" | "admin" | "member";
        };
        TemporalView: {
            /** @description How regularly something is written; absent while that is too little. */
            cadence?: components["schemas"]["Cadence"];
            /** @description Latest first. */
            events: components["schemas"]["Dated"][];
            /** @description What comes again and again, the latest told first, at most 200. Such a time is no event. */
            recurrences: components["schemas"]["Recurrence"][];
            trends: components["schemas"]["Trend"][];
        };
        TrainAccepted: {
            /** Format: uuid */
            jobId: string;
            /** @enum {string} */
            status: "queued";
        };
        Training: {
            /** Format: date-time */
            finishedAt: string | null;
            jobId: string | null;
            metrics: {
                [key: string]: number;
            };
            /** Format: double */
            progress: number;
            /** @description Why it was rejected or failed. */
            reason: string | null;
            /** Format: date-time */
            startedAt: string | null;
            /**
             * @description rejected: by the parity gate. failed: nothing was trained, because there was too little to learn from, or the work failed, or it was cancelled. Either way the brain before it goes on serving.
             * @enum {string}
             */
            status: "none" | "queued" | "running" | "succeeded" | "rejected" | "failed";
        };
        Trait: {
            /** Format: double */
            confidence: number;
            name: string;
            /** @description The latest of the texts that were measured. */
            nodeIds: string[];
            /** Format: double */
            value: number;
        };
        Trend: {
            /**
             * Format: double
             * @description Relative, of the later half of the time to the earlier.
             */
            change: number;
            /** @enum {string} */
            direction: "rising" | "falling" | "steady";
            /** Format: date-time */
            from: string;
            /** @description The evidence. */
            nodeIds: string[];
            topic: string;
            /** Format: date-time */
            until: string;
        };
        Usage: {
            /**
             * Format: int64
             * @description The brain that ranked the results; absent where none did.
             */
            brainVersion?: number;
            /** Format: int64 */
            embedTokens: number;
            /** Format: int64 */
            readUnits: number;
        };
        UsageBucket: {
            /** Format: date-time */
            endTime: string;
            groups: components["schemas"]["UsageGroup"][];
            /** Format: date-time */
            startTime: string;
        };
        UsageGroup: {
            /** @description What was used, when grouped by capability: search, retrieve, graph, recall, condition, brain or ingest. */
            capability: string | null;
            /** @description The id of the API key, when grouped by key. */
            key?: string;
            /** @description The provisioned subject's id; the user id for a person's own memory; the id that nodes carry for a subject that was erased. */
            subject: string;
            units: components["schemas"]["UsageUnits"];
        };
        UsageReport: {
            /** @description The earliest first. */
            buckets: components["schemas"]["UsageBucket"][];
        };
        UsageUnits: {
            /** Format: int64 */
            embedTokens: number;
            /** Format: int64 */
            readUnits: number;
        };
        UserIdentity: {
            basins: components["schemas"]["Basin"][];
            manifold: components["schemas"]["Manifold"] | null;
            /** @description Who the person is, in plain words: at most 12 sentences, in the order in which one would say them. Each rests on more than one text, and goes at once with any of its nodes that is forgotten or superseded; empty while too little is known. Of a memory that several people write only a line of themes is told. */
            portrait: components["schemas"]["Portrayal"][];
            traits: components["schemas"]["Trait"][];
            /** Format: uuid */
            userId: string;
            voiceProfile: components["schemas"]["VoiceProfile"] | null;
        };
        UserRef: {
            /** Format: uuid */
            id: string;
        };
        VoiceProfile: {
            /** Format: double */
            avgMessageLengthWords: number;
            /**
             * Format: int64
             * @description How many messages were measured.
             */
            evidenceCount: number;
            /** Format: double */
            formalityLevel: number;
            /** @description All other measures, by group and name. How often something comes is the binary logarithm of its ratio to what is common in chats, commit messages and minutes in English: 0 as everybody, 1 twice as often, -1 half as often, with one occurrence at the common rate taken as seen before. Means are rhythm.typicalWords (of a message), rhythm.sentenceWords and spelling.wordLetters; rhythm.lengthSpread is the standard deviation of the logarithm of a message's length. userVoiceHint of POST /v1/condition/session says in words what stands out. */
            style: {
                [key: string]: {
                    [key: string]: number;
                };
            };
            /** Format: double */
            technicalDepth: number;
        };
        WebConfig: {
            authorization?: string;
            pages?: string[];
            sitemap?: string;
        } & (unknown | unknown);
        Webhook: {
            /** @description The last 50 delivery attempts, newest first; where one endpoint is asked for. */
            attempts?: components["schemas"]["DeliveryAttempt"][];
            /** Format: int32 */
            consecutiveFailures: number;
            /** Format: date-time */
            createdAt: string;
            disabled: boolean;
            disabledReason: string | null;
            eventTypes: string[];
            /** Format: uuid */
            id: string;
            /** @description Those of its types that nothing publishes on this deployment. */
            inactiveEventTypes: string[];
            /** Format: date-time */
            lastDeliveryAt: string | null;
            /** Format: date-time */
            lastSuccessAt: string | null;
            /** @description The signing secret, in the answer that made the endpoint; a replay has a marker in its place. */
            secret?: string;
            /** Format: date-time */
            updatedAt: string | null;
            /** Format: uri */
            url: string;
        };
        WebhookTest: {
            /** Format: int32 */
            durationMs: number;
            error: string | null;
            ok: boolean;
            /**
             * Format: int32
             * @description What the receiver answered with; null when it did not.
             */
            status: number | null;
        };
        WrittenAnswer: {
            answer: string;
            /** @description The passages that the answer was taken from, in its order; empty when memory holds nothing about the question. */
            citations: components["schemas"]["Citation"][];
            /** Format: double */
            gateConfidence: number;
            /** @description The cited nodes and what they were derived from, as far as it no longer stands: nearest first. Absent where all of it stands. */
            stale?: components["schemas"]["Stale"][];
            /** @description True where what it rests on is more than was followed (32 steps, 256 nodes, or 2,000 for all that one answer shows), or more than 64 of it no longer stand: then stale does not tell all. Absent otherwise. */
            staleIncomplete?: boolean;
            usage: components["schemas"]["Usage"];
            /** @description The voice that the answer is written in; null: the passages' own. */
            voice: string | null;
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: {
        /** @description bytes: a Range of one part is served. */
        "Accept-Ranges": string;
        /** @description no-store: every answer is about somebody's memory. */
        "Cache-Control": string;
        /** @description attachment, with a name for the file. */
        "Content-Disposition": string;
        /** @description bytes <first>-<last>/<length>; bytes *\/<length> where there is nothing to send. */
        "Content-Range": string;
        /** @description The version of what is answered. */
        ETag: string;
        /** @description true on the replay of an earlier outcome. */
        "Idempotent-Replayed": string;
        /** @description default;r=<tokens left>;t=<seconds until full>. On every answer that got past the credential check. */
        RateLimit: string;
        /** @description default;q=<tokens per minute>;w=60;pk=<opaque digest>. */
        "RateLimit-Policy": string;
        /** @description Seconds to wait. */
        "Retry-After": number;
        /** @description Bearer. */
        "WWW-Authenticate": string;
        /** @description Ours, or the caller's own when it is 1 to 128 visible ASCII characters. */
        "X-Request-Id": string;
    };
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    listAudit: {
        parameters: {
            query?: {
                /** @description What was done, such as node.forget. */
                action?: string;
                /** @description The id of an API key, the id of a user, operator (what was done through the operator interface), or service (what the service did by itself). */
                actor?: string;
                /** @description Done at this time or later. */
                createdAfter?: string;
                /** @description Done before this time. */
                createdBefore?: string;
                /** @description The nextCursor of the previous page; opaque. Omit it for the first page. */
                cursor?: string;
                /** @description How many entries to answer at most. Values above 100 are read as 100. */
                pageSize?: number;
                /** @description The id of what it was done to. A provisioned subject's id finds what was done to the subject as a whole. */
                target?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PageOfAuditEntry"];
                };
            };
        };
    };
    answerFromBrain: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["BrainAnswer"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WrittenAnswer"];
                };
            };
        };
    };
    brainInfo: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BrainInfo"];
                };
            };
        };
    };
    queryBrain: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["BrainQuery"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BrainFound"];
                };
            };
        };
    };
    trainBrain: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Accepted */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TrainAccepted"];
                };
            };
        };
    };
    brainTraining: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BrainTraining"];
                };
            };
        };
    };
    conditionScaffold: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Scaffold"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ScaffoldedPrompt"];
                };
            };
        };
    };
    conditionSession: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ConditionSession"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ConditioningPack"];
                };
            };
        };
    };
    listConnectors: {
        parameters: {
            query?: {
                /** @description The nextCursor of the previous page; opaque. Omit it for the first page. */
                cursor?: string;
                /** @description How many entries to answer at most. Values above 100 are read as 100. */
                pageSize?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PageOfConnector"];
                };
            };
        };
    };
    createConnector: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewConnector"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Connector"];
                };
            };
        };
    };
    getConnector: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Connector"];
                };
            };
        };
    };
    deleteConnector: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description No Content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    patchConnector: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PatchConnector"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Connector"];
                };
            };
        };
    };
    syncConnector: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Accepted */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Accepted"];
                };
            };
        };
    };
    listContradictions: {
        parameters: {
            query?: {
                /** @description The nextCursor of the previous page; opaque. Omit it for the first page. */
                cursor?: string;
                /** @description How many entries to answer at most. Values above 100 are read as 100. */
                pageSize?: number;
                /** @description resolved answers an empty page. */
                status?: "open" | "resolved";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PageOfContradiction"];
                };
            };
        };
    };
    streamEvents: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
                };
            };
        };
    };
    listExports: {
        parameters: {
            query?: {
                /** @description The nextCursor of the previous page; opaque. Omit it for the first page. */
                cursor?: string;
                /** @description How many entries to answer at most. Values above 100 are read as 100. */
                pageSize?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PageOfExport"];
                };
            };
        };
    };
    createExport: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["CreateExportRequest"];
            };
        };
        responses: {
            /** @description Accepted */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Export"];
                };
            };
        };
    };
    getExport: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                export_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Export"];
                };
            };
        };
    };
    downloadExport: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                export_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": Record<string, never>;
                };
            };
            /** @description Partial Content */
            206: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": Record<string, never>;
                };
            };
        };
    };
    listDomains: {
        parameters: {
            query?: {
                /** @description The nextCursor of the previous page; opaque. Omit it for the first page. */
                cursor?: string;
                /** @description How many entries to answer at most. Values above 100 are read as 100. */
                pageSize?: number;
                /** @description Text that the label or a keyword must hold; case does not matter. */
                q?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PageOfDomain"];
                };
            };
        };
    };
    getDomain: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Domain"];
                };
            };
        };
    };
    listEdges: {
        parameters: {
            query?: {
                /** @description The nextCursor of the previous page; opaque. Omit it for the first page. */
                cursor?: string;
                /** @description The id of a node at either end. */
                node?: string;
                origin?: "ingest" | "asserted" | "proposal" | "supersede" | "cognition";
                /** @description How many entries to answer at most. Values above 100 are read as 100. */
                pageSize?: number;
                /** @description The id of the node that the edge leads from. */
                source?: string;
                /** @description The id of the node that the edge leads to. */
                target?: string;
                type?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PageOfEdge"];
                };
            };
        };
    };
    assertEdge: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AssertEdge"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Edge"];
                };
            };
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Edge"];
                };
            };
        };
    };
    getEdge: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                edge_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Edge"];
                };
            };
        };
    };
    forgetEdge: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                edge_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Edge"];
                };
            };
        };
    };
    listNodes: {
        parameters: {
            query?: {
                /** @description What held at this time, whatever has superseded it since. */
                asOf?: string;
                /** @description Recorded at this time or later. */
                createdAfter?: string;
                /** @description Recorded before this time. */
                createdBefore?: string;
                /** @description The nextCursor of the previous page; opaque. Omit it for the first page. */
                cursor?: string;
                domainId?: string;
                /** @description The node that this id means now. */
                externalId?: string;
                /** @description These nodes, at most 50, with a comma between their ids: on one page whatever pageSize says, in this order, without those that are not there or that another filter leaves out. Not with q, externalId or cursor. */
                ids?: string;
                kind?: "document" | "entity" | "belief" | "preference" | "event" | "session";
                /** @description How many entries to answer at most. Values above 100 are read as 100. */
                pageSize?: number;
                /** @description Words that title or content must hold, all of them. */
                q?: string;
                /** @description By default live and superseded nodes. */
                status?: "live" | "superseded" | "tombstoned";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PageOfNode"];
                };
            };
        };
    };
    getNode: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                node_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Node"];
                };
            };
        };
    };
    forgetNode: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                node_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Node"];
                };
            };
        };
    };
    editNode: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                node_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NodePatch"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Node"];
                };
            };
        };
    };
    entityElsewhere: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                node_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Elsewhere"];
                };
            };
        };
    };
    getNodeHistory: {
        parameters: {
            query?: {
                /** @description The nextCursor of the previous page; opaque. Omit it for the first page. */
                cursor?: string;
                /** @description How many entries to answer at most. Values above 100 are read as 100. */
                pageSize?: number;
            };
            header?: never;
            path: {
                node_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PageOfHistoryEntry"];
                };
            };
        };
    };
    supersedeNode: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                node_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Supersede"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Superseded"];
                };
            };
        };
    };
    undeleteNode: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                node_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Node"];
                };
            };
        };
    };
    plotIdentity: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IdentityPlot"];
                };
            };
        };
    };
    getIdentity: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                user_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UserIdentity"];
                };
            };
        };
    };
    listImports: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PageOfImportEntry"];
                };
            };
        };
    };
    importFile: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "multipart/form-data": {
                    /**
                     * Format: binary
                     * @description The file.
                     */
                    file: string;
                    /** @description A JSON object, for every document of the file that has none of its own; a part that holds its text. */
                    metadata?: {
                        [key: string]: components["schemas"]["MetadataValue"];
                    };
                    /**
                     * Format: date-time
                     * @description When what the file tells happened.
                     */
                    occurredAt?: string;
                    title?: string;
                };
            };
        };
        responses: {
            /** @description Accepted */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Accepted"];
                };
            };
        };
    };
    importTranscript: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "multipart/form-data": {
                    /**
                     * Format: binary
                     * @description The file.
                     */
                    file?: string;
                    /** @description A JSON object, for every document of the file that has none of its own; a part that holds its text. */
                    metadata?: {
                        [key: string]: components["schemas"]["MetadataValue"];
                    };
                    /**
                     * Format: date-time
                     * @description When what the file tells happened.
                     */
                    occurredAt?: string;
                    title?: string;
                    /**
                     * Format: binary
                     * @description The file.
                     */
                    transcript?: string;
                } & (unknown | unknown);
            };
        };
        responses: {
            /** @description Accepted */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Accepted"];
                };
            };
        };
    };
    ingest: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["IngestItem"];
            };
        };
        responses: {
            /** @description Accepted */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Accepted"];
                };
            };
        };
    };
    ingestAgentSignals: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AgentSignals"];
            };
        };
        responses: {
            /** @description Accepted */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SignalsAccepted"];
                };
            };
        };
    };
    ingestBatch: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["IngestBatch"];
            };
        };
        responses: {
            /** @description Accepted */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Accepted"];
                };
            };
        };
    };
    ingestSessionBatch: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SessionBatch"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionResults"];
                };
            };
        };
    };
    ingestSessionEvent: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SessionEvent"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionResult"];
                };
            };
        };
    };
    finalizeSessions: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionState"];
                };
            };
        };
    };
    getSessionStatus: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionState"];
                };
            };
        };
    };
    getIngestStatus: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                job_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IngestJob"];
                };
            };
        };
    };
    listJobs: {
        parameters: {
            query?: {
                /** @description The nextCursor of the previous page; opaque. Omit it for the first page. */
                cursor?: string;
                /** @description How many entries to answer at most. Values above 100 are read as 100. */
                pageSize?: number;
                status?: "queued" | "running" | "succeeded" | "failed" | "cancelled";
                type?: "ingest" | "ingest_batch" | "import" | "transcript" | "session_finalize" | "cognition" | "brain_train" | "export" | "subject_erase" | "connector_sync" | "quality";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PageOfJob"];
                };
            };
        };
    };
    getJob: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                job_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Job"];
                };
            };
        };
    };
    cancelJob: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                job_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Job"];
                };
            };
        };
    };
    listKeys: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["KeyList"];
                };
            };
        };
    };
    createKey: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateKey"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NewKey"];
                };
            };
        };
    };
    revokeKey: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The key's id: the SHA-256 of the key, 64 hexadecimal characters. */
                key_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description No Content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    getMe: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Principal"];
                };
            };
        };
    };
    deleteMe: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description No Content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    listProposals: {
        parameters: {
            query?: {
                /** @description The nextCursor of the previous page; opaque. Omit it for the first page. */
                cursor?: string;
                /** @description How many entries to answer at most. Values above 100 are read as 100. */
                pageSize?: number;
                /** @description All when it is left out. */
                status?: "open" | "accepted" | "rejected";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PageOfProposal"];
                };
            };
        };
    };
    acceptProposal: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                proposal_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Proposal"];
                };
            };
        };
    };
    rejectProposal: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                proposal_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Proposal"];
                };
            };
        };
    };
    purge: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PurgeRequest"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PurgeReport"];
                };
            };
        };
    };
    listQuality: {
        parameters: {
            query?: {
                /** @description The nextCursor of the previous page; opaque. Omit it for the first page. */
                cursor?: string;
                /** @description How many entries to answer at most. Values above 100 are read as 100. */
                pageSize?: number;
                /** @description user when it is left out. */
                scope?: "user" | "org";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PageOfQualityReport"];
                };
            };
        };
    };
    evaluateQuality: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["EvaluateQualityRequest"];
            };
        };
        responses: {
            /** @description Accepted */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EvaluationAccepted"];
                };
            };
        };
    };
    recallNode: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                node_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RecalledNode"];
                };
            };
        };
    };
    recallGraphSearch: {
        parameters: {
            query: {
                /** @description What held at this time, whatever has superseded it since. */
                asOf?: string;
                /** @description The nextCursor of the previous page; opaque. Omit it for the first page. */
                cursor?: string;
                /** @description How many entries to answer at most. Values above 100 are read as 100. */
                pageSize?: number;
                /** @description Words that title or content must hold, all of them. */
                q: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PageOfNodeMatch"];
                };
            };
        };
    };
    listSessions: {
        parameters: {
            query?: {
                /** @description The nextCursor of the previous page; opaque. Omit it for the first page. */
                cursor?: string;
                /** @description How many entries to answer at most. Values above 100 are read as 100. */
                pageSize?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PageOfSession"];
                };
            };
        };
    };
    deleteSession: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The client's own id of the session, percent-encoded. */
                session_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description No Content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    recall: {
        parameters: {
            query?: {
                /** @description On graph: what held at this time; on insights and temporal: what was found, or had happened, by then, as far as nothing had taken its text's place, and no trends. identity takes none. */
                asOf?: string;
                /** @description On insights and temporal: the nextCursor of the previous page. */
                cursor?: string;
                /** @description On insights and temporal: how many entries to answer at most. Values above 100 are read as 100. */
                pageSize?: number;
            };
            header?: never;
            path: {
                recall_type: "identity" | "graph" | "insights" | "temporal";
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IdentityView"] | components["schemas"]["GraphView"] | components["schemas"]["InsightsView"] | components["schemas"]["TemporalView"] | components["schemas"]["PageOfInsight"] | components["schemas"]["PageOfDated"];
                };
            };
        };
    };
    retrieve: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Retrieve"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Retrieved"];
                };
            };
        };
    };
    listSandboxKeys: {
        parameters: {
            query?: {
                /** @description The nextCursor of the previous page; opaque. Omit it for the first page. */
                cursor?: string;
                /** @description How many entries to answer at most. Values above 100 are read as 100. */
                pageSize?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PageOfSandboxKey"];
                };
            };
        };
    };
    createSandboxKey: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["CreateSandboxKey"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NewSandboxKey"];
                };
            };
        };
    };
    revokeSandboxKey: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The key's id: the SHA-256 of the key, 64 hexadecimal characters. */
                key_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description No Content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    resetSandbox: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SandboxReset"];
                };
            };
        };
    };
    search: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Search"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SearchResult"];
                };
            };
        };
    };
    getSettings: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Settings"];
                };
            };
        };
    };
    patchSettings: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SettingsPatch"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Settings"];
                };
            };
        };
    };
    resetSettings: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Settings"];
                };
            };
        };
    };
    listSubjects: {
        parameters: {
            query?: {
                /** @description The nextCursor of the previous page; opaque. Omit it for the first page. */
                cursor?: string;
                /** @description How many entries to answer at most. Values above 100 are read as 100. */
                pageSize?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PageOfSubject"];
                };
            };
        };
    };
    getSubject: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The client's own id of the subject, percent-encoded: 1 to 256 bytes of UTF-8 without control characters. */
                subject_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Subject"];
                };
            };
        };
    };
    putSubject: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The client's own id of the subject, percent-encoded: 1 to 256 bytes of UTF-8 without control characters. */
                subject_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Subject"];
                };
            };
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Subject"];
                };
            };
        };
    };
    eraseSubject: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The client's own id of the subject, percent-encoded: 1 to 256 bytes of UTF-8 without control characters. */
                subject_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Accepted */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Accepted"];
                };
            };
        };
    };
    getTeam: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Team"];
                };
            };
        };
    };
    listTeamKeys: {
        parameters: {
            query?: {
                /** @description The nextCursor of the previous page; opaque. Omit it for the first page. */
                cursor?: string;
                /** @description These keys, at most 50, with a comma between their ids: on one page whatever pageSize says, in this order, without those that are not there. Not with cursor. */
                ids?: string;
                /** @description How many entries to answer at most. Values above 100 are read as 100. */
                pageSize?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PageOfTeamKey"];
                };
            };
        };
    };
    listMembers: {
        parameters: {
            query?: {
                /** @description The nextCursor of the previous page; opaque. Omit it for the first page. */
                cursor?: string;
                /** @description How many entries to answer at most. Values above 100 are read as 100. */
                pageSize?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PageOfTeamMember"];
                };
            };
        };
    };
    getUsage: {
        parameters: {
            query?: {
                /** @description End of the range, at most 92 days behind its begin; by default now. */
                endTime?: string;
                /** @description What a group is: a subject (the default), a subject and a capability, or a subject and a key. */
                groupBy?: "subject" | "capability" | "key";
                /** @description Begin of the range; by default 7 days before its end. */
                startTime?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UsageReport"];
                };
            };
        };
    };
    listWebhooks: {
        parameters: {
            query?: {
                /** @description The nextCursor of the previous page; opaque. Omit it for the first page. */
                cursor?: string;
                /** @description How many entries to answer at most. Values above 100 are read as 100. */
                pageSize?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PageOfWebhook"];
                };
            };
        };
    };
    createWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewWebhook"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Webhook"];
                };
            };
        };
    };
    getWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                webhook_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Webhook"];
                };
            };
        };
    };
    deleteWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                webhook_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description No Content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    patchWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                webhook_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PatchWebhook"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Webhook"];
                };
            };
        };
    };
    getDelivery: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                webhook_id: string;
                delivery_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SentDelivery"];
                };
            };
        };
    };
    testWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                webhook_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookTest"];
                };
            };
        };
    };
}
