package orgmem

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"
)

// Version is that of this client, which the User-Agent names.
const Version = "0.1.0"

// The variables that a Config without an APIKey or a BaseURL is filled from.
const (
	EnvAPIKey  = "ORGMEM_API_KEY"
	EnvBaseURL = "ORGMEM_BASE_URL"
)

const (
	defaultBaseURL     = "http://127.0.0.1:8080"
	defaultTimeout     = 30 * time.Second
	defaultMaxRetries  = 8
	defaultRetryBudget = 60 * time.Second
	// Three heartbeats of the event stream that did not come: nobody is there any more.
	streamSilence = 45 * time.Second
	// net/http keeps two connections by default; a hundred calls at a time would
	// make, and throw away, ninety-eight.
	idleConnections = 100
)

// Config says how the service is reached. The zero value takes everything from the
// environment.
type Config struct {
	// APIKey is ORGMEM_API_KEY by default.
	APIKey string
	// BaseURL is ORGMEM_BASE_URL, or else http://127.0.0.1:8080, by default.
	BaseURL string
	// AllowInsecure permits that the key is sent to another machine without TLS.
	AllowInsecure bool

	// Timeout bounds one try: 30 s by default. Of an upload, a download and the event
	// stream it bounds the time in which nothing moves.
	Timeout time.Duration
	// MaxRetries is how often a request is sent again: 8 by default, never if negative.
	MaxRetries int
	// RetryBudget bounds the pauses of one call together: 60 s by default.
	RetryBudget time.Duration

	// HTTPClient is used with its Transport and Jar; redirects are never followed, since
	// the key would go along. Its Timeout would end streams: leave it 0. Without a
	// Transport the client has one that takes the proxy of the environment, and none to
	// this machine.
	HTTPClient *http.Client
	// Now, Sleep and Random (in [0, 1)) are the world's; tests put theirs here.
	Now    func() time.Time
	Sleep  func(context.Context, time.Duration) error
	Random func() float64
}

// Client speaks to one service with one key. Large because it is the verb set: a
// method for each verb, and a field for each group of them.
type Client struct {
	base    string // without a slash at its end
	baseIs  string // where base was found, for people
	keyIs   string
	key     string
	subject string
	broken  error  // every call returns it, and sends nothing
	cfg     Config // with its defaults
	silence time.Duration

	Edges          EdgesService
	Domains        DomainsService
	Recall         RecallService
	Contradictions ContradictionsService
	Proposals      ProposalsService
	Condition      ConditionService
	Subjects       SubjectsService
	Keys           KeysService
	Sandbox        SandboxService
	Jobs           JobsService
	Imports        ImportsService
	Exports        ExportsService
	Purge          PurgeService
	Webhooks       WebhooksService
	Sessions       SessionsService
	Brain          BrainService
	Connectors     ConnectorsService
	Settings       SettingsService
	Quality        QualityService
}

// New makes a client. It sends nothing.
func New(cfg Config) (*Client, error) {
	c := &Client{key: cfg.APIKey, keyIs: "Config.APIKey", base: cfg.BaseURL, baseIs: "Config.BaseURL", silence: streamSilence}
	if c.key == "" {
		c.key, c.keyIs = os.Getenv(EnvAPIKey), EnvAPIKey
	}
	if c.base == "" {
		c.base, c.baseIs = os.Getenv(EnvBaseURL), EnvBaseURL
	}
	if c.base == "" {
		c.base, c.baseIs = defaultBaseURL, "the default, since neither Config.BaseURL nor "+EnvBaseURL+" is set"
	}
	c.key = strings.TrimSpace(c.key) // $(cat FILE) leaves no line end, an editor may
	switch {
	case c.key == "":
		return nil, argument("there is no API key: set %s, or Config.APIKey; `orgmem key create` makes one", EnvAPIKey)
	case strings.ContainsFunc(c.key, invisible):
		return nil, argument("the API key of %s holds a character that no key has: copy it once more", c.keyIs)
	}
	if err := c.checkBase(cfg.AllowInsecure); err != nil {
		return nil, err
	}
	c.cfg = cfg.withDefaults()
	if u, err := url.Parse(c.base); c.cfg.HTTPClient.Transport == nil {
		c.cfg.HTTPClient.Transport = sharedTransport
		if err == nil && loopback(u.Hostname()) {
			c.cfg.HTTPClient.Transport = localTransport
		}
	}
	c.bind()
	return c, nil
}

