package calendar

import "strings"

// feasts are public holidays and other days of the year with a name of their own, which
// a tagger takes for people: they stand where people stand, and some people are called
// so.
var feasts = func() map[string]bool {
	m := map[string]bool{}
	for name := range strings.SplitSeq(`christmas|christmas day|christmas eve|xmas|yule|boxing day|new year|new year's|
		new year's day|new year's eve|new years eve|hogmanay|easter|easter day|easter sunday|easter monday|easter saturday|
		good friday|maundy thursday|holy week|holy thursday|palm sunday|ash wednesday|shrove tuesday|pancake day|mardi gras|
		lent|advent|epiphany|three kings day|candlemas|michaelmas|ascension|ascension day|pentecost|whitsun|whit sunday|
		whit monday|trinity sunday|assumption day|all saints|all saints' day|all saints day|all souls|all souls' day|
		all souls day|all hallows' eve|reformation day|halloween|hallowe'en|thanksgiving|thanksgiving day|black friday|
		cyber monday|labor day|labour day|may day|memorial day|veterans day|veterans' day|armistice day|remembrance day|
		remembrance sunday|independence day|canada day|australia day|anzac day|waitangi day|bastille day|republic day|
		national day|constitution day|columbus day|presidents day|presidents' day|groundhog day|earth day|flag day|juneteenth|
		kwanzaa|victoria day|heritage day|freedom day|valentine's day|valentine's|valentines day|mother's day|mothers day|
		father's day|fathers day|women's day|children's day|april fools' day|april fool's day|saint patrick's day|
		st patrick's day|st. patrick's day|saint andrew's day|st andrew's day|st. andrew's day|st george's day|
		st. george's day|st david's day|st. david's day|saint nicholas day|st nicholas day|st. nicholas day|st stephen's day|
		st. stephen's day|martin luther king day|martin luther king jr. day|mlk day|guy fawkes night|bonfire night|
		burns night|midsummer|midsummer's eve|midsummer day|walpurgis night|twelfth night|harvest festival|cinco de mayo|
		day of the dead|hanukkah|chanukah|hanukah|passover|pesach|purim|rosh hashanah|rosh hashana|yom kippur|sukkot|shavuot|
		simchat torah|tisha b'av|lag baomer|ramadan|eid|eid al-fitr|eid al-adha|eid ul-fitr|eid ul-adha|ashura|mawlid|
		laylat al-qadr|nowruz|newroz|norouz|diwali|deepavali|holi|navratri|dussehra|durga puja|raksha bandhan|
		ganesh chaturthi|onam|pongal|makar sankranti|vaisakhi|baisakhi|vesak|wesak|songkran|chuseok|obon|lunar new year|
		chinese new year|mid-autumn festival|dragon boat festival|lantern festival|qingming|golden week|oktoberfest`, "|") {
		m[strings.TrimSpace(name)] = true
	}
	delete(m, "")
	return m
}()

// MaxFeast bounds the name of a feast, in bytes.
const MaxFeast = 40

// Feast tells whether a name, in small letters and with single spaces, is that of such a day.
func Feast(name string) bool { return feasts[name] }
