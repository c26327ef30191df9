package text

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// finnishNouns are nouns that compounds are made of, written for this: the word lists that the others were drawn from
// have few compounds of Finnish.
const finnishNouns = `
aamu aika aine aita ajo akku ala alennus alue amme ansio apu arkki arvo asema asia asiakas asu asukas asunto ateria
aukio auto avain bensiini bussi edustaja elin eläin elämä erä esine esitys etu eväs farkku finaali haastattelu
haitta hakemus haku halli hallinto hallitus hammas hampaat hanke harja harjoitus harrastus hautaus heinä hella
helmi hengitys henki henkilö herkku hevonen hihna hiihto hiiri hillo hinta hissi historia hiukset hoito holvi
hotelli housut huivi huolto huone hylly hyöty häiriö hätä höyry ihminen ikkuna ilma ilmasto ilmoitus ilta imuri
istunto isä jakelu jakso jalka johtaja johto joki joukko joukkue joulu juhla juna juoksu juoma juoni juuri juusto
järjestelmä järjestys järjestö järvi jäsen jäte jää kaappi kaari kaasu kaava kahvi kaivo kala kalenteri kalja
kaluste kalusto kamera kana kanava kansa kansi kansio kappale kartta kasetti kassa kastike kasvi kasvo kasvu
katsaus kattila katto katu kauppa kaupunki kausi keino keitin keittiö keitto kello kengät kenkä kenttä kerho kerma
kerros kerta keräys keskus keskustelu kesä ketju kevät kieli kielto kierros kierrätys kiinteistö kilpailu kirja
kirjaimet kirjasto kirje kirjoitus kirkko kisa kissa kivi klubi koe kohde kohta koira koje kokemus koko kokous
kolari komero kone konsertti koodi kori korjaus kortti koru korva korvaus kotelo koti koulu koulutus kuitti kuiva
kukka kuljetus kulku kulta kulttuuri kulut kumppani kunta kuori kuorma kuppi kurssi kuu kuukausi kuula kuume kuuri
kuusi kuva kuvaus kylpy kylä kynttilä kynä kysely kysymys käsi käynti käyttäjä käyttö käytävä köysi laatikko laatta
laatu lahja laina lainaus laite laitos laivue laji lakana laki lammas lampi lamppu lanka lapio lappu lapsi lasi
laskelma laskin lasku lastaus lasten lattia latu lauantai laukku laulu lauta lautanen lava lehmä lehti leikkaus
leikki leima leipä leiri leirintä lelu lento lepo levitys levy liha liike liikenne liikunta liima liite liitto
liivi linja linna lintu lippu lista lisä liuos loki loma lomake lounas luento luettelo luistin lukio lukitus lukko
luku lumi luokka luonto luottamus lupa lusikka luu lähde lähetys lähtö lämmitin lämmitys lämpö lääke lääkäri maa
maali maanantai mainos maito maja makkara maksu malja malli mansikka marja markkinat matka matto mekko melu
menetelmä meno meri merkintä merkki mestari metalli metsä mielipide mies miesten mitali mitta mittari moottori
muisti muistiinpano muistio muki muovi museo musiikki muste mustikka muutos mylly myrkky myymälä myynti myyrä määrä
määräys mökki naapuri naaras nainen naisten nappi nauha naula naulakko neula neuvola neuvonta neuvosto neuvottelu
nimi nippu niska nostin nosturi numero nuoret nuotio näkymä näyte näytelmä näyttely näyttö ohjaaja ohjain ohje
ohjelma oikeus omena onnettomuus opas opettaja opetus opinto opisto oppi oppilas osa osasto osoite osto ostos
otsikko ottelu ovi paikka paine paino paita paja pakastin paketti pakkanen pakkaus pala palaute palaveri palkinto
palkka pallo palo palvelin palvelu pankki pannu paperi paristo parisuhde parkki parta parveke pastilla patja
patteri peili peite peli pelto penkki pentu perhe perintö peruna pesu pesä piha pihvi piirakka piiri piirustus
pilvi pino pinta pipo piste pistoke pohja poika poliisi polku pora porras porsas portti posti potilas projekti
prosessi puhdistus puhe puhelin puisto pukki puku pula pulla pullo pumppu punnitus puolisko puolue purkki purku
puro pussi putki puu puuro puutarha pyyhe pyykki pyynti pyyntö pyörä päivitys päivä päiväys pää pääsy päätös pöly
pöytä raha rahasto rahoitus rahti raitti raja rakennus raketti rakko rannikko ranta raportti rata ratas ratkaisu
rauha rauta ravinto ravintola reikä reitti rekisteri remontti rengas renkaat reppu retkeily retki riippu riita
rikos rinki rinne ristely risti ritilä rivi rokote rokotus romu roska rouva ruoka ruokala ruusu ruuvi ryhmä rytmi
räystäs saapas saari saastuminen saatavuus sairaala sairaus sakko sakset salaatti salaisuus sali sana sanoma sarja
satama sato satu satula sauna savu seinä seisake selkä seloste selvitys seteli seura seurakunta seuranta seutu
siemen sieni siili siipi siirto siivous silakka silmä silta simpukka sivu sohva soitto sopimus sormi sosiaali sota
suhde suihku sukellus sukka suklaa suku sulku summa suodatin suoja suojelu suola suoritus suu suunnitelma suunta
sydän syksy synnytys syntymä syy sähkö säiliö säkki sänky sää sääntö säästö säätiö taajuus taide taito takka takki
takuu talli talo talous talvi tanssi tapa tapaaminen tapahtuma tarha tarjous tarkastus tarra tarvike tase tasku
taso tauko taulu tauti teatteri tehdas teippi tekniikka teko teksti telakka tele televisio teline teltta temppu
teoria teos terassi terveys testi tie tiede tiedosto tiedote tieto tiimi tiiviste tila tilaisuus tilanne tilasto
tilaus tili timantti tinki todistus toimi toiminta toimisto toimitus tontti tori torni torstai treeni tuki tukka
tukki tuli tulkki tulo tulostin tuoli tuomio tuotanto tuote turva turvallisuus tutka tutkimus tutkinto tuuletin
tuuli tyttö tyyli tyyny työ työt työntekijä tähti täyttö uhri uimari uinti uuni uutinen vaaka vaali vaara vaate
vaatteet vahinko vahti vaihde vaihe vaihto vakuutus valikko valinta valmentaja valmistus valo valta valtio valvonta
vanhemmat vanhempain vanhempi vapaa vara varasto varaus varjo varoitin varoitus varpu varsi vartija varuste vasara
vaunu vaunut vauva vene verho veri verkko vero vesi vessa vetoketju viemäri vierailu vieras viesti vihko viikko
viini viisas viiva vika vilja villa virasto virhe virka virkailija virta vitamiini voi voide voima vuode vuokra
vuori vuoro vuosi vuoto vyö väki väli väline välipala väri väylä ydin yhdistys yhteys yhtiö yliopisto yrittäjä
yritys ystävä yö ääni öljy`

