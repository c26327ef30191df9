package config

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"orgmem/api/mcp"
)

// Server is what `orgmem serve` runs with. Large because each field is one setting, a row
// of the table of this package.
type Server struct {
	Data               string
	Listen             string
	OperatorListen     string
	DocsURL            string
	TLSCert            string
	TLSKey             string
	AccessLogAll       bool
	MaxBody            int64
	MaxIngestBody      int64
	MaxUpload          int64
	MaxContent         int
	MaxBatch           int
	MaxBodiesInFlight  int64
	MaxReading         int64
	LogLevel           slog.Level
	LogJSON            bool
	CacheBytes         int64
	MaxOpenStores      int
	MinFreeBytes       int64
	BallastBytes       int64
	CPUWorkers         int
	SnapshotBytes      int64
	Encoder            string // EncoderMultilingual or EncoderEnglish
	EmbedAnewPercent   int
	ModelFile          string
	FormerModel        string
	IdleOrg            time.Duration
	IdleSubject        time.Duration
	TombstoneRetention time.Duration
	SandboxKeyLife     time.Duration
	// LLMBaseURL is empty where there is no language model.
	LLMBaseURL, LLMKeyFile, LLMModel string
	// CognitionQuiet is how long a memory is left alone before it is looked at.
	CognitionQuiet time.Duration
	// ExportRetention is how long an export can be downloaded.
	ExportRetention time.Duration
	ShutdownGrace   time.Duration
	// SecretsKeyFile is empty where secrets are sealed by what the store holds alone.
	SecretsKeyFile string
	// WebhookRetryDelays are the waits before the second and the third attempt.
	WebhookRetryDelays []time.Duration
	// BackupVault is empty where the node keeps no backups itself.
	BackupVault, BackupKeyFile string

	// MCPTools are the tools that /mcp may list, all where it is nil; MCPOff leaves the path out.
	MCPTools []string
	MCPOff   bool

	EgressCIDRs  []netip.Prefix
	EgressPorts  []uint16
	EgressCAFile string
	// ClusterListen is empty where the node is alone.
	ClusterListen    string
	ClusterAdvertise string
	Join             []string
	JoinTokenFile    string
	NodeName         string
	GoneAfter        time.Duration
	Zone             string
	// TransferRate is in bytes per second.
	TransferRate int64
	// TracesEndpoint is empty where nothing is traced.
	TracesEndpoint, TracesHeadersFile string
	TracesRatio                       float64
	TracesOrganizations               bool
	// Shards is 0 where nobody has chosen.
	Shards int
}

// Setting is one row of the table. Name is at once the flag (--name), the key in
// the file (name) and, in capitals with underscores after ORGMEM_, the
// environment variable.
type Setting struct {
	Name    string
	Default string
	Form    string // what a value looks like
	Doc     string // what it does, and why the default is what it is
	set     func(*Server, string) error
}

// Env is the setting's environment variable.
func (s Setting) Env() string {
	return "ORGMEM_" + strings.ToUpper(strings.ReplaceAll(s.Name, "-", "_"))
}

// MinSecretsKey is how many bytes of key nobody can try through.
const MinSecretsKey = 32

// Bounds of the numeric settings. Outside them a value is a mistake, not a wish.
// The built-in models that encoder names.
const (
	EncoderMultilingual = "multilingual"
	EncoderEnglish      = "english"
)

const (
	minCacheBytes = 8 << 20  // below this Pebble thrashes on its own index blocks
	maxCacheBytes = 64 << 30 // more than any machine this is meant for has to spare
	minOpenStores = 4        // an organization, its sandbox, and one of each coming
	maxOpenStores = 100_000  // the budget of organizations on one node's disk
	maxCPUWorkers = 1024
	minGrace      = 100 * time.Millisecond
	maxGrace      = 10 * time.Minute
	minBody       = 64 << 10 // a page of text, and all that the routes themselves need
	maxBody       = 64 << 20 // a body is held in memory while it is decoded
	maxUpload     = 1 << 30  // likewise, and what is made of it is bounded anyway
	maxContent    = maxBody  // characters; there are at least as many bytes
	maxBatch      = 10_000   // all of a batch is one commit
	maxBodies     = 16 << 30
	minReading    = 128 << 20 // what one file may take
	minSnapshots  = 16 << 20  // one partition of 20,000 chunks must fit
	minIdle       = time.Second
	maxIdle       = 24 * time.Hour
	// maxRetryDelay keeps all attempts of a delivery well within the time that its
	// event is kept.
	maxRetryDelay = time.Hour
	minKeyLife    = 100 * time.Millisecond // so that a test can see a key expire
	maxKeyLife    = 90 * 24 * time.Hour
	minGoneAfter  = 10 * time.Second // gossip needs some of them to miss a node at all
	maxGoneAfter  = 30 * 24 * time.Hour
	minTransfer   = 1 << 20                   // a joining node with 10 GB would be at it for three hours
	maxTransfer   = 16 << 30                  // more than any wire
	maxShards     = 1024                      // above it the idle cost of the groups is no longer small beside the work
	maxTombstones = 10 * 365 * 24 * time.Hour // a longer time means for ever
	minFreeFloor  = 16 << 20                  // Pebble needs room to finish a flush it has begun
	maxFreeFloor  = 1 << 40
	maxPath       = 4096 // of Linux
)

