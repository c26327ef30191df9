package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"

	"github.com/gin-gonic/gin"
)

// ginCommand makes this program a bare gin route, in a process of its own like
// the service it is compared with.
const ginCommand = "gin"

// serveGin answers POST /v1/ingest and any GET with nothing but what the
// framework costs: the body is read, a fixed answer is written.
func serveGin() error {
	gin.SetMode(gin.ReleaseMode)
	engine := gin.New()
	engine.POST("/v1/ingest", func(c *gin.Context) {
		if _, err := io.ReadAll(c.Request.Body); err != nil {
			c.Status(http.StatusBadRequest)
			return
		}
		c.JSON(http.StatusAccepted, gin.H{"jobId": "00000000-0000-0000-0000-000000000000", "status": "pending"})
	})
	engine.GET("/*path", func(c *gin.Context) {
		c.JSON(http.StatusOK, gin.H{
			"id": "00000000-0000-0000-0000-000000000000", "title": "a small record",
			"createdAt": "2026-01-01T00:00:00.000Z",
		})
	})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Printf("http://%s\n", listener.Addr())
	return http.Serve(listener, engine)
}

// startGin runs the bare route until stop is called.
func startGin(ctx context.Context) (base string, stop func(), err error) {
	self, err := os.Executable()
	if err != nil {
		return "", nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	cmd := exec.CommandContext(ctx, self, ginCommand)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		cancel()
		return "", nil, err
	}
	stop = func() {
		cancel()
		cmd.Wait() // it was killed
	}
	base, err = bufio.NewReader(out).ReadString('\n')
	if err != nil {
		stop()
		return "", nil, err
	}
	return strings.TrimSpace(base), stop, nil
}
