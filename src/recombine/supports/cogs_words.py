"""The words of COGS (Kim & Linzen 2020): verbs by what they ask for, nouns by where they stand.

Words are those of the released language (MIT licence), the frequent ones first: nouns and names follow Zipf's law
there. Forms of a verb are its base, what "-ed" makes of it, or what stands in `IRREGULAR`.
"""

from __future__ import annotations


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


#: people
NAMES = _words(
    """
    Emma Liam Olivia Noah Ava William Isabella James Sophia Charlotte Oliver Benjamin Mia Elijah Amelia Harper
    Lucas Mason Evelyn Logan Emily Elizabeth Ethan Abigail Alexander Jacob Mila Michael Daniel Henry Ella Camila
    Matthew Jackson Avery Aria Sofia Sebastian Luna Madison Scarlett Victoria David Aiden Samuel Riley Owen
    Layla Jaxon Jack Wyatt Grace Penelope Carter Christopher Grayson Zoey John Luke Chloe Joshua Nora Ellie Lily
    Skylar Theodore Anthony Isaac Mateo Brooklyn Hazel Gabriel Ryan Lillian Asher Andrew Hannah Stella Joseph
    Bella Aubrey Eleanor Natalie Levi Dylan Leah Julian Savannah Audrey Caleb Violet Jayden Addison Aurora Zoe
    Claire Thomas Lincoln Leo Nathan
    """
)

#: who acts or receives
ANIMATE = _words(
    """
    girl boy cat dog baby child teacher frog chicken mouse lion bear monkey giraffe horse duck bird bunny sailor
    butterfly monster lawyer professor penguin hero princess scientist student customer crocodile bee cow goose
    fly tiger president donkey moose manager hen fish deer zebra pig doctor queen kid kitty patient turkey king
    father puppy sheep guy squirrel pony consumer director lamb poet writer visitor pupil buyer creature wolf
    mother citizen host driver tourist friend turtle duke captain priest soldier guest prince prisoner coach
    producer landlord passenger chief resident dealer farmer governor politician journalist human champion judge
    guard servant tenant spokesman researcher
    """
)

#: what something is done to
THINGS = _words(
    """
    cake donut cookie box rose drink raisin melon sandwich strawberry ball balloon bat block book chalk game
    crayon doll glue lollipop hamburger biscuit banana pretzel muffin pen pancake pickle potato sweetcorn yogurt
    pizza pumpkin pencil jigsaw shoe brush cracker present pillow jacket cloud radio gumball mandarin bucket
    bottle basket toy chair spoon newspaper scarf hat cup towel can weapon ring knife watch flower guitar beer
    hammer plate soap crown clock tool bell penny jar toothbrush fruit key brick flag needle bowl molecule shirt
    fig mirror coin seed brain purse liver plant wine chemical shell crystal bean leaf bag button nail
    """
)

#: where something is "in"
INSIDE = _words(
    """
    house room car garden box cup glass bag hole storage cot bottle vehicle cabinet vessel envelope pot barrel
    shoe tin pit can tent bush soup basin wardrobe container vase bin coffin parcel van bucket well sink drawer
    sack dumpster crate blender puddle tower cupboard cylinder bakery nest haystack mug cage china pile tube
    bunker fridge train refrigerator truck bun taxi trunk pool shoebox package stadium basket bathtub hammock
    corner penthouse kennel closet microwave cart swamp trailer condo backpack crib fishbowl saucepan pyramid
    dungeon palace cafe cubicle spaceship jeep teapot wagon casket tomb trap backyard pod jar tub castle
    bookstore monastery
    """
)

#: where something is "on"
UPON = _words(
    """
    table stage bed chair stool road tree box speaker seat surface computer rock boat cabinet desk bowl shelf
    sheet plate bench sofa ladder TV cloth log barrel bible pedestal paper blanket leaflet tiger piano throne
    notebook windowsill gravel coffin yacht book canvas cupboard towel booklet rug glacier tripod cat tray truck
    pillow corpse dog pad hanger branch carpet panel stack stand bag chessboard mound ball deck keyboard counter
    platter sock futon machine cake rag train floor board crack beach bike cushion trampoline couch bun device
    podium boulder napkin rack cookie plaque leaf tabletop vessel block mattress dish brick cot turntable
    """
)

#: what something is "beside", as it may be beside all of the others
NEAR = _words(
    """
    gardner trainee worm baron headmaster pillar rod skull monk warrior beast statue dragon torch valve whale
    giant pepper painting poster sword sculpture helicopter fox chemist sphere philosopher murderer bicycle
    cassette trophy surgeon lemon broker hedge foreigner lamp genius
    """
)

