package main

import (
	"context"
	"crypto/rand"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"orgmem/actors"
	"orgmem/actors/egress"
	"orgmem/actors/llm"
	"orgmem/actors/moving"
	"orgmem/actors/peer"
	"orgmem/actors/tenant"
	"orgmem/api"
	"orgmem/api/console"
	"orgmem/api/operator"
	"orgmem/api/web"
	"orgmem/brain/embed"
	"orgmem/brain/reader"
	"orgmem/cluster"
	"orgmem/cluster/mesh"
	"orgmem/cluster/remoting"
	"orgmem/cmd/orgmem/internal/config"
	"orgmem/cmd/orgmem/internal/doctor"
	"orgmem/cmd/orgmem/internal/durable"
	"orgmem/cmd/orgmem/internal/telemetry"
	"orgmem/cmd/orgmem/pages"
	consolefiles "orgmem/console"
	"orgmem/proto/tracing"
	"orgmem/storage"
)

func openStorage(w world, server config.Server, log *slog.Logger) (*storage.Node, error) {
	if err := refuseHalfRestored(server.Data); err != nil {
		return nil, err
	}
	ballast := server.BallastBytes
	if ballast == 0 {
		ballast = -1 // storage's zero means its default
	}
	node, err := storage.Open(storage.Options{
		Dir: server.Data, Clock: w.clock, Logger: log,
		CacheBytes: server.CacheBytes, MaxOpenStores: server.MaxOpenStores,
		MinFreeBytes: server.MinFreeBytes, BallastBytes: ballast,
	})
	if errors.Is(err, storage.ErrCorrupt) {
		err = fmt.Errorf("%w; in a cluster, make the node anew with an empty data directory; alone, put the file back as it "+
			"was or restore a backup (docs/operations.md, Damaged data)", err)
	}
	return node, err
}

// startCluster starts the shards; where there are other nodes the network says
// which cluster they are a part of, and leads hears which shards they lead.
func startCluster(
	ctx context.Context, w world, server config.Server, store *storage.Node, network *mesh.Network,
	creds *mesh.Credentials, leads *tenant.LeadershipListener, log *slog.Logger,
) (*cluster.Host, error) {
	cfg := cluster.Config{
		Storage: store, Clock: w.clock, Logger: log, GoneAfter: server.GoneAfter,
		TransferRate: server.TransferRate, Shards: server.Shards,
	}
	if network != nil {
		cfg.Network, cfg.Server, cfg.Shards, cfg.Join = network, creds.Server(), creds.Shards(), true
		cfg.OnLead, cfg.OnHandOver = leads.OnLead, leads.OnHandOver
		if server.Shards != 0 && server.Shards != creds.Shards() {
			return nil, fmt.Errorf("shards: the cluster has %d, configuration says %d; leave it out: %w",
				creds.Shards(), server.Shards, cluster.ErrShardCount)
		}
	}
	return cluster.Start(ctx, cfg)
}

// loadModel opens the model inside the binary, whose 34 MB no longer count as
// memory in use once it has been unpacked.
func loadModel() (*embed.Model, error) {
	defer pages.Unload(embed.Pack())
	return embed.Load(pages.Weights)
}

func modelID() string {
	model, err := loadModel()
	if err != nil {
		return "none: " + err.Error()
	}
	return string(model.ID())
}

func kernelName() string {
	model, err := loadModel()
	if err != nil {
		return ""
	}
	return string(model.Kernel())
}

// models are what a node reads texts with.
type models struct {
	tenant.Models

	serving *embed.Model // of Embedder
}

// openModels loads the models.
func openModels(server config.Server) (m models, err error) {
	base, err := loadModel()
	if err != nil {
		return m, err
	}
	if m.Models, m.serving, err = chooseModels(server, multilingual, base); err != nil {
		return m, err
	}
	var all *embed.Model
	if server.ModelFile == "" && server.Encoder == config.EncoderMultilingual {
		all = m.serving
	}
	m.Reader, err = loadReader(base, all)
	return m, err
}

