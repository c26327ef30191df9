package address

import (
	"regexp"
	"slices"

	"orgmem/brain/extract/locale"
	"orgmem/brain/text"
)

// Name is one that was found.
type Name struct {
	text.Span

	Place bool // else a person
}

// titles stand before the name of a person, in languages of which the tagger knows too few.
var titles = map[string]map[string]bool{
	"nl": text.Set("mevrouw meneer"), "pl": text.Set("pani pan pana panią panem panu"),
	"ar": text.Set("السيد السيدة الأستاذ الأستاذة الدكتور الدكتورة"), "hi": text.Set("श्री श्रीमती"),
}

// maxParts is how many words a name behind a title has at most.
const maxParts = 3

// Find gives the names of a text in a language, which do not overlap, in their order.
func Find(code, s string) (out []Name) {
	switch {
	case code == "ja" || code == "zh":
		out = joined(code, s)
	case titles[code] != nil:
		out = titled(code, s)
	}
	slices.SortStableFunc(out, func(a, b Name) int { return a.Start - b.Start })
	end := 0
	return slices.DeleteFunc(out, func(n Name) bool {
		if n.Start < end {
			return true
		}
		end = n.End
		return false
	})
}

// titled are the names behind titles, and before the Hindi one.
func titled(code, s string) (out []Name) {
	tokens := locale.Tokens(s)
	for i := range tokens {
		if i > 0 && code == "hi" && tokens[i].Text == "जी" && len(tokens[i-1].Text) > len("जी") {
			out = append(out, Name{Span: text.Span{Start: tokens[i-1].Start, End: tokens[i-1].End}})
			continue
		}
		if !titles[code][tokens[i].Text] {
			continue
		}
		to := i + 1
		cased := code == "nl" || code == "pl"
		for to < len(tokens) && to <= i+maxParts && (cased && tokens[to].Capital || !cased && to == i+1) &&
			s[tokens[to-1].End:tokens[to].Start] == " " {
			to++
		}
		if to > i+1 && len(tokens[i+1].Text) > 2 {
			out = append(out, Name{Span: text.Span{Start: tokens[i+1].Start, End: tokens[to-1].End}})
		}
	}
	return out
}

var (
	// japanese names stand before a form of address, and nobody's are those of a role.
	japanese = regexp.MustCompile(`(\p{Han}{1,4}|\p{Katakana}{2,10})(?:さん|様|くん|ちゃん|先生|部長|課長|社長)`)
	nobody   = text.Set("皆 お客 客 奥 娘 息子 子供 医者 看護師 母 父 兄 姉 叔父 叔母 祖父 祖母 患者 隣 店員 王 神 仏 殿 校長 担当 各位")
	// chinese names are a surname and one or two characters between words that stand beside people.
	chinese = regexp.MustCompile(`(?:^|[，。、：；！和跟与由给找问叫请让是])([王李张刘陈杨黄赵周吴徐孙朱马胡郭林何高梁郑罗宋谢唐韩曹许邓冯曾` +
		`程蔡彭潘袁于董余苏叶吕魏蒋田杜丁沈姜范江傅钟卢汪戴崔任陆廖姚方金邱夏谭韦贾邹石熊孟秦阎薛侯雷白龙段郝孔邵史毛常万顾赖武康贺严尹钱施牛洪龚]` +
		`\p{Han}{1,2}?)(?:先生|女士|老师|经理|医生|在|说|负责|去|来|和|也|已|把|将|从|会|昨|今|明|。|，|$)`)
	places = regexp.MustCompile(`東京|大阪|京都|名古屋|横浜|神戸|札幌|福岡|仙台|広島|奈良|鎌倉|金沢|長崎|那覇|熊本|新潟|静岡|岡山|千葉|` +
		`北京|上海|广州|深圳|杭州|南京|成都|重庆|武汉|西安|天津|苏州|长沙|青岛|大连|厦门|昆明|香港|台北|宁波|郑州|沈阳|哈尔滨|济南`)
)

// joined are the names of a text in Chinese or Japanese.
func joined(code, s string) (out []Name) {
	person := func(m []int) {
		if name := s[m[2]:m[3]]; !nobody[name] && name != "谢谢" && !places.MatchString(name) {
			out = append(out, Name{Span: text.Span{Start: m[2], End: m[3]}})
		}
	}
	switch code {
	case "ja":
		for _, m := range japanese.FindAllStringSubmatchIndex(s, maxNames) {
			person(m)
		}
	case "zh":
		for _, m := range chinese.FindAllStringSubmatchIndex(s, maxNames) {
			person(m)
		}
	}
	for _, m := range places.FindAllStringIndex(s, maxNames) {
		out = append(out, Name{Span: text.Span{Start: m[0], End: m[1]}, Place: true})
	}
	return out
}

// maxNames bounds those of a text.
const maxNames = 500
