package data

import (
	"os"

	"orgmem/brain/embed"
	"orgmem/brain/reader"
)

// Reader loads a reader's pack over the model that it was made for.
func Reader(file string, model *embed.Model) (*reader.Reader, error) {
	pack, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	return reader.LoadPack(pack, model, nil)
}
