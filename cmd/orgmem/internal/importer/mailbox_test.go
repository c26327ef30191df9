package importer_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"orgmem/brain/format/reading"
	"orgmem/cmd/orgmem/internal/client"
	"orgmem/cmd/orgmem/internal/importer"
)

// letters are mails of a mailbox, from one to another, of which each has a picture of so
// many bytes attached.
func letters(from, to, size int) string {
	var out strings.Builder
	picture := strings.Repeat("x", size)
	for i := from; i <= to; i++ {
		fmt.Fprintf(&out, "From a@x.org Tue May  5 10:00:00 2026\nFrom: a@x.org\nTo: b@x.org\nSubject: Letter "+
			"%d\nContent-Type: multipart/mixed; boundary=b\n\n"+
			"--b\n\nThis is letter %d.\n--b\nContent-Type: image/png; name=a.png\n\n\x89PNG%s\n--b--\n\n", i, i, picture)
	}
	return out.String()
}

// count counts the documents that are sent from now on.
func (b *bench) count() *int {
	sent := 0
	b.memory.refuse = func(items []client.Item) error { sent += len(items); return nil }
	return &sent
}

// TestALargeMailboxIsTakenInParts: one that is larger than any other file may be is one
// file all the same; of one that has grown, the last part alone is sent.
func TestALargeMailboxIsTakenInParts(t *testing.T) {
	const mails, size = 17, 4 << 20
	b := newBench(t, map[string]string{"box.mbox": letters(1, mails, size)})
	sent := b.count()
	sum := b.mustRun(1, 0)
	if sum.Created != 1 || sum.Documents != mails || *sent != mails || len(sum.Skipped)+len(sum.Failed) != 0 {
		t.Fatalf("%d sent: %+v", *sent, sum)
	}
	for i := 1; i <= mails; i++ {
		id := fmt.Sprintf("box.mbox#mail %d", i)
		if got := b.memory.docs[id]; !strings.HasSuffix(got, fmt.Sprintf("This is letter %d.", i)) {
			t.Errorf("%s: %q", id, got)
		}
	}
	*sent = 0
	if b.mustRun(0, 1); *sent != 0 {
		t.Errorf("%d are sent again", *sent)
	}
	b.write("box.mbox", letters(1, mails+1, size))
	if sum := b.mustRun(1, 0); sum.Created != 1 || sum.Documents != 1 || *sent > 2 || len(b.memory.docs) != mails+1 {
		t.Errorf("%d sent, %d there: %+v", *sent, len(b.memory.docs), sum)
	}
}

// TestAMailboxOfManySmallMails: one that is no large file may hold more mails than a file
// may hold documents.
func TestAMailboxOfManySmallMails(t *testing.T) {
	const mails = reading.MaxDocuments + 1
	var box strings.Builder
	for i := range mails {
		fmt.Fprintf(&box, "From a@x.org Tue May  5 10:00:00 2026\nFrom: a@x.org\nTo: b@x.org\nSubject: Letter "+
			"%d\nMessage-ID: <%d@x.org>\n\nThis is letter %d.\n\n", i+1, i+1, i+1)
	}
	b := newBench(t, map[string]string{"box.mbox": box.String()})
	sent := b.count()
	if sum := b.mustRun(1, 0); sum.Created != 1 || sum.Documents != mails || len(b.memory.docs) != mails ||
		len(sum.Skipped)+len(sum.Failed) != 0 {
		t.Fatalf("%d there: %+v", len(b.memory.docs), sum)
	}
	last := fmt.Sprintf("mid:%d@x.org", mails)
	if got := b.memory.docs[last]; !strings.HasSuffix(got, fmt.Sprintf("This is letter %d.", mails)) {
		t.Errorf("%s: %q", last, got)
	}
	*sent = 0
	if b.mustRun(0, 1); *sent != 0 {
		t.Errorf("%d are sent again", *sent)
	}
}

// TestAnInterruptedMailboxGoesOn: the parts that were taken in are not sent again.
func TestAnInterruptedMailboxGoesOn(t *testing.T) {
	const mails, inPart, size = 4500, 2000, 2000
	b := newBench(t, map[string]string{"box.mbox": letters(1, mails, size)})
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	// Whoever sends the second part waits until the first is known to be taken in: one
	// that sends it may be asleep while others go on.
	whole := int64(len(letters(1, inPart, size)))
	first := make(chan struct{})
	known := sync.OnceFunc(func() { close(first) })
	b.progress = func(p importer.Progress) {
		if p.Bytes >= whole {
			known()
		}
	}
	b.memory.await = func(ctx context.Context, it client.Item) {
		n := 0
		if _, err := fmt.Sscanf(it.ExternalID, "box.mbox#mail %d", &n); err != nil {
			t.Error(err)
		}
		if n > inPart {
			select {
			case <-first:
			case <-ctx.Done():
			}
		}
	}
	b.memory.onTake = func() {
		if b.memory.batches == 15 {
			stop()
		}
	}
	if _, _, err := b.run(ctx); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	b.memory.onTake, b.memory.await, b.progress = nil, nil, nil
	sent := b.count()
	sum := b.mustRun(1, 0)
	if len(b.memory.docs) != mails || *sent > mails-inPart || len(sum.Failed)+len(sum.Skipped) != 0 {
		t.Errorf("%d sent, %d there: %+v", *sent, len(b.memory.docs), sum)
	}
	*sent = 0
	if b.mustRun(0, 1); *sent != 0 {
		t.Errorf("%d are sent again", *sent)
	}
}

// TestAMailThatIsTooLarge: what stands before it is taken in, and the rest is told.
func TestAMailThatIsTooLarge(t *testing.T) {
	b := newBench(t, map[string]string{"box.mbox": letters(1, 2, 100) + letters(3, 3, 65<<20) + letters(4, 4, 100)})
	for range 2 {
		sum, _, err := b.run(context.Background())
		want := importer.Skipped{
			Path: filepath.Join(b.folder, "box.mbox"), Part: "the rest of it",
			Reason: "holds a mail that is larger than 64 MiB",
		}
		if err != nil || len(b.memory.docs) != 2 || len(sum.Skipped) != 1 || sum.Skipped[0] != want {
			t.Errorf("%d documents, %+v, %v", len(b.memory.docs), sum, err)
		}
	}
}

// TestAnArchiveOfTooManyDocuments is skipped with the bound: nothing of it is taken in,
// since nobody could say what is missing.
func TestAnArchiveOfTooManyDocuments(t *testing.T) {
	var pairs []string
	for i := range 10_001 {
		pairs = append(pairs, fmt.Sprintf("%d.txt", i), "x")
	}
	b := newBench(t, map[string]string{"all.zip": zipped(t, pairs...), "most.zip": zipped(t, pairs[2:]...)})
	sum := b.mustRun(1, 0)
	if len(sum.Skipped) != 1 || sum.Skipped[0].Path != filepath.Join(b.folder, "all.zip") ||
		sum.Skipped[0].Reason != "holds more than 10000 documents; split it" || sum.Documents != 10_000 {
		t.Errorf("%d documents, %+v", sum.Documents, sum.Skipped)
	}
}