// loadReader opens the readers inside the binary, over the models whose words they share; all, of all languages, is nil
// where nothing is embedded with it.
func loadReader(base, all *embed.Model) (*reader.Reader, error) {
	defer func() {
		for _, pack := range reader.Packs() {
			pages.Unload(pack)
		}
	}()
	r, err := reader.Load(base, pages.Weights)
	if err != nil || all == nil {
		return r, err
	}
	unload := func() { pages.Unload(embed.MultilingualPack()); pages.Unload(reader.PackAbroad()) }
	defer unload()
	abroad, err := reader.LoadAbroad(all, pages.Weights, unload)
	if err != nil {
		return nil, err
	}
	return reader.Join(r, abroad), nil
}

func loadPack(file string) (*embed.Model, error) {
	pack, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	return embed.LoadPack(pack, pages.Weights)
}

// roomForRequests returns how many workers embed and index, and lets the Go
// scheduler run as many threads more. Embedding is assembly, which the scheduler
// cannot interrupt: with as many workers as threads, every hop of a request
// waited behind a slice of some milliseconds of embedding. With threads to spare
// the kernel shares the processors instead, and prefers the thread that wakes up.
// Measured while a backlog was embedded, on two busy processors: 650 ingests
// accepted per second before, 1,220 after.
func roomForRequests(workers int) int {
	threads := runtime.GOMAXPROCS(0)
	if workers == 0 {
		workers = threads
	}
	runtime.GOMAXPROCS(threads + workers)
	return workers
}

func startActors(
	w world, server config.Server, store *storage.Node, host *cluster.Host, network *mesh.Network,
	leads *tenant.LeadershipListener, m models, tracer *tracing.Tracer, log *slog.Logger,
) (*actors.Service, error) {
	cfg := tenant.Config{
		Platform: tenant.Platform{
			Host: host, Storage: store, Clock: w.clock, Random: rand.Reader, Logger: log, Tracer: tracer,
		},
		Models: m.Models,
		Bounds: tenant.Bounds{
			IdleOrg: server.IdleOrg, IdleSubject: server.IdleSubject, SnapshotBytes: server.SnapshotBytes,
			ReadingBytes: int(server.MaxReading), ForwardedBytes: int(server.MaxBodiesInFlight),
			Workers: roomForRequests(server.CPUWorkers), MovingPercent: movingPercent(server.EmbedAnewPercent),
		},
		Retention: tenant.Retention{
			TombstoneRetention: server.TombstoneRetention, SandboxKeyLife: server.SandboxKeyLife,
			ExportRetention: server.ExportRetention,
		},
		CognitionQuiet: server.CognitionQuiet, WebhookRetryDelays: server.WebhookRetryDelays,
	}
	out, err := newEgress(server)
	if err != nil {
		return nil, err
	}
	cfg.Egress = out
	if server.SecretsKeyFile != "" {
		if cfg.SecretsKey, err = config.ReadSmall(server.SecretsKeyFile); err != nil {
			return nil, fmt.Errorf("secrets-key-file: %w", err)
		}
		if len(cfg.SecretsKey) < config.MinSecretsKey {
			return nil, fmt.Errorf("secrets-key-file: %s holds fewer than %d bytes", server.SecretsKeyFile, config.MinSecretsKey)
		}
	}
	if cfg.LLM, err = newLLM(w, server, tracer); err != nil {
		return nil, err
	}
	if network == nil {
		return actors.Start(cfg, nil)
	}
	remote := remoting.New(remoting.Config{
		Self: host.Server(), Placement: host, Wire: network, Clock: w.clock, Logger: log,
	})
	system, err := actors.Start(cfg, &peer.Config{Placement: host, Remote: remote, Network: network})
	if err != nil {
		return nil, err
	}
	leads.Of(system.System)
	return system, nil
}

