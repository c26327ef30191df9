package act

import "orgmem/brain/text"

var french = table{
	verbs: "merci bonjour salut hier depuis avant quand samedi voilà viens voici allons avons",
	lang:  text.French,
	promises: `
		je vais|irai ?me|?te|?vous|?lui|?leur|?m|?t|?l|?le|?la|?les|?y|?en -er|-ir|-re|-oir <thing>
		nous|on allons|va ?nous|?vous|?te|?l|?le|?la|?les|?y|?en -er|-ir|-re|-oir <thing>
		je|j|nous ?me|?te|?vous|?lui|?leur|?m|?t|?l|?le|?la|?les|?y|?en -erai|-irai|-drai|-trai|-erons|\
			-irons|-drons|ferai|ferons|irai|enverrai|enverrons <thing>
		je|nous m|me|nous occupe|charge|occuperai|chargerai|occupons|chargeons ~ de|d|du|des <thing>
		je|nous ?te|?vous|?lui|?leur promets|promettons ~ de|d|que <deed>`,
	duties: `
		<who> est|sont ?maintenant|?désormais responsable|responsables|chargé|chargée|chargés de|d|du|des \
			<thing>
		le|la responsable de|d|du|des <thing> est|c ?maintenant|?désormais|?est <who> $
		<who> s|se occupe|occupent|charge|chargent ~ de|d|du|des <thing>
		c est <who> qui gère|dirige|coordonne <thing>
		c est <who> qui s|se occupe|charge ~ de|d|du|des <thing>
		de|du|d|des <thing> s|se occupe|charge ~ <who> $
		<who> gère|dirige|coordonne <thing>
		je suis ~ responsable|chargé|chargée de|d|du|des <thing>`,
	likes: `
		je|j|nous|on ?n|?ne aime|aimons|adore|adorons|apprécie|préfère|préférons ! ?beaucoup|?bien|\
			?surtout|?vraiment <thing>
		mon|ma|notre plat|boisson|couleur|livre|film|musique préféré|préférée <thing>
		<thing> me|nous plaît|plaisent $`,
	dislikes: `
		je|j|nous|on déteste|détestons|hais|haïs <thing>
		j ai horreur de|du|des|d <thing>`,
	beliefs: `
		je suis ~ convaincu|convaincue|persuadé|persuadée ~ que|qu <rest>
		je|j crois|pense|estime|trouve que|qu <rest>
		à mon avis ?, <rest>
		selon moi ?, <rest>`,
	instead: `
		au lieu de|du|des|d
		et non plus
		plutôt que`,
	not: "pas jamais rien personne aucun aucune guère",
	hedges: "peut si probablement éventuellement éventuel pourrait pourrions pourriez pourrais " +
		"voudrais voudrait aimerais aimerait espérons sinon",
	reports: "dit disait affirmé affirme prétend raconté prétendait expliqué",
	asking:  "qui que quoi quand où pourquoi comment quel quelle quels quelles combien est",
	pronouns: "je tu il elle on nous vous ils elles ce c cela ça ceci lui leur eux moi toi m t l y en tout quelque " +
		"chose",
	selves: "je j nous",
	habits: "toujours souvent chaque tous toutes habituellement normalement jamais parfois quotidiennement " +
		"généralement",
	idle:     "dormir coucher pleuvoir pleut neige neiger espère hâte courant sais fatigué malade",
	musings:  "voir être avoir essayer attendre suis reposer réfléchir partir manger penser",
	past:     "aimais aimait était étaient avant avais autrefois adorait détestait détestais préférait",
	very:     "beaucoup vraiment surtout trop bien le la les l de du des d",
	openers:  "alors donc et mais bon ok oui ensuite",
	articles: "le la les l notre nos mon ma mes leur",
	small: "une des plus très bien encore déjà aussi cette cet ces tout toute dans pour avec chez trop " +
		"quand nos notre",
	must: "doit devons devez doivent faut impératif échéance délai limite termine terminent expire clôture avant " +
		"remettre résilier rendre",
	done: "fait fini finie envoyé envoyée payé payée rendu rendue acheté achetée commandé commandée réparé " +
		"réparée repeint " +
		"nettoyé nettoyée appelé réservé réservée signé signée annulé annulée livré livrée récupéré rangé " +
		"rangée inscrit " +
		"inscrite répondu terminé terminée réglé réglée",
	wishes:    "voudrais voudrait aimerais propose proposons suggère souhaite préférerais mieux vaudrait devrait",
	holding:   "crois pense trouve espère crains",
	expected:  "va vont demain pleuvra suffit",
	addressed: "tu te toi t vous ton ta tes votre vos ça",
	moved: "reporté reportée reportés reportées déplacé déplacée avancé avancée décalé décalée augmenté " +
		"augmente baisse baissé " +
		"passe passent prolongé prolongée changé renommé renommée passé repoussé repoussée",
	to: "au à en",
	days: "lundi mardi mercredi jeudi vendredi samedi dimanche lundis mardis mercredis jeudis " +
		"vendredis samedis dimanches",
	hedging:     "s il|ils",
	conditional: "rais rait rions riez raient",
	future:      "era ira dra eront iront",
}

