package typing

import (
	"strings"

	"orgmem/brain/text"
)

// The types in the order of a reader's.
const (
	person = iota
	organization
	product
	place
	project
	event
	// Types is how many there are.
	Types
)

// kinds are the nouns that say what something of a type is. They stand at the end of a name ("Baker Street"), before it
// ("the ferry Aurora", "Room 4") or behind it ("the Aurora ferry", "Aurora, the ferry").
var kinds = map[string]uint8{}

// roles are what people are: they stand before a name.
var roles = text.Set(`mr mrs ms miss dr prof professor doctor nurse sister brother matron coach captain capt sgt
	sergeant officer inspector constable detective judge mayor councillor cllr minister senator bishop father
	rabbi imam pastor reverend rev vicar pope king queen prince princess duke lord lady sir dame frau herr madame
	monsieur señor señora signor signora auntie aunt uncle grandma grandpa granny nan nana cousin nephew niece mum
	dad mom mother husband wife son daughter boyfriend girlfriend neighbour neighbor colleague manager director
	boss chef foreman engineer developer designer architect accountant lawyer solicitor barrister plumber
	electrician carpenter gardener driver pilot teacher tutor student pupil intern trainee apprentice patient
	resident client tenant landlady owner founder ceo cto cfo coo chair chairman chairwoman treasurer secretary
	volunteer carer caretaker vet dentist surgeon physio midwife therapist author writer poet painter singer
	composer pianist violinist drummer actor actress journalist reporter editor researcher scientist analyst
	consultant assistant receptionist clerk cashier baker butcher farmer shepherd fisherman skipper sailor friend
	fellow`)

// firms are those at the end of a name that mean nothing beside one: what a business is called after.
var firms = text.Set(`inc corp ltd limited llc llp gmbh ag plc pty kg ohg sarl sas srl spa bv nv ab oy oyj aps as
	asa kft sons daughters brothers bros co partners holdings associates group solutions systems technologies
	technology software consulting consultants logistics foods textiles castings homes lettings vets legal dental
	energy power motors airlines airways rail freight shipping insurance capital ventures media studios architects
	builders plumbing roofing joinery carpentry landscaping catering marquees supplies supply services service
	industries engineering design designs interiors electrical automotive robotics biotech pharma pharmaceuticals
	therapeutics analytics labs lab properties estates realty outdoors sports records pictures entertainment
	networks communications telecom breweries brewing distillery winery fisheries fish meats dairy farms seeds
	timber steel metals chemicals plastics glass paper packaging printing print press publishing books news
	foundation trust alliance coalition federation confederation league union guild commission committee council
	parliament senate ministry authority bureau directorate secretariat university college institute institution
	association agency club team society charity company department faculty division army navy police`)

