package wire

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-json-experiment/json/jsontext"

	"orgmem/api/problems"
	pb "orgmem/proto"
	"orgmem/proto/canon"
)

// One pass over a body fills the route's Go value and, beside it, the tree of
// plain values that huma validates against the schema. Both share their
// strings. What the schema does not name is read for its syntax and kept
// nowhere, so that a body of ten megabytes costs about ten megabytes, whatever
// it says.

// MaxMembers bounds the members of one JSON object. No schema of ours comes
// near it; it bounds the table in which the parser looks for duplicates.
const MaxMembers = 10_000

// FromJSON is implemented by field types that read raw JSON themselves. The
// message says what was expected, and is empty for success. raw is syntactically
// valid and its numbers are in range; it is only valid during the call.
type FromJSON interface {
	FromJSON(raw jsontext.Value) (message string)
}

// MaxParsed is how deep a tolerant type's value may be nested for its end to be
// looked for: less than the parser bears.
const MaxParsed = 5_000

// Tolerant is FromJSON of a type that looks for faults itself, those that the
// parser would report too: text with U+0000, numbers out of range, nesting deeper
// than canon.MaxDepth. registry holds the route's schemas; around is how many levels
// of the body raw stands in.
type Tolerant interface {
	FromJSONWith(raw jsontext.Value, registry huma.Registry, around int) (message string)
}

var (
	fromJSONType = reflect.TypeFor[FromJSON]()
	tolerantType = reflect.TypeFor[Tolerant]()
)

// Plan says how to read one Go type. Plans are made once, when the table of
// routes is built.
type Plan struct {
	kind     reflect.Kind // Struct, Slice, String, Bool, Int64, Uint64, Float64; Interface: FromJSON
	fields   map[string]fieldPlan
	needed   []string // fields that read themselves, which huma does not see, and must be there
	elem     *Plan
	maxItems int // beyond it elements are counted up to one more, and dropped
}

type fieldPlan struct {
	name     string
	index    int
	plan     *Plan
	nullable bool
	notBlank bool
}

// PlanOf makes the plan of a request type. The tags are json's and huma's, and
// `blank:"false"`, which refuses text without a visible character, and
// `needed:"true"` of a field that reads itself and must be there.
func PlanOf(t reflect.Type) (*Plan, error) {
	if own := reflect.PointerTo(t); own.Implements(fromJSONType) || own.Implements(tolerantType) {
		return &Plan{kind: reflect.Interface}, nil
	}
	switch t.Kind() {
	case reflect.Pointer:
		return PlanOf(t.Elem())
	case reflect.String, reflect.Bool:
		return &Plan{kind: t.Kind()}, nil
	case reflect.Int, reflect.Int32, reflect.Int64:
		return &Plan{kind: reflect.Int64}, nil
	case reflect.Uint32, reflect.Uint64:
		return &Plan{kind: reflect.Uint64}, nil
	case reflect.Float64:
		return &Plan{kind: reflect.Float64}, nil
	case reflect.Slice:
		elem, err := PlanOf(t.Elem())
		return &Plan{kind: reflect.Slice, elem: elem, maxItems: math.MaxInt}, err
	case reflect.Struct:
		p := &Plan{kind: reflect.Struct, fields: make(map[string]fieldPlan, t.NumField())}
		for i := range t.NumField() {
			f := t.Field(i)
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if name == "" {
				return nil, fmt.Errorf("%s.%s has no json name", t, f.Name)
			}
			fp, err := PlanOf(f.Type)
			if err != nil {
				return nil, err
			}
			if fp.kind == reflect.Slice {
				n, err := strconv.Atoi(f.Tag.Get("maxItems"))
				if err != nil {
					return nil, fmt.Errorf("%s.%s has no maxItems: every list has a bound", t, f.Name)
				}
				fp.maxItems = n
			}
			if f.Tag.Get("needed") == "true" {
				p.needed = append(p.needed, name)
			}
			p.fields[name] = fieldPlan{
				name: name, index: i, plan: fp,
				nullable: f.Tag.Get("nullable") == "true",
				notBlank: f.Tag.Get("blank") == "false",
			}
		}
		return p, nil
	default:
		return nil, fmt.Errorf("no plan for %s", t)
	}
}

