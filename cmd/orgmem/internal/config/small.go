package config

import (
	"fmt"
	"os"
)

// MaxSecretFile bounds a file of credentials or a token; ours have 2 KB.
const MaxSecretFile = 64 << 10

// ReadSmall reads a file of credentials or a token that a setting names.
func ReadSmall(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.Size() > MaxSecretFile {
		return nil, fmt.Errorf("%s is larger than %s", path, FormatBytes(MaxSecretFile))
	}
	return os.ReadFile(path)
}
