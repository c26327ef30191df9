// Package keys has API keys in JSON. It promises that only the answer that makes a key carries the key itself, and that
// all lists show the same fields of a key.
package keys

import (
	"orgmem/api/web"
	"orgmem/api/wire"
	pb "orgmem/proto"
)

// Key is a key in a list. Its scopes and when it was revoked are beside the contract.
type Key struct {
	ID         string         `json:"id" doc:"@apiKey.id"`
	Label      string         `json:"label"`
	Status     string         `json:"status" enum:"active,revoked"`
	Scopes     []string       `json:"scopes" doc:"@apiKey.scopes"`
	CreatedAt  wire.Timestamp `json:"createdAt"`
	LastUsedAt wire.Timestamp `json:"lastUsedAt" nullable:"true" doc:"@apiKey.lastUsedAt"`
	RevokedAt  wire.Timestamp `json:"revokedAt" nullable:"true" doc:"@apiKey.revokedAt"`
}

func keyOf(k *pb.Key) (Key, bool) {
	hash, err := pb.KeyHashFrom(k.GetHash())
	return Key{
		ID: hash.String(), Label: k.GetLabel(), Status: k.GetStatus(), Scopes: k.GetScopes(),
		CreatedAt:  wire.Timestamp(k.GetCreatedMs()),
		LastUsedAt: wire.NotBefore(k.GetLastUsedMs(), k.GetCreatedMs()),
		RevokedAt:  wire.NotBefore(k.GetRevokedMs(), k.GetCreatedMs()),
	}, err == nil
}

type apiKey Key // named in the interface's document

// KeyList is a caller's own keys.
type KeyList struct {
	Keys []apiKey `json:"keys"`
}

// Own answers a caller's own keys.
func Own(reply *pb.Reply) (KeyList, bool) {
	list := reply.GetKeys()
	out := KeyList{Keys: make([]apiKey, 0, len(list.GetKeys()))}
	for _, k := range list.GetKeys() {
		key, ok := keyOf(k)
		if !ok {
			return KeyList{}, false
		}
		out.Keys = append(out.Keys, apiKey(key))
	}
	return out, list != nil
}

// TeamKey is a key and whose it is.
type TeamKey struct {
	UserID string `json:"userId" format:"uuid"`
	Key
}

// Team answers a page of all members' keys.
func Team(reply *pb.Reply) (web.PageOf[TeamKey], bool) {
	list := reply.GetAccount().GetTeamKeys()
	return web.PageFrom(list != nil, list.GetKeys(), list.GetNextCursor(), func(k *pb.Key) (TeamKey, bool) {
		user, err := pb.UserIDFrom(k.GetUser())
		key, ok := keyOf(k)
		return TeamKey{user.String(), key}, ok && err == nil
	})
}

// SandboxKey is a key to the sandbox.
type SandboxKey struct {
	Key
	ExpiresAt wire.Timestamp `json:"expiresAt"`
}

// Sandbox answers a page of the sandbox's keys.
func Sandbox(reply *pb.Reply) (web.PageOf[SandboxKey], bool) {
	list := reply.GetAccount().GetSandboxKeys()
	return web.PageFrom(list != nil, list.GetKeys(), list.GetNextCursor(), func(k *pb.Key) (SandboxKey, bool) {
		key, ok := keyOf(k)
		return SandboxKey{key, wire.Timestamp(k.GetExpiresMs())}, ok
	})
}

// NewKey is a key that has just been made.
type NewKey struct {
	APIKey string `json:"apiKey" doc:"The key. It is shown this once; a replay carries a marker in its place."`
	ID     string `json:"id"`
	Label  string `json:"label"`
}

// Made answers a new key.
func Made(reply *pb.Reply) (NewKey, bool) {
	k := reply.GetNewKey()
	return NewKey{k.GetApiKey(), k.GetId(), k.GetLabel()}, k != nil
}

// NewSandboxKey is a key to the sandbox that has just been made.
type NewSandboxKey struct {
	APIKey    string         `json:"apiKey" doc:"The key. It is shown this once."`
	ID        string         `json:"id"`
	Label     string         `json:"label"`
	Scopes    []string       `json:"scopes" doc:"Always read and write."`
	Subject   string         `json:"subject" doc:"The name of the sandbox's one partition."`
	ExpiresAt wire.Timestamp `json:"expiresAt"`
}

// MadeForSandbox answers a new key to the sandbox.
func MadeForSandbox(reply *pb.Reply) (NewSandboxKey, bool) {
	k := reply.GetAccount().GetNewSandboxKey()
	return NewSandboxKey{
		k.GetApiKey(), k.GetId(), k.GetLabel(), k.GetScopes(), k.GetSubject(), wire.Timestamp(k.GetExpiresMs()),
	}, k != nil
}
