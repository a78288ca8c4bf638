"""One build from the command line: progress while it runs, diagnostics, the table, the exit code."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from aiecc.api import Result, Session, load_plugins
from aiecc.base.codes import Exit
from aiecc.base.diag import Diagnostic, Level, Note
from aiecc.cli.driver import Asked, request_of
from aiecc.cli.guard import bug, colored, exit_code, say
from aiecc.cli.progress import Progress
from aiecc.engine.build import Bug, State
from aiecc.engine.reads import CONTENT, Read, content_digest
from aiecc.engine.snapshot import Snapshot, write_snapshot

if TYPE_CHECKING:
    from aiecc.engine.plugins import Plugins


def build(asked: Asked, text: str, plugins: Plugins | None, quick: str | None) -> int:
    """Build and report. `quick` names the snapshot that lets the next call find that there is nothing to do."""
    plugins = plugins or load_plugins(asked.driver.plugins)
    request = request_of(asked, text)
    progress = Progress(asked.driver, sys.stderr)
    session = Session(plugins, request, on_event=progress, echo=progress.echo if asked.driver.verbose else None)
    try:
        result = session.run()
    finally:
        progress.close()
    if asked.driver.profile:
        _profile(result)
    if result.build.interrupted:
        print("aiecc: interrupted; what is finished is kept", file=sys.stderr)
        return Exit.INTERRUPTED
    if result.build.bugs:
        return _bug(result.build.bugs[0], request.work)
    diagnostics = _ordered(result)
    say(diagnostics)
    if not result.ok:
        print("aiecc: pipeline failed", file=sys.stderr)
        return exit_code(diagnostics)
    if asked.driver.print_commands:
        from aiecc.report.replay import replay_script

        asked_for = {o.path.name: o.digest for o in result.outputs}
        print(replay_script(result.build.commands, session.blob, asked_for), end="")
        return Exit.OK
    summary = _summary(result)
    print(summary, end="")
    if quick is not None and not result.build.unsteady:
        _remember(asked, text, result, summary, quick, request.work)
    return Exit.OK


def _ordered(result: Result) -> list[Diagnostic]:
    """All that was said: warnings first, so that what stopped the build is the last thing on the screen."""
    return sorted(result.diagnostics, key=lambda d: d.is_error)


def _summary(result: Result) -> str:
    """The table of every device, if the build went as far as measuring cores."""
    placement, reports = result.build.get("placement"), result.build.items("report")
    if placement is None or not reports:
        return ""
    from aiecc.report.summary import rows
    from aiecc.report.table import device_tables

    return device_tables(rows(reports.values(), placement), color=colored(sys.stdout))


def _remember(asked: Asked, text: str, result: Result, summary: str, quick: str, work: Path) -> None:
    source = Read(str(Path(asked.source).absolute()), CONTENT, content_digest(text.encode()))
    reads = (source, *result.build.reads)
    outputs = tuple((str(o.path.absolute()), o.digest) for o in result.outputs)
    write_snapshot(work, quick, Snapshot(reads, outputs, tuple(_ordered(result)), summary))


def _bug(found: Bug, work: Path) -> int:
    line = Note("in line: " + ", ".join(found.line))
    say([Diagnostic(Level.ERROR, f"{found.address}: {found.text}", notes=(line,))])
    ours = not found.plugin or found.plugin in _ours()
    return bug(found.traceback, sys.argv[1:], work, "" if ours else found.plugin)


def _ours() -> tuple[str, ...]:
    from aiecc.api import STAGES

    return STAGES


def _profile(result: Result) -> None:
    """Where the time went, slowest first."""
    ran = [o for o in result.build.outcomes if o.state in (State.RAN, State.FAILED)]
    print("aiecc: profile (per-edge execution time):", file=sys.stderr)
    for outcome in sorted(ran, key=lambda o: -o.seconds):
        print(f"  {outcome.seconds * 1000:9.1f} ms  {outcome.address}", file=sys.stderr)
    print(f"  {sum(o.seconds for o in ran) * 1000:9.1f} ms  total", file=sys.stderr)