// LimitList bounds a list of the type in place of its tag.
func (p *Plan) LimitList(field string, maxItems int) { p.fields[field].plan.maxItems = maxItems }

// Document says in a schema which fields are needed. huma has made its mind up by
// then about what it misses itself: those fields are not in the tree it judges.
func (p *Plan) Document(schema *huma.Schema, registry huma.Registry) {
	if schema.Ref != "" {
		schema = registry.SchemaFromRef(schema.Ref)
	}
	for _, name := range p.needed {
		if !slices.Contains(schema.Required, name) {
			schema.Required = append(schema.Required, name)
		}
	}
}

// misfit stands in the tree for a value of another type than the schema's, or
// for a null where none is allowed: huma then reports what it expected.
type misfit struct{}

var errTooDeep = errors.New("nested too deep")

var errTooManyMembers = errors.New("object with too many members")

// decoder reads one body.
type decoder struct {
	json *jsontext.Decoder
	src  bytes.Buffer
	body []byte
	// around is how many levels of nesting there are about the body.
	around int
	path   []byte
	errs   *problems.Violations
	// registry is for types that read by themselves.
	registry huma.Registry
	// suspect is set when the body holds an escaped NUL somewhere; only then is
	// each string looked at.
	suspect bool
	paths   *huma.PathBuffer
	found   huma.ValidateResult
}

var decoders = sync.Pool{New: func() any {
	return &decoder{json: jsontext.NewDecoder(bytes.NewReader(nil)), paths: huma.NewPathBuffer(nil, 0)}
}}

// Decode reads a JSON object into dst, a settable value of the type that p
// was made of. Faults of single fields go to errs; the problem it returns is
// about the body as a whole.
func Decode(
	body []byte, p *Plan, schema *huma.Schema, registry huma.Registry, dst reflect.Value, errs *problems.Violations,
) *pb.Problem {
	return DecodeWithin(0, body, p, schema, registry, dst, errs)
}

// DecodeWithin is Decode of a part of a body, which stands in so many levels of
// its nesting.
func DecodeWithin(
	around int, body []byte, p *Plan, schema *huma.Schema, registry huma.Registry, dst reflect.Value,
	errs *problems.Violations,
) *pb.Problem {
	d := decoders.Get().(*decoder)
	defer d.release()
	d.body, d.around, d.errs, d.registry = body, around, errs, registry
	d.src = *bytes.NewBuffer(body)
	d.json.Reset(&d.src)
	d.suspect = bytes.Contains(body, []byte(`\u0000`))

	if len(bytes.TrimLeft(body, " \t\r\n")) == 0 {
		return problems.Newf(pb.CodeMalformed, "The body is empty.")
	}
	object := d.json.PeekKind() == '{'
	tree, err := d.value(p, dst)
	if err == nil {
		if _, err = d.json.ReadToken(); err == nil {
			return problems.Newf(pb.CodeMalformed, "The body holds more than one JSON value.")
		}
		if errors.Is(err, io.EOF) {
			err = nil
		}
	}
	switch {
	case errors.Is(err, errTooDeep):
		errs.Add("body", fmt.Sprintf("is nested deeper than %d levels", canon.MaxDepth))
		return nil
	case errors.Is(err, errTooManyMembers):
		errs.Add("body", fmt.Sprintf("holds an object with more than %d fields", MaxMembers))
		return nil
	case err != nil:
		return d.malformed(err)
	case !object:
		errs.Add("body", "expected object")
		return nil
	}
	huma.Validate(registry, schema, d.paths, huma.ModeWriteToServer, tree, &d.found)
	errs.AddHuma(d.found.Errors)
	return nil
}

func (d *decoder) release() {
	d.body, d.errs, d.registry, d.src, d.path = nil, nil, nil, bytes.Buffer{}, d.path[:0]
	clear(d.found.Errors) // they hold the client's values
	d.found.Reset()
	d.paths.Reset()
	decoders.Put(d)
}

// malformed describes a syntax error by its place, without quoting the body.
func (d *decoder) malformed(err error) *pb.Problem {
	what := "is not well-formed JSON"
	switch {
	case errors.Is(err, jsontext.ErrDuplicateName):
		what = "names a field twice"
	case errors.Is(err, io.ErrUnexpectedEOF):
		what = "ends too early"
	}
	if syntax, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		return problems.Newf(pb.CodeMalformed, "The body %s, near byte %d.", what, syntax.ByteOffset)
	}
	return problems.Newf(pb.CodeMalformed, "The body %s.", what)
}

