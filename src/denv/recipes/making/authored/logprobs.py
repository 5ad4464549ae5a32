"""Prompts whose answers' logprobs are compared: prose, code, numbers, languages, a conversation."""

# ruff: noqa: E501 - one case a line, so that the table can be read

from __future__ import annotations

from denv.recipes.making.drafts import Authored, said, system, user
from denv.recipes.making.logprobs import drafted


def _case(name: str, wish: str, likely: str, *before: dict[str, str]) -> Authored:
    return Authored(f"logprobs-{name}", "logprobs", drafted(wish, likely, before=before))


# fmt: off
CASES = (
    _case("sky", "Why is the sky blue?", "Air scatters blue light more strongly than red light, so blue reaches us from all sides."),
    _case("bread", "Describe the smell of fresh bread.", "Fresh bread smells warm and a little sweet, with a hint of toasted grain."),
    _case("gravity", "What is gravity?", "Gravity is the attraction between masses, and it keeps us on the ground."),
    _case("tides", "Explain what causes the tides.", "The Moon pulls at the oceans, and the turning Earth carries us through the bulges."),
    _case("haiku", "Write a haiku about a train in winter.", "White fields slip away,\nthe train hums its only song -\nbreath fogs up the pane."),
    _case("function", "Write a Python function that adds two numbers.", "def add(a, b):\n    return a + b"),
    _case("sql", "Write a SQL query that counts the rows of a table named visits.", "SELECT COUNT(*) FROM visits;"),
    _case("html", "Write a minimal HTML page with a heading.", "<!doctype html>\n<html><body><h1>Hello</h1></body></html>"),
    _case("bash", "How do I list hidden files in a shell?", "Use ls -a, which shows the files whose names begin with a dot."),
    _case("count", "Count from 1 to 10.", "1, 2, 3, 4, 5, 6, 7, 8, 9, 10"),
    _case("pi", "What are the first digits of pi?", "The first digits of pi are 3.14159265358979."),
    _case("letter", "Begin a letter of complaint to a bookshop.", "Dear Sir or Madam, the book that I ordered three weeks ago has not arrived yet."),
    _case("recipe", "How do I boil an egg?", "Put the egg into boiling water for seven minutes, then into cold water."),
    _case("advice", "Give me one tip for sleeping better.", "Go to bed at the same hour every day, and leave the phone in another room."),
    _case("joke", "Tell me a joke about computers.", "Why was the computer cold? It had left its windows open all night long."),
    _case("summary", "Summarise in one sentence: The museum was closed for two years, was rebuilt, and opened again in May with twice as many rooms.", "After two years of rebuilding, the museum opened again in May with twice the rooms."),
    _case("rhyme", "Write two lines that rhyme about the rain.", "The rain came softly down the lane,\nand drew its rivers on the pane."),
    _case("email", "Write the subject line of an e-mail that moves a meeting to Friday.", "Our meeting moves to Friday at the same hour and place."),
    _case("name", "Suggest a name for a small bakery by the sea.", "How about Salt and Crumb, which holds both the sea and the bread?"),
    _case("german", "Erkläre in einem Satz, was ein Leuchtturm ist.", "Ein Leuchtturm ist ein Turm, dessen Licht Schiffen nachts den Weg zeigt."),
    _case("french", "Décris la mer en une phrase.", "La mer est une étendue sans fin qui change de couleur avec le ciel."),
    _case("spanish", "Describe el otoño en una frase.", "El otoño cubre las calles de hojas secas y acorta las tardes poco a poco."),
    _case("russian", "Опиши зиму одним предложением.", "Зимой снег укрывает поля, и вечера становятся длинными и тихими."),
    _case("chinese", "用一句话介绍长城。", "长城是中国古代修建的一道很长的城墙。"),
    _case("japanese", "春について一文で書いてください。", "春になると桜が咲き、町が明るくなります。"),
    _case("arabic", "صف البحر في جملة واحدة.", "البحر واسع وأزرق، وأمواجه لا تتوقف عن الغناء على الشاطئ طوال الليل."),
    _case("pirate", "Who are you?", "Arr, I be the captain of this ship, and the sea be my only home.", system("You speak like a pirate.")),
    _case("short", "What is rust?", "Rust is what iron becomes when it meets water and air for long.", system("You answer in one sentence.")),
    _case("turn", "And what about cats?", "Cats sleep even longer, up to sixteen hours a day, mostly in short naps.", user("How long do dogs sleep?"), said("About twelve hours a day.")),
    _case("definition", "Define the word “harbour”.", "A harbour is a sheltered stretch of water where ships can lie safely."),
    _case("compare", "What is the difference between a lake and a pond?", "A pond is small and shallow, while a lake is larger and deeper than that."),
    _case("plan", "Give the first step of moving to another flat.", "First, make a list of everything that you own and decide what comes along."),
    _case("history", "When did people first walk on the Moon?", "People first walked on the Moon in July 1969, during the flight of Apollo 11."),
    _case("table", "Make a Markdown table with one row: fruit, colour; cherry, red.", "| fruit | colour |\n| --- | --- |\n| cherry | red |"),
    _case("list", "Name three things that one takes to the beach.", "A towel, a bottle of water, and a hat against the sun."),
    _case("riddle", "Invent a riddle whose answer is a candle.", "I grow shorter the longer I live, and a breath can end me. What am I?"),
)
