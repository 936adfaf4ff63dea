"""`geceval doctor`: is this installation in order, and does every metric give the stored numbers?"""

import dataclasses
import sys
import textwrap
from typing import Annotated

import typer

import geceval.cli.options as shared
from geceval.cli.tables import records_text, results_json, terminal_width, write
from geceval.core.errors import InputError
from geceval.doctor import checks as hub_doctor
from geceval.doctor import mini_benchmark


def doctor(
    metrics: Annotated[
        list[str] | None, typer.Option("-m", "--metrics", help="Whose numbers to check; all by default.")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Score nothing.")] = False,
    device: shared.Device = "auto",
    rewrite: Annotated[
        bool, typer.Option("--write", help="For maintainers: store the numbers of this installation as the right ones.")
    ] = False,
    form: shared.Form = None,
    output: shared.Output = None,
) -> None:
    """Check whether this installation is sound.

    Checks packages, bundled files, pipeline, device and Hub, and scores the example corpus with every metric.

    The exit code is 1 if there is a problem; a note, such as an extra that is not installed, does not count.

    Example: geceval doctor
    """
    form = shared.check_format(form, output, shared.Format)
    shared.no_warnings(quiet=True)
    if rewrite:
        if metrics or quick or output:
            raise InputError("--write stores the numbers of all metrics; it takes none of -m, --quick and --output")
        left_out = mini_benchmark.store()
        sys.stdout.write("".join(f"left out {name}: {why}\n" for name, why in left_out.items()))
        sys.stdout.write(f"wrote {mini_benchmark.STORED}\n")
        return
    if quick:
        shared.refuse("says whose numbers to check, and --quick checks none", metrics=metrics)
    width = terminal_width(output)
    live = form == "table" and output in (None, "-")
    findings = []
    for finding in hub_doctor.examine([] if quick else metrics, device):
        findings.append(finding)
        if live:
            write(_line(finding, width), output)
    problems = sum(finding.state == hub_doctor.PROBLEM for finding in findings)
    if form == "json":
        rows = [{**dataclasses.asdict(finding), "seconds": round(finding.seconds, 3)} for finding in findings]
        text = results_json(problems=problems, checks=rows)
    else:
        cells = [[finding.state, finding.check, finding.what] for finding in findings]
        caption = f"{len(findings)} checks, {problems} problem{'' if problems == 1 else 's'}"
        text = caption + "\n" if live else records_text(["state", "check", "what"], cells, form, caption, (), width)
    write(text, output)
    raise typer.Exit(int(problems > 0))


def _line(finding: hub_doctor.Finding, width: int | None) -> str:
    """A finding as soon as it is there: scoring with every metric takes minutes."""
    text = f"{finding.state:<8} {finding.check:<15} {finding.what}"
    return (textwrap.fill(text, width, subsequent_indent=" " * 25, break_on_hyphens=False) if width else text) + "\n"
