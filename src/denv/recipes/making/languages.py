"""Sums and calls in many languages; the phrases need no ending that depends on a number."""

from __future__ import annotations

from random import Random

from denv.recipes.making import patterns, schema, words
from denv.recipes.making.drafts import Draft, Family, answer, request, user
from denv.recipes.making.tools_single import drafted
from denv.recipes.making.wrongs import wrong_text

SUMS = (
    "Äpfel im Korb: {a}. Anna legt {b} dazu. Wie viele sind es jetzt? Antworte nur mit der Zahl.",
    (
        "Pommes dans le panier : {a}. Anna en ajoute {b}. Combien y en a-t-il maintenant ? "
        "Réponds uniquement par le nombre."
    ),
    "Manzanas en la cesta: {a}. Ana añade {b}. ¿Cuántas hay ahora? Responde solo con el número.",
    "Mele nel cesto: {a}. Anna ne aggiunge {b}. Quante sono adesso? Rispondi solo con il numero.",
    "Maçãs no cesto: {a}. Ana acrescenta {b}. Quantas são agora? Responde apenas com o número.",
    (
        "Appels in de mand: {a}. Anna legt er {b} bij. Hoeveel zijn het er nu? "
        "Antwoord alleen met het getal."
    ),
    "Jabłka w koszyku: {a}. Anna dokłada {b}. Ile jest ich teraz? Odpowiedz tylko liczbą.",
    "Яблоки в корзине: {a}. Анна добавила ещё {b}. Сколько их теперь? Ответь только числом.",
    (
        "Sepetteki elmalar: {a}. Ayşe {b} tane daha ekliyor. Şimdi kaç elma var? "
        "Yalnızca sayıyla cevap ver."
    ),
    "篮子里有{a}个苹果，安娜又放进了{b}个。现在一共有多少个？只回答数字。",
    (
        "かごにりんごが{a}個あります。アンナがさらに{b}個入れました。今、全部で何個ですか。"
        "数字だけで答えてください。"
    ),
    (
        "바구니에 사과가 {a}개 있습니다. 안나가 {b}개를 더 넣었습니다. 지금 사과는 몇 개입니까? "
        "숫자로만 대답하세요."
    ),
    "عدد التفاح في السلة: {a}. أضافت آنا {b}. كم أصبح العدد الآن؟ أجب بالرقم فقط وبالأرقام 0-9.",
    "टोकरी में {a} सेब हैं। अन्ना {b} सेब और रखती है। अब कुल कितने सेब हैं? केवल अंकों 0-9 में उत्तर दो।",
    (
        "Trong giỏ có {a} quả táo. Anna bỏ thêm {b} quả. Bây giờ có tất cả bao nhiêu quả? "
        "Chỉ trả lời bằng số."
    ),
    (
        "Di keranjang ada {a} apel. Anna menambahkan {b} apel. Berapa jumlahnya sekarang? "
        "Jawab hanya dengan angka."
    ),
    "Μήλα στο καλάθι: {a}. Η Άννα προσθέτει {b}. Πόσα είναι τώρα; Απάντησε μόνο με τον αριθμό.",
    "Äpplen i korgen: {a}. Anna lägger till {b}. Hur många är det nu? Svara bara med talet.",
)


def total(rng: Random, at: int) -> Draft:
    """Ask for a sum in words of the language."""
    first, second = rng.randint(12, 48), rng.randint(12, 48)
    wish = SUMS[at % len(SUMS)].format(a=first, b=second)
    right = first + second
    wrong, kind = wrong_text(at, str(right), near=str(right - second))
    return Draft(
        request=request(user(wish)),
        expect={"regex": patterns.number(right)},
        right=answer(str(right)),
        wrong=wrong,
        why=f"{first} + {second} = {right}. Wrong: {kind}.",
    )


_TABLE = (
    schema.tool(
        "book_table",
        "Book a table in the restaurant",
        guests=schema.whole(),
        time=schema.text("24-hour clock, HH:MM"),
        name=schema.text("as the guest writes it"),
    ),
    schema.tool("show_menu", "Show the menu of a day", day=schema.text("ISO 8601")),
)

WISHES = (
    "Bitte reserviere heute um {t} Uhr einen Tisch für {n} Personen auf den Namen {who}.",
    "Réserve une table pour {n} personnes ce soir à {t}, sous le nom {who}, s'il te plaît.",
    "Reserva, por favor, una mesa para {n} personas hoy a las {t} a nombre de {who}.",
    "Prenota un tavolo per {n} persone oggi alle {t} a nome {who}, per favore.",
    "Reserva, por favor, uma mesa para {n} pessoas hoje às {t} em nome de {who}.",
    "Reserveer alsjeblieft vandaag om {t} een tafel voor {n} personen op naam van {who}.",
    "Zarezerwuj proszę stolik dla {n} osób dzisiaj na godzinę {t} na nazwisko {who}.",
    "Забронируй, пожалуйста, столик на {n} человек сегодня на {t} на имя {who}.",
    "请帮我预订今天{t}的一张{n}人桌，姓名写{who}。",
    "今日の{t}に{n}名のテーブルを、{who}の名前で予約してください。",
    "오늘 {t}에 {n}명 자리를 {who} 이름으로 예약해 주세요.",
    "Boka ett bord för {n} personer i dag klockan {t} i namnet {who}, tack.",
)


def reservation(rng: Random, at: int) -> Draft:
    """Ask for a call in another language than that of its schema."""
    given = {
        "guests": rng.randint(5, 9),
        "time": f"{rng.randint(17, 21)}:{rng.choice(('15', '30', '45'))}",
        "name": rng.choice(words.LAST_NAMES),
    }
    wish = WISHES[at % len(WISHES)].format(t=given["time"], n=given["guests"], who=given["name"])
    why = "Guests, time and name stand in the request."
    asked = request(user(wish), tools=_TABLE)
    return drafted(at, asked, "book_table", given, why=why, unlike=3)


FAMILIES = (
    Family("language-total", "languages", 18, total),
    Family("tool-language", "tools-single", 18, reservation),
)
