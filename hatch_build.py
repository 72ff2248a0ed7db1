"""Compile the Stan programs into the wheel, so that users need neither CmdStan nor a compiler."""

from __future__ import annotations

import hashlib
import importlib.metadata
import importlib.util
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import platformdirs
from hatchling.builders.hooks.plugin.interface import BuildHookInterface

STAN = Path(__file__).resolve().parent / "stan"
PACKAGED = "reliabayes/_stan"

# As CmdStan compiles; portable code, so no flag that names a processor.
OPTIMISED = ("-O3",)
SANITIZED = ("-O1", "-g", "-fno-omit-frame-pointer", "-fsanitize=address,undefined")
DEFINES = (
    "-D_REENTRANT",
    "-DBOOST_DISABLE_ASSERTS",
    "-DBOOST_PHOENIX_NO_VARIADIC_EXPRESSION",
    "-DSTAN_THREADS",
)


class StanBuildHook(BuildHookInterface[Any]):
    """Puts every program of ``stan/``, with its source and the library it loads, into the wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        self.out = Path(tempfile.mkdtemp(prefix="reliabayes-build-"))
        try:
            build(sorted(STAN.glob("*.stan")), self.out)
        except BaseException as error:
            shutil.rmtree(self.out)
            if isinstance(error, BuildError):
                sys.exit(f"reliabayes: {error}")
            raise
        included = {str(path): f"{PACKAGED}/{path.name}" for path in self.out.iterdir()}
        included[str(STAN)] = f"{PACKAGED}/source"
        platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
        build_data |= {
            "force_include": included,
            "force_include_editable": included,
            "pure_python": False,
            "tag": f"py3-none-{platform}",
        }

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        shutil.rmtree(self.out)


class BuildError(Exception):
    """What could not be built, in the words of the tool that refused."""


def build(programs: Iterable[Path], out: Path, *, sanitize: bool = False) -> None:
    """Compile Stan programs, link each with the runner, and put them into ``out``.

    Objects are kept in a cache under the hash of all they are made of: a second build only links.
    """
    tools = Toolchain.find(sanitize=sanitize)
    out.mkdir(parents=True, exist_ok=True)
    shutil.copy2(tools.httpstan / "lib" / "libtbb.so.2", out)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        runner = pool.submit(tools.compile_runner)
        objects = [(path.stem, pool.submit(tools.compile_program, path)) for path in programs]
        for name, program in objects:
            tools.link([runner.result(), program.result()], out / name)


class Toolchain(NamedTuple):
    """The C++ compiler with its flags, and Stan as httpstan packages it."""

    compiler: str
    flags: tuple[str, ...]
    httpstan: Path

    @classmethod
    def find(cls, *, sanitize: bool = False) -> Toolchain:
        """Tools of this machine, or a `BuildError` that says which is missing."""
        if not sys.platform.startswith("linux"):
            raise BuildError(f"building is supported on Linux only, and this is {sys.platform}.")
        chosen = os.environ.get("CXX")
        names = [chosen] if chosen else ["g++", "clang++"]
        compiler = next(filter(None, map(shutil.which, names)), None)
        if compiler is None:
            raise BuildError(
                f"the Stan programs need a C++17 compiler; found none of {', '.join(names)}. "
                "Install g++ (on Debian: apt install g++), set CXX, or install a ready-made wheel."
            )
        package = importlib.util.find_spec("httpstan")
        if package is None or package.origin is None:
            raise BuildError(
                "httpstan, which carries Stan's headers, is not installed: pip install httpstan."
            )
        flags = SANITIZED if sanitize else OPTIMISED
        return cls(compiler, (*flags, *DEFINES), Path(package.origin).parent)

    def compile_runner(self) -> Path:
        """Object file of the command line around Stan, which all programs share."""
        source = STAN / "cpp" / "runner.cpp"
        return self.compile(source, [source, *(STAN / "cpp" / "runner").glob("*.hpp")])

    def compile_program(self, program: Path) -> Path:
        """Object file of a Stan program; it finds densities of our own without a body of theirs."""
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder, f"{program.stem}.cpp")
            self.stanc("--O1", f"--filename-in-msg={program.name}", f"--o={source}", program)
            # The same wherever the checkout lies.
            text = source.read_text().replace(f"{STAN}/", "").replace(str(STAN), "stan")
            source.write_text(f'#include "densities.hpp"\n{text}')
            return self.compile(source, [source, *(STAN / "cpp").glob("*.hpp")])

    def stanc(self, *arguments: str | Path) -> str:
        """Output of Stan's translator."""
        options = ("--allow-undefined", f"--include-paths={STAN}")
        return run(self.httpstan / "stanc", *options, *arguments)

    def compile(self, source: Path, texts: Iterable[Path]) -> Path:
        """Object file of a C++ source; from the cache where one of the same ``texts`` is there."""
        made_of = [run(self.compiler, "--version"), importlib.metadata.version("httpstan")]
        by_name = sorted(texts, key=lambda path: path.name)  # wherever the checkout lies
        made_of += [*self.flags, *(path.read_text() for path in by_name)]
        digest = hashlib.sha256("\0".join(made_of).encode()).hexdigest()
        target = cache() / f"{source.stem}-{digest[:20]}.o"
        if not target.exists():
            partial = target.with_suffix(f".{os.getpid()}.partial")
            includes = (f"-I{STAN / 'cpp'}", "-isystem", f"{self.httpstan / 'include'}")
            options = ("-std=c++17", *self.flags, *includes, "-w")
            run(self.compiler, *options, "-c", source, "-o", partial)
            partial.replace(target)
        return target

    def link(self, objects: Sequence[Path], executable: Path) -> None:
        """Executable that finds its library beside itself, wherever both are put."""
        libraries = (f"-L{self.httpstan / 'lib'}", "-ltbb", "-l:libsundials_nvecserial.a")
        options = (*libraries, "-Wl,-rpath,$ORIGIN")
        run(self.compiler, *self.flags, *objects, *options, "-o", executable)


def cache() -> Path:
    """Folder of compiled objects; ``RELIABAYES_CACHE`` moves it."""
    chosen = os.environ.get("RELIABAYES_CACHE") or platformdirs.user_cache_dir("reliabayes")
    folder = Path(chosen) / "objects"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def run(*command: str | Path) -> str:
    """Output of a command that must succeed."""
    words = [str(word) for word in command]
    result = subprocess.run(words, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        said = (result.stderr or result.stdout).strip()
        raise BuildError(f"{' '.join(words[:1])} failed with code {result.returncode}:\n{said}")
    return result.stdout