#: "A noticed B": both are there
TRANSITIVE = _words(
    """
    like help find love admire appreciate respect tolerate value adore discover hold miss pierce poke stab throw
    toss touch worship
    """
)
#: "A ate B", or "A ate"
OMISSIBLE = _words(
    """
    eat paint clean cook hear notice know draw call hunt study see dust sketch investigate examine juggle nurse observe
    pack
    """
)
#: "A rolled B", or "B rolled", where B is the theme
UNACCUSATIVE = _words(
    """
    roll burn freeze shorten float grow slide break collapse split decompose snap change disintegrate crumple inflate
    improve double enlarge redden
    """
)
#: "A slept", where A is the agent
UNERGATIVE = _words(
    """
    sleep smile laugh sneeze cry talk dance jog walk run nap snooze giggle scream smirk frown gasp snore stutter scoff
    """
)
#: "A gave B to C", or "A gave C B"
DATIVE = _words(
    """
    give lend sell offer feed pass send rent serve award bring return mail hand forward promise loan post slip wire
    """
)
#: "A hoped that ..."
CLAUSAL = _words(
    """
    like hope say believe think notice wish dream expect mean imagine know confess declare prove support admire
    appreciate respect tolerate value
    """
)
#: "A wanted to ..."
INFINITIVAL = _words(
    """
    want like try need hope love plan wish hate prefer attempt expect intend mean dream crave enjoy itch long yearn
    """
)
#: what can stand behind "to"
INFINITIVES = _words(
    """
    walk eat run sleep dance talk paint cook jog giggle call clean nap read smirk sneeze hunt sketch investigate dust
    """
)
#: base: past, participle
IRREGULAR = {
    base: (past, participle)
    for base, past, participle in (
        line.split()
        for line in """
        break broke broken
        bring brought brought
        cry cried cried
        draw drew drawn
        eat ate eaten
        feed fed fed
        find found found
        freeze froze frozen
        give gave given
        grow grew grown
        hear heard heard
        hold held held
        jog jogged jogged
        know knew known
        mean meant meant
        nap napped napped
        plan planned planned
        prefer preferred preferred
        read read read
        run ran run
        say said said
        see saw seen
        sell sold sold
        send sent sent
        ship shipped shipped
        sleep slept slept
        slide slid slid
        slip slipped slipped
        snap snapped snapped
        split split split
        stab stabbed stabbed
        study studied studied
        think thought thought
        throw threw thrown
        try tried tried
        worship worshipped worshipped
        """.strip().splitlines()
    )
}

#: the words that are trained in one construction only, and asked about in another
ONLY_SUBJECT, ONLY_OBJECT, ONLY_WORD = ("hedgehog", "Lina"), ("cockroach", "Charlie"), ("shark", "Paula")
ONLY_AGENT, ONLY_THEME, ONLY_INFINITIVE = "cobra", "hippo", "crawl"
#: verb: the class whose frames it is asked about in
ONE_FRAME = {
    "bless": TRANSITIVE,
    "squeeze": TRANSITIVE,
    "bake": OMISSIBLE,
    "shatter": UNACCUSATIVE,
    "teleport": DATIVE,
    "ship": DATIVE,
}


def past(base: str) -> str:
    """ "roll" -> "rolled", "eat" -> "ate"."""
    return IRREGULAR[base][0] if base in IRREGULAR else _regular(base)


def participle(base: str) -> str:
    """ "roll" -> "rolled", "eat" -> "eaten"."""
    return IRREGULAR[base][1] if base in IRREGULAR else _regular(base)


def _regular(base: str) -> str:
    return base + ("d" if base.endswith("e") else "ed")


SPECIAL = ("hedgehog", "cockroach", "shark", ONLY_AGENT, ONLY_THEME)
NOUNS = tuple(dict.fromkeys((*ANIMATE, *THINGS, *INSIDE, *UPON, *NEAR, *SPECIAL)))
ALL_NAMES = (*NAMES, "Lina", "Charlie", "Paula")
VERBS = tuple(
    dict.fromkeys(
        (*TRANSITIVE, *OMISSIBLE, *UNACCUSATIVE, *UNERGATIVE, *DATIVE, *CLAUSAL, *INFINITIVAL, *INFINITIVES, *ONE_FRAME)
    )
) + (ONLY_INFINITIVE,)
PREPOSITIONS = ("in", "on", "beside")
LITTLE = ("A", "The", "a", "the", "was", "by", "to", "that", *PREPOSITIONS, ".")
#: form -> base
BASE = {form: base for base in VERBS for form in (base, past(base), participle(base))}
#: verbs whose one argument, where there is one, is the theme
THEMATIC = frozenset((*UNACCUSATIVE, "shatter"))
#: what is a word by itself in training ("primitive"), beside nouns and names
ALONE = tuple(dict.fromkeys((*TRANSITIVE, *OMISSIBLE, *UNACCUSATIVE, *UNERGATIVE, ONLY_INFINITIVE)))
_FORMS = (form for base in VERBS if base != ONLY_INFINITIVE for form in (past(base), participle(base)))
#: all words of sentences, each once
WORDS = tuple(dict.fromkeys((*LITTLE, *ALL_NAMES, *NOUNS, *ALONE, *INFINITIVES, *_FORMS)))