// invisible says that a character has no place in a header's value that is one word.
func invisible(r rune) bool { return r <= ' ' || r > '~' }

// checkBase reads the address as a person may have typed it.
func (c *Client) checkBase(insecure bool) error {
	c.base = strings.TrimRight(strings.TrimSpace(c.base), "/")
	u, err := url.Parse(c.base)
	switch {
	case err != nil, u.Host == "", u.Scheme != "http" && u.Scheme != "https":
		return argument("the base address %q (%s) is not valid: write it like https://memory.example.com", c.base, c.baseIs)
	case u.User != nil, u.RawQuery != "", u.Fragment != "":
		return argument("the base address (%s) may have a host and a path, and nothing else: the key goes into %s", c.baseIs, EnvAPIKey)
	case strings.HasSuffix(u.Path, "/v1"):
		return argument("the base address %q (%s) ends in /v1, which the client adds itself: leave it out", c.base, c.baseIs)
	case u.Scheme == "http" && !insecure && !loopback(u.Hostname()):
		return argument("the key would go to %s in the clear: use https in the base address (%s), or set Config.AllowInsecure where the network is your own", u.Host, c.baseIs)
	}
	return nil
}

// loopback says that a host is this machine.
func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || strings.HasSuffix(host, ".localhost") || ip != nil && ip.IsLoopback()
}

func (cfg Config) withDefaults() Config {
	if cfg.Timeout <= 0 {
		cfg.Timeout = defaultTimeout
	}
	if cfg.MaxRetries == 0 {
		cfg.MaxRetries = defaultMaxRetries
	}
	if cfg.RetryBudget <= 0 {
		cfg.RetryBudget = defaultRetryBudget
	}
	client := http.Client{}
	if cfg.HTTPClient != nil {
		client = *cfg.HTTPClient
	}
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	cfg.HTTPClient = &client
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Sleep == nil {
		cfg.Sleep = sleep
	}
	if cfg.Random == nil {
		cfg.Random = rand.Float64
	}
	return cfg
}

// These keep the connections of all clients of the program.
var (
	sharedTransport = newTransport()
	// localTransport is for this machine. It knows no proxy: by the rules of net/http
	// some of the names that are loopback are none, and a proxy would get the key.
	localTransport = func() *http.Transport {
		t := newTransport()
		t.Proxy = nil
		return t
	}()
)

func newTransport() *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxIdleConns, t.MaxIdleConnsPerHost = 0, idleConnections
	return t
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}

// bind gives the services their client.
func (c *Client) bind() {
	c.Edges, c.Domains, c.Recall = EdgesService{c}, DomainsService{c}, RecallService{c}
	c.Contradictions, c.Proposals, c.Condition = ContradictionsService{c}, ProposalsService{c}, ConditionService{c}
	c.Subjects, c.Keys, c.Sandbox = SubjectsService{c}, KeysService{c}, SandboxService{SandboxKeysService{c}, c}
	c.Jobs, c.Imports, c.Exports = JobsService{c}, ImportsService{c}, ExportsService{c}
	c.Purge, c.Webhooks, c.Sessions = PurgeService{c}, WebhooksService{c}, SessionsService{c}
	c.Brain, c.Connectors, c.Settings = BrainService{c}, ConnectorsService{c}, SettingsService{c}
	c.Quality = QualityService{c}
}

// Subject returns a client that acts as a provisioned subject, over the same
// connections. The key's owner is whom the client acts as that Subject was not called
// on; an empty id is nobody, and every call of its client is an ArgumentError.
func (c *Client) Subject(id string) *Client {
	as := *c
	as.subject, as.broken = id, nil
	if id == "" { // of a session that was lost, say: it must not get the owner's memory
		as.broken = argument("the id of the subject is empty: give one, or use the client that Subject was called on to act as the key's owner")
	}
	as.bind()
	return &as
}

// String names the client without its key, so that no log gets it.
func (c *Client) String() string {
	if c.subject == "" && c.broken == nil {
		return "orgmem client of " + c.base
	}
	return fmt.Sprintf("orgmem client of %s as %q", c.base, c.subject)
}

// GoString is String: %#v would print the key.
func (c *Client) GoString() string { return c.String() }
