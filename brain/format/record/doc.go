// Package record reads files of records: items of JSON as POST /v1/ingest takes them,
// the exports of other systems and of this one, and transcripts. JSON that is none of
// these is searched for what somebody wrote in it (loose.go).
package record
