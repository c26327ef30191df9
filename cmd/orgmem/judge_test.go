package main

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
)

// judgeWithin bounds porcupine's search; a history of this size takes it
// milliseconds. What it cannot decide counts as a failure.
const judgeWithin = time.Minute

// labOp is an operation on one register: a title, a key's life, or something that is
// made once however often that is asked for.
type labOp struct {
	register string
	kind     string // write, read; revoke, use; append, count
	value    string // written
}

// labModel says what operations on a register may see. A title holds the last
// value; a key works until it is revoked, and never again; what is appended under an
// Idempotency-Key is there once from then on.
var labModel = porcupine.Model{
	Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
		of := map[string][]porcupine.Operation{}
		for _, op := range history {
			r := op.Input.(labOp).register
			of[r] = append(of[r], op)
		}
		var parts [][]porcupine.Operation
		for _, part := range of {
			parts = append(parts, part)
		}
		return parts
	},
	Init: func() any { return "first" },
	Step: func(state, input, output any) (bool, any) {
		switch op := input.(labOp); op.kind {
		case "write":
			return true, op.value
		case "revoke":
			return true, "revoked"
		case "append":
			return true, "1"
		case "count":
			return output.(string) == map[bool]string{false: "0", true: "1"}[state.(string) == "1"], state
		case "use":
			return (output.(string) == "works") == (state.(string) != "revoked"), state
		default:
			return output.(string) == state.(string), state
		}
	},
	DescribeOperation: func(input, output any) string { return fmt.Sprintf("%+v → %v", input, output) },
}

// settled returns what the model has to explain. A write whose answer never came
// may take effect late, or never, and porcupine would try all of it: a dozen such
// writes are more than it decides in a minute. Values are written once, so whoever
// saw one says by when it was written; and what nobody saw explains nothing, since
// between it and the next write nobody read.
func settled(ops []porcupine.Operation) []porcupine.Operation {
	seen := map[labOp]int64{} // a write, and when somebody first had its value
	for _, op := range ops {
		if in := op.Input.(labOp); in.kind == "read" {
			w := labOp{in.register, "write", op.Output.(string)}
			if at, ok := seen[w]; !ok || op.Return < at {
				seen[w] = op.Return
			}
		}
	}
	var left []porcupine.Operation
	for _, op := range ops {
		if in := op.Input.(labOp); in.kind == "write" && op.Return == math.MaxInt64 {
			at, ok := seen[in]
			if !ok {
				continue
			}
			op.Return = max(at, op.Call)
		}
		left = append(left, op)
	}
	return left
}

// judge asks porcupine.
func judge(ops []porcupine.Operation) (porcupine.CheckResult, porcupine.LinearizationInfo) {
	return porcupine.CheckOperationsVerbose(labModel, settled(ops), judgeWithin)
}

// labDraw is an answer that shows a rate limit's bucket: what is left of it, whether
// the request was granted, and between when and when that was, in nanoseconds.
type labDraw struct {
	left       int
	granted    bool
	call, till int64
}

// labBucket is the limit of the family reads in the plan `free`.
const (
	labBurst     = 50
	labPerSecond = 150.0 / 60
)

// overdrawn counts how often a client that asks for one thing after the other, at
// whichever node, is shown more than its bucket can hold: there was another, full
// bucket. most is what can be in it: what was left, less what was granted, and what
// was refilled since. Draws whose answers never came only leave less.
func overdrawn(draws []labDraw) (times int) {
	most, at := float64(labBurst), int64(0)
	for n, d := range draws {
		if n > 0 {
			most = min(labBurst, most+labPerSecond*time.Duration(d.till-at).Seconds())
		}
		took := 0.0
		if d.granted {
			took = 1
		}
		if most -= took; float64(d.left) > most {
			times++
			most = labBurst - took
		}
		most, at = min(most, float64(d.left)+1), d.call // whole ones are shown
	}
	return times
}

