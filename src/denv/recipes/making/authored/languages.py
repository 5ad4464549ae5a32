"""Questions in many languages; each has one right answer in that language."""

# ruff: noqa: E501 - one case a line, so that the table can be read

from __future__ import annotations

from denv.recipes.making.authored.rows import told
from denv.recipes.making.drafts import Authored, Json
from denv.recipes.making.wrongs import mojibake

_JOINED = frozenset(("ar", "he", "hi", "ja", "ko", "th", "zh"))
"""In these scripts a word may be written together with what is beside it."""

_WHAT = {
    "capital": "The country's capital, as the language writes it.",
    "next": "The day or month that follows.",
    "opposite": "The plain opposite of the word.",
    "form": "The form that the language's grammar has.",
}


def _case(language: str, what: str, wish: str, right: str, wrong: str | Json) -> Authored:
    """Give a case; ``right`` holds spellings parted by a bar, and the first one is answered."""
    edges = ("", "") if language in _JOINED else (r"(?<!\w)", r"(?!\w)")
    expect = {"regex": f"(?i){edges[0]}(?:{right}){edges[1]}"}
    first = right.split("|", 1)[0]
    why = f"{_WHAT[what]} Wrong: another word, language or encoding, or no text."
    name = f"language-{language}-{what}"
    return told(name, "languages", wish, expect=expect, right=first, wrong=wrong, why=why)


def _cut(reasoning: str) -> Json:
    return {"content": "", "reasoning_content": reasoning, "finish_reason": "length"}


