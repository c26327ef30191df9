package main

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
)

// readSafetensors reads the safetensors format: the length of a JSON header in
// eight bytes, the header with each tensor's type, shape and place, the data.
func readSafetensors(file []byte) (map[string]tensor, error) {
	if len(file) < 8 {
		return nil, fmt.Errorf("%w: %d bytes", errWeights, len(file))
	}
	size, rest := binary.LittleEndian.Uint64(file), file[8:]
	if size > uint64(len(rest)) {
		return nil, fmt.Errorf("%w: header of %d bytes in a file of %d", errWeights, size, len(file))
	}
	var entries map[string]json.RawMessage
	if err := json.Unmarshal(rest[:size], &entries); err != nil {
		return nil, fmt.Errorf("%w: header: %w", errWeights, err)
	}
	data := rest[size:]
	tensors := map[string]tensor{}
	for name, raw := range entries {
		var e struct {
			Type  string `json:"dtype"`
			Shape []int  `json:"shape"`
			Place [2]int `json:"data_offsets"`
		}
		if name == "__metadata__" {
			continue
		}
		if err := json.Unmarshal(raw, &e); err != nil {
			return nil, fmt.Errorf("%w: tensor %q: %w", errWeights, name, err)
		}
		begin, end := e.Place[0], e.Place[1]
		if begin < 0 || begin > end || end > len(data) {
			return nil, fmt.Errorf("%w: tensor %q lies outside the file", errWeights, name)
		}
		t := tensor{dims: e.Shape}
		switch e.Type {
		case "F32":
			var err error
			if t.data, err = floats(data[begin:end], e.Shape); err != nil {
				return nil, fmt.Errorf("%w: tensor %q: %w", errWeights, name, err)
			}
		case "U8":
			t.bytes = data[begin:end:end]
		}
		tensors[name] = t
	}
	return tensors, nil
}