func init() {
	for t, words := range [Types]string{
		organization: `university college institute institution company firm bank party association agency club team
			society school academy church orchestra army navy police hospital library faculty department division office
			centre center charity start-up startup supplier vendor contractor subcontractor landlord customer competitor
			insurer insurance employer publisher broadcaster newspaper retailer supermarket chain carrier operator
			bakery brewery surgery practice pharmacy clinic shop store restaurant café cafe bistro pizzeria hotel gym
			nursery kindergarten choir band quartet ensemble desk crew squad unit union dealer garage workshop studio
			gallery manufacturer maker distributor wholesaler utility provider court board staff customers investors
			shares invoice invoices lawyers`,
		product: `app application software tool platform framework library database server client engine api sdk
			plugin module phone tablet laptop camera printer scanner router console sensor pump drill saw mower oven
			fridge dishwasher washer dryer boiler heater fan car van truck tractor bike bicycle scooter e-bike motorbike
			ship boat ferry yacht trawler vessel sloop barge tug plane aircraft helicopter drone train engine wine beer
			tea coffee cereal cheese chocolate soap cream ointment tablets tablet capsules inhaler vaccine drug medicine
			shampoo detergent paint glue novel book film movie series sitcom show podcast song album opera musical play
			symphony ballet painting magazine journal newsletter game puzzle toy model edition version font keyboard
			mouse headset speaker watch machine device kit plan tariff licence license subscription card backpack jacket
			boots shoes bag chair sofa lamp`,
		place: `river lake loch mountain mount mountains street st avenue road rd lane close drive crescent terrace
			quay wharf pier gate gardens garden square market-square city town village county state country island
			islands isle bay valley bridge airport province republic kingdom ocean sea desert peninsula territory
			district region coast harbor harbour port station stadium castle palace cathedral hill hills forest woods
			wood park gulf strait beach boulevard plaza piazza platz rue calle via strasse straße row court house hall
			room ward block building tower floor wing unit site branch depot warehouse yard field pitch campus falls
			creek canyon glacier cove cape point canal marina trail pass junction roundabout crossing mosque temple
			chapel shrine theatre theater cinema museum arena pavilion barn lodge inn farm estate cemetery suburb
			neighbourhood neighborhood`,
		project: `project initiative programme program operation mission campaign migration rollout refit renovation
			redesign rebuild rewrite upgrade relaunch overhaul refurbishment conversion scheme pilot trial study appeal
			workstream epic milestone roadmap deployment cutover go-live phase`,
		event: `conference congress convention festival cup championship championships olympics games award awards
			prize medal war battle summit symposium workshop tournament referendum election elections expo hackathon
			ceremony marathon race regatta derby relay run triathlon match final finals primary bowl earthquake quake
			uprising revolution treaty meetup fair fayre fête fete carnival parade retreat gala prom ball wedding
			funeral party banquet dinner breakfast brunch picnic barbecue webinar seminar lecture talk bootcamp concert
			gig rally sprint review retro retrospective kickoff kick-off standup stand-up offsite off-site all-hands
			townhall hearing audit inspection drill exam walk ride hike day days night evening week weekend sunday
			saturday friday monday forum show exhibition premiere opening auction raffle sale bazaar meeting`,
	} {
		for w := range strings.FieldsSeq(words) {
			if _, taken := kinds[w]; !taken {
				kinds[w] = uint8(t)
			}
		}
	}
}

// classes are words that stand beside names, by what they tell of them.
type class struct {
	clue  Clue
	words string
}

// before are the words that stand right before a name.
var before = wordClues([]class{
	{afterIn, `in inside within`},
	{afterAt, `at`},
	{afterTo, `to towards into toward`},
	{afterFrom, `from`},
	{afterNear, `near off around across outside beyond along past beside above below opposite behind`},
	{afterOn, `on onto upon`},
	{afterWith, `with without`},
	{afterBy, `by`},
	{afterOf, `of`},
	{afterFor, `for`},
	{afterAbout, `about regarding re concerning`},
	{afterDuring, `during after before until till since`},
	{afterVia, `via through over under between`},
	{afterAnd, `and & or nor plus`},
	{afterThe, `the this that these those`},
	{afterA, `a an another every each any some no one two three four new old second-hand used spare`},
	{afterOwn, `my your his her its our their whose`},
	{afterSaid, `says said asks asked thinks thought believes told tells replied insists claims reckons called
		named because if whether that which while so then when`},
	{afterAsked, `ask tell told met meet thank thanks remind invite see saw phone ring call text email cc hi hello
		dear hey bye sorry love miss`},
	{afterUsed, `use uses used using install installs installed try tried prefer prefers preferred recommend
		recommends buy bought order ordered take takes took drink drinks eat eats read reads reading play plays watch
		watched drive drives restart restarted upgrade upgraded ship shipped release released open opened`},
	{afterJoined, `join joins joined joining hire hired employer pay paid billed sued supplier
		vs v versus against beat`},
	{afterVisited, `visit visited visits reach reached leave leaves left cross crossed enter entered`},
	{afterIs, `is are was were be been am isn't wasn't does did do can could will would should has have had must
			may might`},
})

// naming stand between what something is and what it is called.
var naming = text.Set(`called named titled entitled`)

