package main

import (
	"fmt"

	"orgmem/actors/moving"
	"orgmem/actors/partition"
	"orgmem/actors/tenant"
	"orgmem/api/operator"
	"orgmem/brain/embed"
	"orgmem/cluster/wire"
	"orgmem/cmd/orgmem/internal/config"
	"orgmem/cmd/orgmem/pages"
)

// encoder is a model inside the binary.
type encoder struct {
	pack func() []byte
	load func(embed.Room) (*embed.Model, error)
	// since is the version of the protocol from which on every node has it.
	since uint32
}

// multilingual is the encoder of that name.
var multilingual = encoder{
	pack: embed.MultilingualPack, load: embed.LoadMultilingual, since: wire.MultilingualVersion,
}

// open loads the model. The pages of the pack no longer count as memory in use then.
func (e encoder) open() (*embed.Model, error) {
	defer pages.Unload(e.pack())
	return e.load(pages.Weights)
}

// late is the model for vectors that it has made before: most nodes never need it.
func (e encoder) late() (partition.Embedder, error) {
	defer pages.Unload(e.pack())
	outline, err := embed.Outline(e.pack())
	if err != nil {
		return nil, err
	}
	return partition.NewLateEmbedder(outline, e.open), nil
}

// chooseModels says what embeds, and what has embedded before. base is the English model, which is loaded anyway: the
// reader takes its words from it.
func chooseModels(server config.Server, other encoder, base *embed.Model) (m tenant.Models, serving *embed.Model,
	err error,
) {
	add := func(file, option string) (*embed.Model, error) {
		model, err := loadPack(file)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", option, err)
		}
		return model, nil
	}
	english := partition.NewEmbedder(base)
	serving = base
	switch {
	case server.ModelFile != "":
		if serving, err = add(server.ModelFile, "model-file"); err != nil {
			return m, nil, err
		}
		m.Former = append(m.Former, english)
	case server.Encoder == config.EncoderMultilingual:
		if serving, err = other.open(); err != nil {
			return m, nil, fmt.Errorf("encoder: %w", err)
		}
		// The first of the former ones embeds until every node has the other.
		m.Former, m.EmbedderSince = append(m.Former, english), other.since
	}
	m.Embedder = partition.NewEmbedder(serving)
	if m.EmbedderSince == 0 {
		late, err := other.late()
		if err != nil {
			return m, nil, fmt.Errorf("encoder: %w", err)
		}
		m.Former = append(m.Former, late)
	}
	if server.FormerModel != "" {
		former, err := add(server.FormerModel, "former-model-file")
		if err != nil {
			return m, nil, err
		}
		m.Former = append(m.Former, partition.NewEmbedder(former))
	}
	return m, serving, nil
}

// movingPercent is a setting as package tenant has it, whose zero is its default.
func movingPercent(percent int) int {
	if percent == 0 {
		return -1
	}
	return percent
}

// embeddingCheck says how far what the node leads is embedded with the model of today.
func embeddingCheck(p moving.Progress) operator.Check {
	c := operator.Check{Name: "embedding", OK: true}
	if p.Organizations == 0 {
		c.Detail = "all memories that this node leads are embedded with " + p.Model
		return c
	}
	c.Detail = fmt.Sprintf("%d of %d memories (%d of %d chunks) are embedded with %s", p.Moved, p.Memories, p.Embedded,
		p.Chunks, p.Model)
	switch {
	case p.Paused:
		c.Detail += "; embed-anew-percent is 0, so that the others stay as they are"
	case p.Left > 0:
		c.Detail += ", about " + p.Left.Round(p.Left/100+1).Truncate(1e9).String() + " left"
	}
	if p.WordsOnly > 0 {
		c.OK = false
		c.Detail += fmt.Sprintf("; %d are found by their words only until then: this node does not have their model (%s), "+
			"which former-model-file can name", p.WordsOnly, p.Missing)
	}
	return c
}