var spanish = table{
	verbs: "vamos voy muchas muchos gracias hola ayer desde creo pienso estoy tengo prefiero odio adoro " +
		"prometo hemos pagué soy",
	lang: text.Spanish,
	promises: `
		voy|vamos a -ar|-er|-ir|-arlo|-arla|-erlo|-arle|-arme|-arte|-arnos|-irlo <thing>
		^ ?yo|?te|?le|?les|?os|?lo|?la|?los|?las|?me|?nos -aré|-eré|-iré|-aremos|-eremos|-iremos|haré|\
			haremos|pondré|traeré|tendré_listo <thing>
		?yo|?nosotros|?nosotras me|nos encargo|ocupo|encargaré|ocuparé|encargamos|ocupamos ~ de|del <thing>
		de|del <thing> me|nos encargo|ocupo|encargamos|ocupamos ?yo
		te|os|le|les ?lo prometo|prometemos <deed>
		prometo|prometemos <deed>
		te prometo que <deed>`,
	duties: `
		<who> es|son ?ahora el|la|los|las responsable|responsables|encargado|encargada|encargados de|del \
			<thing>
		<who> es|son|está|están ?ahora responsable|encargado|encargada|cargo|a de|del <thing>
		el|la responsable|encargado|encargada de|del <thing> es ?ahora <who> $
		<who> se encarga|encargan|ocupa|ocupan ~ de|del <thing>
		de|del <thing> se encarga|encargan|ocupa|ocupan ~ <who> $
		<who> lleva|gestiona|dirige|coordina <thing>
		soy ~ responsable|encargado|encargada de|del <thing>`,
	likes: `
		! me|nos gusta|gustan|encanta|encantan ?mucho|?más <thing>
		! prefiero|preferimos|adoro|amo <thing>
		a mí|nosotros ! me|nos gusta|gustan|encanta <thing>
		mi|nuestro favorito|favorita es <thing>`,
	dislikes: `
		odio|odiamos|detesto|detestamos|aborrezco <thing>
		no soporto|soportamos|aguanto <thing>`,
	beliefs: `
		estoy ~ convencido|convencida|seguro|segura de que <rest>
		creo|pienso|opino|considero que <rest>
		en mi opinión ?, <rest>
		para mí , <rest>`,
	instead: `
		en vez|lugar de|del
		y ya no`,
	not: "no nunca jamás nadie nada ningún ninguna ninguno tampoco",
	hedges: "quizás quizá si probablemente posiblemente podría podríamos podrían querría ojalá acaso " +
		"seguramente igual",
	reports: "dijo dijeron decía afirma afirmó contó prometió dice dicen",
	asking:  "quién qué cuándo dónde cómo cuál cuánto cuánta por ¿",
	pronouns: "yo tú él ella ello nosotros vosotros ellos ellas eso esto lo le les se me te nos os todo " +
		"algo así ti mí " +
		"usted ustedes eso",
	selves:  "yo nosotros nosotras",
	habits:  "siempre cada todos todas normalmente habitualmente nunca veces diariamente generalmente suele suelo",
	idle:    "dormir llover llueve lloverá nevar nieva espero ganas cansado cansada enfermo diré avisaré",
	musings: "ver ser estar intentar esperar descansar pensar tener comer",
	past:    "gustaba gustaban encantaba odiaba prefería era eran antes estaba había antiguamente",
	very:    "mucho más muy realmente especialmente el la los las", openers: "entonces pues y pero bueno " +
		"vale sí hoy luego",
	articles: "el la los las nuestro nuestra mi su",
	small: "una unos unas los las del con por para más muy este esta ese esa que como también todavía " +
		"nuestro nuestra mis " +
		"sus",
	must: "hay tenemos tengo tiene tienen deben debe debemos plazo vence vencen termina terminan caduca " +
		"límite entregar " +
		"presentar cierra finaliza",
	done: "hecho hecha enviado enviada envié pagado pagada pagué entregado entregada comprado comprada " +
		"compré pedido " +
		"reparado reparada pintado pintada limpiado llamado llamé reservado reservada firmado firmada " +
		"cancelado cancelada " +
		"recogido devuelto ordenado inscrito contestado respondido terminado terminada listo lista mandado mandada",
	wishes:    "quisiera quiero gustaría propongo proponemos sugiero deseo mejor debería deberíamos ojalá",
	holding:   "creo pienso espero temo opino",
	expected:  "va van hoy mañana lloverá basta",
	addressed: "tú te ti tu tus usted vosotros os tal estás",
	moved: "aplazado aplazada aplazó adelantado adelantada trasladado trasladada cambiado cambiada " +
		"pospuesto pospuesta subido " +
		"sube suben baja bajan bajado pasa pasan ampliado ampliada retrasado retrasada",
	to:   "al a para hasta",
	days: "lunes martes miércoles jueves viernes sábado domingo sábados domingos", conditional: "ría rías " +
		"ríamos rían",
	future: "rá rán",
	firstPerson: `
		^ ?te|?le|?les|?os|?lo|?la|?los|?las|?me|?nos mando|envío|llevo|traigo|compro|llamo|pago|recojo|\
			hago|paso|escribo|reservo|entrego|preparo|voy|vamos|llego|salgo|vuelvo|encargo|respondo|contesto|quedo|\
			confirmo|pido|busco|viajo
		mando|envío|encargo|llevo|traigo|compro|llamo|pago|recojo|escribo|reservo|entrego|preparo|respondo|\
			contesto|confirmo|viajo
		tengo|tenemos que
		-aré|-eré|-iré|-aremos|-eremos|-iremos`,
}

