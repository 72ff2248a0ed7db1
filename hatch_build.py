"""Compile the Stan programs into the wheel, so that users need neither CmdStan nor a compiler.

All programs are linked into one executable, with the command line of ``stan/cpp/runner.cpp``, and
``gibbs.cpp``, ``crossed_gibbs.cpp`` and ``hierarchy_em.cpp`` beside it into a library.
Reading Stan's headers takes long, so packaged programs read ``stan/cpp/stan_language.hpp``, which
has what they use; programs with the same data and densities of our own share a translation unit,
the sums of a density are compiled by themselves, and where many units are new, g++ reads the
headers once for all of them. Programs that only tests run share two or three units.

``python hatch_build.py [program ...]`` compiles into the cache and shows progress; installing the
package then only links.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from pathlib import Path
from platform import machine
from runpy import run_path
from typing import Any, NamedTuple

import platformdirs
from hatchling.builders.hooks.plugin.interface import BuildHookInterface

STAN = Path(__file__).resolve().parent / "stan"
# The package is not installed where it is built, so this file of it is run by itself.
CACHES = run_path(str(STAN.with_name("src") / "reliabayes" / "caches.py"))
CPP = STAN / "cpp"
PACKAGED = "reliabayes/_stan"
LIBRARY = "libreliabayes-gibbs.so"  # the Gibbs samplers, which Python loads
EXECUTABLE = "reliabayes-stan"  # the name of a chain in lists of processes
LAUNCHER = '#!/bin/sh\nexec "${0%/*}/reliabayes-stan" NAME "$@"\n'
MAX_PROGRAMS = 4  # of a translation unit, so that processors share the work
MAX_OF_TESTS = 12  # the same of programs that only tests run, which differ in all they read
MANY = 3  # new units of programs, for which reading Stan's headers once saves time
ROOM = 2_000_000_000  # bytes on the disk; compiled headers take up to 800 MB
OUR_LANGUAGE = '#include "stan_language.hpp"'
LANGUAGE_OF_TESTS = '#include "tests_language.hpp"'
WHOLE_LANGUAGE = "#include <stan/model/model_header.hpp>"

# As CmdStan compiles; portable code, so no flag that names a processor.
OPTIMISED = ("-O3", "-s")
UNOPTIMISED = ("-O0",)
SANITIZED = ("-O1", "-g", "-fno-omit-frame-pointer", "-fsanitize=address,undefined")
DEFINES = (
    "-D_REENTRANT",
    "-DBOOST_DISABLE_ASSERTS",
    "-DBOOST_PHOENIX_NO_VARIADIC_EXPRESSION",
    "-DSTAN_THREADS",
)


class Platform(NamedTuple):
    """How an operating system links programs.

    Attributes
    ----------
    library : str
        File of the library that the executable loads.
    options : tuple of str
        Options of the linker: the executable finds its library beside itself.
    advice : str
        How to get a compiler.
    """

    library: str
    options: tuple[str, ...]
    advice: str


PLATFORMS = {
    "linux": Platform(
        "libtbb.so.2",
        ("-Wl,-rpath,$ORIGIN", "-pthread"),
        "Install g++ (on Debian: apt install g++)",
    ),
    "darwin": Platform("libtbb.dylib", ("-Wl,-rpath,@loader_path",), "Run xcode-select --install"),
}


class StanBuildHook(BuildHookInterface[Any]):
    """Puts the programs of ``stan/``, with their sources and the library they load, into the wheel.

    ``RELIABAYES_BUILD`` names programs to compile instead of all.
    """

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        self.out = Path(tempfile.mkdtemp(prefix="reliabayes-build-"))
        try:
            build(packaged(os.environ.get("RELIABAYES_BUILD", "").split()), self.out)
        except BaseException as error:
            shutil.rmtree(self.out)
            if isinstance(error, BuildError):
                sys.exit(f"reliabayes: {error}")
            raise
        included = {str(path): f"{PACKAGED}/{path.name}" for path in self.out.iterdir()}
        included[str(STAN)] = f"{PACKAGED}/source"
        build_data |= {
            "force_include": included,
            "force_include_editable": included,
            "pure_python": False,
            "tag": f"py3-none-{platform_tag()}",
        }

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        shutil.rmtree(self.out)


class BuildError(Exception):
    """What could not be built, in the words of the tool that refused."""


def main(arguments: Sequence[str]) -> None:
    """Compile programs into the cache, and say so."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            build(packaged(arguments), Path(folder))
        except BuildError as error:
            sys.exit(f"reliabayes: {error}")


