package document

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

type (
	// Part is a part of a document on its way into a memory: of one memory, some records
	// as they stand in the document.
	Part struct {
		Partition Partition  `json:"partition"`
		User      string     `json:"user,omitempty"`    // the member into whose memory a member's goes
		Domains   []Domain   `json:"domains,omitempty"` // come before the nodes: what they are named by is not there yet
		Nodes     []Node     `json:"nodes,omitempty"`
		Edges     []Edge     `json:"edges,omitempty"`
		External  []External `json:"externalIds,omitempty"`
		Links     []Link     `json:"links,omitempty"`
		Unread    []string   `json:"unread,omitempty"` // what the answers to the parts with nodes said was unread
		Names     []Domain   `json:"names,omitempty"`  // the domains once more, with the ids of nodes that are there
	}
	// Link says what a node knows of others; it comes when all are there: what a
	// superseded one was superseded by, which one a text follows in its sequence, and the
	// ids of those that its history names, there and here.
	Link struct {
		NodeID       string            `json:"nodeId"`
		SupersededBy string            `json:"supersededBy,omitempty"`
		Follows      string            `json:"follows,omitempty"`
		History      map[string]string `json:"history,omitempty"`
	}
)

// ReadPart reads a part, which is one object and nothing behind it, of at most a number of
// records. Its error is for who sent it.
func ReadPart(raw []byte, maxRecords int) (*Part, error) {
	in := &Part{}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	err := d.Decode(in)
	if err == nil {
		if _, behind := d.Token(); !errors.Is(behind, io.EOF) { // d.More would pass over a closing brace
			err = errors.New("something follows it")
		}
	}
	if err != nil {
		return nil, fmt.Errorf("the part is not one of an export: %w", err)
	}
	if n := in.records(); n > maxRecords {
		return nil, fmt.Errorf("the part has %d records, at most %d go together", n, maxRecords)
	}
	return in, nil
}

func (in *Part) records() int {
	return len(in.Domains) + len(in.Nodes) + len(in.Edges) + len(in.External) +
		len(in.Links) + len(in.Unread) + len(in.Names)
}