// finnishEnds are how nominatives end, and how their other forms do that stand at the beginning of compounds.
var finnishEnds = []struct{ nominative, first string }{
	{"nen", "s"},
	{"nen", "sen"},
	{"s", "ksen"},
	{"s", "den"},
	{"i", "en"},
	{"si", "den"},
	{"e", "een"},
	{"in", "imen"},
	{"as", "aan"},
	{"äs", "ään"},
	{"", "n"},
}

// gradations are how consonants weaken before an ending.
var gradations = []struct{ strong, weak string }{
	{"kk", "k"},
	{"pp", "p"},
	{"tt", "t"},
	{"nt", "nn"},
	{"nk", "ng"},
	{"mp", "mm"},
	{"lt", "ll"},
	{"rt", "rr"},
	{"ht", "hd"},
	{"lk", "l"},
	{"k", ""},
	{"p", "v"},
	{"t", "d"},
}

// finnishForms gives what a noun may look like at the beginning of a compound, itself first.
func finnishForms(w string) []string {
	forms := []string{w}
	for _, e := range finnishEnds {
		t, ok := strings.CutSuffix(w, e.nominative)
		if !ok {
			continue
		}
		forms = append(forms, t+e.first)
		last, n := utf8.DecodeLastRuneInString(w)
		switch {
		case e.first == "n" && strings.ContainsRune("aeiouyäö", last):
			forms = append(forms, weakened(w[:len(w)-n], string(last)+"n"))
		case e.nominative == "i":
			forms = append(forms, weakened(t, "en"))
		}
	}
	return slices.DeleteFunc(forms, func(f string) bool { return f == "" })
}

// weakened gives a stem in the weak grade with an ending, "" if it has none.
func weakened(stem, ending string) string {
	for _, g := range gradations {
		if t, ok := strings.CutSuffix(stem, g.strong); ok {
			return t + g.weak + ending
		}
	}
	return ""
}