def packaged(names: Sequence[str]) -> list[Path]:
    """Programs of the package by name; all if no name is given."""
    programs = {path.stem: path for path in sorted(STAN.glob("*.stan"))}
    unknown = [name for name in names if name not in programs]
    if unknown:
        choice = ", ".join(programs)
        raise BuildError(f"no such program: {', '.join(unknown)}. Choose from {choice}.")
    return [programs[name] for name in names or programs]


def build(
    programs: Iterable[Path],
    out: Path,
    *,
    options: Sequence[str] = ("--O1",),
    flags: Sequence[str] = OPTIMISED,
    program_flags: Sequence[str] | None = None,
) -> None:
    """Compile Stan programs into one executable in ``out``, with a launcher for each of them.

    Objects are kept in a cache under the hash of all they are made of: a second build only links.

    Parameters
    ----------
    programs : iterable of Path
        Stan programs, with different names.
    out : Path
        Folder of the executable, the launchers and the libraries.
    options : sequence of str
        Options of stanc.
    flags : sequence of str
        Flags of the compiler.
    program_flags : sequence of str, optional
        The same for the programs alone.
    """
    tools, paths = Toolchain.find(flags), list(programs)
    for_programs = Toolchain.find(flags if program_flags is None else program_flags)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        texts = list(pool.map(lambda path: tools.translate(path, *options), paths))
        # What takes longest starts first, so that no processor waits for it at the end.
        of_programs = sorted(units_of(paths, texts), key=lambda unit: -len(unit.text))
        # What is optimised comes first: the linker takes the first of the same functions.
        units = [RUNNER, *GIBBS, *sums_of(of_programs), *of_programs]
        objects = {
            unit: (for_programs if unit in of_programs else tools).object_of(unit) for unit in units
        }
        new = [unit for unit, target in objects.items() if not is_kept(target)]
        number = sum(unit.name.count("-") + 1 for unit in new if unit in of_programs)
        with progress(number, len(new)) as done, tempfile.TemporaryDirectory(dir=cache()) as folder:
            jobs = started(pool, tools, for_programs, new, of_programs, Path(folder))
            for compiled in as_completed(jobs):
                compiled.result()
                done()
    out.mkdir(parents=True, exist_ok=True)
    tools.link_alone([objects.pop(unit) for unit in GIBBS], out / LIBRARY)
    tools.link(list(objects.values()), out / EXECUTABLE)
    shutil.copy2(tools.library, out)
    for path in paths:
        launcher = out / path.stem
        launcher.write_text(LAUNCHER.replace("NAME", path.stem))
        launcher.chmod(0o755)


def started(
    pool: Executor,
    tools: Toolchain,
    for_programs: Toolchain,
    new: Sequence[Unit],
    of_programs: Sequence[Unit],
    folder: Path,
) -> list[Future[None]]:
    """Compilations of new units; ``folder`` is for Stan's headers, read once for many of them.

    Units of programs then come last, because they wait for these headers.
    """
    waiting = [unit for unit in new if unit in of_programs]
    others = [unit for unit in new if unit not in of_programs]
    languages = {unit.text.partition("\n")[0] for unit in waiting}
    has_room = shutil.disk_usage(folder).free > ROOM
    if len(waiting) < MANY or len(languages) > 1 or not has_room or not for_programs.precompiles:
        jobs = [pool.submit(for_programs.compile, unit) for unit in waiting]
        return [*jobs, *(pool.submit(tools.compile, unit) for unit in others)]
    headers = pool.submit(for_programs.precompile, languages.pop(), folder)
    jobs = [pool.submit(tools.compile, unit) for unit in others]
    return [*jobs, *(pool.submit(for_programs.compile, unit, headers) for unit in waiting)]


class Unit(NamedTuple):
    """A translation unit: C++ that is compiled together, and the headers of ours that it reads."""

    name: str
    text: str
    headers: tuple[Path, ...]

    @classmethod
    def of(cls, name: str, text: str) -> Unit:
        """The unit of a text."""
        return cls(name, text, tuple(sorted(set(headers_of(text, CPP)))))


