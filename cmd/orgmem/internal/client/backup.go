package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"orgmem/cmd/orgmem/internal/backup"
	pb "orgmem/proto"
	"orgmem/storage"
)

// Backup is the service as a backup sees it.
func (c *Client) Backup() backup.Source { return backupSource{c} }

type backupSource struct{ client *Client }

const copiesPath = "/operator/backup/copies"

// Stores implements backup.Source.
func (s backupSource) Stores(ctx context.Context) ([]string, error) {
	orgs, err := s.client.Orgs(ctx)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, o := range orgs {
		org, err := pb.ParseOrgID(o.OrgID)
		if err != nil {
			return nil, fmt.Errorf("organization %q: %w", o.OrgID, err)
		}
		for _, realm := range storage.OrgRealms {
			names = append(names, storage.StoreID{Org: org, Realm: realm}.String())
		}
	}
	return names, nil
}

// Open implements backup.Source. A copy that was made and not heard of ends by
// itself, so it may be asked for again.
func (s backupSource) Open(ctx context.Context, store string) (backup.Copy, error) {
	var out struct {
		ID string `json:"id"`
		backup.Store
	}
	body := struct {
		Store string `json:"store"`
	}{store}
	err := s.client.do(ctx, call{method: http.MethodPost, path: copiesPath, body: body, repeatable: true, out: &out})
	if IsCode(err, pb.CodeOrganizationNotFound) {
		err = errors.Join(backup.ErrNoStore, err)
	}
	return backup.Copy{ID: out.ID, Store: out.Store}, err
}

// Read implements backup.Source.
func (s backupSource) Read(ctx context.Context, c backup.Copy, file string, offset int64) ([]byte, error) {
	var out struct {
		Data []byte `json:"data"`
	}
	path := copyPath(c) + "/" + url.PathEscape(file) + "?offset=" + strconv.FormatInt(offset, 10)
	err := s.client.do(ctx, call{method: http.MethodGet, path: path, out: &out})
	return out.Data, goneError(err)
}

// Release implements backup.Source.
func (s backupSource) Release(ctx context.Context, c backup.Copy) error {
	return goneError(s.client.do(ctx, call{method: http.MethodDelete, path: copyPath(c)}))
}

func copyPath(c backup.Copy) string {
	return copiesPath + "/" + url.PathEscape(c.ID) + "/" + url.PathEscape(c.Store.Name)
}

// goneError joins ErrCopyGone to the service's refusal of a copy that is not there, which has the code of an
// organization that is not there.
func goneError(err error) error {
	if IsCode(err, pb.CodeOrganizationNotFound) {
		return errors.Join(backup.ErrCopyGone, err)
	}
	return err
}
