package reading

import (
	"errors"
	"fmt"
	"strings"
)

// ErrFile is wrapped by every error about a file; the text behind it completes
// the sentence "the file …". ErrTooLarge is wrapped beside it where the file, or
// a document in it, is above one of the Limits.
var (
	ErrFile     = errors.New("file refused")
	ErrTooLarge = fmt.Errorf("%w", ErrFile)
)

// Errorf makes an error about the file; the text completes the sentence "the file …".
func Errorf(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrFile, fmt.Sprintf(format, args...))
}

// TooLargef is Errorf where the file, or a document in it, is above one of the Limits.
func TooLargef(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrTooLarge, fmt.Sprintf(format, args...))
}

// IsFileError reports whether an error is about the file, and not about its size.
func IsFileError(err error) bool { return errors.Is(err, ErrFile) && !errors.Is(err, ErrTooLarge) }

// Reason is the text of an error behind ErrFile.
func Reason(err error) string { return strings.TrimPrefix(err.Error(), ErrFile.Error()+": ") }

// The errors of a file that takes more than the limits allow. Both wrap ErrTooLarge.
var (
	ErrMemory = TooLargef("takes more memory to be read than one file may; split it")
	ErrWork   = TooLargef("takes more work to be read than one file may; split it")
)

// Supported ends the errors about files that are of no format that is read.
const Supported = "; what can be read is listed in docs/imports.md"
