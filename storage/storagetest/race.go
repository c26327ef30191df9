//go:build race

package storagetest

const underRace = true