// behind are the words that stand right behind a name.
var behind = wordClues([]class{
	{beforeS, `'s ’s '`},
	{beforeMind, `thinks thought believes believed wants wanted prefers preferred hopes hoped loves loved hates
		hated likes liked says said asks asked told tells knows knew feels felt worries worried doubts suspects
		expects reckons insists suggests proposes promised forgot remembers noticed blames admits swears swore
		complains complained agreed agrees replied answered laughed cried wept smiled slept woke ate drank died
		himself herself`},
	{beforeAct, `brings brought takes took makes made gave gives writes wrote sent sends rang called calls met
		visited joined signed signs drove drives walked ran cooks cooked reads read sings sang plays played paints
		painted teaches taught cut cuts fixed fixes checked checks ordered found finds left leaves lost came comes
		went goes got gets put puts presents presented chairs chaired fell refused showed moved moves keeps kept`},
	{beforeTrade, `pays paid delivers delivered quoted quotes sells sold offers offered charges charged billed
		supplies supplied invoiced ships shipped announced announces acquired hired owes raised sponsors funds funded
		employs builds built bought buys closed`},
	{beforeHappens, `starts started begins began ends ended opens opened kicked takes-place happens runs`},
	{beforeWorks, `crashed crashes fails failed runs costs cost weighs breaks broke supports handles stores needs
		shows launches`},
	{beforeIs, `is isn't was wasn't are were`},
	{beforeHas, `has hasn't have had hadn't haven't`},
	{beforeWill, `will would can could should may might must won't can't cannot wo ca does did doesn't didn't do`},
	{beforeAnd, `and & or`},
	{beforeIn, `in near`},
	{beforeAt, `at from`},
	{beforeOn, `on`},
	{beforeTo, `to`},
	{beforeFor, `for with by`},
	{beforeOf, `of`},
})

// Numbered tells whether a word is that of a place that has a number or a letter.
func Numbered(w string) bool {
	k, ok := kinds[w]
	return ok && k == place || w == "table" || w == "desk" || w == "berth" || w == "bed" || w == "platform"
}

// EndsSmall tells whether a name may end with a word in small letters: one that says what an event or a project is,
// or a firm's.
func EndsSmall(w string) bool {
	k, ok := kinds[w]
	return ok && (k == event || k == project) || w == "plc" || w == "shop" || w == "farm"
}

// Firm tells whether a word at the end of a name says that an organization is called so.
func Firm(w string) bool { return firms[w] }

// Role tells whether a word is what a person is, as it stands before a name.
func Role(w string) bool { return roles[w] }

func wordClues(all []class) map[string]Clue {
	m := map[string]Clue{}
	for _, c := range all {
		for w := range strings.FieldsSeq(c.words) {
			if _, taken := m[w]; !taken {
				m[w] = c.clue
			}
		}
	}
	return m
}

// endings are those of single words that are seldom those of another type.
var endings = []struct {
	clue  Clue
	words []string
}{
	{endsPlace, strings.Fields(`burg berg borough bury ford ham ton stadt dorf heim hausen hagen ville grad holm
		shire mouth pool port field land stan wick straße strasse gasse platz weg allee stow minster chester
		caster cester hafen brück bruck furt ingen kirchen köping stad ås vik sund polis abad pur`)},
	{endsPerson, strings.Fields(`sson son sen ssen ez ova ova ev off ski sky ska wicz czyk enko ović ovic ić vić
		dottir ian yan idis poulos opoulos akis oğlu oglu shvili adze ini elli etti ucci berger mann meyer maier
		huber quist qvist lund ström strom`)},
	{endsFirm, strings.Fields(`corp tech soft bank works werke werk gen pharm med net com group health pay bus`)},
	{endsProduct, strings.Fields(`db sql ol in ine mab zole cin pril statin box book pad pod ware script kit hub os js`)},
	{endsEvent, strings.Fields(`fest con conf festival fair day messe camp thon athon iade`)},
}
