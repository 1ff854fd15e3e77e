"""What people say in the synthetic survey: topics, their phrases, and the words around them.

All of it was written for nldd. ``;`` stands between phrases, ``{a|b}`` is a choice, and
``...`` in a frame is the place of what it frames.
"""

from itertools import product
from typing import NamedTuple

NOTHING = "nothing / don't know"


Phrases = tuple[tuple[str, ...], ...]


class Topic(NamedTuple):
    """How one topic is brought up.

    Attributes
    ----------
    keywords : phrases
        They stand alone.
    wants : phrases
        Things that one can need: they follow "we need".
    complaints : phrases
        Clauses: they follow "I think".
    asides : phrases
        Clauses that touch on the topic and ask for nothing, so that they get no code.
    """

    keywords: Phrases
    wants: Phrases
    complaints: Phrases
    asides: Phrases


class Overlap(NamedTuple):
    """What may mean one of two topics or both; the coders decide differently each time."""

    codes: tuple[str, ...]
    wants: Phrases
    complaints: Phrases


def phrases(text: str) -> Phrases:
    """For each phrase all the ways to say it.

    Examples
    --------
    >>> phrases("buses; a {late|night} bus")
    (('buses',), ('a late bus', 'a night bus'))
    """
    return tuple(_spellings(" ".join(phrase.split())) for phrase in text.split(";"))


def _spellings(phrase: str) -> tuple[str, ...]:
    parts = phrase.replace("}", "{").split("{")
    choices = [part.split("|") if i % 2 else [part] for i, part in enumerate(parts)]
    return tuple(map("".join, product(*choices)))


def _topic(*, keywords: str, wants: str, complaints: str, asides: str) -> Topic:
    return Topic(*map(phrases, (keywords, wants, complaints, asides)))


def _overlap(codes: str, *, wants: str, complaints: str) -> Overlap:
    return Overlap(tuple(codes.split("; ")), phrases(wants), phrases(complaints))