// Settings is the table. Its order is the order of the documentation.
var Settings = []Setting{
	{
		Name: "data", Default: "./data", Form: "directory",
		Doc: "Where everything that lasts is kept. Made when missing, with mode 0700. " +
			"One process at a time: a second one refuses to start.",
		set: func(s *Server, v string) error {
			if v == "" {
				return errors.New("is empty; name a directory")
			}
			s.Data = v
			return nil
		},
	},
	{
		Name: "listen", Default: "127.0.0.1:8080", Form: "host:port",
		Doc: "Address of the public interface, `/v1` and `/docs`. Loopback by default, since a memory " +
			"that is open to the network should be so on purpose. Port 0 takes a free one.",
		set: func(s *Server, v string) error { return setAddr(&s.Listen, v) },
	},
	{
		Name: "operator-listen", Default: "127.0.0.1:8081", Form: "host:port",
		Doc: "Address of the operator interface: organizations, health, metrics. Keep it off public " +
			"networks; its token in `operator.token` is all that protects it.",
		set: func(s *Server, v string) error { return setAddr(&s.OperatorListen, v) },
	},
	{
		Name: "docs-url", Default: "", Form: "URL",
		Doc: "Address of the pages that error types point to. Empty means this service's own `/docs`.",
		set: func(s *Server, v string) error {
			if v == "" {
				return nil
			}
			u, err := url.Parse(v)
			if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
				return fmt.Errorf("%q is not an absolute http or https address", v)
			}
			s.DocsURL = strings.TrimRight(v, "/")
			return nil
		},
	},
	{
		Name: "tls-cert", Default: "", Form: "file",
		Doc: "PEM certificate chain of the public interface. With `tls-key` it speaks HTTPS; a changed file is " +
			"picked up without a restart. Empty means plain HTTP, for loopback or behind a proxy.",
		set: func(s *Server, v string) error { s.TLSCert = v; return nil },
	},
	{
		Name: "tls-key", Default: "", Form: "file",
		Doc: "PEM key that belongs to `tls-cert`.",
		set: func(s *Server, v string) error {
			s.TLSKey = v
			if (s.TLSKey == "") != (s.TLSCert == "") {
				return errors.New("and tls-cert go together: give both or neither")
			}
			return nil
		},
	},
	{
		Name: "max-body-bytes", Default: "1MiB", Form: "size",
		Doc: "Largest JSON body of an ordinary request; above it the answer is 413.",
		set: func(s *Server, v string) error { return setBytes(&s.MaxBody, v, minBody, maxBody) },
	},
	{
		Name: "max-ingest-body-bytes", Default: "10MiB", Form: "size",
		Doc: "Largest JSON body of an ingest or a batch.",
		set: func(s *Server, v string) error { return setBytes(&s.MaxIngestBody, v, minBody, maxBody) },
	},
	{
		Name: "max-upload-bytes", Default: "64MiB", Form: "size",
		Doc: "Largest form of an import. What is made of its file is bounded besides: 16 MiB of text, titles and metadata.",
		set: func(s *Server, v string) error { return setBytes(&s.MaxUpload, v, minBody, maxUpload) },
	},
	{
		Name: "max-content-chars", Default: "5000000", Form: "number",
		Doc: "Most characters of one content, of a session event's text and of a document in a file; above it the answer " +
			"is 413. A body that holds them must fit, too. A plain text file that is longer becomes several documents.",
		set: func(s *Server, v string) error { return setInt(&s.MaxContent, v, 1, maxContent) },
	},
	{
		Name: "max-batch-items", Default: "1000", Form: "number",
		Doc: "Most items of one batch; above it the answer is 413.",
		set: func(s *Server, v string) error { return setInt(&s.MaxBatch, v, 1, maxBatch) },
	},
	{
		Name: "max-bodies-in-flight-bytes", Default: "128MiB", Form: "size",
		Doc: "Memory for all bodies that are being received or decoded; above it the answer is 503 for as long as that " +
			"lasts. At least as much as the largest body or upload. Uploads together take three quarters of it at most, " +
			"or one of the largest, so that they leave room for other bodies. In a cluster a node holds as much once more of " +
			"requests that other nodes have sent on to it, beyond which these are answered 503.",
		set: func(s *Server, v string) error {
			return setBytes(&s.MaxBodiesInFlight, v, max(minBody, s.MaxBody, s.MaxIngestBody, s.MaxUpload), maxBodies)
		},
	},
	{
		Name: "max-reading-bytes", Default: "256MiB", Form: "size",
		Doc: "Memory for what files unpack to and are made of while they are read, and for their texts until these are " +
			"stored; it is taken before it is held. One file takes 128 MiB of it at most, and most take 4 MiB; a repository " +
			"that a connector reads takes what it unpacks to, 251 MiB at most, and is refused where that is more than all of " +
			"it. A request whose file waits for 10 s is answered 503 with Retry-After; connectors wait. Texts that are cut " +
			"and embedded take half as much besides, and wait. Feeds and pages of connectors (8 MiB at most, two at a time) " +
			"are not counted before their texts are read. With the default a node that is alone lives in 1 GiB; one of a " +
			"cluster takes more.",
		set: func(s *Server, v string) error { return setBytes(&s.MaxReading, v, minReading, maxBodies) },
	},
	{
		Name: "mcp-tools", Default: "all", Form: "all, none or a comma list",
		Doc: "Tools that the Model Context Protocol at `/mcp` offers, among those that a caller's key allows " +
			"([mcp](mcp.md)); with `none` the path is not there.",
		set: func(s *Server, v string) error {
			switch v {
			case "all":
				return nil
			case "none":
				s.MCPOff = true
				return nil
			}
			s.MCPTools = []string{}
			return setList(v, func(part string) error {
				s.MCPTools = append(s.MCPTools, part)
				return mcp.CheckTools([]string{part})
			})
		},
	},
	{
		Name: "access-log", Default: "problems", Form: "problems or all",
		Doc: "Which requests get a line in the log: those that failed or were slow, or all.",
		set: func(s *Server, v string) error {
			if v != "problems" && v != "all" {
				return fmt.Errorf("%q is neither problems nor all", v)
			}
			s.AccessLogAll = v == "all"
			return nil
		},
	},
	{
		Name: "log-level", Default: "info", Form: "debug, info, warn or error",
		Doc: "Least severity that is logged. Logs go to standard error and never hold customer text or keys.",
		set: func(s *Server, v string) error {
			if err := s.LogLevel.UnmarshalText([]byte(v)); err != nil {
				return fmt.Errorf("%q is none of debug, info, warn, error", v)
			}
			return nil
		},
	},
	{
		Name: "log-format", Default: "text", Form: "text or json",
		Doc: "Text for people, JSON for collectors.",
		set: func(s *Server, v string) error {
			if v != "text" && v != "json" {
				return fmt.Errorf("%q is neither text nor json", v)
			}
			s.LogJSON = v == "json"
			return nil
		},
	},
	{
		Name: "traces-endpoint", Default: "", Form: "URL",
		Doc: "Where traces are sent ([operations](operations.md#traces)): a collector that takes OTLP over HTTP, such as " +
			"`http://localhost:4318`. Without a path it is `/v1/traces`. Empty: nothing is traced, and that costs nothing.",
		set: func(s *Server, v string) error { return setTracesEndpoint(s, v) },
	},
	{
		Name: "traces-ratio", Default: "0.1", Form: "number from 0 to 1",
		Doc: "How many of the requests are traced whose caller has not decided it. A request that comes with the header " +
			"`traceparent` is traced where that says so, and only there.",
		set: func(s *Server, v string) error { return setRatio(&s.TracesRatio, v) },
	},
	{
		Name: "traces-organizations", Default: "false", Form: "true or false",
		Doc: "Whether traces name organizations, by their ids. They never hold content, names, subjects or keys.",
		set: func(s *Server, v string) error { return setBool(&s.TracesOrganizations, v) },
	},
	{
		Name: "traces-headers-file", Default: "", Form: "file",
		Doc: "File with the headers that the collector wants, such as `Authorization: Bearer …`, a line each. Read when " +
			"the service starts.",
		set: func(s *Server, v string) error {
			if s.TracesHeadersFile = v; v != "" && s.TracesEndpoint == "" {
				return errors.New("needs traces-endpoint")
			}
			return nil
		},
	},
	{
		Name: "cache-bytes", Default: "64MiB", Form: "size",
		Doc: "Block cache shared by all open stores. 64 MiB keeps an idle node under 250 MB; " +
			"give a busy one a quarter of the machine.",
		set: func(s *Server, v string) error { return setBytes(&s.CacheBytes, v, minCacheBytes, maxCacheBytes) },
	},
	{
		Name: "max-open-stores", Default: "256", Form: "number",
		Doc: "How many organizations' stores are open at once; the least recently used is closed first. One that takes " +
			"little costs 300 to 400 KiB, and each about 9 file descriptors, of which 14 are reckoned with; opening a cold " +
			"one takes half a millisecond.",
		set: func(s *Server, v string) error { return setInt(&s.MaxOpenStores, v, minOpenStores, maxOpenStores) },
	},
	{
		Name: "min-free-bytes", Default: "256MiB", Form: "size",
		Doc: "Free disk space below which writes are refused with 503 while reads go on. It must outlast " +
			"the flushes and compactions already under way.",
		set: func(s *Server, v string) error { return setBytes(&s.MinFreeBytes, v, minFreeFloor, maxFreeFloor) },
	},
	{
		Name: "ballast-bytes", Default: "64MiB", Form: "size",
		Doc: "A file of this size that can be deleted when the disk is full, so that there is room to repair. " +
			"0 makes none.",
		set: func(s *Server, v string) error { return setBytes(&s.BallastBytes, v, 0, maxFreeFloor) },
	},
	{
		Name: "cpu-workers", Default: "0", Form: "number",
		Doc: "Goroutines for embedding and indexing. 0 means one per processor.",
		set: func(s *Server, v string) error { return setInt(&s.CPUWorkers, v, 0, maxCPUWorkers) },
	},
	{
		Name: "shutdown-grace", Default: "20s", Form: "duration",
		Doc: "How long a stop waits for requests that are under way. Acknowledged work does not need it: " +
			"it is on disk already and goes on after the next start.",
		set: func(s *Server, v string) error { return setDuration(&s.ShutdownGrace, v, minGrace, maxGrace) },
	},
	{
		Name: "snapshot-bytes", Default: "2GiB", Form: "size",
		Doc: "Memory for the search indexes of all partitions together; the least recently used leave first. " +
			"2 GiB hold about 3 million chunks.",
		set: func(s *Server, v string) error { return setBytes(&s.SnapshotBytes, v, minSnapshots, maxCacheBytes) },
	},
	{
		Name: "encoder", Default: EncoderMultilingual, Form: "multilingual or english",
		Doc: "The built-in model to embed with. `english` is smaller, and finds little in other languages. Memory that " +
			"was embedded with the other one is embedded anew in the background; the other one serves it until then. In a " +
			"cluster `multilingual` begins when the last node of a version without it has left.",
		set: func(s *Server, v string) error {
			if v != EncoderMultilingual && v != EncoderEnglish {
				return fmt.Errorf("%q is neither %s nor %s", v, EncoderMultilingual, EncoderEnglish)
			}
			s.Encoder = v
			return nil
		},
	},
	{
		Name: "embed-anew-percent", Default: "25", Form: "number",
		Doc: "How much of the CPU workers may embed memory anew that another model has embedded, in percent. It makes " +
			"way for all that somebody waits for. 0 stops it: the former vectors serve on.",
		set: func(s *Server, v string) error { return setInt(&s.EmbedAnewPercent, v, 0, 100) },
	},
	{
		Name: "model-file", Default: "", Form: "file",
		Doc: "A model pack to embed with in place of the built-in ones (`modelpack` makes packs). Memory that was " +
			"embedded with a built-in model is embedded anew in the background; that model serves it until then.",
		set: func(s *Server, v string) error { s.ModelFile = v; return nil },
	},
	{
		Name: "former-model-file", Default: "", Form: "file",
		Doc: "A model pack that memory was embedded with before. It serves what is not embedded anew yet; without " +
			"it such memory is found by its words only until then.",
		set: func(s *Server, v string) error { s.FormerModel = v; return nil },
	},
	{
		Name: "idle-org", Default: "10m", Form: "duration",
		Doc: "How long an unused organization stays in memory. Waking one takes some 20 ms.",
		set: func(s *Server, v string) error { return setDuration(&s.IdleOrg, v, minIdle, maxIdle) },
	},
	{
		Name: "idle-subject", Default: "5m", Form: "duration",
		Doc: "How long an unused subject of an organization stays in memory.",
		set: func(s *Server, v string) error { return setDuration(&s.IdleSubject, v, minIdle, maxIdle) },
	},
	{
		Name: "export-retention", Default: "168h", Form: "duration",
		Doc: "How long an export can be downloaded. Each takes as much disk as what it holds; a week leaves time to " +
			"fetch it, and to notice that the copy is broken.",
		set: func(s *Server, v string) error { return setDuration(&s.ExportRetention, v, minKeyLife, maxKeyLife) },
	},
	{
		Name: "tombstone-retention", Default: "720h", Form: "duration",
		Doc: "How long the place of a forgotten node can be restored; after that the node is removed with its edges. Its " +
			"content is gone at once, whatever this says. What was forgotten before a change keeps the time it was promised.",
		set: func(s *Server, v string) error { return setDuration(&s.TombstoneRetention, v, minGrace, maxTombstones) },
	},
	{
		Name: "sandbox-key-life", Default: "168h", Form: "duration",
		Doc: "How long a sandbox key works whose creation names no `ttlSeconds`. A week is long enough to try " +
			"something, and short enough that a forgotten key is worth nothing.",
		set: func(s *Server, v string) error { return setDuration(&s.SandboxKeyLife, v, minKeyLife, maxKeyLife) },
	},
	{
		Name: "cognition-quiet", Default: "3s", Form: "duration",
		Doc: "How long a memory must have been left alone before a cognition cycle looks at what is new there. While " +
			"content never stops coming a cycle begins after five minutes.",
		set: func(s *Server, v string) error { return setDuration(&s.CognitionQuiet, v, minKeyLife, maxGrace) },
	},
	{
		Name: "llm-base-url", Default: "", Form: "URL",
		Doc: "A language model that speaks the protocol of OpenAI's chat completions, such as `https://host/v1`; it words " +
			"labels of domains, explanations of contradictions and answers, and weighs relations. Content of memories is " +
			"sent there. Empty: none is asked, and everything works.",
		set: func(s *Server, v string) error { s.LLMBaseURL = v; return nil },
	},
	{
		Name: "llm-model", Default: "", Form: "text",
		Doc: "The name of the model there.",
		set: func(s *Server, v string) error { s.LLMModel = v; return nil },
	},
	{
		Name: "llm-api-key-file", Default: "", Form: "file",
		Doc: "File with the key of `llm-base-url`; `ORGMEM_LLM_API_KEY` may hold the key itself. Empty: none is sent.",
		set: func(s *Server, v string) error { s.LLMKeyFile = v; return nil },
	},
	{
		Name: "secrets-key-file", Default: "", Form: "file",
		Doc: "File with at least 32 random bytes that go into the key under which the signing secrets of webhooks and the " +
			"secrets of connectors (`token`, `authorization`) are stored, the same on every node of a cluster. With it on " +
			"another disk, none of them can be read off a stolen one; without it they are sealed by what the organization's " +
			"own store holds. What was sealed without it is sealed anew when the organization is next opened with room on " +
			"the disk; what was sealed with it can be used with it only: keep a copy. API keys, join tokens and confirm " +
			"tokens are stored as hashes. The key of a cluster's certificate authority lies in the directory's store as it " +
			"is: who steals a node's disk has it (`orgmem cluster rotate` replaces it).",
		set: func(s *Server, v string) error { s.SecretsKeyFile = v; return nil },
	},
	{
		Name: "backup-key-file", Default: "", Form: "file",
		Doc: "File with the key of the backups in `backup-vault` ([backup](backup.md)). Its public half makes backups; " +
			"with the secret half the node can verify them, too, but who breaks into it can read them: all of them, also " +
			"what was forgotten since they were made.",
		set: func(s *Server, v string) error { s.BackupKeyFile = v; return nil },
	},
	{
		Name: "backup-vault", Default: "", Form: "directory or s3://bucket/prefix",
		Doc: "Where the operator, in the console or with `POST /operator/backups`, has this node make backups. They are " +
			"what `orgmem backup create` makes there, and need `backup-key-file`. Credentials of a bucket are in the " +
			"environment. Empty: backups are made by the command alone.",
		set: func(s *Server, v string) error {
			if v != "" && s.BackupKeyFile == "" {
				return errors.New("needs backup-key-file; `orgmem backup keygen FILE` makes a key")
			}
			if len(v) > maxPath {
				return fmt.Errorf("is longer than %d bytes", maxPath)
			}
			s.BackupVault = v
			return nil
		},
	},
	{
		Name: "webhook-retry-delays", Default: "30s,120s", Form: "two durations",
		Doc: "How long a webhook delivery that failed waits before its second and before its third attempt, each by up to " +
			"a fifth shorter or longer. Receivers count on some minutes to come back; less is for tests.",
		set: func(s *Server, v string) error {
			s.WebhookRetryDelays = nil
			err := setList(v, func(part string) error {
				var d time.Duration
				err := setDuration(&d, part, minKeyLife, maxRetryDelay)
				s.WebhookRetryDelays = append(s.WebhookRetryDelays, d)
				return err
			})
			if err == nil && len(s.WebhookRetryDelays) != 2 {
				err = fmt.Errorf("%q is not two durations with a comma between them", v)
			}
			return err
		},
	},
	{
		Name: "egress-allow-cidrs", Default: "", Form: "list of ranges",
		Doc: "Address ranges, with commas between them, that webhooks and connectors may reach although they are not " +
			"public. For private deployments and tests: whoever may register a webhook can then reach what is there. HTTPS " +
			"is never waived.",
		set: func(s *Server, v string) error {
			return setList(v, func(part string) error {
				p, err := netip.ParsePrefix(part)
				if err != nil || p != p.Masked() {
					return fmt.Errorf("%q is not a range such as 10.0.0.0/8", part)
				}
				s.EgressCIDRs = append(s.EgressCIDRs, p)
				return nil
			})
		},
	},
	{
		Name: "egress-allow-ports", Default: "", Form: "list of ports",
		Doc: "Ports beside 443, with commas between them, that webhooks and connectors may use.",
		set: func(s *Server, v string) error {
			return setList(v, func(part string) error {
				n, err := strconv.ParseUint(part, 10, 16)
				if err != nil || n == 0 {
					return fmt.Errorf("%q is not a port", part)
				}
				s.EgressPorts = append(s.EgressPorts, uint16(n))
				return nil
			})
		},
	},
	{
		Name: "egress-ca-file", Default: "", Form: "file",
		Doc: "PEM certificates of authorities that webhooks and connectors trust beside the system's.",
		set: func(s *Server, v string) error { s.EgressCAFile = v; return nil },
	},
	{
		Name: "cluster-listen", Default: "", Form: "host:port",
		Doc: "Address for the other nodes of a cluster, TCP and UDP. Everything on it is encrypted and only nodes with a " +
			"certificate of the cluster are heard, but keep it off public networks all the same. Empty means that the node " +
			"is alone. The first node of a cluster is made with `orgmem cluster init`, the others join with a token.",
		set: func(s *Server, v string) error {
			if v == "" {
				return nil
			}
			return setAddr(&s.ClusterListen, v)
		},
	},
	{
		Name: "cluster-advertise", Default: "", Form: "host:port",
		Doc: "Where the other nodes reach `cluster-listen`. Empty takes that address itself, or where it is every address " +
			"of the machine, the first that is not loopback.",
		set: func(s *Server, v string) error {
			if v == "" {
				return nil
			}
			return setAddr(&s.ClusterAdvertise, v)
		},
	},
	{
		Name: "join", Default: "", Form: "list of host:port",
		Doc: "Nodes to find the cluster by, with commas between them. A name may stand for many addresses. Needed once at " +
			"most: a join token names some nodes, and a node that has joined knows all others.",
		set: func(s *Server, v string) error {
			return setList(v, func(part string) error {
				var address string
				if err := setAddr(&address, part); err != nil {
					return err
				}
				s.Join = append(s.Join, address)
				return nil
			})
		},
	},
	{
		Name: "join-token-file", Default: "", Form: "file",
		Doc: "File with the join token of a machine that is to become a node; `orgmem cluster token` makes one. " +
			"`ORGMEM_JOIN_TOKEN` may hold the token itself. Looked at only while the data directory is new.",
		set: func(s *Server, v string) error { s.JoinTokenFile = v; return nil },
	},
	{
		Name: "node-name", Default: "", Form: "text",
		Doc: "What people call this node, in `orgmem cluster status`. Empty takes the machine's host name.",
		set: func(s *Server, v string) error { return setName(&s.NodeName, v) },
	},
	{
		Name: "zone", Default: "", Form: "text",
		Doc: "Where this node stands: a room, a rack, a region's zone. The replicas of a shard are spread over zones.",
		set: func(s *Server, v string) error { return setName(&s.Zone, v) },
	},
	{
		Name: "gone-after", Default: "10m", Form: "duration",
		Doc: "How long a node may be away before its replicas are made anew on others. A machine restarts in less, " +
			"and copying its data takes longer. `orgmem cluster remove` does it at once. All nodes should have the same.",
		set: func(s *Server, v string) error { return setDuration(&s.GoneAfter, v, minGoneAfter, maxGoneAfter) },
	},
	{
		Name: "transfer-rate-bytes", Default: "64MiB", Form: "size",
		Doc: "How many bytes of its organizations' stores this node sends per second to nodes that need a copy: one that " +
			"joins, comes back after long or takes another one's place. The default gives a joining node its share of 3 GB " +
			"within a minute; less leaves more of a slow disk or wire to requests.",
		set: func(s *Server, v string) error { return setBytes(&s.TransferRate, v, minTransfer, maxTransfer) },
	},
	{
		Name: "shards", Default: "0", Form: "number",
		Doc: "How many shards the organizations are spread over; of each one node at a time does the work. Chosen once, " +
			"when a data directory is made by its first `serve` or `cluster init`, or after a restore; a start with another " +
			"number is refused. 0 takes what there is, or 32 for a new directory, which costs 8 % of a core per node of " +
			"three while idle. Where more than ten nodes are to come, take ten for each.",
		set: func(s *Server, v string) error { return setInt(&s.Shards, v, 0, maxShards) },
	},
}

