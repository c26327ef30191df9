package raftlog

import (
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/hashicorp/raft"

	"orgmem/storage/storagetest"
)

// TestLogStoreKeepsRaftsContract holds the adapter to what raft compares and
// never wraps.
func TestLogStoreKeepsRaftsContract(t *testing.T) {
	log := storagetest.NewDisk().Node(t).Log()
	s, other := &LogStore{Log: log, Group: 1}, &LogStore{Log: log, Group: 2}
	if first, err := s.FirstIndex(); first != 0 || err != nil {
		t.Errorf("first index of an empty log: %d, %v", first, err)
	}
	logs := []*raft.Log{
		{Index: 5, Term: 2, Type: raft.LogCommand, Data: []byte("five")},
		{Index: 6, Term: 3, Type: raft.LogBarrier, Extensions: []byte("x"), AppendedAt: time.Unix(7, 8).UTC()},
	}
	if err := s.StoreLogs(logs); err != nil {
		t.Fatal(err)
	}
	for _, want := range logs {
		var got raft.Log
		if err := s.GetLog(want.Index, &got); err != nil || !reflect.DeepEqual(&got, want) {
			t.Errorf("entry %d is %+v (%v), want %+v", want.Index, got, err, want)
		}
	}
	var got raft.Log
	if err := s.GetLog(7, &got); err != raft.ErrLogNotFound { //nolint:errorlint // raft compares with ==
		t.Errorf("missing entry: %v", err)
	}
	if err := other.GetLog(5, &got); err != raft.ErrLogNotFound { //nolint:errorlint // raft compares with ==
		t.Errorf("entry of another group: %v", err)
	}
	if err := s.DeleteRange(5, 6); err != nil {
		t.Fatal(err)
	}
	if last, err := s.LastIndex(); last != 0 || err != nil {
		t.Errorf("last index of a log that was cut whole: %d, %v", last, err)
	}
	stable := &StableStore{Log: log, Group: 1}
	if v, err := stable.GetUint64([]byte("term")); v != 0 || err != nil {
		t.Errorf("missing number: %d, %v", v, err)
	}
	if v, err := stable.Get([]byte("vote")); len(v) != 0 || err != nil {
		t.Errorf("missing value: %q, %v", v, err)
	}
	if err := errors.Join(stable.SetUint64([]byte("term"), 1<<40), stable.Set([]byte("odd"), []byte("abc"))); err != nil {
		t.Fatal(err)
	}
	if v, err := stable.GetUint64([]byte("term")); v != 1<<40 || err != nil {
		t.Errorf("number: %d, %v", v, err)
	}
	if _, err := stable.GetUint64([]byte("odd")); err == nil {
		t.Error("three bytes were read as a number")
	}
}

// TestCutBesideAppends cuts a log up to its end again and again while another
// goroutine appends to it, as raft does.
func TestCutBesideAppends(t *testing.T) {
	disk := storagetest.NewDisk()
	s := &LogStore{Log: disk.Node(t).Log(), Group: 1}
	const n = 2000
	appended := make(chan error, 1)
	go func() {
		for i := range uint64(n) {
			if err := s.StoreLog(&raft.Log{Index: i + 1, Term: 1}); err != nil {
				appended <- err
				return
			}
		}
		appended <- nil
	}()
	cut := uint64(0)
	for cut < n-10 {
		last, err := s.LastIndex()
		if err != nil {
			t.Fatal(err)
		}
		if last > cut {
			if err := s.DeleteRange(cut+1, last); err != nil {
				t.Fatal(err)
			}
			cut = last
		}
	}
	if err := <-appended; err != nil {
		t.Fatal(err)
	}
	var l raft.Log
	for i := cut + 1; i <= n; i++ {
		if err := s.GetLog(i, &l); err != nil {
			t.Fatalf("entry %d, above the cut at %d: %v", i, cut, err)
		}
	}
	if last, err := s.LastIndex(); err != nil || cut < n && last != n {
		t.Errorf("last index is %d (%v), want %d", last, err, n)
	}
}
