"""The table of studies: what `python -m validation` and `homenode validate` know."""

from typing import Any

from validation import (
    capture_costs,
    classification,
    closed_form,
    differential,
    fuzz,
    imported_machines,
    loaded_latency,
    mappings,
    originals,
    placements,
    sampling,
    todays_machines,
)
from validation.advisor import construction, line_engine, s0_question
from validation.advisor import study as advisor
from validation.linux_guest import kit as linux_guest_kit
from validation.linux_guest import run as linux_guest
from validation.native import compare as native
from validation.native import instructions
from validation.native import programs as native_programs
from validation.published import papers
from validation.published.drawings import study as drawings
from validation.published.s0 import distribution, latency
from validation.published.s1 import sensitivity
from validation.published.s5 import study as s5
from validation.published.s6 import study as s6
from validation.published.versions import study as versions
from validation.study import Study

STUDIES: dict[str, Study[Any]] = {
    study.name: study
    for study in (
        papers.STUDY,
        latency.STUDY,
        distribution.STUDY,
        sensitivity.STUDY,
        versions.STUDY,
        drawings.STUDY,
        s5.STUDY,
        s6.STUDY,
        differential.STUDY,
        closed_form.STUDY,
        placements.STUDY,
        mappings.STUDY,
        advisor.STUDY,
        construction.STUDY,
        s0_question.STUDY,
        line_engine.STUDY,
        classification.STUDY,
        originals.STUDY,
        native.STUDY,
        native_programs.STUDY,
        instructions.STUDY,
        linux_guest.STUDY,
        linux_guest_kit.STUDY,
        capture_costs.STUDY,
        sampling.STUDY,
        imported_machines.STUDY,
        todays_machines.STUDY,
        loaded_latency.STUDY,
        fuzz.STUDY,
    )
}
# What runs if none is named: minutes each, but for the papers.
UNNAMED = ("published", "differential", "native", "linux-guest", "fuzz")