def units_of(paths: Sequence[Path], texts: Sequence[str]) -> Iterator[Unit]:
    """Units of programs by their C++; alike programs, which instantiate the same, side by side."""
    groups: dict[tuple[tuple[str, ...], str], list[int]] = {}
    for position, path in enumerate(paths):
        shares = "#include data/" in path.read_text() or is_of_tests(path)
        key = (includes_of(path), "" if shares else path.stem)
        groups.setdefault(key, []).append(position)
    for (includes, _), members in groups.items():
        most = MAX_OF_TESTS if is_of_tests(paths[members[0]]) else MAX_PROGRAMS
        number = -(-len(members) // most)
        for part in (members[start::number] for start in range(number)):
            lines = [*includes, *(registered(paths[k].stem, texts[k]) for k in part)]
            yield Unit.of("-".join(paths[k].stem for k in part), "\n".join(lines))


def includes_of(program: Path) -> tuple[str, ...]:
    """Headers of a program's C++; one from elsewhere may use all of Stan's language."""
    language = LANGUAGE_OF_TESTS if is_of_tests(program) else WHOLE_LANGUAGE
    if program.parent == STAN:
        language = OUR_LANGUAGE
    ours = (*densities_of(program), "program")
    return (language, *(f'#include "{name}.hpp"' for name in ours))


def is_of_tests(program: Path) -> bool:
    """Whether it belongs to this repository and is not packaged."""
    return STAN.parent in program.parents and program.parent != STAN


def densities_of(program: Path) -> tuple[str, ...]:
    """Densities of ours that a program uses: ``item_mixture`` is in ``cpp/item_mixture.hpp``."""
    text = re.sub(r"#include.*|//.*", "", program.read_text())
    return tuple(path.stem for path in sorted(CPP.glob("*.hpp")) if path.stem in text)


def registered(name: str, text: str) -> str:
    """C++ of a program under its name, with line numbers of its own for messages."""
    model = f"{name}_model_namespace::{name}_model"
    profiles = f"{name}_model_namespace::profiles__"
    return (
        f'#line 1 "{name}.cpp"\n{text.partition("using stan_model")[0]}\n'
        f"static const bool {name}_is_registered =\n"
        f'    reliabayes::Registration::add<{model}>("{name}", {profiles});'
    )


def headers_of(text: str, folder: Path) -> Iterator[Path]:
    """Headers of ours that a text reads, and those that these read."""
    for name in re.findall(r'#include "([\w/.]+)"', text):
        found = next((path for path in (folder / name, CPP / name) if path.exists()), None)
        if found is not None:
            yield found
            yield from headers_of(found.read_text(), found.parent)


# What is compiled by itself: Gibbs samplers and EM steps, which become a library; the command line;
# and the sums of densities, which need no headers of Stan.
ALONE = {path.stem: Unit.of(path.stem, path.read_text()) for path in sorted(CPP.glob("*.cpp"))}
OF_LIBRARY = ("gibbs", "crossed_gibbs", "hierarchy_em", "latent_tap_em")
GIBBS, RUNNER = tuple(map(ALONE.pop, OF_LIBRARY)), ALONE.pop("runner")


def sums_of(programs: Sequence[Unit]) -> list[Unit]:
    """What is compiled by itself for programs: sums whose headers they read."""
    read = {path.stem for program in programs for path in program.headers}
    return [unit for name, unit in ALONE.items() if name in read]


class Toolchain(NamedTuple):
    """The C++ compiler with its flags, and Stan as httpstan packages it."""

    compiler: str
    flags: tuple[str, ...]
    httpstan: Path
    platform: Platform

    @classmethod
    def find(cls, flags: Sequence[str] = OPTIMISED) -> Toolchain:
        """Tools of this machine, or a `BuildError` that says which is missing."""
        platform = PLATFORMS.get(sys.platform)
        if platform is None:
            raise BuildError(
                f"building is supported on Linux and macOS, and this is {sys.platform}. "
                "On Windows, use the Windows Subsystem for Linux."
            )
        chosen = os.environ.get("CXX")
        names = [chosen] if chosen else ["g++", "clang++"]
        compiler = next(filter(None, map(shutil.which, names)), None)
        if compiler is None:
            raise BuildError(
                f"the Stan programs need a C++17 compiler; found none of {', '.join(names)}. "
                f"{platform.advice}, set CXX, or install a ready-made wheel."
            )
        package = importlib.util.find_spec("httpstan")
        if package is None or package.origin is None:
            raise BuildError(
                "httpstan, which carries Stan's headers, is not installed: pip install httpstan."
            )
        return cls(compiler, (*flags, *DEFINES), Path(package.origin).parent, platform)

    @property
    def library(self) -> Path:
        """Library that the executable loads."""
        return self.httpstan / "lib" / self.platform.library

    def stanc(self, *arguments: str | Path) -> str:
        """Output of Stan's translator."""
        options = ("--allow-undefined", f"--include-paths={STAN}")
        return run(self.httpstan / "stanc", *options, *arguments)

    def translate(self, program: Path, *options: str) -> str:
        """C++ of a program, the same wherever the checkout lies."""
        with tempfile.TemporaryDirectory() as folder:
            target = Path(folder, "program.cpp")
            self.stanc(*options, f"--filename-in-msg={program.name}", f"--o={target}", program)
            text = target.read_text()
        text = text.replace(f"{STAN}/", "").replace(str(STAN), "stan")
        text = text.replace("stan::model::model_base_crtp", "reliabayes::ModelBase")
        return text.replace("model_base_crtp", "ModelBase")

    def object_of(self, unit: Unit) -> Path:
        """Object file of a unit in the cache, which may not exist yet."""
        made_of = [run(self.compiler, "--version"), importlib.metadata.version("httpstan")]
        made_of += [*self.flags, unit.text, *(path.read_text() for path in unit.headers)]
        digest = hashlib.sha256("\0".join(made_of).encode()).hexdigest()
        return cache() / f"{unit.name[:60]}-{digest[:20]}.o"

    @property
    def options(self) -> tuple[str, ...]:
        """Options of a compilation."""
        includes = (f"-I{CPP}", "-isystem", f"{self.httpstan / 'include'}")
        return ("-std=c++17", *self.flags, *includes, "-w")

    @property
    def precompiles(self) -> bool:
        """Whether the compiler is g++; others want other options for headers compiled before."""
        return "Free Software Foundation" in run(self.compiler, "--version")

    def precompile(self, language: str, folder: Path) -> Path:
        """Compile the headers of Stan's language, into a file beside theirs."""
        header = folder / "language.hpp"
        header.write_text(f"{language}\n")
        run(self.compiler, *self.options, "-x", "c++-header", header, "-o", f"{header}.gch")
        return header

    def compile(self, unit: Unit, headers: Future[Path] | None = None) -> None:
        """Compile a unit into the cache, with headers that were compiled before if there are."""
        target = self.object_of(unit)
        partial = target.with_suffix(f".{os.getpid()}.partial")
        options = [*self.options]
        if unit in GIBBS:
            options.append("-fPIC")
        if headers is not None:
            options += ["-include", str(headers.result())]
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder, f"{unit.name[:60]}.cpp")
            source.write_text(unit.text)
            run(self.compiler, *options, "-c", source, "-o", partial)
        partial.replace(target)

    def link(self, objects: Sequence[Path], executable: Path) -> None:
        """Executable that finds its library beside itself, wherever both are put."""
        sundials = self.httpstan / "lib" / "libsundials_nvecserial.a"
        libraries: tuple[str | Path, ...] = (sundials, self.library, *self.platform.options)
        run(self.compiler, *self.flags, *objects, *libraries, "-o", executable)

    def link_alone(self, parts: Sequence[Path], library: Path) -> None:
        """Library that Python loads."""
        run(self.compiler, *self.flags, "-shared", *parts, "-o", library)