// ClientSetting documents what the client and operator commands read; they have
// no file.
type ClientSetting struct{ Flag, Env, Default, Doc string }

// ClientSettings is the second table of docs/configuration.md.
var ClientSettings = []ClientSetting{
	{"--base", EnvBase, DefaultBase, "Address of the service (`import`, `export`, `search`, `sessions`, `plugin`, `mcp`)."},
	{
		"", EnvAPIKey, "",
		"The API key (`import`, `export`, `search`, `sessions`, `plugin`, `mcp`). There is no flag: arguments are visible " +
			"to every user of a machine.",
	},
	{"", EnvFromKey, "", "The key of another product's server (`import --from mem0 --url …`)."},
	{"--operator", EnvOperator, DefaultOperator, "Address of the operator interface (`org`, `member`, `key`, `doctor`)."},
	{"--operator-token", EnvOperatorToken, "`operator.token` in `--data`", "File with the operator's token."},
	{"--data", "ORGMEM_DATA", "./data", "The server's data directory, to find `operator.token`."},
	{"", EnvLLMKey, "", "The key of the language model (`serve`); see `llm-api-key-file`."},
	{"", EnvJoinToken, "", "The join token of a machine that is to become a node (`serve`); see `join-token-file`."},
	{
		"", EnvS3Endpoint, "",
		"Address of an S3-compatible store other than Amazon's (`backup`, and `serve` with `backup-vault`).",
	},
	{"", EnvStateHome, "~/.local/state", "Where `import` and `sessions push` remember what they have sent, in `orgmem`."},
}

