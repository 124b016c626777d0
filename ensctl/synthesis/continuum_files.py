"""Plans of a continuum as files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from ensctl.errors import InvalidInputError
from ensctl.files import write_whole

if TYPE_CHECKING:
    from ensctl.synthesis.continuum_plan import ContinuumPlan


def write_plan(plan: ContinuumPlan, path: str | Path) -> Path:
    """Write the plan as JSON, or its inputs alone as CSV, whole or not at all."""
    file = Path(path)
    if file.suffix.lower() == ".json":
        text = json.dumps(plan.to_dict(), indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    elif file.suffix.lower() == ".csv":
        text = plan.to_csv()
    else:
        raise InvalidInputError(f"path must end in .json or .csv, got {file.name!r}")
    write_whole(file, text)
    return file
