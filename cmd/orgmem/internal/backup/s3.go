package backup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
)

// s3PartBytes is how much of an object of unknown size is held in memory: the
// parts of an upload are all that large. 10,000 parts are the most that S3 takes,
// so an object may have 160 GB.
const s3PartBytes = 16 << 20

// S3Options says how a bucket is reached.
type S3Options struct {
	// Endpoint is the store's address: host, host:port, or a URL of them, of which
	// http:// speaks without TLS. Empty is Amazon's.
	Endpoint string
	// Region is the bucket's; empty lets the library find it.
	Region string
	// AccessKey and SecretKey are the credentials; both empty: none.
	AccessKey, SecretKey, SessionToken string
	// Transport carries the requests; nil is the library's own.
	Transport http.RoundTripper
}

const amazonEndpoint = "s3.amazonaws.com"

// s3 is a vault in a bucket of an S3-compatible store.
type s3 struct {
	client *minio.Client
	bucket string
	prefix string // empty, or ends in a slash
}

// IsS3 reports whether a vault's address is a bucket's: s3://bucket/prefix.
func IsS3(address string) bool { return strings.HasPrefix(address, "s3://") }

// OpenS3 returns the vault at s3://bucket/prefix. The bucket must exist.
func OpenS3(address string, o S3Options) (Vault, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "s3" || u.Host == "" || u.RawQuery != "" || u.User != nil {
		return nil, fmt.Errorf("%q is not of the form s3://bucket/prefix", address)
	}
	if o.Endpoint == "" {
		o.Endpoint = amazonEndpoint
	}
	host, plain := strings.CutPrefix(o.Endpoint, "http://")
	secure := !plain
	client, err := minio.New(strings.TrimPrefix(host, "https://"), &minio.Options{
		Creds:  credentials.NewStaticV4(o.AccessKey, o.SecretKey, o.SessionToken),
		Secure: secure, Region: o.Region, Transport: o.Transport,
	})
	if err != nil {
		return nil, fmt.Errorf("vault: %w", err)
	}
	prefix := strings.Trim(u.Path, "/")
	if prefix != "" {
		prefix += "/"
	}
	return s3{client: client, bucket: u.Host, prefix: prefix}, nil
}

// Put implements Vault: a store of this kind shows an object when all of it is
// there.
func (s s3) Put(ctx context.Context, name string, content io.Reader) error {
	_, err := s.client.PutObject(ctx, s.bucket, s.prefix+name, content, -1, minio.PutObjectOptions{
		ContentType: "application/octet-stream", PartSize: s3PartBytes,
	})
	if err != nil {
		return fmt.Errorf("vault: write %s: %w", name, err)
	}
	return nil
}

// Get implements Vault.
func (s s3) Get(ctx context.Context, name string) (io.ReadCloser, error) {
	object, err := s.client.GetObject(ctx, s.bucket, s.prefix+name, minio.GetObjectOptions{})
	if err == nil {
		_, err = object.Stat() // asks for it
		if err != nil {
			err = errors.Join(err, object.Close())
		}
	}
	if missing(err) {
		return nil, fmt.Errorf("%s: %w", name, ErrNotFound)
	}
	if err != nil {
		return nil, fmt.Errorf("vault: read %s: %w", name, err)
	}
	return object, nil
}

// Has implements Vault.
func (s s3) Has(ctx context.Context, name string) (bool, error) {
	_, err := s.client.StatObject(ctx, s.bucket, s.prefix+name, minio.StatObjectOptions{})
	if missing(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("vault: look for %s: %w", name, err)
	}
	return true, nil
}

// List implements Vault; S3 lists in the order of the names.
func (s s3) List(ctx context.Context, prefix string) ([]string, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // ends the library's listing where we stop early
	var names []string
	for object := range s.client.ListObjects(ctx, s.bucket, minio.ListObjectsOptions{Prefix: s.prefix + prefix}) {
		if object.Err != nil {
			return nil, fmt.Errorf("vault: list %s: %w", prefix, object.Err)
		}
		names = append(names, strings.TrimPrefix(object.Key, s.prefix))
	}
	return names, nil
}

func missing(err error) bool {
	if err == nil {
		return false
	}
	r, ok := errors.AsType[minio.ErrorResponse](err)
	return ok && r.Code == minio.NoSuchKey
}
