package secrets

import "testing"

// vendors are the forms of the catalogue's other rules, as their owners document them.
var vendors = []leak{
	{"age key", "# ", "AGE-SECRET-KEY-1" + r("QPZRY9X8GF", 5) + "QPZRY9X8", "\n"},
	{"putty key", "Public-Lines: 2\nPrivate-Lines: 1\n", r("AAAAgQ+/", 8), ""},
	{"Azure signature", "https://a.blob.core.windows.net/c?sv=2022&sig=", r("aB3%2B", 5) + "%3D", "&se=1"},
	{"signed URL", "https://b.s3.amazonaws.com/k?X-Amz-Signature=", r("0a1b2c3d", 8), "&x=1"},
	{"DigitalOcean token", "", "dop_v1_" + r("0a1b2c3d", 8), " used"},
	{"Cloudflare key", "origin ca ", "v1.0-" + r("0a1b2c3d", 3) + "-" + r("0a1b2c3d", 18), ""},
	{"Terraform token", "", r("aB3dE7f", 2) + ".atlasv1." + r("aB3d", 16), ""},
	{"Vault token", "vault login ", "hvs." + r("aB3d", 6), ""},
	{"Fly token", "", "fm2_" + r("aB3d", 8), ""},
	{"Heroku key", "", "HRKU-" + r("aB3d", 9), ""},
	{"Bitbucket token", "", "ATBB" + r("aB3d", 8), ""},
	{"Bitbucket token", "", "ATATT3" + r("aB3d", 12), ""},
	{"Docker token", "docker login as me with ", "dckr_pat_" + r("aB3d", 7), ""},
	{"RubyGems key", "", "rubygems_" + r("0a1b2c3d", 6), ""},
	{"Sentry token", "", "sntrys_" + r("aB3d", 12), ""},
	{"Replicate token", "", "r8_" + r("aB3d", 10), ""},
	{"Groq key", "", "gsk_" + r("aB3d", 13), ""},
	{"xAI key", "", "xai-" + r("aB3d", 20), ""},
	{"Discord webhook", "https://discord.com/api/webhooks/123456789/", r("aB3_", 17), ""},
	{"Twilio key", "twilio ", "SK" + r("0a1b2c3d", 4), ""},
	{"Mailgun key", "api:", "key-" + r("0a1b2c3d", 4), ""},
	{"Mailchimp key", "", r("0a1b2c3d", 4) + "-us14", ""},
	{"Shopify token", "", "shpat_" + r("0a1b2c3d", 4), ""},
	{"Square token", "", "sq0atp-" + r("aB3d", 5) + "eF", ""},
	{"Notion token", "", "secret_" + r("aB3d", 10) + "eFg", ""},
	{"Notion token", "", "ntn_" + r("aB3d", 11), ""},
	{"Linear key", "", "lin_api_" + r("aB3d", 10), ""},
	{"Grafana token", "", "glsa_" + r("aB3d", 8) + "_0a1b2c3d", ""},
	{"New Relic key", "", "NRAK-" + r("A1B", 9), ""},
	{"Postman key", "", "PMAK-" + r("0a1b2c3d", 3) + "-" + r("0a1b2c3d", 4) + "0a", ""},
	{"PlanetScale password", "", "pscale_pw_" + r("aB3d", 10), ""},
	{"Supabase token", "", "sbp_" + r("0a1b2c3d", 5), ""},
	{"Doppler token", "", "dp.pt." + r("aB3d", 11), ""},
	{"Airtable token", "", "pat" + r("aB3dE7f", 2) + "." + r("0a1b2c3d", 8), ""},
	{"1Password token", "", "ops_eyJ" + r("aB3d", 20), ""},
}

// Each rule of the catalogue takes out the secret of a row of its name, so that a rule that
// stops matching what it is for is seen.
func TestEveryRuleHasItsSecret(t *testing.T) {
	for i, rule := range catalogue() {
		held := false
		for _, l := range append(leaks, vendors...) {
			held = held || l.name == rule.name && rule.match.MatchString(l.before+l.secret+l.after)
		}
		if !held {
			t.Errorf("rule %d, %s: no row of that name matches it", i, rule.name)
		}
	}
}