// Names and defaults of the client settings.
const (
	EnvBase          = "ORGMEM_BASE_URL"
	EnvAPIKey        = "ORGMEM_API_KEY"
	EnvFromKey       = "ORGMEM_FROM_KEY"
	EnvOperator      = "ORGMEM_OPERATOR"
	EnvOperatorToken = "ORGMEM_OPERATOR_TOKEN"
	EnvStateHome     = "XDG_STATE_HOME"
	EnvJoinToken     = "ORGMEM_JOIN_TOKEN"
	EnvLLMKey        = "ORGMEM_LLM_API_KEY"
	EnvConfig        = "ORGMEM_CONFIG"
	EnvS3Endpoint    = "ORGMEM_BACKUP_S3_ENDPOINT"
	EnvCredentials   = "CREDENTIALS_DIRECTORY" // set by systemd for a unit that has credentials
	EnvNotify        = "NOTIFY_SOCKET"         // set by systemd for a unit of Type=notify
	DefaultBase      = "http://127.0.0.1:8080"
	DefaultOperator  = "http://127.0.0.1:8081"
	OperatorToken    = "operator.token"
)

func setAddr(into *string, v string) error {
	host, port, err := net.SplitHostPort(v)
	if err != nil {
		return fmt.Errorf("%q is not host:port", v)
	}
	if n, err := strconv.Atoi(port); err != nil || n < 0 || n > 65535 {
		return fmt.Errorf("%q has no port from 0 to 65535", v)
	}
	if strings.ContainsAny(host, "/ ") {
		return fmt.Errorf("%q has no valid host", v)
	}
	*into = v
	return nil
}