@contextmanager
def progress(programs: int, parts: int) -> Iterator[Callable[[], None]]:
    """One line that counts the parts of a build as they are done; nothing if there are none."""
    numbers = iter(range(1, parts + 1))

    def show(text: str) -> None:
        if parts:
            print(text, end="", file=sys.stderr, flush=True)

    at_once = min(parts, os.cpu_count() or 1)
    what = f"Stan programs ({programs})" if programs else "C++ code"
    show(f"Compiling {what}, parts to do: {parts}, {at_once} at a time:")
    try:
        yield lambda: show(f" {next(numbers)}")
    finally:
        show("\n")


def platform_tag() -> str:
    """Tag of the wheel's platform; programs are for one architecture even if Python is for two."""
    here = sysconfig.get_platform().replace("universal2", machine())
    return here.replace("-", "_").replace(".", "_")


def cache() -> Path:
    """Folder of compiled objects; ``RELIABAYES_CACHE`` moves it."""
    chosen = os.environ.get("RELIABAYES_CACHE") or platformdirs.user_cache_dir("reliabayes")
    try:
        folder: Path = CACHES["private_folder"](Path(chosen) / "objects")
    except PermissionError as error:
        raise BuildError(str(error)) from error
    return folder


def is_kept(target: Path) -> bool:
    """Whether an object is in the cache; one that somebody else can have written is refused."""
    if not target.exists():
        return False
    try:
        CACHES["require_private"](target)
    except PermissionError as error:
        raise BuildError(str(error)) from error
    return True


def run(*command: str | Path) -> str:
    """Output of a command that must succeed."""
    words = [str(word) for word in command]
    result = subprocess.run(words, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        said = (result.stderr or result.stdout).strip()
        raise BuildError(f"{' '.join(words[:1])} failed with code {result.returncode}:\n{said}")
    return result.stdout


if __name__ == "__main__":
    main(sys.argv[1:])
