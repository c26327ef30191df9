//go:build !linux

package pages

// Weights gives n zeros. It is an embed.Room.
func Weights(n int) []int16 { return make([]int16, n) }

// Unload does nothing: the system decides what it keeps of file.
func Unload(file []byte) {}
