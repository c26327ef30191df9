package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/url"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// load is a closed loop: each connection sends its next request when the last
// one was answered. It writes HTTP/1.1 by hand, since a general client would
// cost more processor time than the servers that are compared, and so hide
// their difference.
type load struct {
	base        string
	line        string // method and path
	head        string // further header lines, each ended by \r\n
	connections int
	lasting     time.Duration
	body        func(n int64) []byte // of the n-th request; safe for many goroutines; nil: none has one
}

// outcome is what a load achieved.
type outcome struct {
	answered int64 // with 2xx
	refused  int64 // with anything else
	took     time.Duration
}

func (o outcome) perSecond() float64 { return float64(o.answered) / o.took.Seconds() }

// maxRequests bounds a load in count, as lasting bounds it in time.
const maxRequests = 5_000_000

func (l load) run(ctx context.Context) (outcome, error) {
	address, err := url.Parse(l.base)
	if err != nil {
		return outcome{}, err
	}
	if host := net.ParseIP(address.Hostname()); host == nil || !host.IsLoopback() {
		return outcome{}, fmt.Errorf("%s is not a loopback address: no load is sent there", l.base)
	}
	ctx, cancel := context.WithTimeout(ctx, l.lasting)
	defer cancel()
	var (
		sent, answered, refused atomic.Int64
		workers                 sync.WaitGroup
		failure                 atomic.Pointer[error]
	)
	began := time.Now()
	for range l.connections {
		workers.Go(func() {
			if err := l.connection(ctx, address.Host, &sent, &answered, &refused); err != nil {
				failure.Store(&err)
			}
		})
	}
	workers.Wait()
	o := outcome{answered.Load(), refused.Load(), time.Since(began)}
	if err := failure.Load(); err != nil {
		return o, *err
	}
	return o, nil
}

func (l load) connection(ctx context.Context, host string, sent, answered, refused *atomic.Int64) error {
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "tcp", host)
	if err != nil {
		return err
	}
	defer conn.Close()
	in, out := bufio.NewReaderSize(conn, 4096), make([]byte, 0, 2048)
	for ctx.Err() == nil {
		n := sent.Add(1)
		if n > maxRequests {
			return nil
		}
		out = append(out[:0], l.line...)
		out = append(out, " HTTP/1.1\r\nHost: "...)
		out = append(out, host...)
		out = append(out, "\r\n"...)
		out = append(out, l.head...)
		if l.body != nil {
			body := l.body(n)
			out = append(out, "Content-Type: application/json\r\nContent-Length: "...)
			out = strconv.AppendInt(out, int64(len(body)), 10)
			out = append(out, "\r\n\r\n"...)
			out = append(out, body...)
		} else {
			out = append(out, "\r\n"...)
		}
		if _, err := conn.Write(out); err != nil {
			return err
		}
		status, err := readAnswer(in)
		if err != nil {
			return err
		}
		if status/100 == 2 {
			answered.Add(1)
		} else {
			refused.Add(1)
		}
	}
	return nil
}

// readAnswer reads one response with a Content-Length.
func readAnswer(in *bufio.Reader) (status int, err error) {
	line, err := in.ReadSlice('\n')
	if err != nil {
		return 0, err
	}
	fields := bytes.Fields(line)
	if len(fields) < 2 {
		return 0, fmt.Errorf("status line %q", line)
	}
	if status, err = strconv.Atoi(string(fields[1])); err != nil {
		return 0, err
	}
	length := -1
	for {
		if line, err = in.ReadSlice('\n'); err != nil {
			return 0, err
		}
		line = bytes.TrimSpace(line)
		if len(line) == 0 {
			break
		}
		name, value, _ := bytes.Cut(line, []byte(":"))
		if bytes.EqualFold(name, []byte("Content-Length")) {
			if length, err = strconv.Atoi(string(bytes.TrimSpace(value))); err != nil {
				return 0, err
			}
		}
	}
	if length < 0 {
		return 0, fmt.Errorf("answer %d without a length", status)
	}
	_, err = io.CopyN(io.Discard, in, int64(length))
	return status, err
}
