package address

import (
	"slices"
	"testing"
)

func TestFind(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		code, text string
		want       []string
	}{
		{"ja", "土曜日に田中さんと京都で食事をしました。", []string{"田中", "京都"}},
		{"ja", "お客さんと奥さん、皆さんが来ました。", nil},
		{"zh", "昨天我和刘洋去了南京的博物馆。", []string{"刘洋", "南京"}},
		{"zh", "谢谢，辛苦了！", nil},
		{"hi", "चाबियों की ज़िम्मेदारी शर्मा जी की है।", []string{"शर्मा"}},
		{"ar", "السيدة هدى مسؤولة عن المفاتيح.", []string{"هدى"}},
		{"pl", "Pani Nowicka ma klucze.", []string{"Nowicka"}},
		{"nl", "Mevrouw Visser heeft de sleutels.", []string{"Visser"}},
		{"", "Pan and Oma are words in English.", nil},
	} {
		var got []string
		for _, n := range Find(c.code, c.text) {
			got = append(got, c.text[n.Start:n.End])
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, not %q", c.text, got, c.want)
		}
	}
}
