package backup

// BoundSnapshots lets tests make a snapshot that is too large; it returns the bound that
// was.
func BoundSnapshots(n int) int {
	was := maxSnapshotBytes
	maxSnapshotBytes = n
	return was
}