var italian = table{
	verbs: "grazie ciao ieri sono ho abbiamo dobbiamo vado preferisco odio adoro prometo prometto credo penso non da",
	lang:  text.Italian,
	promises: `
		?io|?noi|?ti|?vi|?le|?gli|?lo|?la|?li|?mi|?ci -erò|-irò|-eremo|-iremo|farò|faremo|darò|andrò ?io|\
			?noi <thing>
		mi|ci occupo|occupiamo|occuperò|incarico ~ di|del|della|dell|dei|delle|dello|degli <thing>
		di|del|della|dell|dei|delle|dello|degli <thing> mi|ci occupo|occupiamo ?io
		?ti|?vi prometto|promettiamo di|che <deed>
		ci penso io a|al|alla|alle|ai|agli|all <thing>`,
	duties: `
		<who> è|sono ?ora|?adesso ?il|?la responsabile|responsabili|incaricato|incaricata di|del|della|\
			dell|dei|delle|dello|degli <thing>
		il|la responsabile di|del|della|dell|dei|delle|dello|degli <thing> è ?ora|?adesso <who> $
		<who> si occupa|occupano ~ di|del|della|dell|dei|delle|dello|degli <thing>
		di|del|della|dell|dei|delle|dello|degli <thing> ?ora|?adesso si occupa|occupano ~ <who> $
		<who> gestisce|dirige|coordina <thing>
		sono ~ responsabile di|del|della|dell|dei|delle|dello|degli <thing>`,
	likes: `
		! mi|ci piace|piacciono ?molto|?tanto <thing>
		! preferisco|preferiamo|adoro|adoriamo|amo|amiamo <thing>
		a me ! piace|piacciono <thing>`,
	dislikes: `
		odio|odiamo|detesto|detestiamo <thing>
		non sopporto|sopportiamo <thing>`,
	beliefs: `
		sono ~ convinto|convinta|sicuro|sicura che <rest>
		credo|penso|ritengo|trovo che <rest>
		secondo me ?, <rest>
		a mio parere|avviso ?, <rest>`,
	instead: `
		invece di|del|della|dell|dei|delle|dello|degli|che
		anziché
		al posto di|del|della|dell`,
	not: "non mai nessuno nessuna nessun niente nulla",
	hedges: "forse se magari probabilmente eventualmente potrei potrebbe potremmo vorrei vorrebbe dovrebbe chissà " +
		"speriamo",
	reports: "detto diceva disse afferma raccontato dice dicono promesso",
	asking:  "chi che cosa quando dove come perché quale quali quanto",
	pronouns: "io tu lui lei noi voi loro esso ciò questo quello ci vi si mi ti ne tutto qualcosa così me te " +
		"sé",
	selves:   "io noi",
	habits:   "sempre spesso ogni tutti tutte normalmente solitamente mai volte quotidianamente generalmente",
	idle:     "dormire piovere piove pioverà nevicare nevica spero stanco stanca malato saprò sapere",
	musings:  "vedere essere provare aspettare riposare pensare però avere mangiare",
	past:     "piaceva piacevano odiavo amavo preferivo era erano prima avevo",
	very:     "molto tanto più davvero soprattutto il lo la i gli le l",
	openers:  "allora quindi e ma bene ok sì oggi poi",
	articles: "il lo la i gli le l nostro nostra mio mia",
	small: "una uno del della dei delle dello degli con per più molto questa questo quello anche ancora " +
		"nostro nostra nel " +
		"nella alla allo dai dal dalla",
	must: "deve devono dobbiamo devo va vanno bisogna entro scade scadono scadenza termine chiude chiudono termina " +
		"terminano consegnare presentare disdire",
	done: "fatto fatta inviato inviata mandato mandata pagato pagata consegnato consegnata comprato " +
		"comprata ordinato " +
		"ordinata riparato riparata dipinto pulito pulita chiamato prenotato prenotata firmato firmata " +
		"annullato annullata " +
		"ritirato ritirata riportato riordinato iscritto iscritta risposto finito finita",
	wishes:    "vorrei vorremmo propongo proponiamo suggerisco meglio dovrebbe dovremmo voglio vogliamo",
	holding:   "credo penso spero temo trovo ritengo",
	expected:  "va vanno oggi domani basta vada",
	addressed: "tu ti te tuo tua tuoi voi vi stai sta",
	moved: "spostato spostata spostati rinviato rinviata anticipato anticipata posticipato posticipata " +
		"prorogato prorogata " +
		"aumentato aumentata sale salgono scende scendono passa passano cambiato ridotto ridotta",
	to:          "al a ad all alle fino",
	days:        "lunedì martedì mercoledì giovedì venerdì sabato domenica sabati domeniche",
	conditional: "rei rebbe remmo rebbero resti",
	future:      "rà ranno",
	firstPerson: `
		^ ?ti|?vi|?le|?gli|?lo|?la|?li|?mi|?ci mando|invio|porto|compro|chiamo|pago|ritiro|faccio|passo|\
			scrivo|prenoto|consegno|preparo|vado|andiamo|arrivo|parto|torno|rispondo|confermo|ordino|cerco|\
			viaggio
		mando|invio|porto|compro|chiamo|pago|ritiro|scrivo|prenoto|consegno|preparo|rispondo|confermo|ordino
		devo|dobbiamo
		-erò|-irò|-eremo|-iremo`,
}

