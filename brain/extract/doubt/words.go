package doubt

import "orgmem/brain/text"

// The words, in small letters.
var (
	// Interjections are words of speech that dictionaries leave out.
	Interjections = text.Set(`ok okay yeah yep yup nope mm mmm hmm hm um uh ah oh huh wow lol haha hahaha hey hi hello
	thanks thx btw fyi imo imho tl;dr tbh idk omg wtf lmao woah whoa bleh ugh yay hooray hurray yikes oops ouch phew aww
	heh meh ooh aha gosh geez iirc afaik afaict fwiw ymmv iiuc congrats congratulations`)
	// Greetings begin and end a letter.
	Greetings = text.Set(`dear hallo hola ciao bonjour salut hiya morning cheers regards rgds best br kr sincerely
	yours`)
	// Currencies are the signs of money that stand before or behind a sum.
	Currencies = text.Set(`usd eur gbp chf sek nok dkk isk pln czk huf ron bgn try rub uah jpy cny inr krw aud nzd
	cad mxn
	brl ars clp cop zar ngn kes ghs egp aed sar ils sgd hkd thb vnd php idr myr`)
	// Everyday are abbreviations that name nothing by themselves.
	Everyday = text.Set(`pr prs api apis ci cc dll dlls faq faqs qa todo todos eta tbd tbc lgtm wip mvp okr okrs
	kpi kpis ui ux gui cli id ids url urls lts asap rsvp eod eow pto ooo nda ndas q&a`)
	// Asking are words of questions.
	Asking = text.Set(`who what when where why which whose how`)
	// Naming stand before what something is called.
	Naming = text.Set("called named titled entitled")
	// Bridges are the small words that stand inside of names, between capitals.
	Bridges = text.Set(`& of for de del du di da do van von der den la le wa ter ten bin ibn al el`)
	// Particles stand before names in small letters.
	Particles = text.Set(`van von de der den di da do dos du del della la le al el bin ibn ben ter ten zu`)
	// Labels stand before a colon without speaking.
	Labels = text.Set(`note notes warning caution tip info example examples todo fixme subject from to date cc bcc re
	fwd
	title author authors status type version question answer q a summary abstract http https step figure table input output
	result results error usage args returns return default value name url link links source sources reference references
	see also ps p.s update edit attendees present agenda topic topics action actions decision decisions created updated
	tags category categories content description requires replaces python-version post-history resolution discussions-to
	pep last-modified sponsor delegate where when what who why how`)
	// Nobody are the words that stand for a speaker whom nobody has named. They are no person: the first speaker of one
	// meeting is not the first of the next.
	Nobody = text.Set(`speaker spk participant attendee unknown unidentified person voice caller guest male female`)
	// Degrees stand behind a comma after a name, as a first name does.
	Degrees = text.Set(`phd md mba jr sr esq ma msc bsc ii iii iv inc llc ltd gmbh`)
	// quotes stand before a name that is marked as one.
	quotes = text.Set("\" “ « ' ‘")
	// months are those by which few people are called, and days.
	months = text.Set(`january february march july august september october november december monday tuesday wednesday
	thursday friday saturday sunday`)
)
