"""Names and words that generated cases are filled with; plain, and written one way only."""

from __future__ import annotations


def _parted(text: str, by: str = " ") -> tuple[str, ...]:
    return tuple(text.split(by))


FIRST_NAMES = _parted(
    "Ada Bruno Clara Dario Elena Felix Greta Hugo Irene Jonas Karla Leon Marta Nils Olga Pavel "
    "Quentin Rosa Simon Tara Ulrich Vera Walter Xenia Yusuf Zora Amir Bella Conrad Dina Emil "
    "Fiona Georg Hanna Ivan Julia Kofi Lena Milan Nora"
)

LAST_NAMES = _parted(
    "Abbott Barlow Castell Dunmore Engel Farrow Gifford Halden Ingram Jarvis Kessler Lindholm "
    "Marlow Norton Okafor Prescott Quist Renner Santoro Thorne Upton Varga Weller Yardley "
    "Zimmer Ashby Bexley Corbin Delgado Ekberg Fenwick Garner Holt Ibsen Jensen Kramer"
)

CITIES = _parted(
    "Oslo Madrid Rome Vienna Prague Warsaw Dublin Lisbon Athens Helsinki Berlin Paris London "
    "Budapest Stockholm Tokyo Seoul Bangkok Jakarta Cairo Nairobi Lagos Lima Bogota Toronto "
    "Chicago Boston Denver Seattle Dallas Sydney Melbourne Auckland Mumbai Delhi Singapore "
    "Hamburg Geneva Turin Porto"
)

PRODUCTS = _parted(
    "lamps chairs kettles backpacks headphones blankets mugs notebooks umbrellas tents bicycles "
    "keyboards mirrors candles pillows rugs clocks vases baskets towels helmets scarves"
)

COLOURS = ("red", "blue", "green", "black", "white", "yellow", "orange", "purple")

STREETS = _parted(
    "Mill Lane;Harbour Road;Station Street;Church Walk;Park Avenue;Bridge Street;Castle Hill;"
    "Orchard Way;River Row;Market Square;Chapel Close;Garden Terrace",
    by=";",
)

ROOMS = ("kitchen", "bedroom", "office", "hallway", "attic", "cellar", "garage", "library")

MONTHS = _parted(
    "January February March April May June July August September October November December"
)

ANIMALS = _parted(
    "fox heron otter badger falcon rabbit turtle lynx beaver owl hedgehog salmon pony goat"
)

PLACES = _parted(
    "harbour,forest,lighthouse,desert,market,library,glacier,vineyard,railway station,island,"
    "mountain pass,greenhouse,old mill,canal",
    by=",",
)

PLAIN_WORDS = _parted(
    "anchor barrel compass dragon engine flute garden hammer igloo jacket kernel lantern marble "
    "needle orchard pebble quill ribbon saddle tractor violin walnut zipper bottle camera drum "
    "fountain glove hinge insect jewel kitten ladder magnet napkin oar parrot rocket statue tunnel "
    "wagon window bucket canoe feather goblet"
)

TITLES = _parted(
    "Budget review;Design workshop;Hiring interview;Safety briefing;Product demo;Team lunch;"
    "Contract talk;Project kickoff;Security audit;Sales forecast;Press meeting;Data cleanup;"
    "Release planning;Board call;Vendor check;Training day",
    by=";",
)
