"""Prompts in human languages other than English, two in each of twelve."""

from __future__ import annotations

from denv.instruments.bank.prompt import Prompt, asked

CATEGORY = "languages"
MAX_TOKENS = 96

_ASKED = {
    "german-fog": "Erkläre in einfachen Worten, warum sich im Herbst morgens oft Nebel über "
    "Flüssen bildet.",
    "french-market": "Décris un marché de village un samedi matin d'hiver, en cinq phrases.",
    "spanish-letter": "Escribe una carta breve a una vecina para agradecerle que haya cuidado tus "
    "plantas durante tus vacaciones.",
    "italian-soup": "Spiega come si prepara una minestra di verdure con quello che resta in "
    "dispensa.",
    "portuguese-train": "Conta o início de uma história em que um comboio para numa estação que "
    "não aparece no mapa.",
    "russian-ice": "Объясни, почему лёд плавает в воде, хотя большинство веществ в твёрдом виде "
    "тяжелее, чем в жидком.",
    "polish-bees": "Wyjaśnij, skąd pszczoły wiedzą, gdzie rosną kwiaty, które odwiedziły ich "
    "siostry.",
    "arabic-desert": "اشرح بكلمات بسيطة لماذا تبرد الصحراء كثيرًا في الليل.",
    "hindi-river": "एक छोटी कहानी की शुरुआत लिखो जिसमें एक लड़की को नदी के किनारे एक पुराना नक्शा मिलता है।",
    "chinese-tea": "请用简单的话解释,为什么同一种茶叶用不同温度的水泡出来味道不一样。",
    "japanese-umbrella": "駅に置き忘れられた傘を主人公にした、短い物語の書き出しを書いてください。",
    "korean-snow": "눈이 많이 온 날 아침에 동네가 평소보다 조용하게 느껴지는 이유를 설명해 주세요.",
    "german-dispute": "Zwei Nachbarn streiten über einen Baum, der auf der Grenze steht. Schreibe "
    "das Gespräch, in dem sie sich einigen.",
    "french-bicycle": "Donne trois raisons pour et trois raisons contre l'interdiction des "
    "voitures dans le centre d'une petite ville.",
    "spanish-moon": "¿Por qué vemos siempre la misma cara de la Luna? Explícalo a un niño de diez "
    "años.",
    "italian-clock": "Scrivi il primo paragrafo di un racconto su un orologiaio che arriva sempre "
    "in ritardo.",
    "portuguese-cork": "Explica para que serve a cortiça e de onde vem, em linguagem simples.",
    "russian-letter": "Напиши короткое вежливое письмо в библиотеку с просьбой продлить срок "
    "возврата трёх книг.",
    "polish-train": "Opisz podróż nocnym pociągiem nad morze, używając czasu teraźniejszego.",
    "arabic-library": "اكتب رسالة قصيرة إلى صديق تصف فيها مكتبة قديمة زرتها لأول مرة.",
    "hindi-kitchen": "सरल शब्दों में समझाओ कि प्रेशर कुकर में खाना जल्दी क्यों पक जाता है।",
    "chinese-bridge": "写一段话,描写清晨的一座石桥,不要使用颜色词。",
    "japanese-rice": "ご飯を冷凍すると味が変わるのはなぜですか。わかりやすく説明してください。",
    "korean-garden": "처음으로 작은 텃밭을 가꾸려는 친구에게 해 줄 조언을 다섯 문장으로 써 주세요.",
}  # fmt: skip


def prompts() -> tuple[Prompt, ...]:
    """Give the prompts of this category."""
    return tuple(asked(CATEGORY, *item, max_tokens=MAX_TOKENS) for item in _ASKED.items())
