package web

import (
	"bytes"
	"net/http"
	"strconv"

	"github.com/go-json-experiment/json"

	"orgmem/api/problems"
	"orgmem/api/wire"
	pb "orgmem/proto"
)

// What net/http cannot parse (a malformed escape in the path, a header that is
// too large, two lengths) it answers itself, in plain text, before any handler
// runs. The interface promises a problem for every failure, so the connection
// recognises that one write and replaces it.

// CloseWrite lets net/http end a refused connection gently.
func (c *conn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// refusalHeaders are how net/http begins every answer of its own; no handler of
// ours writes these three in this order.
var refusalHeaders = []byte("\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n")

// statusOffset is where the status stands in "HTTP/1.1 400 Bad Request".
const statusOffset = len("HTTP/1.1 ")

// Write passes everything on, save net/http's own refusals.
func (c *conn) Write(p []byte) (int, error) {
	if c.listener.rewrite == nil || len(p) <= statusOffset || (p[statusOffset] != '4' && p[statusOffset] != '5') {
		return c.Conn.Write(p)
	}
	line := bytes.IndexByte(p, '\r')
	if line < 0 || !bytes.HasPrefix(p[line:], refusalHeaders) {
		return c.Conn.Write(p)
	}
	status, err := strconv.Atoi(string(p[statusOffset : statusOffset+3]))
	if err != nil {
		return c.Conn.Write(p)
	}
	if _, err := c.Conn.Write(c.listener.rewrite(status)); err != nil {
		return 0, err
	}
	return len(p), nil
}

// wireProblem is the whole answer to a request that net/http refused.
func (e *Edge) wireProblem(status int) []byte {
	p := problems.New(pb.CodeMalformed)
	switch status {
	case http.StatusRequestHeaderFieldsTooLarge:
		p = problems.New(pb.CodeHeadersTooLarge)
	case http.StatusServiceUnavailable:
		p = problems.New(pb.CodeServiceDegraded)
		p.Detail = "The node has as many connections open as it may, and all of them are busy."
	}
	requestID := e.RequestID(nil)
	known, body := e.problemJSON(p, requestID)
	content, err := json.Marshal(body, wire.Options)
	if err != nil {
		content = nil // a problem is plain text: this cannot happen
	}
	var out bytes.Buffer
	out.WriteString("HTTP/1.1 " + strconv.Itoa(known.Status) + " " + http.StatusText(known.Status) + "\r\n")
	for _, h := range [][2]string{
		{"Content-Type", contentProblem[0]},
		{"Content-Length", strconv.Itoa(len(content))},
		{HeaderRequestID, requestID},
		{"Cache-Control", noStore[0]},
		{"Connection", closeConnection[0]},
		{"Retry-After", retryAfterOf(known)},
	} {
		if h[1] == "" {
			continue
		}
		out.WriteString(h[0] + ": " + h[1] + "\r\n")
	}
	out.WriteString("\r\n")
	out.Write(content)
	return out.Bytes()
}

// retryAfterOf is the header's value, empty for no header.
func retryAfterOf(e problems.Entry) string {
	if e.RetryAfter == 0 {
		return ""
	}
	return strconv.FormatUint(uint64(e.RetryAfter), 10)
}
