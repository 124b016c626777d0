"""The command line: parse, call one function of the package, render.

stdout carries data, stderr messages.  Exit codes: 0 fine, 1 a value or a file is wrong, 2 the
command line is wrong, 3 the answer is no, 130 interrupted, 141 the reader of stdout went away.
"""

from __future__ import annotations

from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run ``ensctl`` with these arguments and return the exit code.

    Parameters
    ----------
    arguments : sequence of str, optional
        What follows the name of the program; by default that of this process.

    Returns
    -------
    int
        0, 1, 2, 3, 130 or 141, as above.

    Examples
    --------
    >>> from ensctl.cli import main
    >>> main(["--version"])
    ensctl ...
    0
    """
    from ensctl.cli.app import run

    return run(arguments)
