package prototest

import (
	"slices"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/testing/protocmp"
)

// Diff says what of got differs from want; empty: nothing does. It compares the fields that want
// has, and those that are named, which got must not have where want has them not.
func Diff[M proto.Message](want, got M, also ...protoreflect.Name) string {
	fields := slices.Clone(also)
	want.ProtoReflect().Range(func(f protoreflect.FieldDescriptor, _ protoreflect.Value) bool {
		fields = append(fields, f.Name())
		return true
	})
	return cmp.Diff(want, only(got, fields), protocmp.Transform())
}

// only is a message with some of its fields.
func only[M proto.Message](m M, fields []protoreflect.Name) M {
	clone := proto.CloneOf(m)
	r := clone.ProtoReflect()
	for i := range r.Descriptor().Fields().Len() {
		if f := r.Descriptor().Fields().Get(i); !slices.Contains(fields, f.Name()) && r.IsValid() {
			r.Clear(f)
		}
	}
	return clone
}

// DiffObject is Diff for an object of JSON. A member that want has as nil may be missing.
func DiffObject(want, got map[string]any) string {
	some := map[string]any{}
	for name := range want {
		some[name] = got[name]
	}
	return cmp.Diff(want, some)
}
