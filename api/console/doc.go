// Package console serves the built files of the web console, on the public and on the operator
// interface, and lets a first start's address sign in. What the console shows it asks the
// interface for, as any client does: nothing here knows what is stored.
package console

import (
	"io/fs"
	"net/http"

	"github.com/gin-gonic/gin"

	"orgmem/api/web"
)

// Config is what a browser is served.
type Config struct {
	// Files are the built files; nil: there is no console.
	Files fs.FS
	// Page of Files is the console's, OperatorPage the operator's.
	Page, OperatorPage string
	// SignIn hands out a first key for a code; nil: nobody signs in by a code.
	SignIn *SignIn
}

// ServePublic adds the console to the public interface.
func (c Config) ServePublic(e *web.Edge, public *gin.Engine) error {
	if c.Files == nil {
		return nil
	}
	if c.SignIn != nil {
		e.Mount(public, http.MethodPost, Path+"/session", c.SignIn.answer)
	}
	// Who types the address alone into a browser means the console.
	toConsole := http.Header{"Location": {Path + "/"}, "Cache-Control": {"no-cache"}}
	e.Mount(public, http.MethodGet, "/", func(ex *web.Exchange) {
		ex.WriteFixed(http.StatusTemporaryRedirect, toConsole, nil)
	})
	return serve(e, public, c.Files, c.Page)
}

// ServeOperator adds the operator's console to the operator interface.
func (c Config) ServeOperator(e *web.Edge, operator *gin.Engine) error {
	if c.Files == nil {
		return nil
	}
	return serve(e, operator, c.Files, c.OperatorPage)
}