// TestJudge: what a history may hold, and what it must not.
func TestJudge(t *testing.T) {
	const never = math.MaxInt64
	write := func(call, till int64, v string) porcupine.Operation {
		return porcupine.Operation{Input: labOp{"a", "write", v}, Output: "", Call: call, Return: till}
	}
	read := func(call, till int64, v string) porcupine.Operation {
		return porcupine.Operation{Input: labOp{"a", "read", ""}, Output: v, Call: call, Return: till}
	}
	key := func(call, till int64, kind, out string) porcupine.Operation {
		return porcupine.Operation{Input: labOp{"key", kind, ""}, Output: out, Call: call, Return: till}
	}
	made := func(call, till int64) porcupine.Operation {
		return porcupine.Operation{Input: labOp{"append", "append", ""}, Output: "", Call: call, Return: till}
	}
	count := func(call, till int64, out string) porcupine.Operation {
		return porcupine.Operation{Input: labOp{"append", "count", ""}, Output: out, Call: call, Return: till}
	}
	var storm []porcupine.Operation // writes that nobody answered, beside others that are read
	for n := range int64(60) {
		storm = append(storm, write(n, never, fmt.Sprint("lost", n)), write(10*n, 10*n+15, fmt.Sprint("v", n)),
			read(10*n+15, 10*n+19, fmt.Sprint("v", n)))
	}
	for _, c := range []struct {
		name string
		ops  []porcupine.Operation
		want porcupine.CheckResult
	}{
		{"nothing written", []porcupine.Operation{read(1, 2, "first")}, porcupine.Ok},
		{"old value", []porcupine.Operation{write(1, 2, "x"), read(3, 4, "first")}, porcupine.Illegal},
		{"back again", []porcupine.Operation{write(1, 9, "x"), read(2, 3, "x"), read(4, 5, "first")}, porcupine.Illegal},
		{"unanswered, never done", []porcupine.Operation{write(1, never, "x"), read(3, 4, "first")}, porcupine.Ok},
		{
			"unanswered, done late",
			[]porcupine.Operation{write(1, never, "x"), read(3, 4, "first"), read(5, 6, "x")},
			porcupine.Ok,
		},
		{
			"unanswered, done and undone",
			[]porcupine.Operation{write(1, never, "x"), read(3, 4, "x"), read(5, 6, "first")},
			porcupine.Illegal,
		},
		{"unanswered, over what came later", []porcupine.Operation{
			write(1, never, "x"), read(2, 3, "x"), write(4, 5, "y"),
			read(6, 7, "x"),
		}, porcupine.Illegal},
		{"seen before it was written", []porcupine.Operation{read(1, 2, "x"), write(3, never, "x")}, porcupine.Illegal},
		{
			"revoked",
			[]porcupine.Operation{key(1, 2, "use", "works"), key(3, 4, "revoke", ""), key(5, 6, "use", "refused")},
			porcupine.Ok,
		},
		{"revoked and used", []porcupine.Operation{key(1, 2, "revoke", ""), key(3, 4, "use", "works")}, porcupine.Illegal},
		{"perhaps revoked", []porcupine.Operation{
			key(1, never, "revoke", ""), key(3, 4, "use", "works"),
			key(5, 6, "use", "refused"),
		}, porcupine.Ok},
		{"refused, and works again", []porcupine.Operation{
			key(1, never, "revoke", ""), key(3, 4, "use", "refused"),
			key(5, 6, "use", "works"),
		}, porcupine.Illegal},
		{"many unanswered", storm, porcupine.Ok},
		{"appended", []porcupine.Operation{count(1, 2, "0"), made(3, 4), count(5, 6, "1")}, porcupine.Ok},
		{"appended and lost", []porcupine.Operation{made(3, 4), count(5, 6, "0")}, porcupine.Illegal},
		{"appended and taken twice", []porcupine.Operation{made(3, 4), count(5, 6, "2")}, porcupine.Illegal},
		{"perhaps appended", []porcupine.Operation{made(1, never), count(3, 4, "0"), count(5, 6, "1")}, porcupine.Ok},
		{
			"perhaps appended, and gone",
			[]porcupine.Operation{made(1, never), count(3, 4, "1"), count(5, 6, "0")},
			porcupine.Illegal,
		},
	} {
		if got, _ := judge(c.ops); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// TestJudgeOfLimits: what one bucket can show, and what only two can.
func TestJudgeOfLimits(t *testing.T) {
	// ask draws n times, each 10 ms after the one before, from buckets in turn.
	ask := func(n int, lefts ...float64) (draws []labDraw) {
		for i := range n {
			left := &lefts[i%len(lefts)]
			for j := range lefts {
				lefts[j] = min(labBurst, lefts[j]+labPerSecond*0.01)
			}
			d := labDraw{granted: *left >= 1, call: int64(i) * 10e6, till: int64(i)*10e6 + 5e6}
			if d.granted {
				*left--
			}
			d.left = int(*left)
			draws = append(draws, d)
		}
		return draws
	}
	moved := ask(200, labBurst)
	for _, d := range ask(200, labBurst) {
		d.call, d.till = d.call+3e9, d.till+3e9
		moved = append(moved, d)
	}
	if got := overdrawn(ask(300, labBurst)); got != 0 {
		t.Errorf("one bucket is overdrawn %d times", got)
	}
	if got := overdrawn(moved); got != 1 {
		t.Errorf("a bucket that was filled once is overdrawn %d times", got)
	}
	if got := overdrawn(ask(300, labBurst, labBurst, labBurst)); got < 10 {
		t.Errorf("three buckets in turn are overdrawn %d times only", got)
	}
}
