package topic

import (
	"slices"
	"testing"
)

// Two labels that a reader could not tell apart name one theme.
func TestOneTheme(t *testing.T) {
	t.Parallel()
	var labels []Label
	for _, s := range []string{
		"Tournament, video game", "Kiln, clay", "Tournament, game", "Board game", "Video game", "", "", "Kiln", "Clay, Kiln",
		"Oven, kiln", "Board minutes", "Board minutes (2)", "Board minutes, choir",
	} {
		labels = append(labels, Label{Text: s})
	}
	if got, want := OneTheme(labels), []int{0, 1, 0, 3, 4, 5, 6, 1, 1, 9, 10, 10, 10}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
