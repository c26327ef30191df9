package text

import "strings"

// stopLists are the function and question words by language (those of Ukrainian with the Russian, of Persian and
// Urdu, where Arabic has no such word, with the Arabic): left out of queries and of the
// length of passages, and the evidence by which a language is recognised.
var stopLists = [langCount]string{
	English: `a about after all also am an and any are as at be been before being but by can could did do does
doing for from had has have having he her here hers him his how i if in into is it its just me more
most my no nor not now of off on once only or other our ours out over own same she should so some
such than that the their theirs them then there these they this those through to too under until up
very was we were what when where which while who whom why will with would you your yours`,
	German: `aber alle allem allen aller als also am an andere anderen auch auf aus bei beim bin bis bist da
damit dann das dass dem den denn der des die dies diese diesem diesen dieser dieses doch dort du durch ein eine
einem einen einer eines er es etwas euch für gegen haben hat hatte hatten hier hinter ich ihm ihn ihnen ihr
ihre ihrem ihren ihrer im in indem ins ist jede jedem jeden jeder jetzt kann kein keine keinen können könnte
machen man mehr mein meine mit muss nach nicht nichts noch nun nur ob oder ohne sehr sein seine seinem seinen
seiner seit sich sie sind so soll sollte sondern sonst über um und uns unser unter viel vom von vor war waren
warum was weil welche wenn werden wer wie wieder will wir wird wirst wo worden wurde wurden während zu zum zur
zwar zwischen wann wen wem wessen wohin woher wofür womit worum woran worauf wovon welcher welchen welchem
welches wieviel wieso weshalb habe hast habt sei seid mir mich dir dich dein deine deinem deinen deiner unsere
unserem unseren unserer unsers euer eure gibt schon mal fuer ueber koennen waehrend`,
	French: `ai alors après au aucun aussi autre aux avait avant avec avoir c car ce cela ces cet cette ceux
chaque comme comment d dans de des deux donc dont du elle elles en encore entre est et étaient était être eu
fait faut il ils j je jusqu l la le les leur leurs lors lui m ma mais me même mes moi mon n ne ni nos notre
nous on ont ou où par parce pas pendant peut plus pour pourquoi qu quand que quel quelle quelles quels qui sa
sans se sera ses si son sont sous sur t ta te tes toi ton tous tout toute toutes très tu un une vers vos votre
vous y à a as ait es suis sommes êtes combien lequel laquelle lesquels lesquelles quoi avons avez avaient fut
furent seront étais eux chez depuis déjà ici là fois mien mienne`,
	Spanish: `a al algo algunas algunos ante antes aquí así aunque cada como con contra cual cuando cuándo de
del desde donde dónde dos durante e el ella ellas ellos en entre era eran eres es esa esas ese eso esos esta
estaba están estar estas este esto estos está estos fue fueron ha hace han hasta hay la las le les lo los más
me mi mis mucho muy nada ni no nos nosotros o otra otras otro otros para pero poco por porque que qué quien
quién se sea según ser si sí sido sin sobre solo son su sus también tan tanto te tiene tienen toda todas todo
todos tu un una unas uno unos y ya yo cómo cuánto cuánta cuántos cuántas cuáles cuál cuanto cuantos cuantas
quiénes adónde he hemos hubo había habían soy somos estoy estamos nuestra nuestro nuestras nuestros tus vez`,
	Portuguese: `a à ao aos aquela aquele aquilo as às até cada com como da das de dela dele deles depois do
dos e é ela elas ele eles em entre era eram essa essas esse esses esta está estão estas este estes eu foi foram
há isso isto já la lhe mais mas me mesmo meu minha muito na não nas nem no nos nós nossa nosso num numa o onde
os ou para pela pelas pelo pelos por porque qual quando que quem são se seja sem ser será seu seus só sobre sua
suas também te tem têm ter tinha todo todos tu um uma umas uns você vocês quanto quanta quantos quantas quais
aonde cadê estava estavam estou estamos sou somos nossas nossos minhas meus tua teu tuas teus pra pro numas
tive quê porquê desde outra outras outro outros vez`,
	Italian: `a ad ai al alla alle allo anche avere aveva c che chi ci come con contro cosa così cui da dal
dalla dalle degli dei del dell della delle dello di dopo dove e è ed era erano essere fa fino fra gli ha hai
hanno ho i il in io l la le lei li lo loro lui ma mai me mi mia mio molto ne nei nel nell nella nelle no noi
non nostra nostro o ogni per perché però più poi può qual quale quali quando quanto quella quelle quelli quello
questa queste questi questo se sei senza si sia siamo sono sta stata stato su sua sue sugli sul sulla sulle suo
suoi tra tu tutti tutto un una uno vi voi quanti quante quanta dov com cos quand abbiamo avete siete ero
eravamo stati state miei mie tuoi tue tuo tua dall sull agli dagli negli nostri nostre vostro vostra`,
	Dutch: `aan al alles als altijd andere ben bij daar dan dat de der deze die dit doch doen door dus een eens
en er ge geen geweest haar had heb hebben heeft hem het hier hij hoe hun iemand iets ik in is ja je kan kon
kunnen maar me meer men met mij mijn moet na naar niet niets nog nu of om omdat onder ons ook op over reeds te
tegen toch toen tot u uit uw van veel voor waar was wat werd werden wezen wie wil worden wordt zal ze zelf zich
zij zijn zo zonder zou wanneer welke welk hoeveel waarom waarheen waarvan waarmee waarvoor waarin waaraan wiens
hoelang jij jou jouw jullie wij onze hadden bent hebt mag moeten mocht zouden zullen wilde wel nou sinds
tijdens waarbij`,
	Swedish: `alla allt att av bara blev bli blir de dem den denna deras dess det detta dig din dina ditt du
där då efter ej eller en ett från för ha hade han hans har henne hennes hon honom hur här i icke ingen inom
inte jag ju kan kunde man med mellan men mig min mina mitt mot mycket ni nu när någon något några och om oss på
sedan sig sin sina själv skulle som så till under upp ut utan vad var vara varför vi vid vilken vill är över
vem vems vilka vilket varifrån vart hurdan blivit finns er ert era våra vår vårt åt ska skall vars`,
	Norwegian: `alle at av bare ble bli da de deg dem den denne der dere det dette din ditt du eller en enn er
et etter for fordi fra før ha hadde han hans har hennes her hun hva hvem hvis hvor hvordan hvorfor i ikke ingen
inn jeg kan kunne man med meg mellom men mer min mitt mot må noe noen nå når og også om opp oss over på seg
selv sin sine skal skulle som så til ut uten vi vil ville være vært ved var hvilken hvilket hvilke hvorhen
blitt mye vår vårt våre deres dine sitt hos ikkje`,
	Danish: `af alle at blev blive bliver da de dem den denne der deres det dette dig din disse dog du efter
eller en end er et fik for fra før ham han hans har havde hende hendes her hun hvad hvem hver hvis hvor hvordan
hvorfor i ikke ind jeg kan kunne man mange med meget mellem men mig min mod må når nogen noget nu og også om op
os over på sig sin skal skulle som så til ud under var vi vil ville være været ved hvilken hvilket hvilke
hvornår hvorfra hvorhen vores jeres mine dine sit hos blevet`,
	Finnish: `ei eivät emme en että hän he heidän häntä hänen ja jos joka jotka jonka jotta juuri kaikki kanssa
kuin kun koska kuka kuten me meidän mikä mitä mutta myös minä minun mukaan niin ne niiden nyt niitä ole olen
oli olivat olla on ovat se sekä sen siinä sitä siitä sillä tai tämä tämän tätä te tuo vaan vain voi vielä yli
kenen ketä kenelle keneltä milloin missä mistä mihin miksi miten millainen mitkä paljonko montako kuinka kauan
onko oliko ovatko minulla sinulla hänellä meillä koko`,
	Hungarian: `a ahogy aki ami amely amelyek az azok azért azt azonban be bele csak de egy egyes egyik el ell
és ez ezek ezt ezért fel ha hanem hogy igen így is ki kell kellett le lehet lenne lesz ma már meg mely mert mi
mint minden most nagy ne nem nincs ő őket olyan pedig s sem sok szerint talán te tehát több úgy után vagy van
vannak volt volna hol hová honnan mikor miért hogyan melyik melyek kinek kit mit mennyi hány milyen kik mik
nekem neki nekünk meddig`,
	Romanian: `a acea aceasta această aceste acest acesta ai al ale am ar are asta astfel atât au avea ca care
ce cea cei cel cele că către cu cum da dacă dar de decât deci din dintre după ea ei el ele era este eu fără fi
fie fost iar îi îl în înainte într la le li lor lui mai mult ne nici noastră nostru nu o om ori pe pentru peste
poate prin sa să sau se și sunt ta te toate tot totuși tu un una unde unei unor unui va voi vom vor cine când
câți câte cât câtă cui căror cărui unul unele niște`,
	Turkish: `acaba ama ancak aslında az bana bazı belki ben benim beni bir biri birkaç birçok biz bize bizi
bizim bu buna bunu bunun çok çünkü da daha de defa diye en eğer gibi hem hep hepsi her hiç için ile ise kadar
ki kim mi mı mu mü nasıl ne neden nerede niye o olan olarak oldu olduğu olmak olur ona onlar onu onun sanki sen
siz şey şu tüm var ve veya ya yani yok hangi hangisi nereye nereden kimin kime kimi kaç nedir neler sizin
onların mıdır midir`,
	Russian: `а без более бы был была были было быть в вам вас весь во вот все всего всех вы где да даже для до
его ее если есть еще же за здесь и из или им их к как какой ко когда кто ли либо мне может мы на над надо наш
не него нее нет ни них но ну о об однако он она они оно от очень по под при с со так также такой там те тем то
того тоже той только том ты у уже хотя чего чем что чтобы чье эта эти это этого этот я куда откуда почему зачем
сколько какая какое какие какого какую чей чья чьи кого кому кем чему меня тебя мной тебе нас нам нему ней нею
себя свой своя свои который которая которое которые которого этом мой моя мои наша наши що як коли де хто чому
який яка яке які скільки є був була було були та й ще від із про він вона вони ми ви`,
	Arabic: `في من على الى إلى عن ان أن إن كان كانت هذا هذه ذلك تلك التي الذي الذين ما لا لم لن قد كل بعض بين
بعد قبل عند مع هو هي هم نحن انا أنا أنت او أو ثم حتى كما لكن ليس و ف ب ل منذ حيث أي متى أين اين كيف لماذا ماذا
كم هل انت هناك لدى لديه لديها كانوا سوف فقط که را از است این آن چه چرا چگونه کجا کدام چند برای بود شد می هست ہے
ہیں تھا تھی تھے کا کی کے کو نے سے میں پر یہ وہ کیا کون کہاں کب کیوں کیسے کتنا کتنے کتنی اور نہیں ایک بھی تو ہی
تک جو`,
	Polish: `a aby albo ale ani aż bardzo bez bo być był była było były będzie bym by ci co czego czy czyj
czyja czym dla do dlaczego dlatego dokąd gdy gdzie go i ich ile im inne ja jak jaka jaki jakie jakim jako je
jednak jego jej jest jestem jeszcze jeśli już kiedy kim kogo komu która które którego której który których
którym którzy kto ku lub ma mam mi mnie mną moja moje mój może mu my na nad nam nas nasz nasza nasze nic nich
nie niej nim niż no o obok od on ona one oni ono oraz po pod poza przed przez przy roku są się skąd sobie ta
tak taka taki takie tam te tego tej ten też to tobie tu twój twoja tych tylko tym u w we wam was wasz wie więc
wszystko wszyscy z za ze że żeby`,
	Indonesian: `ada adalah agar akan anda apa apakah atau bagaimana bagi bahwa banyak beberapa belum berapa
bila bisa bukan dalam dan dapat dari daripada dengan di dia dimana hanya harus ia ini itu itulah jadi jika juga
kalau kami kamu kapan karena ke kenapa kepada ketika kita lagi lebih maka mana mengapa mereka nya oleh pada
para pernah pun saat saja sampai sangat saya sebagai sebuah secara sedang sejak selama seorang seperti serta
siapa sudah tapi telah tersebut tentang terhadap tetapi tidak untuk yaitu yang ya`,
	Vietnamese: `ai anh ấy bao bạn bằng bị bởi các cái càng chỉ chị cho chúng chưa có cô còn của cùng cũng cứ
do đã đang đâu đây để đến đều đi đó được gì giờ hay hơn khi không là lại làm lúc mà mấy mình mỗi một nào này
nên nếu nhiêu nhiều như nhưng những nó nơi nữa ở ông phải ra rằng rất rồi sao sau sẽ tại thế thì theo tôi trên
trong trước từ và vào vẫn vậy vì việc với vừa`,
}

