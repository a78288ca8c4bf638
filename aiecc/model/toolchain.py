"""A toolchain as data: what its TOML file says (`ToolchainSpec`) and what was found here (`Toolchain`).

`aiecc.tools.load` reads the files, `aiecc.tools.find` looks for the tools, `aiecc.tools.commands` fills the
templates. Everything here is frozen and plain, so that a cache key can be made of it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import NoReturn

from aiecc.base.diag import Note, refuse
from aiecc.base.digest import digest


@dataclass(frozen=True, slots=True)
class Place:
    """One place to look for a tool; exactly one of the first five is set.

    `root`: a path below the toolchain's root, in which `{word}`s of the architecture may stand. `wheel`: a top-level
    package in whose folder `file` lies. `path`: names to try on PATH. `environment`: a variable that names a
    folder in which `file` lies. `beside`: a folder below aiecc's own installation in which `file` lies.
    `prefix`: arguments every command line starts with (`zig` wants `clang`). `vars`: what templates may call by name,
    paths below the folder of the wheel (or of the root). `accept`: a regular expression that the version
    output must match, for names on PATH that may be something else.
    """

    root: str = ""
    wheel: str = ""
    path: tuple[str, ...] = ()
    environment: str = ""
    beside: str = ""
    file: str = ""
    prefix: tuple[str, ...] = ()
    vars: tuple[tuple[str, str], ...] = ()
    accept: str = ""


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A program (or, with `program` False, a data file) of a toolchain and where it may be.

    `version` are the arguments that make it print its version, `version_match` a regular expression whose
    first group is the version. `optional`: the toolchain is complete without it. `get`: how to get it.
    """

    name: str
    what: str = ""
    places: tuple[Place, ...] = ()
    version: tuple[str, ...] = ()
    version_match: str = ""
    program: bool = True
    optional: bool = False
    get: str = ""


@dataclass(frozen=True, slots=True)
class RootSpec:
    """How the folder a toolchain is installed in is found; tried in this order.

    `option`: a command-line option; when given, nothing else is tried. `environment`: variables. `wheels`: packages
    whose folder it is. `beside`: a folder in aiecc's own prefix or in that one's parent. `anchor`: a program on PATH,
    whose version output must match `accept` if that is given; `up` says how many folders above the program the
    root lies.
    """

    option: str = ""
    environment: tuple[str, ...] = ()
    wheels: tuple[str, ...] = ()
    beside: str = ""
    anchor: str = ""
    accept: str = ""
    up: int = 2


@dataclass(frozen=True, slots=True)
class Group:
    """A part of a template that appears only sometimes.

    `when`: only if that value is given and not empty (several words: all of them). `unless`: only if it is not
    (several: none of them). `each`: once for every item of that list, called `{it}` inside.
    """

    args: tuple[str, ...]
    when: str = ""
    unless: str = ""
    each: str = ""


@dataclass(frozen=True, slots=True)
class Step:
    """One run of one tool. `when`, `unless` and `each` as in `Group`."""

    tool: str
    args: tuple[str | Group, ...]
    when: str = ""
    unless: str = ""
    each: str = ""


