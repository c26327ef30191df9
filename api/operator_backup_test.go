package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"orgmem/actors/backup"
	"orgmem/actors/tenant"
	pb "orgmem/proto"
)

// fakeBackups has one copy of one store.
type fakeBackups struct{ content string }

var fakeCopy = backup.CopyID{7}

func (f fakeBackups) Open(_ context.Context, store backup.StoreName) (backup.StoreCopy, error) {
	if store != "meta" {
		return backup.StoreCopy{}, fmt.Errorf("store: %w", tenant.ErrOrgNotFound)
	}
	return backup.StoreCopy{
		ID: fakeCopy, Version: 3,
		Files: []backup.CopiedFile{{Name: "000001.sst", Size: int64(len(f.content)), Sum: [32]byte{0xab}}},
	}, nil
}

func (f fakeBackups) Read(
	_ context.Context, store backup.StoreName, id backup.CopyID, file string, offset int64,
) ([]byte, error) {
	switch {
	case store != "meta" || id != fakeCopy:
		return nil, tenant.ErrOrgNotFound
	case file != "000001.sst" || offset < 0:
		return nil, fmt.Errorf("%w: no such file", tenant.ErrInvalid)
	}
	return []byte(f.content[offset:]), nil
}

func (f fakeBackups) Release(_ context.Context, store backup.StoreName, id backup.CopyID) error {
	if store != "meta" || id != fakeCopy {
		return tenant.ErrOrgNotFound
	}
	return errors.ErrUnsupported
}

func TestBackupRoutes(t *testing.T) {
	h := newHarness(t, func(c *Config) { c.Backups = fakeBackups{"abcdef"} })
	copyPath := "/operator/backup/copies/" + fakeCopy.String()
	for _, c := range []struct {
		method, target, body string
		status               int
		contains             string
	}{
		{
			http.MethodPost, "/operator/backup/copies", `{"store":"meta"}`, 201,
			`"version":3,"files":[{"name":"000001.sst","size":6,"sha256":"ab00`,
		},
		{http.MethodPost, "/operator/backup/copies", `{"store":"x"}`, 404, pb.CodeOrganizationNotFound},
		{http.MethodPost, "/operator/backup/copies", `{}`, 422, "store"},
		{http.MethodGet, copyPath + "/meta/000001.sst?offset=2", "", 200, `{"data":"Y2RlZg=="}`},
		{http.MethodGet, copyPath + "/meta/000001.sst?offset=x", "", 422, "offset"},
		{http.MethodGet, copyPath + "/meta/000001.sst", "", 422, "offset"},
		{http.MethodGet, copyPath + "/meta/other?offset=0", "", 422, "file"},
		{http.MethodGet, "/operator/backup/copies/7/meta/000001.sst?offset=0", "", 404, pb.CodeOrganizationNotFound},
		{http.MethodDelete, copyPath + "/other", "", 404, pb.CodeOrganizationNotFound},
		{http.MethodDelete, copyPath + "/meta", "", 500, pb.CodeInternal},
	} {
		r := h.op(c.method, c.target, c.body)
		if r.StatusCode != c.status || !strings.Contains(string(r.body), c.contains) {
			t.Errorf("%s %s: %d %s", c.method, c.target, r.StatusCode, r.body)
		}
	}
	if r := h.op(http.MethodGet, copyPath+"/meta/000001.sst?offset=0", "", "Authorization", ""); r.StatusCode != 401 {
		t.Errorf("without the token: %d", r.StatusCode)
	}
	if r := newHarness(t).op(http.MethodPost, "/operator/backup/copies", `{"store":"meta"}`); r.StatusCode != 404 {
		t.Errorf("where there are no backups: %d", r.StatusCode)
	}
}
