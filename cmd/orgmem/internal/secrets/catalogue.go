package secrets

import (
	"regexp"
	"strings"
	"sync"
	"unicode"
)

// rule describes one kind of secret. What its last group matches is the secret; the
// rest stays, so that a reader still sees what was done with it.
type rule struct {
	name  string
	match *regexp.Regexp
	// hints are lower-case words, one of which every match holds.
	hints []string
	// unless says of a match, by what stands before the secret and the secret, that
	// it is no secret. It may be nil.
	unless func(before, secret string) bool
}

// minQuoted is how long a value must be to be taken for a secret by its name alone.
const minQuoted = 6

// secretWords end, or with a few letters more nearly end, the name of what holds a
// secret.
const secretWords = `password|passwd|passphrase|passcode|pwd|secret|secret[_-]?key|secret[_-]?access[_-]?key|` +
	`api[_-]?key|api[_-]?secret|access[_-]?key|account[_-]?key|auth[_-]?key|auth[_-]?token|access[_-]?token|` +
	`refresh[_-]?token|id[_-]?token|session[_-]?token|bot[_-]?token|` +
	`client[_-]?secret|private[_-]?key|signing[_-]?key|encryption[_-]?key|master[_-]?key|` +
	`webhook[_-]?secret|credentials?|token`