// value reads the next value after the plan. The tree it returns is what huma
// is to judge.
func (d *decoder) value(p *Plan, dst reflect.Value) (any, error) {
	kind := d.json.PeekKind()
	if dst.Kind() == reflect.Pointer && kind != 'n' && p.kind != reflect.Interface {
		dst.Set(reflect.New(dst.Type().Elem()))
		dst = dst.Elem()
	}
	switch {
	case p.kind == reflect.Interface:
		return d.raw(dst)
	case p.kind == reflect.Struct && kind == '{':
		return d.object(p, dst)
	case p.kind == reflect.Slice && kind == '[':
		return d.list(p, dst)
	case p.kind == reflect.String && kind == '"':
		text, err := d.text()
		dst.SetString(text)
		return text, err
	case p.kind == reflect.Bool && (kind == 't' || kind == 'f'):
		token, err := d.json.ReadToken()
		if err != nil {
			return nil, err
		}
		dst.SetBool(token.Bool())
		return token.Bool(), nil
	case kind == '0' && (p.kind == reflect.Int64 || p.kind == reflect.Uint64 || p.kind == reflect.Float64):
		f, ok, err := d.number()
		if err != nil || !ok {
			return misfit{}, err
		}
		setNumber(p, dst, f)
		return f, nil
	}
	return misfit{}, d.skip(canon.MaxDepth)
}

// setNumber stores what fits; what does not, the schema's bounds refuse.
func setNumber(p *Plan, dst reflect.Value, f float64) {
	const exact = 1 << 53 // beyond it a float64 skips integers
	whole := f == math.Trunc(f) && math.Abs(f) <= exact
	switch {
	case p.kind == reflect.Float64:
		dst.SetFloat(f)
	case p.kind == reflect.Int64 && whole && !dst.OverflowInt(int64(f)):
		dst.SetInt(int64(f))
	case p.kind == reflect.Uint64 && whole && f >= 0 && !dst.OverflowUint(uint64(f)):
		dst.SetUint(uint64(f))
	}
}

func (d *decoder) object(p *Plan, dst reflect.Value) (any, error) {
	if err := d.open(); err != nil {
		return nil, err
	}
	tree := make(map[string]any, len(p.fields))
	missing := slices.Clone(p.needed)
	for members := 0; d.json.PeekKind() != '}'; members++ {
		if members == MaxMembers {
			return nil, errTooManyMembers
		}
		quoted, err := d.json.ReadValue()
		if err != nil {
			return nil, err
		}
		name := []byte(quoted)
		if bytes.IndexByte(name, '\\') < 0 {
			name = name[1 : len(name)-1]
		} else if name, err = jsontext.AppendUnquote(nil, quoted); err != nil {
			return nil, err
		}
		f, known := p.fields[string(name)]
		mark := len(d.path)
		if !known {
			d.push(problems.ShowName(string(name)))
			d.errs.Add(string(d.path), "unknown field")
			d.path = d.path[:mark]
			if err := d.skip(canon.MaxDepth); err != nil {
				return nil, err
			}
			continue
		}
		d.push(f.name)
		if len(missing) > 0 {
			missing = slices.DeleteFunc(missing, func(m string) bool { return m == f.name })
		}
		if f.nullable && d.json.PeekKind() == 'n' {
			if _, err := d.json.ReadToken(); err != nil {
				return nil, err
			}
			tree[f.name] = nil
			d.path = d.path[:mark]
			continue
		}
		v, err := d.value(f.plan, dst.Field(f.index))
		if err != nil {
			return nil, err
		}
		if f.notBlank {
			if text, ok := v.(string); ok && canon.Blank(text) {
				d.errs.Add(string(d.path), "must not be blank")
			}
		}
		d.path = d.path[:mark]
		if f.plan.kind != reflect.Interface { // those judge themselves
			tree[f.name] = v
		}
	}
	for _, name := range missing {
		mark := len(d.path)
		d.push(name)
		d.errs.Add(string(d.path), "is required")
		d.path = d.path[:mark]
	}
	_, err := d.json.ReadToken()
	return tree, err
}