@dataclass(frozen=True, slots=True)
class Recipe:
    """The steps that do one job. Of several recipes for a job the first whose tools are all here is used."""

    steps: tuple[Step, ...]

    @property
    def tools(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(step.tool for step in self.steps))


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a toolchain can do; a check or a step that needs more is skipped or refused in words.

    `stack_sizes`: objects carry frame sizes. `relocations`: the link keeps them. `bank_sections`: `.aie.bankN` regions.
    `stack_banks`: can be told the bank of the stack. `merge_ir`: can merge kernels as IR. `probe`: can link against
    roomy regions to measure. `lut_banks`: its IR can be read for `--check-lut-banks`. `bcf`: links with a
    BCF instead of a linker script. `sources`: compiles C and C++ kernels.
    """

    stack_sizes: bool = False
    relocations: bool = False
    bank_sections: bool = False
    stack_banks: bool = False
    merge_ir: bool = False
    probe: bool = False
    lut_banks: bool = False
    bcf: bool = False
    sources: bool = False


@dataclass(frozen=True)
class ToolchainSpec:
    """One TOML file.

    `words` are the values templates use, by architecture (`aie2p`): the triple and what else differs. `folder` is
    where the file lies; the paths in `startup`, `runtime` and `include` are below it. `rename`: (prefix, replacement)
    pairs for intrinsics the back end does not know; the dots of the rest become underscores. `middle_level` caps
    the level of the middle end. `ir_dialect`: which text fixes its IR wants: none, `peano` or `chess`. `standin`:
    what a user must be told when it is taken for want of another.
    """

    name: str
    what: str
    folder: str
    root: RootSpec = RootSpec()
    tools: tuple[ToolSpec, ...] = ()
    recipes: dict[str, tuple[Recipe, ...]] = field(default_factory=dict[str, tuple[Recipe, ...]])
    words: dict[str, dict[str, str]] = field(default_factory=dict[str, dict[str, str]])
    capabilities: Capabilities = Capabilities()
    startup: tuple[str, ...] = ()
    runtime: tuple[str, ...] = ()
    include: tuple[str, ...] = ()
    rename: tuple[tuple[str, str], ...] = ()
    middle_level: int = 3
    ir_dialect: str = ""
    standin: str = ""
    get: str = ""
    identity: str = ""
    """A digest of the TOML file and of every file it names."""

    def spec(self, tool: str) -> ToolSpec:
        return next(t for t in self.tools if t.name == tool)

    def supports(self, arch: str) -> bool:
        return arch in self.words

    @property
    def source_files(self) -> tuple[Path, ...]:
        """Start-up code, then the run-time, in link order."""
        return tuple(Path(self.folder, f) for f in (*self.startup, *self.runtime))


@dataclass(frozen=True, slots=True)
class Searched:
    """A place that was looked at: `where` in words, `found` the file that was there, `problem` why it will not do.

    `tool` empty: it was looked at for the toolchain's root.
    """

    tool: str
    where: str
    found: str = ""
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Tool:
    """A program that is there. `path` is absolute; `version` is its own word, empty for a data file.

    `identity` tells this program from any other: real path, size, modification time and version.
    """

    name: str
    path: str
    version: str
    identity: str
    prefix: tuple[str, ...] = ()
    vars: tuple[tuple[str, str], ...] = ()

    @property
    def argv(self) -> tuple[str, ...]:
        return self.path, *self.prefix


@dataclass(frozen=True)
class Toolchain:
    """A toolchain as found on this machine.

    Tools that were not found are not in `tools`; `searched` says where those were looked for, and nothing of the
    others, because a toolchain is part of cache keys.
    """

    spec: ToolchainSpec
    tools: dict[str, Tool]
    root: str = ""
    searched: tuple[Searched, ...] = ()

    @property
    def name(self) -> str:
        return self.spec.name

    @property
    def capabilities(self) -> Capabilities:
        return self.spec.capabilities

    @property
    def include_folders(self) -> tuple[Path, ...]:
        """Folders that kernels may include from."""
        return tuple(Path(self.spec.folder, name) for name in self.spec.include)

    @property
    def missing(self) -> tuple[ToolSpec, ...]:
        return tuple(t for t in self.spec.tools if t.name not in self.tools and not t.optional)

    @cached_property
    def fingerprint(self) -> str:
        """A digest of the description and of every tool: what a cache key needs."""
        return digest(self.spec.identity, *(f"{n}={t.identity}" for n, t in sorted(self.tools.items())))

    def identity_of(self, *tools: str) -> str:
        """As `fingerprint`, of some of the tools."""
        return digest(self.spec.identity, *(f"{n}={self.tool(n).identity}" for n in tools))

    def tool(self, name: str) -> Tool:
        """The tool, or `Refused` with where it was looked for and how to get it."""
        if name not in self.tools:
            self._lack(name)
        return self.tools[name]

    def _lack(self, name: str) -> NoReturn:
        notes = [Note(f"looked in {s.where}{f': {s.problem}' if s.problem else ''}") for s in self.searched_for(name)]
        if self.root:
            notes.insert(0, Note(f"toolchain '{self.name}' is installed in {self.root}"))
        known = next((t for t in self.spec.tools if t.name == name), None)
        get = known.get if known and known.get else self.spec.get
        refuse(
            f"aiecc: ShellCommand: tool '{name}' not found in search paths or PATH",
            code="E0801",
            notes=notes,
            todo=get,
        )

    def searched_for(self, name: str) -> tuple[Searched, ...]:
        return tuple(s for s in self.searched if s.tool in (name, ""))

    def find(self, name: str, arch: str = "") -> Tool | None:
        """The tool of that name, or the one that serves this architecture only."""
        return self.tools.get(name) or self.tools.get(f"{name}@{arch}")

    def can(self, job: str, arch: str = "") -> bool:
        """Whether some recipe for a job has all its tools here."""
        recipes = self.spec.recipes.get(job, ())
        return any(all(self.find(t, arch) for t in recipe.tools) for recipe in recipes)

    def recipe(self, job: str, arch: str = "") -> Recipe:
        """The first recipe for a job whose tools are all here; `Refused` names the tool the last one lacks."""
        recipes = self.spec.recipes.get(job, ())
        if not recipes:
            refuse(f"toolchain '{self.name}' cannot do '{job}'", code="E0801")
        for recipe in recipes:
            if all(self.find(t, arch) for t in recipe.tools):
                return recipe
        lacking = next(t for t in recipes[-1].tools if not self.find(t, arch))
        self.tool(lacking if any(t.name == lacking for t in self.spec.tools) else f"{lacking}@{arch}")
        raise AssertionError(lacking)
