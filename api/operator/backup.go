package operator

import (
	"context"
	"encoding/hex"
	"fmt"
	"net/http"
	"reflect"
	"strconv"

	"github.com/gin-gonic/gin"

	"orgmem/actors/backup"
	"orgmem/actors/tenant"
)

// errNoCopy answers for a copy whose id is malformed.
var errNoCopy = fmt.Errorf("path: %w", tenant.ErrOrgNotFound)

// backupRoutes are the only ones of the operator interface that hand out content:
// the files of the stores, for `orgmem backup create`.
var backupRoutes = []Route{
	{
		Method: http.MethodPost, Path: "/operator/backup/copies", status: http.StatusCreated,
		Body: reflect.TypeFor[newCopyBody](),
		handle: func(ctx context.Context, s *server, _ gin.Params, body any) (any, error) {
			store := backup.StoreName(body.(*newCopyBody).Store)
			c, err := s.cfg.Backups.Open(ctx, store)
			out := storeCopy{
				ID: c.ID.String(), Store: string(store), Version: c.Version, Files: make([]copiedFile, 0, len(c.Files)),
			}
			for _, f := range c.Files {
				out.Files = append(out.Files, copiedFile{f.Name, f.Size, hex.EncodeToString(f.Sum[:])})
			}
			return out, err
		},
	},
	{
		Method: http.MethodGet, Path: "/operator/backup/copies/{copy}/{store}/{file}", status: http.StatusOK,
		query: []string{"offset"},
		handle: func(ctx context.Context, s *server, path gin.Params, _ any) (any, error) {
			id, err := backup.ParseCopyID(path.ByName("copy"))
			if err != nil {
				return nil, errNoCopy
			}
			offset, err := strconv.ParseInt(path.ByName("offset"), 10, 64)
			if err != nil {
				return nil, fmt.Errorf("%w: offset must be a number", tenant.ErrInvalid)
			}
			piece, err := s.cfg.Backups.Read(ctx, backup.StoreName(path.ByName("store")), id, path.ByName("file"), offset)
			return filePiece{piece}, err
		},
	},
	{
		Method: http.MethodDelete, Path: "/operator/backup/copies/{copy}/{store}", status: http.StatusNoContent,
		handle: func(ctx context.Context, s *server, path gin.Params, _ any) (any, error) {
			id, err := backup.ParseCopyID(path.ByName("copy"))
			if err != nil {
				return nil, errNoCopy
			}
			return nil, s.cfg.Backups.Release(ctx, backup.StoreName(path.ByName("store")), id)
		},
	},
}

type newCopyBody struct {
	Store string `json:"store" blank:"false" maxLength:"64"`
}

type storeCopy struct {
	ID      string       `json:"id"`
	Store   string       `json:"store"`
	Version uint64       `json:"version"`
	Files   []copiedFile `json:"files"`
}

type copiedFile struct {
	Name string `json:"name"`
	Size int64  `json:"size"`
	Sum  string `json:"sha256"`
}

// filePiece is JSON like every answer; base64 costs a third more on a loopback.
type filePiece struct {
	Data []byte `json:"data"`
}