var portuguese = table{
	verbs: "vamos vou obrigado obrigada olá ontem desde estou tenho temos prefiro detesto adoro prometo " +
		"decidimos na no em para",
	lang: text.Portuguese,
	promises: `
		vou|vamos ?te|?lhe|?vos|?me -ar|-er|-ir|-or <thing>
		^ ?eu|?nós -arei|-erei|-irei|-aremos|-eremos|-iremos|farei|faremos|trarei|direi <thing>
		?eu trato|cuido|tratamos|cuidamos ~ de|do|da|dos|das <thing>
		?eu encarrego|ocupo|responsabilizo|encarregamos|ocupamos me|nos ~ de|do|da|dos|das|por|pelo|pela \
			<thing>
		?eu me encarrego|ocupo ~ de|do|da|dos|das <thing>
		prometo|prometemos ?te <deed>`,
	duties: `
		<who> é|são|fica|ficou ?agora ?o|?a responsável|responsáveis|encarregado|encarregada por|pelo|\
			pela|pelos|pelas|de|do|da|dos|das <thing>
		o|a responsável por|pelo|pela|pelos|pelas <thing> é ?agora <who> $
		<who> encarrega|ocupa|encarregam|ocupam se ~ de|do|da|dos|das <thing>
		<who> se encarrega|ocupa ~ de|do|da|dos|das <thing>
		<who> trata|cuida|tratam|cuidam ~ de|do|da|dos|das <thing>
		quem trata|cuida ~ de|do|da|dos|das <thing> agora é <who> $
		<who> gere|dirige|coordena <thing>
		sou ~ responsável por|pelo|pela|pelos|pelas <thing>`,
	likes: `
		! gosto|gostamos ?muito|?mais de|do|da|dos|das <thing>
		! prefiro|preferimos|adoro|adoramos|amo <thing>`,
	dislikes: `
		odeio|odiamos|detesto|detestamos <thing>
		não suporto|suportamos <thing>`,
	beliefs: `
		estou ~ convencido|convencida|certo|certa ?de que <rest>
		acho|creio|penso|acredito|considero que <rest>
		na minha opinião ?, <rest>
		para mim , <rest>`,
	instead: `
		em vez|lugar de|do|da|dos|das
		e não mais`,
	not: "não nunca jamais ninguém nada nenhum nenhuma tampouco",
	hedges: "talvez se provavelmente possivelmente poderia poderíamos podíamos podia queria gostaria oxalá " +
		"tomara caso " +
		"eventualmente",
	reports: "disse disseram dizia afirma afirmou contou prometeu diz dizem",
	asking:  "quem que quando onde como qual quais quanto porquê porque",
	pronouns: "eu tu ele ela nós vós eles elas isso isto aquilo lhe lhes se me te nos vos tudo algo assim você " +
		"vocês ti mim",
	selves:   "eu nós",
	habits:   "sempre cada todos todas normalmente habitualmente nunca vezes diariamente geralmente costumo costuma",
	idle:     "dormir chover chove nevar neva espero cansado cansada doente digo aviso",
	musings:  "esperar ver ser estar tentar descansar pensar ter comer",
	past:     "gostava gostávamos adorava odiava preferia era eram antigamente estava havia",
	very:     "muito mais realmente sobretudo de do da dos das o a os as",
	openers:  "então pois e mas bem ok sim hoje depois",
	articles: "o a os as nosso nossa meu minha",
	small: "uma uns umas dos das com por para mais muito este esta esse essa que como também ainda nosso " +
		"nossa pelo pela " +
		"nos nas aos",
	must: "tem têm temos tenho deve devem devemos prazo vence vencem termina terminam expira limite " +
		"entregar apresentar " +
		"encerra fecha preciso precisamos",
	done: "feito feita enviado enviada enviei pago paga paguei entregue comprado comprada comprei " +
		"encomendado reparado " +
		"reparada pintado pintada limpo limpa ligado liguei reservado reservada assinado assinada cancelado " +
		"cancelada " +
		"recolhido devolvido arrumado arrumada inscrito respondido terminado terminada pronto pronta mandado",
	wishes:    "queria quero gostaria proponho propomos sugiro desejo melhor devia devíamos oxalá",
	holding:   "acho creio penso espero receio acredito",
	expected:  "vai vão hoje amanhã basta",
	addressed: "tu te ti teu tua você contigo vocês seu",
	moved: "adiado adiada adiou antecipado antecipada transferido transferida mudado mudada mudou " +
		"aumentado aumentou sobe " +
		"sobem desce descem passa passam prolongado prolongada alterado alterada baixou",
	to: "para ao a até",
	days: "segunda terça quarta quinta sexta sábado domingo segundas terças quartas quintas sextas sábados " +
		"domingos " +
		"segunda_feira",
	conditional: "ria rias ríamos riam",
	future:      "rá rão",
	firstPerson: `
		^ ?eu ?te|?lhe envio|levo|trago|compro|ligo|pago|busco|faço|passo|escrevo|reservo|entrego|preparo|\
			vou|vamos|chego|saio|volto|respondo|confirmo|peço|mando|viajo
		envio|encomendo|marco|levo|trago|compro|ligo|pago|escrevo|reservo|entrego|preparo|respondo|confirmo|mando|viajo
		tenho|temos de|que
		-arei|-erei|-irei|-aremos|-eremos|-iremos`,
}
