package main

import (
	"errors"
	"fmt"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
)

// The few fields of ONNX's protobuf messages that hold weights. A generated
// reader would bring the whole schema in for six field numbers.
const (
	modelGraph     = 7
	graphNode      = 1
	graphInit      = 5
	nodeInput      = 1
	nodeOutput     = 2
	nodeOp         = 4
	tensorDims     = 1
	tensorType     = 2
	tensorFloats   = 4
	tensorName     = 8
	tensorRaw      = 9
	tensorTypeReal = 1
)

type node struct {
	op      string
	in, out []string
}

type graph struct {
	nodes   []node
	tensors map[string]tensor
}

var errONNX = errors.New("not the ONNX file this recipe was written for")

// fields calls f for each field of a message: varints as v, bytes as b.
func fields(msg []byte, f func(num protowire.Number, v uint64, b []byte) error) error {
	for len(msg) > 0 {
		num, typ, n := protowire.ConsumeTag(msg)
		if n < 0 {
			return protowire.ParseError(n)
		}
		msg = msg[n:]
		var v uint64
		var b []byte
		switch typ {
		case protowire.VarintType:
			v, n = protowire.ConsumeVarint(msg)
		case protowire.BytesType:
			b, n = protowire.ConsumeBytes(msg)
		default:
			n = protowire.ConsumeFieldValue(num, typ, msg)
		}
		if n < 0 {
			return protowire.ParseError(n)
		}
		msg = msg[n:]
		if err := f(num, v, b); err != nil {
			return err
		}
	}
	return nil
}

func readGraph(model []byte) (graph, error) {
	g := graph{tensors: map[string]tensor{}}
	err := fields(model, func(num protowire.Number, _ uint64, b []byte) error {
		if num != modelGraph {
			return nil
		}
		return fields(b, func(num protowire.Number, _ uint64, b []byte) error {
			switch num {
			case graphNode:
				n, err := readNode(b)
				g.nodes = append(g.nodes, n)
				return err
			case graphInit:
				name, t, err := readTensor(b)
				g.tensors[name] = t
				return err
			default:
				return nil
			}
		})
	})
	return g, err
}

func readNode(msg []byte) (n node, err error) {
	err = fields(msg, func(num protowire.Number, _ uint64, b []byte) error {
		switch num {
		case nodeInput:
			n.in = append(n.in, string(b))
		case nodeOutput:
			n.out = append(n.out, string(b))
		case nodeOp:
			n.op = string(b)
		default: // attributes
		}
		return nil
	})
	return n, err
}

func readTensor(msg []byte) (name string, t tensor, err error) {
	var raw []byte
	kind := uint64(0)
	err = fields(msg, func(num protowire.Number, v uint64, b []byte) error {
		switch num {
		case tensorDims:
			if b == nil {
				t.dims = append(t.dims, int(v))
			}
			for len(b) > 0 { // packed
				v, n := protowire.ConsumeVarint(b)
				if n < 0 {
					return protowire.ParseError(n)
				}
				t.dims, b = append(t.dims, int(v)), b[n:]
			}
		case tensorType:
			kind = v
		case tensorName:
			name = string(b)
		case tensorRaw, tensorFloats:
			raw = b
		default: // doc strings, other types' data
		}
		return nil
	})
	if err != nil || kind != tensorTypeReal {
		return name, t, err
	}
	if t.data, err = floats(raw, t.dims); err != nil {
		return name, t, fmt.Errorf("%w: tensor %q: %w", errONNX, name, err)
	}
	return name, t, nil
}

// readONNX returns the tensors of a BERT encoder under the names they were
// trained with, linear weights as [out][in]. Exported matrices have lost their
// names and are stored [in][out]; the bias added to their product has kept its
// own, so each matrix is known by it.
func readONNX(model []byte) (map[string]tensor, error) {
	g, err := readGraph(model)
	if err != nil {
		return nil, err
	}
	for bias, t := range g.matricesByBias() {
		name, ok := strings.CutSuffix(bias, ".bias")
		if !ok || t.data == nil || len(t.dims) != 2 {
			continue
		}
		in, out := t.dims[0], t.dims[1]
		w := make([]float32, len(t.data))
		for i := range in {
			for o := range out {
				w[o*in+i] = t.data[i*out+o]
			}
		}
		g.tensors[name+".weight"] = tensor{dims: []int{out, in}, data: w}
	}
	return g.tensors, nil
}

// matricesByBias maps the name of a bias to the matrix whose product it is
// added to.
func (g *graph) matricesByBias() map[string]tensor {
	product := map[string]tensor{}
	for _, n := range g.nodes {
		if n.op == "MatMul" && len(n.in) == 2 && len(n.out) == 1 {
			if t, ok := g.tensors[n.in[1]]; ok {
				product[n.out[0]] = t
			}
		}
	}
	found := map[string]tensor{}
	for _, n := range g.nodes {
		if n.op != "Add" || len(n.in) != 2 {
			continue
		}
		for i, in := range n.in {
			if t, ok := product[in]; ok {
				found[n.in[1-i]] = t
			}
		}
	}
	return found
}
