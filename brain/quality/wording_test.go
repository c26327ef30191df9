package quality_test

import (
	"fmt"
	"strings"
	"testing"

	"orgmem/brain/quality"
)

// copies tells how b stands to a, which is read before it.
func copies(a, b string) (copies, same bool) {
	var x, y quality.Wording
	x.Reset(a)
	y.Reset(b)
	return y.Copies(&x)
}

func TestTheSameWordsAreACopy(t *testing.T) {
	t.Parallel()
	for _, x := range [][2]string{
		{"The bread of the northern mill rises slowly.", "the bread of the northern mill rises slowly"},
		{"The bread — of the “northern” mill, rises slowly", "> The **bread** of the\n> northern mill\u00a0rises slowly!"},
		{"* Buy flour\n* Buy salt", "- buy flour\n- buy salt"},
		{"Das Mehl liegt in der Mühle", "DAS MEHL LIEGT IN DER MU\u0308HLE."},
		{"Łódź leży nad Łódką", "łódź leży nad łódką"},
		{"Мука лежит в подвале, Ёлка", "МУКА ЛЕЖИТ В ПОДВАЛЕ ёлка"},
		{"小麦粉は古い地下室にあります。", "小麦粉は古い地下室にあります"},
		{"ＡＢＣ　１２", "abc 12"},
		{"الطحين في القبو القديم", "الطحين في القبو القديم."},
		{"आटा तहखाने में है", "आटा, तहखाने में है।"},
		{"ex\u00adample of it", "example of it"},
		{"🍞🥐", "🍞 🥐"},
	} {
		if is, same := copies(x[0], x[1]); !is || !same {
			t.Errorf("%q and %q: %v, %v", x[0], x[1], is, same)
		}
	}
}

func TestWhatSaysMoreIsNoCopy(t *testing.T) {
	t.Parallel()
	const long = "The bread of the northern mill rises slowly, and the flour is kept in the old cellar of the house"
	for _, x := range []struct {
		first, then    string
		is, isReversed bool
	}{
		{long + ". Thanks, Ann", long, true, false}, // what thanks is said by the first as well
		{long, long + ". So it is.", true, true},
		{long + ". Not so.", long, false, false},
		{long + ". Not.", long, false, false},
		{long + ", nicht wahr", long, false, false},
		{long + ", не так", long, false, false},
		{long + ", 7", long, false, false},
		{long + "?", long, false, false},
		{long + " 👎", long, false, false},
		{"", "", false, false},
		{long, "", false, false},
		{"The bread rises", "The bread rises slowly in the cellar of the old mill", false, false},
		{"面粉放在旧地窖里不", "面粉放在旧地窖里", false, false},
	} {
		is, _ := copies(x.first, x.then)
		reversed, _ := copies(x.then, x.first)
		if is != x.is || reversed != x.isReversed {
			t.Errorf("%q, then %q: %v, and reversed %v", x.first, x.then, is, reversed)
		}
	}
}

// What differs in a number, a negation, a name, a sign or the order says another thing, however much else is the same.
func TestOtherWordsAreNoCopy(t *testing.T) {
	t.Parallel()
	const rest = ", as we agreed with everybody who works in the kitchen of the northern mill before the winter began"
	for _, x := range [][2]string{
		{"invoice 41", "invoice 42"},
		{"The invoice of 4.1 euros", "The invoice of 41 euros"},
		{"It is 5 degrees", "It is -5 degrees"},
		{"It is 5 €", "It is 5 $"},
		{"It is 5", "It is 5 %"},
		{"It is ５", "It is ６"},
		{"It is ٥", "It is ٦"},
		{"She got an A", "She got an A-"},
		{"He writes C", "He writes C#"},
		{"3 < 5", "3 > 5"},
		{"[x] buy flour", "[ ] buy flour"},
		{"The door is locked", "The door is not locked"},
		{"We can come", "We can't come"},
		{"Die Tür ist zu", "Die Tür ist nicht zu"},
		{"La porte est fermée", "La porte n'est pas fermée"},
		{"La puerta está abierta", "La puerta no está abierta"},
		{"Дверь заперта", "Дверь не заперта"},
		{"門は開く", "門は開かない"},
		{"门开了", "门没开"},
		{"الباب مغلق", "الباب غير مغلق"},
		{"Ann has the key", "Ben has the key"},
		{"Ann told Ben", "Ben told Ann"},
		{"It was sent to Ann from Ben", "It was sent from Ann to Ben"},
		{"It is on Monday", "It is on Tuesday"},
		{"Is the door locked", "Is the door locked?"},
		{"un año", "un ano"},
		{"Done ✓", "Done ✗"},
	} {
		for _, rest := range []string{"", rest} {
			for _, d := range [][2]string{x, {x[1], x[0]}} {
				if is, _ := copies(d[0]+rest, d[1]+rest); is {
					t.Errorf("%q copies %q", d[1]+rest, d[0]+rest)
				}
			}
		}
	}
}

func FuzzWording(f *testing.F) {
	f.Add("The bread rises", "the bread\u0301 rises 7 -5 C# 小麦")
	f.Add("\xff", "👩‍👩‍👧 und ًشيء 123 \x00\u202e")
	f.Fuzz(func(t *testing.T, a, b string) {
		is, same := copies(a, b)
		if same && !is {
			t.Error("the same and no copy")
		}
		if _, reversed := copies(b, a); reversed != same {
			t.Errorf("the same in one order only: %q, %q", a, b)
		}
		var w quality.Wording
		w.Reset(a)
		if is, _ := copies(a, a); is != (w.Len() > 0) {
			t.Errorf("%q is no copy of itself", a)
		}
		if is, _ := copies(a, a+strings.Repeat(" ", 2)+"17"); is {
			t.Errorf("%q with a number more", a)
		}
	})
}

func BenchmarkWording(b *testing.B) {
	for name, s := range map[string]string{
		"english": "The bread of the northern mill rises slowly, and the flour is kept in the old cellar of it. ",
		"german":  "Das Brot der nördlichen Mühle geht langsam auf, und das Mehl liegt im alten Keller. ",
		"polish":  "Chleb z północnego młyna rośnie powoli, a mąka leży w starej piwnicy. ",
		"russian": "Хлеб северной мельницы поднимается медленно, а мука лежит в старом подвале. ",
		"chinese": "北方磨坊的面包发得很慢，面粉放在旧地窖里。", "hindi": "उत्तरी चक्की की रोटी धीरे-धीरे फूलती है, और आटा पुराने तहखाने में है। ",
		"arabic": "خبز الطاحونة الشمالية يرتفع ببطء، والطحين محفوظ في القبو القديم. ",
	} {
		b.Run(name, func(b *testing.B) {
			var page [10]quality.Wording
			var texts [10]string
			for i := range texts {
				texts[i] = strings.Repeat(s, 5) + fmt.Sprint(i)
			}
			b.ReportAllocs()
			for b.Loop() {
				for i := range page {
					page[i].Reset(texts[i])
					for k := range i {
						if is, _ := page[i].Copies(&page[k]); is {
							b.Fatal("a copy")
						}
					}
				}
			}
			b.SetBytes(int64(10 * len(texts[0])))
		})
	}
}
