package connector

import (
	"encoding/json"
	"fmt"

	"orgmem/cluster/wire"
	pb "orgmem/proto"
	"orgmem/storage"
)

// SecretFields are the fields of a config that are written and never read. They
// are stored sealed, apart from the rest (tenant.View.Seal).
var SecretFields = []string{"token", "authorization"}

// splitConfig parts a config into what may be shown and its secrets, which are nil
// where it has none.
func splitConfig(raw []byte) (shown, secrets []byte, err error) {
	config, err := ParseConfig(raw)
	if err != nil {
		return nil, nil, err
	}
	hidden := map[string]json.RawMessage{}
	for _, name := range SecretFields {
		if secret, ok := config[name]; ok {
			hidden[name] = secret
			delete(config, name)
		}
	}
	if shown, err = json.Marshal(config); err != nil || len(hidden) == 0 {
		return shown, nil, err
	}
	secrets, err = json.Marshal(hidden)
	return shown, secrets, err
}

// connectorSettings seals the secrets of connectors.
const connectorSettings = "orgmem connector secrets"

// giveConfig gives a connector a config, as it is stored: with the secrets sealed. While
// some node runs a program that would not find them there they stay readable; the next
// opening of the organization behind the upgrade seals them.
func (o *Module) giveConfig(k *pb.Connector, raw []byte) error {
	k.Config, k.Sealed = raw, nil
	if !o.System.Config.Host.Speaks(wire.SealedVersion) {
		return nil
	}
	shown, secrets, err := splitConfig(raw)
	if err != nil || secrets == nil {
		return err
	}
	sealed, err := o.Seal(connectorSettings, secrets, k.GetId())
	if err != nil {
		return err
	}
	k.Config, k.Sealed = shown, sealed
	return nil
}

// UnsealConfig is a stored connector's config with its secrets; weak says that they are
// to be sealed anew.
func (o *Module) UnsealConfig(k *pb.Connector) (raw []byte, weak bool, err error) {
	if k.GetSealed() == nil {
		_, secrets, err := splitConfig(k.GetConfig())
		return k.GetConfig(), secrets != nil, err
	}
	secrets, weak, err := o.Unseal(connectorSettings, k.GetSealed(), k.GetId())
	if err != nil {
		return nil, false, err
	}
	config, err := ParseConfig(k.GetConfig())
	if err == nil {
		err = json.Unmarshal(secrets, &config)
	}
	if err != nil {
		return nil, false, fmt.Errorf("connector config: %w", err)
	}
	raw, err = json.Marshal(config)
	return raw, weak, err
}

func (o *Module) resealConnector(b *storage.Batch, k *pb.Connector) error {
	raw, weak, err := o.UnsealConfig(k)
	if err != nil || !weak || !o.System.Config.Host.Speaks(wire.SealedVersion) {
		return nil //nolint:nilerr // it is said where it is used
	}
	if err := o.giveConfig(k, raw); err != nil {
		return err
	}
	key := o.ConnectorKey(pb.ConnectorID(k.GetId()))
	b.Erase(key)
	b.Put(key, k)
	return nil
}