// newLLM is the language model that the operator has named, nil for none. It is the
// operator's own choice, so the rules for addresses that tenants choose do not bind
// it; redirects, which nobody chose, are not followed.
func newLLM(w world, server config.Server, tracer *tracing.Tracer) (*llm.Client, error) {
	if server.LLMBaseURL == "" {
		return nil, nil
	}
	key := w.env(config.EnvLLMKey, "")
	if server.LLMKeyFile != "" {
		raw, err := config.ReadSmall(server.LLMKeyFile)
		if err != nil {
			return nil, fmt.Errorf("llm-api-key-file: %w", err)
		}
		key = string(raw)
	}
	c, err := llm.New(llm.Config{
		BaseURL: server.LLMBaseURL, Model: server.LLMModel, Key: strings.TrimSpace(key), Clock: w.clock, Tracer: tracer,
		HTTP: &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }},
	})
	if err != nil {
		return nil, fmt.Errorf("llm-base-url, llm-model: %w", err)
	}
	return c, nil
}

// startTraces begins to trace, where the configuration says so.
func startTraces(
	ctx context.Context, w world, server config.Server, creds *mesh.Credentials, log *slog.Logger,
) (*telemetry.Telemetry, error) {
	node := nodeName(server)
	if creds != nil {
		node = string(creds.Server())
	}
	return telemetry.Start(ctx, telemetry.Config{
		Server: server, Version: version, Node: node, Clock: w.clock, Random: rand.Reader, Logger: log,
	})
}

// newEgress is the way out for webhooks and connectors.
func newEgress(server config.Server) (*egress.Client, error) {
	cfg := egress.Config{
		Rules: egress.Rules{AllowCIDRs: server.EgressCIDRs, AllowPorts: server.EgressPorts},
		// Go's own resolver: what libc's takes for an address is not for libc to say.
		Resolver: &net.Resolver{PreferGo: true}, Dialer: &net.Dialer{},
	}
	if server.EgressCAFile != "" {
		pem, err := os.ReadFile(server.EgressCAFile)
		if err != nil {
			return nil, fmt.Errorf("egress-ca-file: %w", err)
		}
		if cfg.Roots, err = x509.SystemCertPool(); err != nil {
			return nil, fmt.Errorf("egress-ca-file: the system's own authorities: %w", err)
		}
		if !cfg.Roots.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("egress-ca-file: %s holds no PEM certificate", server.EgressCAFile)
		}
	}
	return egress.New(cfg)
}

func newEdge(
	w world, server config.Server, values []config.Value, store *storage.Node, host *cluster.Host,
	network *mesh.Network, system *actors.Service, model *embed.Model, signIn *console.SignIn, vault operator.Vault,
	spans *telemetry.Telemetry, log *slog.Logger,
) (*api.Server, error) {
	token, err := operatorToken(server.Data)
	if err != nil {
		return nil, err
	}
	accessLog := web.LogProblems
	if server.AccessLogAll {
		accessLog = web.LogAll
	}
	var admin operator.Cluster
	node := operator.NodeName{Name: nodeName(server)}
	if network != nil {
		admin, node.ID = clusterAdmin{network, host}, string(host.Server())
	}
	return api.New(api.Config{
		Cluster: admin,
		Asker:   system, Operator: system.Operator(), Exports: system, Backups: system.Copier(), Ready: system.Ready,
		OperatorToken: token, Clock: w.clock, Logger: log, Tracer: spans.Tracer(),
		Collectors: slices.Concat(nodeMetrics(store, host, system), spans.Collectors()),
		DocsURL:    server.DocsURL, TLS: web.TLSFiles{Cert: server.TLSCert, Key: server.TLSKey}, AccessLog: accessLog,
		MaxBody: server.MaxBody, MaxIngestBody: server.MaxIngestBody, MaxUpload: server.MaxUpload,
		MaxContent: server.MaxContent, MaxBatch: server.MaxBatch, MaxBodiesInFlight: server.MaxBodiesInFlight,
		MaxConnections: min(store.Connections(), maxConnections),
		MCP:            api.MCP{Off: server.MCPOff, Tools: server.MCPTools, Version: version},
		Console: console.Config{
			Files: consolefiles.Files(), Page: consolefiles.Page, OperatorPage: consolefiles.OperatorPage, SignIn: signIn,
		},
		Vault:   vault,
		OrgOf:   host.Directory().Lookup,
		Node:    node,
		Streams: func(ticket string) (api.EventStream, bool) { return system.TakeStream(ticket) },
		Doctor: func(ctx context.Context) operator.Doctor {
			return examineRunning(ctx, w, server, values, store, host, model, system.Moving())
		},
	})
}

