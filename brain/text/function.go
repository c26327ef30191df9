package text

import (
	"strings"
	"unicode/utf8"
)

// joinedStops are the function and question words of languages without spaces, and Korean endings. They are looked for
// in questions only: what a passage holds is not cut by a list.
var joinedStops = func() map[string]bool {
	m := make(map[string]bool, 256)
	for w := range strings.FieldsSeq(`
です ます でした ました ません ました ている ていた ください について という どこ いつ だれ なに なぜ どう どの どれ どんな
いくら いくつ どうして どうやって この その あの これ それ あれ ここ そこ から まで より ある いる した して する なった なる
私 誰 何 何時 何人 何年 何月 何日 れた れる せる には では とは にも でも のは のが のを
什么 怎么 怎样 在哪里 在哪儿 在哪 哪里 哪儿 哪个 哪些 哪天 哪一 谁 为什么 为何 何时 什么时候 多少 多久 几点 几个 是否 有没有 可以 能不能 我们 你们
他们 她们 这个 那个 这些 那些 因为 所以 但是 如果 以及 或者 还是 已经 我的 你的 他的 她的 甚麼 怎麼 哪裡 哪兒 誰 為什麼 為何
何時 什麼 什麼時候 幾點 幾個 我們 你們 他們 這個 那個 這些
언제 어디 어디에 어디서 누가 누구 무엇 무슨 뭐 왜 어떻게 얼마 얼마나 어떤 어느 몇 입니다 습니다 습니까 입니까 인가요 나요
에서 으로 에게 까지 부터 하는 하고 했다 있는 있다 그리고 우리 저는 나는 제가 내가
ที่ไหน เมื่อไหร่ เมื่อไร เท่าไหร่ เท่าไร อะไร ใคร ทำไม อย่างไร ยังไง ไหม หรือ และ ของ ที่ ใน เป็น คือ มี ได้ ให้ กับ จาก
ຫຍັງ ໃຜ ໃສ ເມື່ອໃດ ແລະ ຂອງ ທີ່ ໃນ អ្វី ណា ពេលណា និង របស់ ដែល ဘာ ဘယ် ဘယ်သူ ဘယ်မှာ ဘယ်တော့`) {
		m[w] = true
	}
	return m
}()

// longestJoined is the longest of joinedStops in characters, as they are counted in a run.
const longestJoined = 5

// Particles of one character: those of Japanese stand behind another script, or behind one another.
const (
	japaneseParticles = "はがをにでとものへ"
	finalParticles    = "的了吗嗎呢吧か"
)

// functional marks the characters of a run (which begin at starts and end where it does) that belong to function words:
// from each place on the longest word that is one.
func functional(run string, starts []int, end int) []bool {
	marks := make([]bool, len(starts))
	at := func(k int) int {
		if k < len(starts) {
			return starts[k]
		}
		return end
	}
	for k := 0; k < len(starts); k++ {
		n := 0
		for m := min(longestJoined, len(starts)-k); m > 0 && n == 0; m-- {
			if joinedStops[run[at(k):at(k+m)]] {
				n = m
			}
		}
		if c := run[at(k):at(k+1)]; n == 0 && k > 0 && particle(c, run[at(k-1):at(k)], marks[k-1]) {
			n = 1
		}
		for i := range n {
			marks[k+i] = true
		}
		k += max(n-1, 0)
	}
	return marks
}

// particle tells whether a character is a particle behind another one.
func particle(c, before string, behindFunction bool) bool {
	if strings.Contains(finalParticles, c) {
		return true
	}
	r, _ := utf8.DecodeRuneInString(before)
	return strings.Contains(japaneseParticles, c) && (behindFunction || r < 0x3041 || r > 0x309F)
}