TOPICS = {
    "public transport": _topic(
        keywords="""buses; {more|better} buses; public transport; trains; the bus; bus fares;
        night buses; a tram; {bus|train} times; more trains; transport links; the bus station""",
        wants="""{more|better|cheaper} buses; {more frequent|later} {buses|trains};
        better public transport; a {late|night|Sunday} bus;
        buses {every ten minutes|on Sundays|to the villages};
        a {bus|train} that {comes on time|runs after nine|people can rely on};
        cheaper {bus|train} fares; a direct {bus|train} to the {city|coast|next town};
        free {bus|train} travel for pensioners; one ticket for bus and train;
        a bus timetable that {works|is kept|matches the trains}; the old {bus|tram} line back;
        a shelter at the bus stop; reliable public transport; a weekly bus pass; a tram""",
        complaints="""the {bus|train} is {always|usually} late; the last bus {goes|leaves} at seven;
        the {buses|trains} are {packed|dirty|cancelled half the time}; they cut our bus route;
        a {bus|train} ticket costs {too much|more than lunch}; no bus comes to our {street|estate};
        you wait {forty minutes|an hour} {at the bus stop|for the bus}; two buses an hour is a joke;
        there is no {bus|train} {on Sundays|after ten}; the bus fares go up every year;
        public transport is {a joke|hopeless|too dear};
        you cannot get {home|to work} by {bus|train}; bus drivers {don't stop|drive past the stop};
        {without a car|if you don't drive} you are stuck;
        the {app|display} never shows the right time; I spend half my life at the station""",
        asides="I {take|use} the bus {to work|twice a week}; the trains are {fine|good}",
    ),
    "cycling": _topic(
        keywords="""{bike|cycle} lanes; cycle paths; cycling; more {bike lanes|cycle paths}; bikes;
        cycle routes; bike {parking|racks}; safe cycling""",
        wants="""{more|safe|wider|proper} bike lanes; {more|safe|separate} cycle paths;
        a {bike|cycle} path {along the river|into town};
        a {cycle|bike} route to {school|work|the next town};
        somewhere {safe|dry} to lock {a bike|my bike}; bike racks at the {station|school|shops};
        {cheap|public} bike hire; a network of cycle routes;
        bike lanes that {don't just end|are wide enough}; a bike workshop;
        smoother surfaces for {bikes|cyclists}; lessons for children on bikes;
        lights on the cycle path; safe cycling for {children|everyone}""",
        complaints="""cycling {is dangerous|is no fun|feels unsafe} here;
        cyclists {have no space|are squeezed out};
        the {bike lane|cycle path} {ends in the middle of nowhere|is full of holes|is just paint};
        cars park {in|across} the {bike|cycle} lane; there are no {bike lanes|cycle paths};
        my bike was {stolen|taken} {twice|last year};
        drivers {overtake bikes far too close|hate cyclists};
        I would {cycle|ride my bike} if I {dared|felt safe};
        there is nowhere to {lock|leave} a bike; children cannot {cycle|ride} to school;
        nobody {clears|sweeps} the cycle {path|route}; you cannot cycle {across|through} town""",
        asides="I {cycle|ride my bike} {most days|at weekends}; the new cycle path is {great|nice}",
    ),
    "traffic and parking": _topic(
        keywords="""traffic; parking; less traffic; {more|free} parking; fewer cars; cars; potholes;
        traffic jams; speeding; car parks; road works; the ring road""",
        wants="""less traffic; {more|cheaper|free} parking; fewer cars {in town|on our road};
        {more|free} parking spaces; slower traffic; a {bypass|ring road} against the traffic;
        a ban on {lorries|through traffic}; parking for {residents|visitors|the disabled};
        speed {bumps|cameras} {on the main road|for cars}; a 20 {limit|zone};
        residents' parking permits; a {crossing|zebra} on the main road; lights at the junction;
        repairs to the {roads|potholes}; {pavements|streets} without parked cars""",
        complaints="""there is {too much|far too much} traffic;
        there are {too many|far too many} cars; you can never {park|find a parking space};
        parking {costs a fortune|is a nightmare|is impossible};
        the {main road|ring road|bridge} is {jammed|at a standstill} every {morning|evening};
        {people|cars|vans} {speed|race} {down our street|past the houses};
        the traffic gets worse every year; the roads are full of {holes|potholes};
        cars {park|stand} on the pavement; it takes {half an hour|ages} to drive through town;
        lorries shake the {house|windows}; the traffic lights {take forever|never work};
        everybody drives {everywhere|two hundred metres};
        the {noise|smell} of the traffic is awful""",
        asides="I {drive|need the car} {for work|every day}; we have our own garage",
    ),
    "housing costs": _topic(
        keywords="""rent; affordable {housing|homes}; housing; rents; {lower|cheaper} rents;
        house prices; cheaper {flats|homes}; council {flats|housing}; the cost of housing""",
        wants="""affordable {housing|homes|flats}; {lower|fair|cheaper} rents;
        {cheaper|more social} housing; more {council|affordable} {housing|flats};
        {flats|houses} {for young people|we can afford|for one person};
        a {cap|limit} on {rents|house prices};
        {homes|houses} that {nurses|locals|young families} can afford; rent control;
        fewer {second homes|holiday flats}; help with {the rent|the deposit|heating bills};
        {new|small} {homes|flats} on the old factory site; an end to empty houses;
        a {flat|place} of my own; homes for {key workers|our kids}""",
        complaints="""{rents|house prices} are {crazy|through the roof|far too high};
        the rent is {far too high|a scandal}; I {can't|cannot} afford {a flat|a house|the rent};
        half {my pay|our income} goes on {rent|the mortgage};
        {young people|locals} {can't|can never} afford a {home|house} here;
        there are no affordable {flats|homes};
        {the|my} landlord puts the rent up {every year|again};
        holiday {lets|flats} {take all the homes|push us out}; we {live|are} four in two rooms;
        the waiting list for a council flat is {years|endless};
        houses {stand|are} empty as investments;
        {flats|houses} are {damp and dear|bought up by investors};
        my {daughter|son} still lives with us at thirty; heating costs more than food""",
        asides="we {own our house|are lucky with our flat}; my rent is {fine|ok}",
    ),
    "green spaces": _topic(
        keywords="""parks; more {trees|green|parks}; trees; green spaces; the park; nature; gardens;
        {benches|flowers}; allotments; {the river|riverside}""",
        wants="""more {trees|parks|green spaces}; {more|bigger} parks;
        {trees|more trees} {along the streets|on the square}; {benches|seats} in the park;
        a {park|green} for {dogs|the new estate}; more nature;
        flowers {in the park|instead of concrete};
        a {park|meadow|pond} {nearby|within walking distance};
        allotments for {everyone|people in flats}; a {path|walk} by the {river|canal};
        wild corners for {bees|birds}; a {community|shared} garden; {lawns|grass} you may sit on""",
        complaints="""they {cut down|felled} {all the|our} trees;
        there are {no|too few} {parks|trees|green spaces};
        every {green space|field|park} is {built on|paved over};
        the park is {neglected|locked|overgrown};
        there is no {shade|tree} anywhere {in summer|in town};
        we have no {green|grass} to {play|sit} on; the nearest park is {miles|two miles} away;
        the trees {are dying|get no water}; it is all {concrete|grey};
        the {pond|stream} has dried up; the benches are {broken|gone};
        they want to build on the {meadow|last field}""",
        asides="""the park is {lovely|nice}; I walk {the dog|in the woods} {every day|a lot};
        we have a {small|big} garden""",
    ),
    "cleanliness": _topic(
        keywords="""litter; rubbish; {cleaner|clean} streets; bins; dog mess; more bins;
        cleanliness; graffiti; less {litter|rubbish}; fly tipping; public toilets; rats""",
        wants="""{cleaner|clean} streets; more {bins|litter bins}; less {rubbish|litter|dog mess};
        {fines|higher fines} for {litter|dog mess|dumping rubbish};
        a {weekly|proper} rubbish collection; {cleaner|clean} {pavements|public toilets};
        somebody who {sweeps|cleans} the streets;
        bins for {dog mess|rubbish} {at the bus stop|everywhere};
        street cleaning {at weekends|after market day}; walls without graffiti;
        a recycling centre that is open; cleaner air""",
        complaints="""there is {rubbish|litter|broken glass} {everywhere|on every corner};
        the streets are {filthy|dirty}; the bins are {overflowing|never emptied|always full};
        there is dog mess {everywhere|on every pavement};
        {people|they} {throw|drop} their {rubbish|litter} {anywhere|on the ground};
        the rubbish {is never collected|lies about for days};
        somebody dumped {rubbish|a sofa|tyres} in our lane; {rats|gulls} get into the rubbish;
        nobody {cleans|sweeps} the streets; there is graffiti on every wall;
        the toilets are {shut|disgusting}; it {smells|stinks} in summer""",
        asides="the streets are {clean enough|quite tidy}; I pick up litter myself",
    ),
    "safety": _topic(
        keywords="""safety; {more|visible} police; crime; police; street {lights|lighting}; drugs;
        less crime; {feeling|being} safe; burglaries; vandalism; drunks""",
        wants="""more police {on foot|at night|on the streets};
        {less|no} {crime|violence|vandalism}; {better|more} street lighting;
        safe streets {at night|after dark}; action against {drugs|crime|gangs};
        a police station {again|that is open}; more {safety|security} {at night|after dark};
        visible police; street lights {that work|all night};
        cameras {in the underpass|in the alleys};
        {wardens|somebody} to call when there is trouble""",
        complaints="""I {don't|do not} feel safe {at night|after dark|on my own};
        it is not safe {at night|after dark}; you never see {the police|a policeman};
        {drugs are|dealing is} {everywhere|done openly};
        there is {too much|more and more} {crime|violence};
        the street lights {are off|go off at midnight}; {gangs|drunks} {hang about|shout} all night;
        nobody comes when you {call|ring} the police;
        we {were|have been} burgled {twice|last winter}; women are not safe in the underpass;
        my car {was broken into|has been scratched}; {old people|my parents} are afraid to go out;
        windows get smashed {every weekend|for fun}""",
        asides="I feel {safe|quite safe} here; my {brother|neighbour} is with the police",
    ),
    "schools and childcare": _topic(
        keywords="""schools; childcare; {better|more} schools; nursery places; {a|the} nursery;
        teachers; school places; education; kindergartens; after school care""",
        wants="""{better|more} schools; {more|affordable|cheaper} childcare; more nursery places;
        {more|enough} teachers; a {new|second|secondary} school;
        {smaller|less crowded} classes at school; a nursery that {opens at seven|we can pay for};
        {care|a club} after school; school {meals|lunches} for every child;
        a school {within walking distance|for the new estate};
        a {nursery|kindergarten|childminder} nearby;
        {new|working} {toilets|computers} in the school; help for {slow readers|single parents}""",
        complaints="""there are {no|not enough} {nursery|school} places;
        childcare {costs a fortune|is far too dear};
        the schools are {overcrowded|falling apart|short of teachers};
        the nursery costs more than I earn; we {wait|waited} {a year|two years} for a nursery place;
        teachers {leave|are ill} all the time;
        classes have {over thirty|too many} {children|pupils};
        I cannot work because there is no childcare;
        lessons are cancelled {every week|again and again}; the school roof leaks;
        the children go to school {ten miles|an hour} away;
        the nursery {closes at three|shuts all summer}""",
        asides="""the schools are {good|fine}; I {teach|work at the school};
        our {kids|children} have grown up; we have {two|three} small children""",
    ),
    "health care": _topic(
        keywords="""doctors; {more|enough} doctors; the hospital; health care; a doctor; dentist;
        GPs; the surgery; care for the elderly; a pharmacy; mental health; doctor's appointments""",
        wants="""{more|enough} doctors; {better|more} health care;
        {more|enough} {nurses|GPs|dentists}; a {dentist|doctor} who takes new patients;
        {faster|easier} {doctor's|hospital} appointments; our hospital back;
        a {doctor|health centre|surgery} {in the village|on the estate|open at weekends};
        {shorter|no} waiting times at the {doctor's|hospital}; {home|better} care for the elderly;
        a {children's|women's} doctor; a pharmacy {nearby|open at night};
        help with {mental health|depression}; an ambulance that arrives in time; a nursing home""",
        complaints="""you {can't|cannot} get {a doctor's appointment|to see a doctor};
        there are {not enough|no} doctors; the {hospital|surgery|maternity ward} {closed|was shut};
        there is no {dentist|doctor} {left|for miles};
        you wait {three weeks|months} for {a doctor|a specialist};
        our doctor retired and nobody came; the {doctors|nurses} are {overworked|about to retire};
        the nearest hospital is {an hour|forty miles} away;
        nobody answers the phone at the {surgery|doctor's};
        carers have {five minutes|no time} for {us|my father};
        the chemist {is shut|runs out of everything}; therapy means a year of waiting""",
        asides="""I {am a nurse|work at the hospital}; my doctor is {good|great};
        I was in hospital {last year|in spring}""",
    ),
    "shops and centre": _topic(
        keywords="""shops; {better|more} shops; the high street; the town centre; {the|a} market;
        empty shops; cafes; a supermarket; small shops; a bakery""",
        wants="""{more|better} shops; {small|independent} shops;
        a {nicer|livelier} {town centre|high street};
        shops {in the centre|on the high street|that open at lunch}; a {weekly|farmers'} market;
        a {supermarket|bakery|bookshop|butcher}; {cafes|restaurants} {on the square|in the centre};
        {life|something} {in the town centre|on the high street}; a {post office|bank|cash machine};
        lower rates for shops; somewhere to buy {clothes|shoes|fresh food}; a village shop""",
        complaints="""the {high street|town centre} is {dead|dying|half empty};
        shops are {closing|boarded up}; every other shop is {closed|empty|boarded up};
        we only have {betting shops|barbers|charity shops}; there are no {decent|proper|real} shops;
        the {bank|post office} {has gone|closed};
        you must {drive|go} {to the city|out of town} for {shoes|shopping};
        the market is {down to two stalls|gone}; all the shops close at five;
        there is nowhere to have {a coffee|lunch}; the last {shop|supermarket} left;
        the square looks {sad|like a ruin}; everyone buys online""",
        asides="I {work in a shop|like the market}; the bakery is {excellent|good}",
    ),
    "things to do": _topic(
        keywords="""things to do; {more|something} to do; a cinema; events; a swimming pool;
        culture; sports; a youth club; {concerts|music}; the library; nightlife; playgrounds""",
        wants="""{more|something} to do {in the evening|at weekends};
        a {cinema|theatre|youth club|swimming pool}; {more|free} {events|concerts|sport};
        more things to do for {teenagers|young people|families}; {more|free} culture;
        a {sports hall|gym|skate park}; the {pool|museum|library} {open again|back};
        {street parties|festivals|film nights}; {longer hours|new books} at the library;
        a {new|decent} playground; a place to {meet|dance|make music}""",
        complaints="""there is {nothing|not much|little} to do {here|at weekends|in the evening};
        the {swimming pool|cinema|youth club} {closed|was pulled down};
        young people have nothing to do; there are no {events|concerts|clubs};
        {teenagers|young people} are bored; there is no {cinema|pool|culture};
        the {sports hall|pitch} is {always booked|flooded};
        the library {opens two days a week|has no books}; the town goes to bed at eight;
        the playground is {rusty|broken|for toddlers only}; the festival was cancelled;
        you have to go to the city for some fun""",
        asides="I {play football|sing in a choir}; the library is {great|fine}",
    ),
}
NON_ANSWERS = phrases("""
    nothing; don't know; no idea; {none|n/a|nil}; I don't know; not sure; {dunno|dk};
    nothing really; I am happy {as it is|here}; {can't|cannot} think of anything; all {fine|good};
    no comment; no {opinion|complaints}; everything is {ok|fine|great} {here|as it is};
    it is fine {here|as it is}; nothing {comes to mind|at the moment}; pass; ?;
    I am new here so I can't say; leave it as it is; {hard|difficult} to say;
    nothing to {add|improve}
""")

