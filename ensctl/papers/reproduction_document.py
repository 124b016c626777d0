"""From checked claims and experiments to a document: verdicts, findings, tables, functions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ensctl import __version__
from ensctl.papers.claim import ClaimResult, Paper
from ensctl.papers.experiment import Experiment, Measurement
from ensctl.papers.verdicts import ClaimVerdict, Outcome
from ensctl.reporting.document import (
    Bullets,
    Column,
    Document,
    Paragraph,
    Section,
    Table,
    Tone,
    Verdict,
)

# Verdicts that say something, in the order of their weight.
FOUND = (
    ClaimVerdict.ARITHMETIC_SLIP,
    ClaimVerdict.NOT_AS_STATED,
    ClaimVerdict.DEPENDS_ON_CONVENTION,
)
_READING = (
    ("reproduced", "the recomputed value, rounded half up, is what is printed"),
    ("arithmetic slip", "it is not, under any reading"),
    (
        "depends on convention",
        "it is under one reading that formula or words allow, and not under another",
    ),
    ("projection", "labelled a projection by the paper itself; its arithmetic is right"),
    ("not as stated", "a statement in words that is false or holds in a narrower range"),
    ("not checkable", "the paper does not say enough to compute it"),
    ("accepted", "draft units kept, N of K"),
    ("committed", "min(N + 1, K): the correction counts, the bonus does not; both papers' formula"),
    ("with_bonus", "N + 1: what serving engines emit"),
)


def reproduction_document(
    claims: Sequence[ClaimResult], experiments: Sequence[Experiment]
) -> Document:
    """Arrange a reproduction: what was found, then every number, then how it was computed."""
    numbered = _numbered(claims)
    sections = [
        _findings(numbered),
        *(_claims_section(paper, numbered) for paper in Paper),
        *_experiment_sections(experiments),
        _functions(numbered),
        _reading(),
    ]
    return Document(
        title="Two papers on ensemble drafting, put to the test",
        subtitle=(
            "Every printed number beside the one that the package computes; the falsification "
            "criteria as experiments.  "
            + "  ".join(f"{paper.value}: {paper.title}: {paper.subtitle}." for paper in Paper)
        ),
        verdicts=_cards(claims, experiments),
        sections=tuple(sections),
        provenance=_provenance(experiments),
    )


def overview_document(claims: Sequence[ClaimResult], experiments: Sequence[Experiment]) -> Document:
    """The short form for a notebook cell: verdicts and findings."""
    whole = reproduction_document(claims, experiments)
    return Document(whole.title, "", whole.verdicts, whole.sections[:1], "")


def _numbered(claims: Sequence[ClaimResult]) -> list[tuple[str, ClaimResult]]:
    places: Counter[Paper] = Counter()
    numbered = []
    for result in claims:
        places[result.claim.paper] += 1
        numbered.append((f"{result.claim.paper.value}{places[result.claim.paper]}", result))
    return numbered


def _cards(claims: Sequence[ClaimResult], experiments: Sequence[Experiment]) -> tuple[Verdict, ...]:
    found = Counter(result.verdict for result in claims)
    slips = found[ClaimVerdict.ARITHMETIC_SLIP]
    wide = found[ClaimVerdict.NOT_AS_STATED]
    depends = found[ClaimVerdict.DEPENDS_ON_CONVENTION]
    numbers = Verdict(
        "Do the numbers come out?",
        f"all but {slips}" if slips else "all",
        Tone.OPEN if slips + wide else Tone.YES,
        (
            f"{found[ClaimVerdict.REPRODUCED]} of {len(claims)} claims are reproduced, "
            f"{found[ClaimVerdict.PROJECTION]} more are projections with right arithmetic.",
            f"{slips} are arithmetic slips; {wide} statements in words do not hold as stated.",
            f"{found[ClaimVerdict.NOT_CHECKABLE]} cannot be checked from what is printed.",
        ),
    )
    conventions = Verdict(
        "Do words and formulas agree?",
        "not always" if depends else "yes",
        Tone.NO if depends else Tone.YES,
        (
            f"{depends} claims hold under one reading and not under another, nearly always of what "
            "a length counts: the words say accepted units, the formula adds the correction, and "
            "engines emit a bonus unit as well.",
        ),
    )
    return numbers, conventions, _experiment_card(experiments)


def _experiment_card(experiments: Sequence[Experiment]) -> Verdict:
    question = "Do claims pass their tests?"
    if not experiments:
        return Verdict(question, "not run", Tone.OPEN, ("Ask for the experiments.",))
    found = Counter(result.outcome for result in experiments)
    sentences = [
        f"{outcome.value}: {', '.join(r.name for r in experiments if r.outcome is outcome)}"
        for outcome in Outcome
        if found[outcome]
    ]
    if found[Outcome.FALSIFIED]:
        return Verdict(question, "no", Tone.NO, tuple(sentences))
    undecided = found[Outcome.DEPENDS] + found[Outcome.OPEN]
    answer = f"{found[Outcome.STANDS]} of {len(experiments)}"
    return Verdict(question, answer, Tone.OPEN if undecided else Tone.YES, tuple(sentences))


def _findings(numbered: Sequence[tuple[str, ClaimResult]]) -> Section:
    items = [
        f"{number} ({result.claim.where}), {kind.value}: {_said(result)}"
        for kind in FOUND
        for number, result in numbered
        if result.verdict is kind
    ]
    nothing = Paragraph("Nothing needs to be said against any printed number.")
    return Section("findings", "Findings", (Bullets(tuple(items)) if items else nothing,))


def _said(result: ClaimResult) -> str:
    claim = result.claim
    if claim.words:
        found = f"{claim.statement}, “{claim.printed}”: {result.recomputed}"
    else:
        found = f"{claim.statement}: printed {claim.printed}, recomputed {result.recomputed}"
    return f"{found}; {result.remark}" if result.remark else found


def _claims_section(paper: Paper, numbered: Sequence[tuple[str, ClaimResult]]) -> Section:
    columns = (
        Column("no."),
        Column("section"),
        Column("claim"),
        Column("printed", numeric=True),
        Column("recomputed", numeric=True),
        Column("verdict"),
    )
    rows = tuple(
        (
            number,
            result.claim.where,
            result.claim.statement,
            result.claim.printed,
            result.recomputed,
            result.verdict.value,
        )
        for number, result in numbered
        if result.claim.paper is paper
    )
    found = Counter(row[-1] for row in rows)
    said = ", ".join(f"{count} {verdict}" for verdict, count in found.most_common())
    return Section(
        f"paper-{paper.value.lower()}",
        f"Paper {paper.value}: {paper.title}",
        (Paragraph(f"{len(rows)} claims: {said}."), Table("Printed and recomputed", columns, rows)),
    )


def _experiment_sections(experiments: Sequence[Experiment]) -> list[Section]:
    if not experiments:
        return []
    blocks: list[Paragraph | Table] = []
    for result in experiments:
        head = (
            f"{result.name}, paper {result.paper.value} {result.where}: "
            f"{result.outcome.value.upper()}.  Tested: {result.criterion}.  {result.sentence}"
        )
        columns = (
            Column("conditions"),
            Column("predicted", numeric=True),
            Column("measured", numeric=True),
            Column("95 % interval", numeric=True),
            Column("agrees"),
        )
        rows = tuple(_measurement_row(entry) for entry in result.measurements)
        caption = f"{result.quantity}; {result.samples} samples each, seed {result.seed}"
        blocks += [Paragraph(head), Table(caption, columns, rows)]
    return [Section("experiments", "Experiments", tuple(blocks))]


def _measurement_row(entry: Measurement) -> tuple[str, ...]:
    if entry.predicted is None:
        predicted, agrees = "–", "–"
    else:
        predicted = f"{entry.predicted:.4f}"
        agrees = "yes" if entry.agrees else "below" if entry.below else "above"
    return (entry.label, predicted, f"{entry.measured.value:.4f}", entry.interval, agrees)


def _functions(numbered: Sequence[tuple[str, ClaimResult]]) -> Section:
    columns = (Column("no."), Column("function of ensctl"), Column("inputs"))
    rows = tuple((number, result.function or "–", result.inputs) for number, result in numbered)
    remarks = tuple(
        f"{number}: {result.remark}"
        for number, result in numbered
        if result.remark and result.verdict not in FOUND
    )
    return Section(
        "functions",
        "How each number is recomputed",
        (Table("By claim", columns, rows), Bullets(remarks)),
    )


def _reading() -> Section:
    columns = (Column("word"), Column("meaning"))
    return Section(
        "reading", "How to read this", (Table("Verdicts and lengths", columns, _READING),)
    )


def _provenance(experiments: Sequence[Experiment]) -> str:
    seed = f"; experiments with seed {experiments[0].seed}" if experiments else ""
    return f"ensctl {__version__}{seed}"
