package text

import "strings"

// stopLists are the function words by language: left out of queries and of the
// length of passages, and the evidence by which a language is recognised.
var stopLists = [langCount]string{
	English: `a about after all also am an and any are as at be been before being but by can could did do does
doing for from had has have having he her here hers him his how i if in into is it its just me more
most my no nor not now of off on once only or other our ours out over own same she should so some
such than that the their theirs them then there these they this those through to too under until up
very was we were what when where which while who whom why will with would you your yours`,
	German: `aber alle allem allen aller als also am an andere anderen auch auf aus bei beim bin bis bist
da damit dann das dass dem den denn der des die dies diese diesem diesen dieser dieses doch dort du
durch ein eine einem einen einer eines er es etwas euch für gegen haben hat hatte hatten hier hinter
ich ihm ihn ihnen ihr ihre ihrem ihren ihrer im in indem ins ist jede jedem jeden jeder jetzt kann
kein keine keinen können könnte machen man mehr mein meine mit muss nach nicht nichts noch nun nur ob
oder ohne sehr sein seine seinem seinen seiner seit sich sie sind so soll sollte sondern sonst über um
und uns unser unter viel vom von vor war waren warum was weil welche wenn werden wer wie wieder will
wir wird wirst wo worden wurde wurden während zu zum zur zwar zwischen
wann wem wen wessen weshalb wieso wofür womit woran wovon woher wohin welcher welches welchem welchen wieviel wieviele
bitte bist doch dich dir dein deine deinen deiner eure habe habt hast hättest mich mir sei wäre würde würden`,
	French: `ai alors après au aucun aussi autre aux avait avant avec avoir c car ce cela ces cet cette ceux
chaque comme comment d dans de des deux donc dont du elle elles en encore entre est et étaient était
être eu fait faut il ils j je jusqu l la le les leur leurs lors lui m ma mais me même mes moi mon n ne
ni nos notre nous on ont ou où par parce pas pendant peut plus pour pourquoi qu quand que quel quelle
quelles quels qui sa sans se sera ses si son sont sous sur t ta te tes toi ton tous tout toute toutes
très tu un une vers vos votre vous y à
quoi combien lequel laquelle lesquels quelqu lorsque puis rien suis es êtes étions cette celui celle a as`,
	Spanish: `a al algo algunas algunos ante antes aquí así aunque cada como con contra cual cuando cuándo de
del desde donde dónde dos durante e el ella ellas ellos en entre era eran eres es esa esas ese eso esos
esta estaba están estar estas este esto estos está estos fue fueron ha hace han hasta hay la las le les
lo los más me mi mis mucho muy nada ni no nos nosotros o otra otras otro otros para pero poco por porque
que qué quien quién se sea según ser si sí sido sin sobre solo son su sus también tan tanto te tiene
tienen toda todas todo todos tu un una unas uno unos y ya yo
cuánot cuánta cuántos cuántas cuál cuáles quiénes adónde cómo soy eres somos tengo tienes he has hemos tú mí`,
	Portuguese: `a à ao aos aquela aquele aquilo as às até cada com como da das de dela dele deles depois do
dos e é ela elas ele eles em entre era eram essa essas esse esses esta está estão estas este estes eu
foi foram há isso isto já la lhe mais mas me mesmo meu minha muito na não nas nem no nos nós nossa nosso
num numa o onde os ou para pela pelas pelo pelos por porque qual quando que quem são se seja sem ser
será seu seus só sobre sua suas também te tem têm ter tinha todo todos tu um uma umas uns você vocês
quais quanto quanta quantos quantas pra porquê cadê aonde estou estamos sou somos vai vou`,
	Italian: `a ad ai al alla alle allo anche avere aveva c che chi ci come con contro cosa così cui da dal
dalla dalle degli dei del dell della delle dello di dopo dove e è ed era erano essere fa fino fra gli ha
hai hanno ho i il in io l la le lei li lo loro lui ma mai me mi mia mio molto ne nei nel nell nella nelle
no noi non nostra nostro o ogni per perché però più poi può qual quale quali quando quanto quella quelle
quelli quello questa queste questi questo se sei senza si sia siamo sono sta stata stato su sua sue sugli
sul sulla sulle suo suoi tra tu tutti tutto un una uno vi voi
quanta quanti quante chiunque siete hanno abbiamo avete ce nessuno`,
	Dutch: `aan al alles als altijd andere ben bij daar dan dat de der deze die dit doch doen door dus een eens
en er ge geen geweest haar had heb hebben heeft hem het hier hij hoe hun iemand iets ik in is ja je kan
kon kunnen maar me meer men met mij mijn moet na naar niet niets nog nu of om omdat onder ons ook op over
reeds te tegen toch toen tot u uit uw van veel voor waar was wat werd werden wezen wie wil worden wordt
zal ze zelf zich zij zijn zo zonder zou
hoeveel waarom wanneer welke welk wiens waarheen waarmee waarvoor onze jouw jullie bent`,
	Swedish: `alla allt att av bara blev bli blir de dem den denna deras dess det detta dig din dina ditt du där
då efter ej eller en ett från för ha hade han hans har henne hennes hon honom hur här i icke ingen inom
inte jag ju kan kunde man med mellan men mig min mina mitt mot mycket ni nu när någon något några och om
oss på sedan sig sin sina själv skulle som så till under upp ut utan vad var vara varför vi vid vilken
vill är över
vem vems vart vilket vilka varifrån hurdan finns er era ert`,
	Norwegian: `alle at av bare ble bli da de deg dem den denne der dere det dette din ditt du eller en enn er et
etter for fordi fra før ha hadde han hans har hennes her hun hva hvem hvis hvor hvordan hvorfor i ikke
ingen inn jeg kan kunne man med meg mellom men mer min mitt mot må noe noen nå når og også om opp oss over
på seg selv sin sine skal skulle som så til ut uten vi vil ville være vært ved var
hvilken hvilket hvilke hvorfra hvorhen hvordan deres vår våre dere finnes`,
	Danish: `af alle at blev blive bliver da de dem den denne der deres det dette dig din disse dog du efter eller
en end er et fik for fra før ham han hans har havde hende hendes her hun hvad hvem hver hvis hvor hvordan
hvorfor i ikke ind jeg kan kunne man mange med meget mellem men mig min mod må når nogen noget nu og også
om op os over på sig sin skal skulle som så til ud under var vi vil ville være været ved
hvilken hvilket hvilke hvornår hvorfra hvorhen hvordan vores jeres findes`,
	Finnish: `ei eivät emme en että hän he heidän häntä hänen ja jos joka jotka jonka jotta juuri kaikki kanssa
kuin kun koska kuka kuten me meidän mikä mitä mutta myös minä minun mukaan niin ne niiden nyt niitä ole
olen oli olivat olla on ovat se sekä sen siinä sitä siitä sillä tai tämä tämän tätä te tuo vaan vain voi
vielä yli
missä mistä mihin milloin miksi miten millainen kenen keneltä kenelle ketä montako paljonko kumpi mikä minkä minne minua
sinä sinun olet olemme onko olitko`,
	Hungarian: `a ahogy aki ami amely amelyek az azok azért azt azonban be bele csak de egy egyes egyik el ell és
ez ezek ezt ezért fel ha hanem hogy igen így is ki kell kellett le lehet lenne lesz ma már meg mely mert
mi mint minden most nagy ne nem nincs ő őket olyan pedig s sem sok szerint talán te tehát több úgy után
vagy van vannak volt volna
mikor hol hová honnan kinek kit kié miért hogyan hány mennyi melyik mit miben mivel én te mi ti ők vagyok`,
	Romanian: `a acea aceasta această aceste acest acesta ai al ale am ar are asta astfel atât au avea ca care ce
cea cei cel cele că către cu cum da dacă dar de decât deci din dintre după ea ei el ele era este eu fără
fi fie fost iar îi îl în înainte într la le li lor lui mai mult ne nici noastră nostru nu o om ori pe
pentru peste poate prin sa să sau se și sunt ta te toate tot totuși tu un una unde unei unor unui va voi
vom vor
unde când cine cui cât câtă câți câte care cum ce pentru noi voi sunt ești am ai avem`,
	Turkish: `acaba ama ancak aslında az bana bazı belki ben benim beni bir biri birkaç birçok biz bize bizi
bizim bu buna bunu bunun çok çünkü da daha de defa diye en eğer gibi hem hep hepsi her hiç için ile ise
kadar ki kim mi mı mu mü nasıl ne neden nerede niye o olan olarak oldu olduğu olmak olur ona onlar onu
onun sanki sen siz şey şu tüm var ve veya ya yani yok
kaç hangi nereye nereden kimin kime kimi kimde neyi neye bende sizin onun`,
	Russian: `а без более бы был была были было быть в вам вас весь во вот все всего всех вы где да даже для до
его ее если есть еще же за здесь и из или им их к как какой ко когда кто ли либо мне может мы на над надо
наш не него нее нет ни них но ну о об однако он она они оно от очень по под при с со так также такой там
те тем то того тоже той только том ты у уже хотя чего чем что чтобы чье эта эти это этого этот я
куда откуда какая какое какие какого какую сколько почему зачем чей чья чьё чьи кого кому кем меня мной тебя тебе нас нам`,
	Arabic: `في من على الى إلى عن ان أن إن كان كانت هذا هذه ذلك تلك التي الذي الذين ما لا لم لن قد كل بعض
بين بعد قبل عند مع هو هي هم نحن انا أنا أنت او أو ثم حتى كما لكن ليس و ف ب ل منذ حيث أي
متى أين كيف لماذا لمن ماذا هل كم أية أو إذا نحن أنتم كانوا يكون تكون هناك هنا`,
	Polish: `a aby albo ale ani bez bo być był była było były by byli chce choć ci co coś czego czemu czy czyj dla dlaczego
dlatego do dokąd gdy gdzie go ich ile im inne inny ja jak jaka jaki jakie jako je jego jej jemu jest jestem jeszcze jeśli
już kiedy kim kogo komu kto która które którego której który których którym ku lub ma mają mam mi mnie mną mój moja moje
może można my na nad nam nami nas nasz nasza nasze nią nic nich nie niech niego niej niemu nigdy nim nimi niż no o obok od
on ona one oni ono oraz po pod podczas ponieważ przed przez przy są się skąd swoje ta tak taki takie także tam te tego tej
temu ten też to tobie tu twój ty tylko tym u w we więc wszystko wszyscy wy z za zawsze ze że żeby`,
	Czech: `a aby ale ani ano asi až bez bude budou by byl byla byli bylo byly být či co což čeho čí do ho i já jak jaká jaké
jako jaký je jeho jej její jejich jen jenom ještě jestli jí jim jsem jsi jsme jsou jste k kam kdo kdy kde když která které
kterého který kteří ke kolik komu která mají má mám máš mě mezi mi mít mně mnou moje můj může my na nad nám nás náš nebo
než nic není ně někdo něco o od odkud on ona oni ono po pod podle pokud pro proč proto protože před při s se si své svůj ta
tady tak také takže tam te tedy ten to tom toho tomu tu tím ty u už v vám vás váš ve vy z za ze že`,
	Indonesian: `akan aku anda apa apakah atau bagaimana bagi bahwa banyak beberapa belum berapa bisa bukan dalam dapat dari
daripada dengan di dia hanya harus hingga ini itu jadi jika juga kalau kami kamu kapan karena ke kepada ketika kita lagi
lebih maka mana masih mengapa mereka nya oleh pada para paling pernah pun saat saja sama sampai sangat saya sebagai
sebuah secara sedang sehingga sejak semua seperti serta siapa sudah supaya tanpa telah tentang terhadap tersebut tetapi
tidak untuk yaitu yang`,
	Vietnamese: `ai anh bao bằng bị bởi các cái cần chỉ cho chúng chưa có còn của cùng cũng đã đang đâu để đến đó do được gì giờ
hay hơn khi không là lại làm lên mà mấy mỗi một nào này nên nếu nhiều như nhưng những nó ở phải qua ra rằng rất rồi sao
sau sẽ tại thế thì tôi trên trong từ và vào vẫn về vì với vậy`,
	Ukrainian: `а або але без би був була були було бути в вам вас ваш вже ви від він вона вони воно все всі всіх ви де для
до до його є ж за з зі із і й її їй їм їх його коли який яка яке які якого кого ким кому куди ли лише між мене мені ми мій
моя на над нам нас наш не нема немає неї ні ніж них но о об однак один от перед під по при про проте скільки собі та так
також там такий те тебе ти тим тих то тобі того тому той тільки ту тут у хто це цей ця ці цього через чи чий чого чому що щоб
як якщо я`,
	Persian: `از است اما آن آنها آیا این اینجا با باید بر برای بسیار بود بودند به بین پس پیش تا تو چرا چطور چگونه چه چند
چقدر چیست خواهد خود را رو شد شده شما شود ما من می میشود نمی نه نیز نیست ها های هر هست هستند هم همه همین و ولی وقتی
یا یک کجا کجاست کدام که کرد کرده کردن کسی کند کنند کنم کی کنید اند ام ای او ایشان دارد دارند در دیگر`,
	Urdu: `آپ ابھی اس اسے ان انہیں انہوں اور ایک اگر بعد بھی بہت پر پہلے تک تم تو تھا تھی تھے جا جب جس جن جو جہاں
جیسے رہا رہی رہے سب سے سکتا سکتی سکتے صرف طرح کا کب کتنا کتنی کتنے کر کرتا کرتی کرتے کرنا کرنے کس کسی کو کون کونسا
کوئی کہ کہا کہاں کی کیا کیسے کیوں کے گا گی گے گئی گئے گیا لیکن لیے مجھے میں میرا میری نہ نہیں نے وہ وہاں ہم ہو ہوا
ہوئی ہوئے ہوتا ہوتی ہوں ہونے ہے ہیں ہی یا یہ یہاں`,
	Greek: `ο η το οι τα του της των τον την τους τις στο στη στην στον στους στις στα σε από για με χωρίς και κι ή αλλά όμως αν
ότι πως που πού πότε ποιος ποια ποιο ποιοι ποιες ποιον ποιου πόσο πόσα πόσοι πόσες γιατί τι είναι ήταν είμαι είσαι είμαστε
έχει έχουν έχω είχε θα να δεν μη μην δε μας σας μου σου τους αυτό αυτός αυτή αυτά αυτοί αυτές ένα ένας μια μία όταν όπως ως
κατά μετά πριν μέχρι προς παρά ακόμα πολύ πιο κάθε όλα όλοι όλες κάτι εδώ εκεί εγώ εσύ εμείς εσείς`,
	Hebrew: `של את על אל אם או אבל גם כי לא כן הוא היא הם הן אני אתה אתם אנחנו זה זאת זו אלה אלו מה מי מתי איפה היכן איך למה
מדוע כמה איזה איזו אילו לאן מאיפה היה היתה הייתה היו להיות יש אין עם בין עד כל כמו רק עוד אז שם פה כאן לי לך לו לה לנו
לכם להם שלי שלך שלו שלה שלנו שלהם אותו אותה אותם אחרי לפני כאשר אשר מאוד האם ידי בו בה כבר יותר`,
	Hindi: `अपना अपनी अपने अब अभी आप आपका आपकी आपके इन इस इसका इसकी इसके इसलिए इसे उन उनका उनकी उनके उन्हें उस उसका
उसकी उसके उसे एक एवं और कई कब कर करता करती करते करना करने का कि किस किसका किसकी किसके किसने किसे की कितना कितनी कितने कुछ के
को कोई कौन कौनसा क्या क्यों कैसे कहां कहाँ गई गए गया जब जहां जहाँ जा जाता जाती जाते जैसे जो तक तब तरह तो था थी थीं थे द्वारा न
नहीं ने पर फिर बहुत बाद बारे भी मगर मुझे मेरा मेरी मेरे में मैं यदि यह यहां यहाँ या ये रहा रही रहे लिए लेकिन वह वहां वहाँ वे
व सकता सकती सकते सब साथ से हम हमारा हमारी हमारे हर ही हुआ हुई हुए है हैं हो होता होती होते होना होने`,
	Bengali: `অথবা অনেক আছে আপনার আপনি আমরা আমাদের আমার আমি আর ই ইহা উপর এ এই এক একটি একটা এখন এখানে এটা এটি এবং এর ও ওই ওর
কখন কত কতটা কবে করা করে করেছে করেন করতে কি কী কিছু কিন্তু কে কেন কেমন কোথায় কোন কোনো কার কাকে গিয়ে ছিল ছিলেন জন্য জন্যে
তবে তা তাই তার তাদের তারা তাহলে তিনি তুমি তোমার থেকে দিয়ে দ্বারা না নেই নয় পর পরে পর্যন্ত প্রতি বা মধ্যে মনে মত মতো যা যে
যখন যদি যার যিনি যেমন রয়েছে শুধু সঙ্গে সব সাথে সে সেই সেটা হওয়া হচ্ছে হতে হবে হয় হয়েছে হয়েছিল হলে`,
	Thai: `ที่ไหน อะไร เมื่อไหร่ เมื่อไร อย่างไร ยังไง ทำไม ใคร เท่าไหร่ เท่าไร กี่ หรือเปล่า หรือไม่ และ หรือ แต่ ของ ที่ เป็น ได้ ไม่ จะ
ให้ กับ จาก โดย เพื่อ ซึ่ง อยู่ แล้ว นี้ นั้น ก็ มาก ครับ ค่ะ คะ เรา ฉัน ผม คุณ เขา เธอ พวก ด้วย ต้อง ควร เมื่อ ถ้า เพราะ ว่า`,
	Korean: `무엇 무엇을 무엇이 무엇인가요 뭐 뭘 어디 어디에 어디서 어디에서 어디에요 어디예요 어디인가요 언제 언제까지 언제부터 누구 누가 누구의
누구와 왜 어떻게 어떤 어느 얼마 얼마나 얼마예요 몇 그리고 그러나 하지만 그래서 또는 및 이 그 저 것 것은 것이 것을 수 있다 있는 있나요 있습니까
있습니다 있어요 없다 없는 없나요 없습니다 나는 나의 내 내가 너 우리 우리는 우리의 저는 제가 그는 그녀는 그들은 이것 이것은 그것 그것은 때 때문에
대한 대해 위해 위한 하는 한 할 해 했다 했나요 했습니까 했습니다 합니까 합니다 하나요 입니까 입니다 인가요 더 매우 아주 모든`,
	Japanese: `は が を に で どこですか どこです いつですか いつです だれですか 誰ですか 何ですか なんですか いくらですか なぜですか どうですか と も の か へ や ね よ な です ます でした ました ません ですか ますか でしたか ましたか ませんか でしょうか だ だった
である どこ どこで どこに どこから いつ いつから いつまで だれ 誰 なに 何 なん 何が 何を 何の なぜ どうして どう どうやって どの どれ どんな どちら
いくら いくつ 何人 何時 から まで より だけ しか など ので のに けど けれど そして しかし または および この その あの これ それ あれ ここ そこ
こと する した して している していた している した人 された されて されています いる ある あります ありますか います いますか いました ありました
なった なる なり ない たい たら れば という ください について によって にて では には とは`,
	Chinese: `的 了 吗 嗎 呢 吧 啊 是 在 和 与 與 及 或 也 都 就 把 被 对 對 从 從 到 为 為 我 你 您 他 她 它 我们 我們 你们 你們 他们 他們
她们 她們 我的 你的 他的 她的 这 這 那 这个 這個 那个 那個 这些 這些 那些 什么 什麼 甚麼 怎么 怎麼 怎样 怎樣 怎么样 怎麼樣 为什么 為什麼 如何
哪 哪里 哪裡 哪儿 哪兒 哪个 哪個 哪些 哪天 谁 誰 谁的 誰的 何时 何時 什么时候 什麼時候 多少 几个 幾個 几点 幾點 多久 请问 請問 是什么 是什麼 是谁 是誰
是不是 有没有 有沒有 不 没 沒 很 但 而 因为 因為 所以 如果 并 並 又 还 還 要 会 會 能 可以 一个 一個 之 其 该 該 着 著 过 過`,
}

// stopTable gives the languages in which a lower-case word is a function word.
// Accents are significant: "für" is German, "fur" is not.
var stopTable = func() map[string]LangSet {
	m := make(map[string]LangSet, 2048)
	var buf []byte
	for l := range stopLists {
		for w := range strings.FieldsSeq(stopLists[l]) {
			buf = appendLower(buf[:0], w)
			m[string(buf)] |= 1 << l
		}
	}
	return m
}()

// FunctionWord tells in which languages a lower-case word is a function word, one
// that says nothing of what a text is about.
func FunctionWord(lower string) LangSet { return stopTable[lower] }

// FunctionWords gives the function words of a language, folded.
func FunctionWords(l Lang) []string { return strings.Fields(Fold(stopLists[l])) }