// stopTable gives the languages in which a lower-case word is a function word.
// Accents are significant: "für" is German, "fur" is not.
var stopTable = func() map[string]LangSet {
	m := make(map[string]LangSet, 4096)
	var buf []byte
	for l := range stopLists {
		for w := range strings.FieldsSeq(stopLists[l]) {
			buf = appendLower(buf[:0], normalize(w))
			m[string(buf)] |= 1 << l
		}
	}
	return m
}()

// scriptStops are the function and question words of languages that are taken as they stand, each known by its script:
// Hindi and Marathi, Bengali, Punjabi, Tamil, Telugu, Greek, Hebrew.
var scriptStops = func() map[string]bool {
	m := make(map[string]bool, 512)
	var buf []byte
	for w := range strings.FieldsSeq(`
का की के को ने से में पर है हैं था थी थे और या यह वह ये वे इस उस इन उन जो कि तो ही भी
नहीं न क्या कौन कब कहाँ कहां क्यों
कैसे कितना कितने कितनी किस किसने किसका किसकी किसके किसे हो होता होती होते हुआ हुई हुए
गया गई गए कर करता करते करती लिए साथ तक
एक मैं मुझे मेरा मेरी मेरे हम हमारा हमारी हमारे आप आपका आपकी तुम अपना अपनी अपने कोई कुछ
बाद पहले द्वारा जब तब अब
आहे आहेत होता होती होते आणि हा ही हे त्या या ते तो ती मी काय कोण कधी कुठे का कसे किती
साठी च्या ची चे चा ला ने नाही
এবং ও যে এই সেই তা তার এর কে কি কী কখন কোথায় কেন কেমন কত কোন কোনো কার আমি আমার আমাদের
তুমি তোমার আপনি আপনার সে তারা
হয় হয়েছে ছিল আছে না নেই জন্য থেকে সঙ্গে সাথে করে করা পর একটি এক
ਦਾ ਦੀ ਦੇ ਨੂੰ ਨੇ ਤੋਂ ਵਿੱਚ ਤੇ ਹੈ ਹਨ ਸੀ ਅਤੇ ਇਹ ਉਹ ਕੀ ਕੌਣ ਕਦੋਂ ਕਿੱਥੇ ਕਿਉਂ ਕਿਵੇਂ ਕਿੰਨਾ ਕਿੰਨੇ
ஒரு இந்த அந்த என்ன யார் எப்போது எங்கே ஏன் எப்படி எத்தனை எவ்வளவு எந்த மற்றும் என்று இது
அது நான் என் நாம் உள்ளது
ఒక ఈ ఆ ఏమి ఏమిటి ఎవరు ఎప్పుడు ఎక్కడ ఎందుకు ఎలా ఎంత ఎన్ని ఏ మరియు ఇది అది నేను నా మా ఉంది
ο η το οι τα του της των τον την τη στο στη στην στον στους στις στα και ή να με για
από σε που πως δεν μην θα είναι ήταν
έχει είχε τι ποιος ποια ποιο ποιοι ποιες πότε πού πώς γιατί πόσο πόσα πόσες πόσοι ένα
ένας μια μία μου σου μας σας τους αυτό
αυτή αυτός εγώ εσύ ως αν κι
את של על עם אל זה זאת זו הוא היא הם הן אני אתה אנחנו לא כן יש אין היה הייתה היו מה מי
מתי איפה איך למה מדוע כמה איזה
איזו לאן מאין או גם כי אם כל אבל רק עוד`) {
		buf = appendLower(buf[:0], normalize(w))
		m[string(buf)] = true
	}
	return m
}()

// FunctionWord tells in which languages a lower-case word is a function word, one
// that says nothing of what a text is about.
func FunctionWord(lower string) LangSet { return stopTable[lower] }