// catalogue is in the order of use: first what is known by its own form, so that its
// mark can say what it was, then what is known by its place. It is compiled when it
// is first needed: most commands never do.
var catalogue = sync.OnceValue(func() []rule {
	return []rule{
		{name: "private key", hints: []string{"private key"}, match: regexp.MustCompile(
			`(?s)-----BEGIN [A-Z0-9 ]{0,32}PRIVATE KEY(?: BLOCK)?-----.*?` +
				`(?:-----END [A-Z0-9 ]{0,32}PRIVATE KEY(?: BLOCK)?-----|\z)`)},
		{name: "age key", hints: []string{"age-secret-key-"}, match: regexp.MustCompile(`AGE-SECRET-KEY-1[0-9A-Z]{58}`)},
		{
			name: "putty key", hints: []string{"private-lines:"},
			match: regexp.MustCompile(`(?s)(Private-Lines: \d+\s+)([A-Za-z0-9+/=\s]{40,})`),
		},

		// Clouds.
		{
			name: "AWS access key", hints: []string{"akia", "asia", "abia", "acca", "a3t"},
			match: regexp.MustCompile(`\b(?:A3T[A-Z0-9]|AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b`),
		},
		{
			name: "Google key", hints: []string{"aiza", "ya29.", "gocspx-"},
			match: regexp.MustCompile(`\bAIza[A-Za-z0-9_-]{35}|\bya29\.[A-Za-z0-9_-]{20,}|\bGOCSPX-[A-Za-z0-9_-]{20,}`),
		},
		{
			name: "Azure key", hints: []string{"accountkey=", "sharedaccesskey="},
			match: regexp.MustCompile(`(?i)\b((?:Account|SharedAccess)Key=)([A-Za-z0-9+/]{40,}={0,2})`),
		},
		{name: "Azure signature", hints: []string{"sig="}, match: regexp.MustCompile(`([?&]sig=)([A-Za-z0-9%+/=_-]{20,})`)},
		{
			name: "signed URL", hints: []string{"x-amz-signature=", "x-goog-signature=", "x-amz-security-token="},
			match: regexp.MustCompile(`(?i)\b(X-(?:Amz|Goog)-(?:Signature|Security-Token)=)([A-Za-z0-9%+/=_-]{20,})`),
		},
		{name: "DigitalOcean token", hints: []string{"_v1_"}, match: regexp.MustCompile(`\bdo[opr]_v1_[a-f0-9]{64}\b`)},
		{name: "Cloudflare key", hints: []string{"v1.0-"}, match: regexp.MustCompile(`\bv1\.0-[a-f0-9]{24}-[a-f0-9]{100,}`)},
		{
			name: "Terraform token", hints: []string{".atlasv1."},
			match: regexp.MustCompile(`\b[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{60,}`),
		},
		{name: "Vault token", hints: []string{"hvs.", "hvb."}, match: regexp.MustCompile(`\bhv[sb]\.[A-Za-z0-9_-]{20,}`)},
		{
			name: "Fly token", hints: []string{"fm1_", "fm2_", "fo1_"},
			match: regexp.MustCompile(`\b(?:fm[12]|fo1)_[A-Za-z0-9+/=_-]{20,}`),
		},
		{name: "Heroku key", hints: []string{"hrku-"}, match: regexp.MustCompile(`\bHRKU-[A-Za-z0-9_-]{30,}`)},

		// Where code is kept and shipped.
		{
			name: "GitHub token", hints: []string{"ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"},
			match: regexp.MustCompile(`\bgh[pousr]_[A-Za-z0-9]{36,255}|\bgithub_pat_[A-Za-z0-9_]{22,255}`),
		},
		{
			name: "GitLab token", hints: []string{"glpat-", "gldt-", "glptt-", "glrt-", "glcbt-", "glsoat-", "glft-", "gloas-"},
			match: regexp.MustCompile(`\bgl(?:pat|dt|ptt|rt|cbt|soat|ft|oas)-[A-Za-z0-9_.-]{20,}`),
		},
		{
			name: "Bitbucket token", hints: []string{"atctt3", "atbb", "atatt3"},
			match: regexp.MustCompile(`\b(?:ATCTT3|ATATT3)[A-Za-z0-9_=-]{40,}|\bATBB[A-Za-z0-9]{32}\b`),
		},
		{name: "npm token", hints: []string{"npm_"}, match: regexp.MustCompile(`\bnpm_[A-Za-z0-9]{36}\b`)},
		{name: "PyPI token", hints: []string{"pypi-ag"}, match: regexp.MustCompile(`\bpypi-Ag[A-Za-z0-9_-]{50,}`)},
		{name: "Docker token", hints: []string{"dckr_"}, match: regexp.MustCompile(`\bdckr_(?:pat|oat)_[A-Za-z0-9_-]{20,}`)},
		{name: "RubyGems key", hints: []string{"rubygems_"}, match: regexp.MustCompile(`\brubygems_[a-f0-9]{48}\b`)},
		{
			name: "Sentry token", hints: []string{"sntrys_", "sntryu_"},
			match: regexp.MustCompile(`\bsntry[su]_[A-Za-z0-9+/=_-]{40,}`),
		},

		// Models and their vendors.
		{name: "API key", hints: []string{"sk-"}, match: regexp.MustCompile(`\bsk-[A-Za-z0-9_-]{20,}`), unless: plain},
		{name: "Hugging Face token", hints: []string{"hf_"}, match: regexp.MustCompile(`\bhf_[A-Za-z0-9]{30,}`)},
		{name: "Replicate token", hints: []string{"r8_"}, match: regexp.MustCompile(`\br8_[A-Za-z0-9]{37,}`)},
		{name: "Groq key", hints: []string{"gsk_"}, match: regexp.MustCompile(`\bgsk_[A-Za-z0-9]{40,}`)},
		{name: "xAI key", hints: []string{"xai-"}, match: regexp.MustCompile(`\bxai-[A-Za-z0-9]{40,}`)},

		// Services.
		{name: "orgmem key", hints: []string{"svc_"}, match: regexp.MustCompile(`\bsvc_(?:prod|sandbox)_[A-Za-z0-9_-]{43}`)},
		{name: "webhook secret", hints: []string{"whsec_"}, match: regexp.MustCompile(`\bwhsec_[A-Za-z0-9+/=]{24,}`)},
		{
			name: "Slack token", hints: []string{"xox", "xapp-"},
			match: regexp.MustCompile(`\bxox[abeoprs](?:\.xox[bp])?-[A-Za-z0-9-]{10,}|\bxapp-\d-[A-Za-z0-9-]{20,}`),
		},
		{
			name: "Slack webhook", hints: []string{"hooks.slack.com"},
			match: regexp.MustCompile(`(hooks\.slack\.com/(?:services|workflows|triggers)/)([A-Za-z0-9/_+-]{20,})`),
		},
		{
			name: "Discord webhook", hints: []string{"/api/webhooks/"},
			match: regexp.MustCompile(`(discord(?:app)?\.com/api/webhooks/\d+/)([A-Za-z0-9_-]{30,})`),
		},
		{
			name: "Telegram token", hints: []string{":aa"},
			match: regexp.MustCompile(`\b(?:bot)?(\d{8,10}:AA[A-Za-z0-9_-]{33})`),
		},
		{
			name: "Stripe key", hints: []string{"_live_", "_test_"},
			match: regexp.MustCompile(`\b[srp]k_(?:live|test)_[A-Za-z0-9]{16,}`),
		},
		{
			name: "SendGrid key", hints: []string{"sg."},
			match: regexp.MustCompile(`\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}`),
		},
		{name: "Twilio key", hints: []string{"sk"}, match: regexp.MustCompile(`\bSK[0-9a-f]{32}\b`)},
		{name: "Mailgun key", hints: []string{"key-"}, match: regexp.MustCompile(`\bkey-[0-9a-f]{32}\b`)},
		{name: "Mailchimp key", hints: []string{"-us"}, match: regexp.MustCompile(`\b[0-9a-f]{32}-us\d{1,2}\b`)},
		{
			name: "Shopify token", hints: []string{"shpat_", "shpca_", "shppa_", "shpss_"},
			match: regexp.MustCompile(`\bshp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}\b`),
		},
		{
			name: "Square token", hints: []string{"sq0", "eaaa"},
			match: regexp.MustCompile(`\bsq0(?:atp|csp)-[A-Za-z0-9_-]{22,}|\bEAAA[A-Za-z0-9_-]{60}\b`),
		},
		{name: "Databricks token", hints: []string{"dapi"}, match: regexp.MustCompile(`\bdapi[0-9a-f]{32}\b`)},
		{
			name: "Notion token", hints: []string{"secret_", "ntn_"},
			match: regexp.MustCompile(`\bsecret_[A-Za-z0-9]{43}\b|\bntn_[A-Za-z0-9]{40,}`),
		},
		{
			name: "Linear key", hints: []string{"lin_api_", "lin_oauth_"},
			match: regexp.MustCompile(`\blin_(?:api|oauth)_[A-Za-z0-9]{32,}`),
		},
		{
			name: "Grafana token", hints: []string{"glc_", "glsa_"},
			match: regexp.MustCompile(`\bgl(?:c|sa)_[A-Za-z0-9+/=_]{32,}`),
		},
		{name: "New Relic key", hints: []string{"nrak-"}, match: regexp.MustCompile(`\bNRAK-[A-Z0-9]{27}\b`)},
		{name: "Postman key", hints: []string{"pmak-"}, match: regexp.MustCompile(`\bPMAK-[a-f0-9]{24}-[a-f0-9]{34}\b`)},
		{
			name: "PlanetScale password", hints: []string{"pscale_"},
			match: regexp.MustCompile(`\bpscale_(?:pw|tkn|oauth)_[A-Za-z0-9_.=-]{32,}`),
		},
		{name: "Supabase token", hints: []string{"sbp_"}, match: regexp.MustCompile(`\bsbp_[a-f0-9]{40}\b`)},
		{
			name: "Doppler token", hints: []string{"dp."},
			match: regexp.MustCompile(`\bdp\.(?:pt|st|ct|sa|scim|audit)\.[A-Za-z0-9_.-]{40,}`),
		},
		{name: "Airtable token", hints: []string{"pat"}, match: regexp.MustCompile(`\bpat[A-Za-z0-9]{14}\.[a-f0-9]{64}\b`)},
		{name: "1Password token", hints: []string{"ops_eyj"}, match: regexp.MustCompile(`\bops_eyJ[A-Za-z0-9_=-]{60,}`)},
		{
			name: "JWT", hints: []string{"eyj"},
			match: regexp.MustCompile(`\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?`),
		},

		// By its place.
		{
			name: "password in a URL", hints: []string{"://"},
			match:  regexp.MustCompile("\\b([A-Za-z][A-Za-z0-9+.-]{1,20}://[^\\s/?#@:\"'<>`]*:)([^\\s/?#@\"'<>`]+)(?:@)"),
			unless: reference,
		},
		{
			name: "token in a URL", hints: []string{"://"},
			match: regexp.MustCompile(`\b([A-Za-z][A-Za-z0-9+.-]{1,20}://)([A-Za-z0-9_-]{20,})(?:@)`), unless: plain,
		},
		{
			name: "token in a URL", hints: []string{"token=", "key=", "secret=", "password=", "signature="},
			match: regexp.MustCompile(
				`(?i)([?&](?:[a-z_]*token|api_?key|key|client_secret|secret|password|signature)=)([^\s&#"'<>]{8,})`),
			unless: plain,
		},
		{
			name: "authorization", hints: []string{"authorization"},
			match: regexp.MustCompile(
				`(?i)(authorization\\?["']?\s*[:=]\s*\\?["']?\s*` +
					`(?:bearer|basic|token|digest|apikey|negotiate)?\s*)([^\s"'\\,;<>${}]{8,})`), unless: reference,
		},
		{
			name: "bearer token", hints: []string{"bearer"},
			match: regexp.MustCompile(`(?i)(\bbearer\s+)([A-Za-z0-9._~+/-]{16,}=*)`), unless: plain,
		},
		{
			name: "cookie", hints: []string{"cookie"},
			match: regexp.MustCompile(`(?i)(\b(?:set-)?cookie\\?["']?\s*:\s*\\?["']?)([A-Za-z0-9_.-]+=[^\r\n"'\\]{8,})`),
		},
		{
			name: "password of a login", hints: []string{"login"},
			match: regexp.MustCompile(`(?i)(\blogin\s+\S+\s+password\s+)(\S+)`), unless: reference,
		},
		{
			name: "password of a command", hints: []string{"curl", "wget", "http"},
			match: regexp.MustCompile(`(\bcurl\b[^\n|;]*?\s(?:-u|--user)[ =]["']?[^\s:"']+:)([^\s"']+)`), unless: reference,
		},
		{
			name: "password of a command", hints: []string{"mysql", "mariadb", "sshpass"},
			match: regexp.MustCompile(
				`(\b(?:mysql|mysqldump|mysqladmin|mariadb)\b[^\n|;]*?\s-p|\bsshpass\s+-p\s*)["']?([^\s"']{3,})`),
			unless: reference,
		},
		{name: "password of a command", hints: []string{
			"--pass", "--token", "--api", "--secret", "--access", "--auth",
			"--client-secret",
		}, match: regexp.MustCompile(
			`(?i)(--(?:password|passwd|pass|passphrase|token|api-?key|api-?token|secret|secret-key|access-token|` +
				`access-key|auth-token|client-secret)(?:=|\s+)["']?)([^\s"'\\` + "`" + `,;]{4,})`), unless: reference},
		{name: "assigned secret", hints: assigned, match: regexp.MustCompile(
			`(?i)((?:` + secretWords + `)[0-9]*\\?["']?\s{0,4}(?:=>|:=|[:=])\s{0,4}\\?["'` + "`" + `])([^"'` + "`" +
				`\n\\]{6,})`), unless: reference},
		{name: "assigned secret", hints: assigned, match: regexp.MustCompile(
			`(?i)([a-z0-9_.-]*(?:` + secretWords + `)[0-9]*\\?["']?[ \t]{0,4}(?:=>|:=|[:=])[ \t]{0,4})([^\s"'` + "`" +
				`,;(){}\[\]<>\\]{6,})`), unless: code},
	}
})

// assigned are the hints of an assignment: a part of each of secretWords.
var assigned = []string{"pass", "pwd", "secret", "key", "token", "credential"}

// reference: what is no secret but says where one is, or is a placeholder.
func reference(_, secret string) bool { return harmless(secret) }

// plain: words with hyphens, of letters alone.
func plain(before, secret string) bool {
	return reference(before, secret) || !strings.ContainsFunc(secret, unicode.IsDigit)
}

// code: an unquoted value is a secret when it has a digit, as names of variables and
// types mostly have not, or when the sign stands tight between the two, as in the
// environment and on command lines, and it is no name of code.
func code(before, secret string) bool {
	if reference(before, secret) {
		return true
	}
	if strings.ContainsFunc(secret, unicode.IsDigit) {
		return pathOfNames.MatchString(secret)
	}
	name, tight := strings.CutSuffix(before, "=")
	if !tight || strings.HasSuffix(name, " ") || strings.HasSuffix(name, ":") {
		return true
	}
	return name != strings.ToUpper(name) && strings.ContainsAny(secret, "_.")
}

var pathOfNames = regexp.MustCompile(`^[A-Za-z_]+[0-9]?(?:(?:\.|->|::)[A-Za-z_]+[0-9]?)+$`)
