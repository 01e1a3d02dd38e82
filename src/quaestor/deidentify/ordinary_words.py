"""Ordinary words that look like names: names that are also words, and words that begin like a name."""

from __future__ import annotations

import re

ORDINARY = frozenset(
    re.findall(
        r"\w+",
        """may mark marks will bill rose grace hope joy faith frank jack art pat rob sue dean chase grant hunter cooper
    baker smith dawn summer autumn april june august rich ray guy drew miles dale glen heath cliff brook
    lane wood woods stone rock field fields hill hills rivers lake king knight bishop pope young white black
    brown green gray grey gold silver day page price power powers case cash cook carter walker turner taylor
    mason miller fisher shepherd potter porter butler long short little best good love sharp swift strong
    wise wild early late way ways park parks church bell bush ford marsh moss nest penny pearl ruby olive
    ivy violet lily daisy iris jasmine heather holly hazel sage basil angel star sky rain storm winter major
    junior max min key keys max don wade skip van von nick tony eve else son sandy misty apple amazon meta
    oracle shell orange target gap square stripe slack notion arm intel box zoom teams alphabet windows sun
    visa chase signal gamma delta sprint nest ring path medium buffer segment unity epic valve steam mint
    render wolf fuchs klein gross lang kurz jung alt neu schwarz weiss braun grau koch bauer kaiser koenig
    richter sommer engel stein berg busch baum blum vogel hahn fink haas roth linde mai ernst""",
    )
)
"""Names that are also ordinary words; only a capital letter distinguishes them."""
ORDINARY_WITH_ENDING = frozenset(
    re.findall(
        r"\w+",
        """any one ore ice ace age ale ape are use due lie die pie tie toy boy buy day may say way joy key own owe eye
    ago ado ami amy ego try fly dry cry sky why shy lou you
    able aches adder affine after again algo alien alle allen aller alles allow also alter amen ander area army
    arrow arten attach auto away babe baby bade bake bare base baser bases been begin below beta bike bite
    blue body bone bones boss boxer boxes breach burn buses busy buyer byte bytes came cane canes canine
    care cares case cases cave chain chin cite city claim code coder codes coin come comes cone copy core
    cores corn cosine cover cube cute dann dare data date daten dates defer define dein denen denn deny
    deren dice dime dine diner dive does dome done dope dose down dries eager earn ease easy eben echo edge
    edges eine einem einen einer eines elder else ende enden engine enter envy even evens face faces fake
    fame fare fate fein fever fewer fiber file files fine finer fire five fixer fixes free fury fuse gain
    gains game gate gave gaze geben gehen gene genes give given gives glue goes gone gray green grey habe
    haben hate have here hide hike hire hive hole holes holy home hope hose huge icon idea idle ihre ihren
    ihrer ihres infer info inline inner inter into java jede jeden jeder jedes jene jener join joins joke
    json july jury keen kein kiss lady lake lame lane laser late later latin layer lazy lean leben lesen
    leser less lever lexer life like liken line linen liner lines live liven lives loan login logo lone lose
    losen loser loses loss love lover lower lube made main make maker makes male many marine mass mate mates
    maze mean means mein memo menu mere meta meter mice mile mime mine miner mines miss mixer mixin mode
    modern modes mole moon more move moves movie muse mute name namen names nano navy neben nein never newer
    nice nicer nine node nodes none nose note notes noun nude oben obey offer often okay older omen once
    online only onto open opens order other outer oven owner pace paces page pages pain pale paler pane
    paper pare pass pate paten pates patina pawn pile pine pines pipe pipes pity plain plan play ploy plus
    poker pole poles poly pony pope pose poses power pray prey pure queen race rage rain rake rare rate
    raten rater rates reden refer rein rely remove repo rice ride rife ripe ripen rise rises rite robe robes
    role roles rope rosy rude ruin rule ruler rules runes safe safer sage sagen sake sale same samen sane
    save saver saves scan seen sehen sein semen seven sewer shoe side sides sign signs silo sine sines sinn
    siren site sites size sizer sizes skin sole solo soma some soon sore span spans spin stain stay steer
    super sure surer tage tagen take taken taker takes tale tame tape taper tapes taxes taxi teen than thee
    then they thin this throw thus tidy tiger tile time timer times tine tiny tire todo token tokens tome
    tone toner tore toss tower town train tray tree trees tries trio true tube tune tuner turn turns twin
    type types typo ugly ulcer under undo unser unten upon upper urge vain vary very veto vice vine viper
    visa vote voter votes wafer wagen wager wages wake wane wann ware waren warn warns wary water wave waves
    waxes wegen wenn were wesen when wide widen wider widow wife wiki wine wipe wiper wire wires wise women
    wore worn wove zero zone zones""",
    )
)
"""Ordinary words that consist of a short name and an ending, and are not names even with a capital letter."""