OVERLAPS = (
    _overlap(
        "cycling; traffic and parking",
        wants="safer roads; streets for people; {room|space} for everyone on the road",
        complaints="the roads are {dangerous|lethal}; drivers {don't look|are reckless}",
    ),
    _overlap(
        "public transport; traffic and parking",
        wants="better connections; {better|other} ways to get to work; park and ride",
        complaints="getting to work takes {hours|for ever}; the commute is {hell|a struggle}",
    ),
    _overlap(
        "green spaces; cleanliness",
        wants="{cleaner|nicer} parks; a tidy {park|riverside}; a town that looks cared for",
        complaints="the park is full of {litter|rubbish}; nobody looks after the {place|park}",
    ),
    _overlap(
        "safety; cleanliness",
        wants="a better underpass; {order|some order} in the streets; no bottles lying about",
        complaints="""the {station|underpass} is {grim|horrible};
        there are {needles|bottles} in the {playground|underpass}""",
    ),
    _overlap(
        "shops and centre; things to do",
        wants="somewhere to go in the evening; {a pub|pubs}; more {life|going on}",
        complaints="the town is {dead|boring}; the last pub closed; there is nowhere to go",
    ),
    _overlap(
        "schools and childcare; things to do",
        wants="more for {children|kids}; holiday clubs for the kids; support for families",
        complaints="""nobody thinks of {children|families};
        the kids have nowhere to go {after school|in the holidays}""",
    ),
    _overlap(
        "housing costs; shops and centre",
        wants="lower rents in the centre; a use for the empty buildings",
        complaints="everything costs too much; {buildings|whole blocks} stand empty",
    ),
    _overlap(
        "health care; schools and childcare",
        wants="help for {parents|carers}; services {close to home|nearby}; more staff",
        complaints="""there are not enough staff; there is no help for {families|carers};
        every service is miles away""",
    ),
)