# fmt: off
CASES = (
    _case("de", "opposite", "Was ist das Gegenteil von „heiß“? Antworte mit einem Wort.", "kalt", "cold"),
    _case("de", "next", "Welcher Wochentag folgt auf Dienstag? Antworte mit einem Wort.", "Mittwoch", "Donnerstag"),
    _case("de", "form", "Wie lautet die Mehrzahl von „Haus“? Antworte mit einem Wort.", "Häuser", mojibake("Häuser")),
    _case("fr", "opposite", "Quel est le contraire de « petit » ? Réponds par un seul mot.", "grand", "small"),
    _case("fr", "next", "Quel jour vient après jeudi ? Réponds par un seul mot.", "vendredi", "Friday"),
    _case("fr", "form", "Quel est le féminin de l'adjectif « beau » ? Réponds par un seul mot.", "belle", "beau"),
    _case("es", "next", "¿Qué día viene después del lunes? Responde con una sola palabra.", "martes", "miércoles"),
    _case("es", "opposite", "¿Cuál es el contrario de «alto»? Responde con una sola palabra.", "bajo", "tall"),
    _case("es", "form", "¿Cuál es el plural de «lápiz»? Responde con una sola palabra.", "lápices", mojibake("lápices")),
    _case("it", "capital", "Qual è la capitale della Francia? Rispondi con una sola parola.", "Parigi", "Paris"),
    _case("it", "opposite", "Qual è il contrario di «vuoto»? Rispondi con una sola parola.", "pieno", "vuoto"),
    _case("it", "form", "Qual è il plurale di «uovo»? Rispondi con una sola parola.", "uova", "uovi"),
    _case("pt", "next", "Que mês vem depois de março? Responde com uma só palavra.", "abril", "maio"),
    _case("pt", "opposite", "Qual é o contrário de «quente»? Responde com uma só palavra.", "frio|gelado", "hot"),
    _case("pt", "form", "Qual é o plural de «pão»? Responde com uma só palavra.", "pães", "pãos"),
    _case("nl", "opposite", "Wat is het tegenovergestelde van «groot»? Antwoord met één woord.", "klein", "small"),
    _case("nl", "next", "Welke dag komt na zaterdag? Antwoord met één woord.", "zondag", "maandag"),
    _case("nl", "form", "Wat is het meervoud van «kind»? Antwoord met één woord.", "kinderen", "kinders"),
    _case("sv", "opposite", "Vad är motsatsen till ordet ”varm”? Svara med ett ord.", "kall|kallt", "warm"),
    _case("sv", "next", "Vilken dag kommer efter onsdag? Svara med ett ord.", "torsdag", "fredag"),
    _case("sv", "form", "Vad heter ”bok” i plural, obestämd form? Svara med ett ord.", "böcker", mojibake("böcker")),
    _case("fi", "capital", "Mikä on Ruotsin pääkaupunki? Vastaa yhdellä sanalla.", "Tukholma", "Helsinki"),
    _case("fi", "next", "Mikä viikonpäivä tulee maanantain jälkeen? Vastaa yhdellä sanalla.", "tiistai", "Tuesday"),
    _case("pl", "capital", "Jak nazywa się stolica Polski? Odpowiedz jednym słowem.", "Warszawa", "Warsaw"),
    _case("pl", "next", "Jaki dzień jest po środzie? Odpowiedz jednym słowem.", "czwartek", "piątek"),
    _case("pl", "opposite", "Jakie jest przeciwieństwo słowa „biały”? Odpowiedz jednym słowem.", "czarny", _cut("Biały, czyli czarny")),
    _case("cs", "capital", "Jak se jmenuje hlavní město Česka? Odpověz jedním slovem.", "Praha", "Prague"),
    _case("cs", "next", "Který den následuje po čtvrtku? Odpověz jedním slovem.", "pátek", mojibake("pátek")),
    _case("cs", "opposite", "Jaký je opak slova „malý“? Odpověz jedním slovem.", "velký|veliký", "malý"),
    _case("ro", "capital", "Care este capitala României? Răspunde cu un singur cuvânt.", "București|Bucureşti", mojibake("București")),
    _case("ro", "next", "Ce zi vine după marți? Răspunde cu un singur cuvânt.", "miercuri", "joi"),
    _case("hu", "opposite", "Mi a „nagy” szó ellentéte? Válaszolj egy szóval.", "kicsi|kis", "big"),
    _case("hu", "next", "Melyik nap jön kedd után? Válaszolj egy szóval.", "szerda", "csütörtök"),
    _case("tr", "opposite", "“Sıcak” kelimesinin zıt anlamlısı nedir? Tek kelimeyle cevap ver.", "soğuk", mojibake("soğuk")),
    _case("tr", "next", "Pazartesiden sonra hangi gün gelir? Tek kelimeyle cevap ver.", "Salı", "Pazar"),
    _case("el", "capital", "Ποια είναι η πρωτεύουσα της Ελλάδας; Απάντησε με μία λέξη.", "Αθήνα", "Athens"),
    _case("el", "next", "Ποια μέρα έρχεται μετά την Παρασκευή; Απάντησε με μία λέξη.", "Σάββατο", "Κυριακή"),
    _case("el", "opposite", "Ποιο είναι το αντίθετο της λέξης «μεγάλο»; Απάντησε με μία λέξη.", "μικρό", mojibake("μικρό")),
    _case("ru", "capital", "Какой город — столица Японии? Ответь одним словом.", "Токио", "Tokyo"),
    _case("ru", "next", "Какой месяц идёт после мая? Ответь одним словом.", "июнь", "июль"),
    _case("ru", "opposite", "Какое слово противоположно слову «день»? Ответь одним словом.", "ночь", mojibake("ночь")),
    _case("uk", "capital", "Яке місто є столицею України? Відповідай одним словом.", "Київ", "Киев"),
    _case("uk", "next", "Який день іде після понеділка? Відповідай одним словом.", "вівторок", "вторник"),
    _case("ar", "capital", "ما عاصمة مصر؟ أجب بكلمة واحدة.", "القاهرة", "Cairo"),
    _case("ar", "opposite", "ما عكس كلمة «كبير»؟ أجب بكلمة واحدة.", "صغير", mojibake("صغير")),
    _case("ar", "next", "ما اليوم الذي يأتي بعد يوم الأحد؟ أجب بكلمة واحدة.", "الاثنين|الإثنين", "الثلاثاء"),
    _case("he", "capital", "מהי בירת צרפת? ענה במילה אחת.", "פריז|פאריס|פריס", "Paris"),
    _case("he", "opposite", "מה ההפך של המילה ״גדול״? ענה במילה אחת.", "קטן", "גדול"),
    _case("hi", "next", "सोमवार के बाद कौन सा दिन आता है? एक शब्द में उत्तर दो।", "मंगल", "बुधवार"),
    _case("hi", "opposite", "“दिन” का विलोम शब्द क्या है? एक शब्द में उत्तर दो।", "रात|रात्रि", mojibake("रात")),
    _case("th", "next", "วันถัดจากวันจันทร์คือวันอะไร ตอบด้วยคำเดียว", "อังคาร", "พุธ"),
    _case("th", "opposite", "คำตรงข้ามของคำว่า “ใหญ่” คืออะไร ตอบด้วยคำเดียว", "เล็ก", "big"),
    _case("vi", "capital", "Thủ đô của Việt Nam là gì? Chỉ trả lời tên thành phố.", "Hà Nội", mojibake("Hà Nội")),
    _case("vi", "opposite", "Từ trái nghĩa với “nóng” là gì? Trả lời bằng một từ.", "lạnh", "ấm"),
    _case("id", "next", "Hari apa setelah hari Jumat? Jawab dengan satu kata.", "Sabtu", "Minggu"),
    _case("id", "opposite", "Apa lawan kata “besar”? Jawab dengan satu kata.", "kecil", "small"),
    _case("zh", "capital", "法国的首都是哪座城市？只回答城市名。", "巴黎", "Paris"),
    _case("zh", "next", "星期二的后一天是星期几？只回答这一天。", "星期三|周三|礼拜三", "星期四"),
    _case("zh", "opposite", "“黑”的反义词是什么？只回答一个字。", "白", mojibake("白")),
    _case("ja", "capital", "フランスの首都はどこですか。都市の名前だけで答えてください。", "パリ", "Paris"),
    _case("ja", "next", "火曜日の次の日は何曜日ですか。曜日だけで答えてください。", "水曜", "木曜日"),
    _case("ja", "opposite", "「大きい」の反対の言葉は何ですか。一語で答えてください。", "小さい|ちいさい", "大きい"),
    _case("ko", "capital", "대한민국의 수도는 어디입니까? 도시 이름만 답하세요.", "서울", "Seoul"),
    _case("ko", "next", "수요일 다음 날은 무슨 요일입니까? 요일만 답하세요.", "목요일", "금요일"),
    _case("ko", "opposite", "‘크다’의 반대말은 무엇입니까? 한 단어로 답하세요.", "작다", mojibake("작다")),
)
