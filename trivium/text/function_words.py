"""Words that carry no topic, by which languages are recognised."""

FUNCTION_WORDS = {
    "en": (
        "a an the of in on at to for from by with as into and or but so than then there this that these those "
        "it its he she they them his her their you your we our i me my is are was were be been being am do "
        "does did has have had can could would should shall might must not no if about what which who whom "
        "whose when where why how"
    ),
    "de": (
        "der die das den dem des ein eine einen einem einer eines und oder aber doch sondern denn weil dass daß wenn als "
        "wie ob damit in im ins an am ans auf aus bei beim mit nach von vom zu zum zur über unter vor durch für "
        "gegen ohne um bis seit zwischen während wegen ist sind war waren bin bist sei wird werden wurde wurden worden "
        "hat haben hatte hatten habe kann können konnte konnten muss müssen soll sollen darf dürfen will wollen nicht "
        "kein keine keinen keiner auch noch nur schon sehr so dann da dort hier er sie es ich du wir ihr ihn ihm "
        "ihnen uns mich mir dich dir sich sein seine seinen seiner seinem ihre ihren ihrer ihrem unser euer mein dein "
        "dieser diese dieses diesen diesem jener jene jenes welcher welche welches welchen welchem wer wen wem wessen "
        "was wann wo wohin woher warum weshalb wieso man"
    ),
    "fr": (
        "le la les l un une des du de d au aux et ou mais donc ni car que qu qui quoi dont où si comme quand lorsque "
        "dans en sur sous par pour avec sans chez vers entre depuis pendant à est sont était étaient être été suis es "
        "sommes êtes fut furent sera seront a ont avait avaient avoir eu ai as avons avez peut peuvent doit doivent "
        "ne n pas plus non ce cet cette ces c ça cela il elle ils elles on je j tu nous vous lui leur leurs se s me m "
        "te t son sa ses mon ma mes ton ta tes notre nos votre vos y quel quelle quels quelles lequel laquelle "
        "pourquoi comment combien aussi"
    ),
    "es": (
        "el la los las lo un una unos unas de del al y e o u pero sino ni que quien quienes cual cuales cuyo cuya donde "
        "cuando como si porque pues en a ante bajo con contra desde durante entre hacia hasta para por según sin sobre "
        "es son era eran ser sido soy eres somos fue fueron será está están estaba estar ha han había habían haber he "
        "hemos hay puede pueden debe deben no ni ya más muy también se me te nos os le les su sus mi mis tu tus "
        "nuestro nuestra este esta estos estas esto ese esa esos esas eso aquel aquella él ella ellos ellas yo tú "
        "nosotros usted qué quién quiénes cuál cuáles dónde cuándo cómo cuánto cuánta cuántos cuántas"
    ),
    "it": (
        "il lo la i gli le l un uno una di del dello della dei degli delle dell a al allo alla ai agli alle all da dal "
        "dalla dai dagli dalle dall in nel nello nella nei negli nelle nell su sul sulla sui sulle sull con per tra fra "
        "e ed o ma però né che chi cui quale quali dove quando come se perché è sono era erano essere stato stata stati "
        "sia fu furono sarà ha hanno aveva avevano avere ho hai abbiamo può possono deve devono non più anche si mi ti "
        "ci vi lui lei loro io tu noi voi suo sua suoi sue mio mia tuo nostro questo questa questi queste quello quella "
        "quelli quelle cosa quanto quanta quanti quante c"
    ),
    "pt": (
        "o a os as um uma uns umas de do da dos das ao à aos às em no na nos nas num numa por pelo pela pelos pelas "
        "com sem sob sobre entre até desde para e ou mas nem que quem qual quais cujo cuja onde quando como se porque é "
        "são era eram ser sido sou somos foi foram será está estão estava estar tem têm tinha tinham ter há pode podem "
        "deve devem não já mais muito também me te lhe lhes seu sua seus suas meu minha teu nosso nossa este esta estes "
        "estas isto esse essa esses essas isso aquele aquela ele ela eles elas eu tu nós você quanto quanta quantos "
        "quantas quê"
    ),
    "nl": (
        "de het een van in op aan te ten ter voor met door bij uit naar over onder tegen tussen tot om zonder sinds en "
        "of maar want dat die dit deze als dan toen omdat is zijn was waren ben bent wordt worden werd werden geweest "
        "heeft hebben had hadden heb kan kunnen kon moet moeten mag zal zullen zou wil niet geen ook nog wel al er "
        "daar hier hij zij ze wij we ik jij je u hem haar hun hen mij ons onze mijn jouw zich wie wat welke welk waar "
        "wanneer waarom hoe hoeveel"
    ),
    "sv": (
        "en ett den det de och eller men utan att som när där här om på i av till från för med vid under över mellan "
        "genom efter före sedan är var vara varit blev blir bli har hade ha kan kunde ska skulle måste inte ej också så "
        "än han hon vi jag du ni dem honom henne oss mig dig sig sin sitt sina hans hennes deras min mitt din vår denna "
        "detta dessa vem vad vilken vilket vilka varför hur"
    ),
    "da": (
        "en et den det de og eller men at som når hvor der her om på i af til fra for med ved under over mellem gennem "
        "efter før siden er var være været blev bliver blive har havde have kan kunne skal skulle må ikke også så end "
        "han hun vi jeg du dem ham hende os mig dig sig sin sit sine hans hendes deres min mit din vores denne dette "
        "disse hvem hvad hvilken hvilket hvilke hvornår hvorfor hvordan"
    ),
    "no": (
        "en ei et den det de og eller men at som når hvor der her om på i av til fra for med ved under over mellom "
        "gjennom etter før siden er var være vært ble blir bli har hadde ha kan kunne skal skulle må ikke også så enn "
        "han hun vi jeg du dem ham henne oss meg deg seg sin sitt sine hans hennes deres min mitt din vår denne dette "
        "disse hvem hva hvilken hvilket hvilke hvorfor hvordan"
    ),
    "fi": (
        "ja tai mutta sekä että jos kun koska kuin niin joka jotka jonka jota jossa mikä mitkä minkä mitä missä mistä "
        "mihin kuka kuka kenen ketä milloin miksi miten kuinka on ovat oli olivat olla ollut ole en et ei emme ette "
        "eivät hän he se ne minä sinä me te sen niiden hänen heidän tämä tämän nämä tuo nuo myös vain jo vielä nyt "
        "siellä siitä voi voivat"
    ),
    "ru": (
        "и в во не что он на я с со как а то все она так его но да ты к ко у же вы за бы по ее её мне было вот от "
        "меня о об из ему ли если или ни быть был была были него до вас они их чем для при это этот эта эти этого "
        "того тот та те мы нас нам без под над между через после перед который которая которое которые которого кто "
        "кого кому когда где куда откуда почему зачем сколько какой какая какое какие чей есть также"
    ),
    "ar": (
        "في من إلى على عن مع هذا هذه ذلك تلك التي الذي الذين هو هي هم هما كان كانت كانوا يكون تكون ليس ليست لا لم لن "
        "ما ماذا متى أين كيف كم لماذا أي أية هل و أو ثم بل لكن قد لقد إن أن أنه أنها إذا عند عندما بعد قبل بين حتى "
        "منذ خلال حول كل بعض غير كما مثل به بها له لها فيه فيها منه منها عليه عليها إليه إليها عنه عنها حيث تم يتم"
    ),
    "el": (
        "ο η το οι τα του της των τον την τη τους τις ένας ένα μια μία ενός μιας και κι ή αλλά όμως ούτε ότι πως που "
        "να θα δεν δε μη μην σε στο στη στην στον στα στους στις από με για ως προς κατά μετά πριν μέχρι χωρίς είναι "
        "ήταν έχει έχουν είχε είχαν αυτό αυτός αυτή αυτά αυτές αυτοί αυτού αυτής αυτών ποιος ποια ποιο ποιοι ποιες "
        "ποιον ποιων ποιου τι πότε πού πώς πόσο πόσα πόσοι πόσες πόση γιατί όπως όταν αν εάν επίσης πιο πολύ μου σου "
        "μας σας όλα όλοι κάθε ενώ όπου οποία οποίο οποίος οποίοι οποίες"
    ),
    "hi": (
        "का के की को में से ने पर और या है हैं था थी थे हो होता होती होते हुआ हुई हुए कि जो यह ये वह वे इस इसके इसकी "
        "इसे उस उसके उसकी उन उनके इन एक भी ही तो तक लिए द्वारा साथ बाद पहले क्या कौन कौनसा कौनसी सा सी कब कहाँ कहां "
        "कैसे क्यों कितने कितनी कितना किस किसने किसके किसको किसे किन नहीं न कर करने करता करते करती किया गया गई गए "
        "जाता जाती जाते रहा रही रहे अपने अपनी अपना जिस जिसे जिसके लेकिन यदि अगर जब तब जैसे रूप"
    ),
    "tr": (
        "ve ile için bir bu olarak olan olduğu oldu olur fakat ancak veya çünkü gibi kadar daha çok değil mi mı mü "
        "nedir neydi nelerdir kimdir kimin nasıl kaç hangi hangisi nerede nereye neden niçin zaman tarafından sonra "
        "önce göre onun bunun kendi kendisi arasında üzerinde üzerine içinde diğer bazı tüm sahip vardı vardır ayrıca "
        "rağmen"
    ),
}
"""Lower-cased, separated by spaces, by ISO 639-1 code."""