// maxConnections bounds the connections of the public interface, however many files may be
// open: at about 20 KiB each these cost 200 MiB.
const maxConnections = 10_000

// examineRunning is the server's report about itself.
func examineRunning(
	ctx context.Context, w world, server config.Server, values []config.Value, store *storage.Node, host *cluster.Host,
	model *embed.Model, moves moving.Progress,
) operator.Doctor {
	report := operator.Doctor{Version: version}
	for _, v := range values {
		report.Config = append(report.Config, operator.Setting{Name: v.Name, Value: v.Value, Origin: string(v.Origin)})
	}
	checks, _ := doctor.Examine(ctx, doctor.Patient{
		Server: server, Environ: w.environ(), Kernel: string(model.Kernel()), Now: w.clock.Now(), Running: true,
	})
	for _, check := range checks {
		report.Checks = append(report.Checks, operator.Check(check))
	}
	ready := operator.Check{Name: "shards", OK: true, Detail: fmt.Sprintf("%d shards serve", host.Shards())}
	if err := host.Ready(); err != nil {
		ready.OK, ready.Detail = false, err.Error()
	}
	report.Checks = append(report.Checks, ready, damageCheck(store.Outages()), embeddingCheck(moves))
	return report
}

// maxOutagesTold bounds the damaged stores that doctor names.
const maxOutagesTold = 20

// damageCheck says which organizations are out of service on this node, and why.
func damageCheck(outages map[storage.StoreID]string) operator.Check {
	if len(outages) == 0 {
		return operator.Check{Name: "stored data", OK: true, Detail: "no damage was found since the start"}
	}
	var told []string
	for id, why := range outages {
		told = append(told, fmt.Sprintf("%v is out of service: %s", id, why))
	}
	slices.Sort(told)
	if more := len(told) - maxOutagesTold; more > 0 {
		told = append(told[:maxOutagesTold], fmt.Sprintf("and %d more", more))
	}
	told[len(told)-1] += "; docs/operations.md says what to do (Damaged data)"
	return operator.Check{Name: "stored data", Detail: strings.Join(told, "; ")}
}

// tokenBytes of randomness make an operator token, written in hexadecimal.
const tokenBytes = 32

// operatorToken reads the token from the data directory, or makes it on the
// first start.
func operatorToken(data string) (string, error) {
	path := filepath.Join(data, config.OperatorToken)
	raw, err := os.ReadFile(path)
	if err == nil {
		if token := strings.TrimSpace(string(raw)); len(token) >= api.MinOperatorToken {
			return token, nil
		}
		return "", fmt.Errorf("operator token: %s holds none; delete it and start again to get a new one", path)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("operator token: %w", err)
	}
	token := make([]byte, tokenBytes)
	rand.Read(token) // never fails
	text := hex.EncodeToString(token)
	return text, writeSecret(path, text)
}

// writeSecret writes a line that only the owner may read: a key that was shown is
// still there after a power failure.
func writeSecret(path, text string) error {
	if err := durable.WriteFile(path, strings.NewReader(text+"\n")); err != nil {
		return fmt.Errorf("write %s: %w", filepath.Base(path), err)
	}
	return nil
}

// listeners are the two doors. They are opened before the service is ready, so
// that a port that is taken is found at once.
type listeners struct{ public, operator net.Listener }

func listen(ctx context.Context, server config.Server) (listeners, error) {
	var (
		config net.ListenConfig
		l      listeners
		err    error
	)
	if l.public, err = config.Listen(ctx, "tcp", server.Listen); err != nil {
		return l, fmt.Errorf("public interface: %w", err)
	}
	if l.operator, err = config.Listen(ctx, "tcp", server.OperatorListen); err != nil {
		return l, errors.Join(fmt.Errorf("operator interface: %w", err), l.public.Close())
	}
	return l, nil
}

// Close is for the way in only: once served, the edge owns the listeners.
func (l listeners) Close() error { return errors.Join(l.public.Close(), l.operator.Close()) }