// MaxName bounds the name of a node and of a zone: every node tells them in its
// gossip, which has 512 bytes for everything.
const MaxName = 64

func setName(into *string, v string) error {
	if len(v) > MaxName || !utf8.ValidString(v) {
		return fmt.Errorf("%q is longer than %d bytes, or not text", v, MaxName)
	}
	if strings.ContainsFunc(v, unicode.IsControl) {
		return fmt.Errorf("%q has control characters", v)
	}
	*into = v
	return nil
}

func setDuration(into *time.Duration, v string, least, most time.Duration) error {
	d, err := time.ParseDuration(v)
	if err != nil || d < least || d > most {
		return fmt.Errorf("%q is not a duration from %v to %v", v, least, most)
	}
	*into = d
	return nil
}

// maxList bounds the entries of a comma list: a hand-written exemption.
const maxList = 64

// setList hands the parts of a comma list to add; an empty list has none.
func setList(v string, add func(part string) error) error {
	if strings.TrimSpace(v) == "" {
		return nil
	}
	parts := strings.Split(v, ",")
	if len(parts) > maxList {
		return fmt.Errorf("has more than %d entries", maxList)
	}
	for _, part := range parts {
		if err := add(strings.TrimSpace(part)); err != nil {
			return err
		}
	}
	return nil
}