# Around the topics.
WANT_FRAMES = phrases("""
    ...; ...; ... please; we {need|want} ...; I {want|would like} ...; definitely ...;
    ... would {help|be nice}; I wish we had ...; the town {needs|should have} ...;
    {give us|we could do with} ...; for me it is ...; above all ...; what is missing is ...;
    the council should think about ...; ... would make a difference
""")
COMPLAINT_FRAMES = phrases("""
    ...; ...; ...; I think ...; {honestly|frankly}, ...; the problem is that ...;
    ... {these days|now}; {in my opinion|to be honest} ...; ..., and {nobody cares|nothing happens};
    it annoys me that ...; as {everyone|anyone here} knows, ...
""")
FILLERS = phrases("""
    I have lived here {all my life|for ten years|since 1998}; nobody {listens|asks us};
    it used to be {better|different}; {thanks|thank you} for asking; otherwise I like it here;
    that's {all|about it}; other towns can do it; I have {said|written} this {before|many times};
    it can't be that hard; the council {has other plans|only talks}; things can't go on like this;
    we pay enough {tax|council tax}; my {neighbours|friends} {say|think} the same;
    I am {retired|a student|a widow|new here}
""")
FORMAL_OPENINGS = phrases("""
    I should be most grateful if the council would consider ...; may I respectfully suggest ...;
    it would be {desirable|appropriate} to provide ...;
    in view of demographic change I recommend ...; I wish to propose ...
""")
FORMAL_CLOSINGS = phrases("""
    Kind regards; Yours faithfully; I remain at your disposal for further information;
    My previous letters have gone unanswered
""")
SENTENCE_JOINTS = (". ", ". ", ". ", ", and ", " and ", ", ", " also ", ". Also, ", " plus ")
LIST_JOINTS = (", ", ", ", " and ", " and ", " & ", " + ", "/", ", also ", " as well as ")
EMOJI = ("🙏", "😡", "😀", "👍", "🚲", "🌳", "😢", "🚌", "🤷", "!!!", "🏠", ":-)")
CHAT_WORDS = {"please": "pls", "and": "n", "are": "r", "you": "u", "people": "ppl", "to": "2"}