func (d *decoder) list(p *Plan, dst reflect.Value) (any, error) {
	if err := d.open(); err != nil {
		return nil, err
	}
	tree := []any{}
	items := dst
	for d.json.PeekKind() != ']' {
		if len(tree) > p.maxItems {
			if err := d.skip(canon.MaxDepth); err != nil {
				return nil, err
			}
			continue
		}
		items.Grow(1)
		items.SetLen(len(tree) + 1)
		mark := len(d.path)
		d.path = append(d.path, '[')
		d.path = strconv.AppendInt(d.path, int64(len(tree)), 10)
		d.path = append(d.path, ']')
		v, err := d.value(p.elem, items.Index(len(tree)))
		d.path = d.path[:mark]
		if err != nil {
			return nil, err
		}
		tree = append(tree, v)
	}
	_, err := d.json.ReadToken()
	return tree, err
}

// raw hands the next value to a type that reads JSON itself.
func (d *decoder) raw(dst reflect.Value) (any, error) {
	faults := len(d.errs.List)
	start := d.json.InputOffset()
	own, tolerates := reflect.TypeAssert[Tolerant](dst.Addr())
	deepest := canon.MaxDepth
	if tolerates {
		deepest = MaxParsed
	}
	if err := d.skip(deepest); err != nil {
		return nil, err
	}
	end := d.json.InputOffset()
	value := jsontext.Value(trimToValue(d.body[start:end]))
	if tolerates {
		d.errs.List = d.errs.List[:faults]
		if message := own.FromJSONWith(value, d.registry, d.depth()); message != "" {
			d.errs.Add(string(d.path), message)
		}
		return misfit{}, nil
	}
	if len(d.errs.List) > faults {
		return misfit{}, nil
	}
	if dst.Kind() == reflect.Pointer {
		dst.Set(reflect.New(dst.Type().Elem()))
		dst = dst.Elem()
	}
	if message := dst.Addr().Interface().(FromJSON).FromJSON(value); message != "" {
		d.errs.Add(string(d.path), message)
	}
	return misfit{}, nil
}

// trimToValue cuts what the parser reports as not yet read before a value: the
// colon or comma, and white space.
func trimToValue(b []byte) []byte { return bytes.TrimLeft(b, ":, \t\r\n") }

// depth is how deep in the request's body the next token stands.
func (d *decoder) depth() int { return d.around + d.json.StackDepth() }

// skip reads the next value for its syntax, depth and numbers only.
func (d *decoder) skip(deepest int) error {
	base := d.json.StackDepth()
	for {
		var err error
		switch kind := d.json.PeekKind(); {
		case kind == '0':
			_, _, err = d.number()
		case kind == '"' && d.suspect:
			_, err = d.text()
		default:
			_, err = d.json.ReadToken()
		}
		if err != nil {
			return err
		}
		depth := d.json.StackDepth()
		switch container, tokens := d.json.StackIndex(depth); {
		case depth <= base:
			return nil
		case d.depth() > deepest:
			return errTooDeep
		case container == jsontext.KindBeginObject && tokens > 2*MaxMembers:
			return errTooManyMembers
		}
	}
}

func (d *decoder) open() error {
	if _, err := d.json.ReadToken(); err != nil {
		return err
	}
	if d.depth() > canon.MaxDepth {
		return errTooDeep
	}
	return nil
}

func (d *decoder) text() (string, error) {
	token, err := d.json.ReadToken()
	if err != nil {
		return "", err
	}
	text := token.String()
	if d.suspect && strings.IndexByte(text, 0) >= 0 {
		d.errs.Add(d.where(), "must not contain the character U+0000")
	}
	return text, nil
}

// number reads a number; ok is false when it is beyond what a float64 holds,
// which has then been recorded.
func (d *decoder) number() (f float64, ok bool, err error) {
	token, err := d.json.ReadToken()
	if err != nil {
		return 0, false, err
	}
	f, rangeErr := token.Float() // the only error there is
	if ok = rangeErr == nil && !math.IsInf(f, 0); !ok {
		d.errs.Add(d.where(), "is a number out of range")
	}
	return f, ok, nil
}

func (d *decoder) where() string {
	if len(d.path) == 0 {
		return "body"
	}
	return string(d.path)
}

func (d *decoder) push(name string) {
	if len(d.path) > 0 {
		d.path = append(d.path, '.')
	}
	d.path = append(d.path, name...)
}
