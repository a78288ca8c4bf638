"""One build from the command line: progress while it runs, diagnostics, the table, the exit code."""

from __future__ import annotations

import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from aiecc.api import DEFAULT, KEYS, Request, Result, Session, load_plugins
from aiecc.base.codes import Exit
from aiecc.base.diag import Diagnostic, Level, Note
from aiecc.cli.driver import Asked, request_of
from aiecc.cli.guard import bug, colored, exit_code, say
from aiecc.cli.progress import Progress
from aiecc.engine.build import Bug, State
from aiecc.engine.reads import CONTENT, Read, content_digest
from aiecc.engine.snapshot import Snapshot, write_snapshot
from aiecc.engine.store import Store

if TYPE_CHECKING:
    from aiecc.engine.plugins import Plugins


def build(asked: Asked, text: str, plugins: Plugins | None, quick: str | None) -> int:
    """Build and report. `quick` names the snapshot that lets the next call find that there is nothing to do."""
    plugins = plugins or load_plugins(asked.driver.plugins)
    request = request_of(asked, text)
    if asked.driver.dry_run:
        return _plan(plugins, request)
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
    if result.bugs:
        return _bug(result.bugs[0], request.work, [r.path for r in result.build.reads if r.mode == CONTENT])
    diagnostics = _ordered(result, remarks=asked.driver.verbose)
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
    _tidy(session.store)
    if quick is not None and not result.build.unsteady:
        _remember(asked, text, result, summary, quick, request.work)
    return Exit.OK


# A tool that is missing or broken, or a full disk, fails many tasks in the same way.
_ONCE = frozenset(("E0801", "E0802", "E0903"))


def _tidy(store: Store) -> None:
    """Once a day, forget what no build has used for a month."""
    stamp = store.folder / "tidied"
    today = str(int(time.time() // 86400))
    try:
        if not stamp.exists() or stamp.read_text() != today:
            stamp.write_text(today)
            store.prune(30)
    except OSError:
        return  # tidying is a courtesy


def _ordered(result: Result, *, remarks: bool = False) -> list[Diagnostic]:
    """All that was said: warnings first, so that what stopped the build is the last thing on the screen."""
    told: dict[object, list[Diagnostic]] = {}
    for each in sorted(result.diagnostics, key=lambda d: d.is_error):
        if each.code.startswith("R") and not remarks:
            continue
        told.setdefault((each.code, each.text) if each.code in _ONCE else each, []).append(each)
    return [_once(group) for group in told.values()]


def _once(group: list[Diagnostic]) -> Diagnostic:
    first = next((d for d in group if d.where is not None), group[0])
    if len(group) == 1:
        return first
    note = Note(f"the same {len(group) - 1} more time{'s' if len(group) > 2 else ''}")
    return replace(first, notes=(*first.notes, note))


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


def _plan(plugins: Plugins, request: Request) -> int:
    """Say what a build would do: nothing is run, nothing is written."""
    with tempfile.TemporaryDirectory() as folder:
        session = Session(plugins, replace(request, work=Path(folder)))
        artifacts = session.artifacts
        print(f"aiecc: plan for '{request.source.path}' (nothing is run)")
        for node in session.engine.graph.reach(artifacts):
            stage = node.contract
            who = next((s.plugin for s in plugins.line(stage.hook) if s.role != "wrapper"), "nobody")
            by = "" if who == stage.label else f"  [{who}]"
            needs = ", ".join(dict.fromkeys(n.artifact for n in node.needs if n.param)) or "nothing"
            print(
                f"  {stage.label:<10} {f'per {node.kind}' if node.kind else 'once':<11} {stage.gives} from {needs}{by}"
            )
        print("writes")
        for view in session.wanted:
            folder_name = request.output if view.name in (request.get or (DEFAULT,)) else request.work
            print(f"  {folder_name / view.file(f'{{{view.kind(KEYS)}}}')}")
    return Exit.OK


def _bug(found: Bug, work: Path, files: list[str]) -> int:
    line = Note("in line: " + ", ".join(found.line))
    say([Diagnostic(Level.ERROR, f"{found.address}: {found.text}", notes=(line,))])
    # Whose fault it is cannot always be told: then it is that of those who are not part of the house.
    others = [p for p in ([found.plugin] if found.plugin else dict.fromkeys(found.line)) if p not in _ours()]
    return bug(found.traceback, sys.argv[1:], work, "' or '".join(others), files)


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
