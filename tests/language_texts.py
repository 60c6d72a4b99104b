"""A paragraph in each language, written for the tests."""

TEXTS = {
    "en": "The lighthouse stands on a rock in front of the harbour. It was built when the first ships came, and "
    "nobody has lived in it since the lamp was replaced by an electric one.",
    "de": "Der Leuchtturm steht auf einem Felsen vor dem Hafen. Er wurde gebaut, als die ersten Schiffe kamen, und "
    "niemand wohnt mehr in den Häusern der Wärter, seit die Lampe durch eine elektrische ersetzt ist.",
    "fr": "Le phare se dresse sur un rocher devant le port. Il a été construit quand les premiers bateaux sont arrivés, "
    "et personne n'habite plus dans les maisons des gardiens depuis que la lampe est électrique.",
    "es": "El faro está sobre una roca delante del puerto. Fue construido cuando llegaron los primeros barcos, y nadie "
    "vive ya en las casas de los guardianes desde que la lámpara es eléctrica.",
    "it": "Il faro sorge su uno scoglio davanti al porto. È stato costruito quando arrivarono le prime navi, e nessuno "
    "abita più nelle case dei guardiani da quando la lampada è elettrica.",
    "pt": "O farol fica sobre uma rocha em frente do porto. Foi construído quando chegaram os primeiros navios, e "
    "ninguém mora já nas casas dos guardas desde que a lâmpada é elétrica.",
    "nl": "De vuurtoren staat op een rots voor de haven. Hij werd gebouwd toen de eerste schepen kwamen, en niemand "
    "woont nog in de huizen van de wachters sinds de lamp elektrisch is.",
    "sv": "Fyren står på en klippa framför hamnen. Den byggdes när de första skeppen kom, och ingen bor längre i "
    "vaktarnas hus sedan lampan blev elektrisk.",
    "da": "Fyret står på en klippe foran havnen. Det blev bygget, da de første skibe kom, og ingen bor længere i "
    "vogternes huse, siden lampen blev udskiftet af en elektrisk. Hvad der skete efter krigen, ved man ikke.",
    "no": "Fyret står på en klippe foran havnen. Det ble bygd da de første skipene kom, og ingen bor lenger i husene "
    "til vokterne etter at lampen ble elektrisk. Hva som hendte etter krigen, vet man ikke.",
    "fi": "Majakka on kalliolla sataman edessä. Se rakennettiin, kun ensimmäiset laivat tulivat, eikä kukaan ole asunut "
    "vartijoiden taloissa sen jälkeen, kun lamppu oli vaihdettu sähköiseen.",
    "ru": "Маяк стоит на скале перед гаванью. Он был построен, когда пришли первые корабли, и никто не живёт в домах "
    "смотрителей после того, как лампу заменили на электрическую.",
    "zh": "灯塔矗立在港口前的岩石上。第一批船到来时它就建成了，自从换上电灯以后，守塔人的房子里就没有人住了。",
    "ja": "灯台は港の前の岩の上に立っている。最初の船が来たときに建てられ、電灯になってからは誰も住んでいない。",
    "ko": "등대는 항구 앞 바위 위에 서 있다. 첫 배들이 왔을 때 지어졌고, 전등으로 바뀐 뒤로는 아무도 살지 않는다.",
    "ar": "تقع المنارة على صخرة أمام الميناء. وقد بنيت عندما وصلت السفن الأولى، ولم يعد أحد يعيش في بيوت الحراس "
    "منذ أن تم تركيب مصباح كهربائي بعد الحرب.",
    "el": "Ο φάρος στέκεται σε έναν βράχο μπροστά από το λιμάνι. Χτίστηκε όταν έφτασαν τα πρώτα πλοία, και κανείς δεν "
    "μένει πια στα σπίτια των φυλάκων από τότε που η λάμπα είναι ηλεκτρική.",
    "hi": "प्रकाशस्तंभ बंदरगाह के सामने एक चट्टान पर है। इसे तब बनाया गया था जब पहले जहाज आए थे, और अब कोई भी रखवालों के घरों में "
    "नहीं रहता है।",
    "tr": "Deniz feneri limanın önünde bir kayanın üzerinde durur. İlk gemiler geldiği zaman yapıldı ve lamba daha sonra "
    "elektrikli olduğu için bekçilerin evlerinde hiç kimse oturmuyor.",
}