func setInt(into *int, v string, least, most int) error {
	n, err := strconv.Atoi(v)
	if err != nil || n < least || n > most {
		return fmt.Errorf("%q is not a number from %d to %d", v, least, most)
	}
	*into = n
	return nil
}

func setBytes(into *int64, v string, least, most int64) error {
	n, err := ParseBytes(v)
	if err != nil {
		return err
	}
	if n < least || n > most {
		return fmt.Errorf("%q is not from %s to %s", v, FormatBytes(least), FormatBytes(most))
	}
	*into = n
	return nil
}

// units are powers of 1024: disks and caches are set in these.
var units = []struct {
	suffix string
	size   int64
}{{"TiB", 1 << 40}, {"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"B", 1}}

// ParseBytes reads 67108864, 64MiB or 64 MiB.
func ParseBytes(v string) (int64, error) {
	number, scale := v, int64(1)
	for _, u := range units {
		if rest, ok := strings.CutSuffix(v, u.suffix); ok {
			number, scale = strings.TrimSpace(rest), u.size
			break
		}
	}
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || n < 0 || n > (1<<62)/scale {
		return 0, fmt.Errorf("%q is not a size such as 67108864 or 64MiB", v)
	}
	return n * scale, nil
}

// FormatBytes writes what ParseBytes reads, in the largest unit that is exact.
func FormatBytes(n int64) string {
	for _, u := range units {
		if n >= u.size && n%u.size == 0 {
			return strconv.FormatInt(n/u.size, 10) + u.suffix
		}
	}
	return strconv.FormatInt(n, 10) + "B"
}

// FileMode0600 and DirMode0700 are the modes of everything the server or the
// import command writes: keys, tokens, states.
const (
	FileMode0600 os.FileMode = 0o600
	DirMode0700  os.FileMode = 0o700
)
