"""The house is as docs/architecture.md draws it: no noun imports from a noun further down, and nothing unsafe."""

from __future__ import annotations

import ast
import functools
import io
import re
import subprocess
import sys
import tokenize
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "recombine"
FILES = sorted(SOURCE.rglob("*.py"))

# From the ground up; a file may import from its own level and from those above it in this list.
LEVELS = [
    {
        "errors",
        "registry",
        "keys",
        "labels",
        "context",
        "distributions",
        "notebook",
        "packed_images",
        "statistics",
        "files",
        "machine",
    },
    {"examples"},
    {"spaces"},
    {"supports"},
    {"tables"},
    {"splitting"},
    {"planning"},
    {"encodings"},
    {"tasks"},
    {"nets"},
    {"theory"},
    {"training"},
    {"exporting"},
    {"probes"},
    {"adapters"},
    {"trials"},
    {"charts"},
    {"lab"},
    {"audit"},
    {"studies"},
    {"report", "bench"},
    {"testing", "cli", "__main__", "__init__"},
]
LEVEL_OF = {room: level for level, rooms in enumerate(LEVELS) for room in rooms}


@functools.cache
def parsed(text: str) -> ast.Module:
    """The tree of a file; several rules look at each."""
    return ast.parse(text)


@functools.cache
def tree(path: Path) -> ast.Module:
    return parsed(path.read_text())


def room(path: Path) -> str:
    parts = path.relative_to(SOURCE).with_suffix("").parts
    return parts[0]


def imported_rooms(path: Path) -> set[str]:
    package = ["recombine", *path.relative_to(SOURCE).parent.parts]
    rooms = set()
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            full = [*base, *(node.module.split(".") if node.module else [])]
            if full[:1] != ["recombine"]:
                continue
            if len(full) > 1:
                rooms.add(full[1])
            else:
                rooms |= {alias.name for alias in node.names if alias.name in LEVEL_OF}
        elif isinstance(node, ast.Import):
            rooms |= {a.name.split(".")[1] for a in node.names if a.name.startswith("recombine.")}
    return rooms


def test_no_file_imports_from_a_noun_further_down():
    imports = [(str(path.relative_to(SOURCE)), room(path), name) for path in FILES for name in imported_rooms(path)]
    homeless = {name for _, _, name in imports if name not in LEVEL_OF}
    assert not homeless, "these have no place in the house: add them to LEVELS and to docs/architecture.md"
    down = [f"{path} imports {name}" for path, own, name in imports if LEVEL_OF[name] > LEVEL_OF[own]]
    assert len(imports) > 1000 and not down, "these lie further down"


def test_the_picture_shows_every_folder_and_nothing_else():
    picture = (ROOT / "docs" / "architecture.md").read_text()
    shown = set(re.findall(r"^ {8,}([\w/]+)/ ", picture, re.MULTILINE))
    there = {str(path.parent.relative_to(SOURCE)) for path in FILES} - {"."}
    assert shown == there


@pytest.mark.parametrize("name", ["architecture.md", "decisions.md"])
def test_paths_that_the_page_names_are_there(name):
    page = (ROOT / "docs" / name).read_text()
    for path in re.findall(r"`([\w/]+\.py)`", page):
        assert any((base / path).exists() for base in (SOURCE, ROOT)), f"docs/{name} names {path}"


def test_the_page_is_one_page():
    assert len((ROOT / "docs" / "architecture.md").read_text().splitlines()) <= 100


def test_file_names_are_unique():
    names = [path.name for path in FILES if path.stem not in ("__init__", "__main__", "base")]
    twice = {name for name in names if names.count(name) > 1}
    assert not twice, f"two files are called {', '.join(sorted(twice))}"


def long_parts(text: str) -> list[str]:
    """What of a file is too long: itself, or functions, which count without their docstrings."""
    count = len(text.splitlines())
    found = [f"{count} lines"] if count > 400 else []
    for node in ast.walk(parsed(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            documented = len((ast.get_docstring(node, clean=False) or "").splitlines())
            lines = (node.end_lineno or node.lineno) - node.lineno + 1 - documented
            found += [f"{node.name}: {lines} lines"] if lines > 60 else []
    return found


@pytest.mark.parametrize("folder", ["src", "tests", "docs"])
def test_no_file_and_no_function_is_long(folder):
    found = {str(path.relative_to(ROOT)): long_parts(path.read_text()) for path in (ROOT / folder).rglob("*.py")}
    assert not {name: parts for name, parts in found.items() if parts}, "one concept per file"


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("x = 1\n" * 400, []),
        ("x = 1\n" * 401, ["401 lines"]),
        ("def f():\n" + "    x = 1\n" * 59, []),
        ("def f():\n" + "    x = 1\n" * 60, ["f: 61 lines"]),
        ('def f():\n    """One.\n\n    Two.\n    """\n' + "    x = 1\n" * 60, ["f: 61 lines"]),
        ("class A:\n    async def f(self):\n" + "        x = 1\n" * 60, ["f: 61 lines"]),
    ],
)
def test_a_long_file_and_a_long_function_are_found(text, parts):
    assert long_parts(text) == parts


def squeezed(text: str) -> list[str]:
    """First lines of statements that the formatter has to leave alone and that are no table of numbers."""
    if "fmt" not in text:
        return []
    ends = {
        token.start[0]
        for token in tokenize.generate_tokens(io.StringIO(text).readline)
        if token.type == tokenize.COMMENT and re.match(r"#\s*fmt:\s*(skip|off)", token.string)
    }
    found = []
    for end in ends:
        statements = [node for node in ast.walk(parsed(text)) if isinstance(node, ast.stmt)]
        over = [node for node in statements if node.lineno <= end <= (node.end_lineno or 0)]
        inner = max(over, key=lambda node: node.lineno, default=None)
        leaves = [n.value for n in ast.walk(inner) if isinstance(n, ast.Constant)] if inner is not None else []
        if sum(type(value) in (int, float) for value in leaves) <= 0.75 * len(leaves):
            found.append(text.splitlines()[inner.lineno - 1].strip() if inner is not None else f"line {end}")
    return found


@pytest.mark.parametrize("folder", ["src", "tests", "docs"])
def test_only_tables_of_numbers_are_spared_by_the_formatter(folder):
    found = {str(path.relative_to(ROOT)): squeezed(path.read_text()) for path in (ROOT / folder).rglob("*.py")}
    assert not {name: lines for name, lines in found.items() if lines}, "unfold these"


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("KERNEL = [[1, 2, 1],\n          [2, 4, 2]]  # fmt: skip\n", []),
        ("names = ['a',\n         'b']  # fmt: skip\n", ["names = ['a',"]),
        ("def f():\n    x = (a if b else\n         c)  # fmt: skip\n", ["x = (a if b else"]),
        ("# fmt: off\nx = 1\n", ["line 1"]),
        ("said = '# fmt: skip'\n", []),
    ],
)
def test_a_squeezed_statement_is_found(text, lines):
    assert squeezed(text) == lines


#: "seconds a cell" reads as two things at first: rates are said with "per"
RATES = re.compile(
    r"\b(?:FLOP|ms|seconds|steps|samples|cells|combinations|bytes|characters|pixels|words|seeds|shares of|rows) "
    r"an? (?:second|cell|element|step|layer|side|worker|study|task|combination)\b(?! (?:asks|has|shares|gets|is))"
    r"|\b[Oo]nce a (?:machine|process|program|run|worker)\b"
    r"|\b[Oo]ne (?!in )(?:\w+ )?(?!in |is |of |as |has |inside |to |for |by |with |but )"
    r"(?!not |than |or |that |and |on )\w+"
    r" an? (?:row|cell|node|call|task|combination|step|study|claim|reading|record|layer|seed)\b"
    r"|\b(?:error|pixel|product|vector|code|bar|point|line) an? (?:pixel|cell|combination|claim|seed|layer|study)\b"
)


@pytest.mark.parametrize("folder", ["src", "docs"])
def test_rates_are_said_with_per(folder):
    found = {}
    for path in sorted((ROOT / folder).rglob("*")):
        made = {"_build", "studies"} & set(path.relative_to(ROOT).parts[1:2])  # from the docs, and from records
        if path.suffix in (".py", ".md", ".j2", ".js") and not made:
            found[str(path.relative_to(ROOT))] = RATES.findall(path.read_text())
    assert not {name: said for name, said in found.items() if said}


#: words that had several meanings, or hid one; records keep some of them
OLD_NAMES = {"told", "plate", "plates", "tiles", "exhibit", "exhibits", "foreman", "pace", "heeding", "NotMet"}


@pytest.mark.parametrize("folder", ["src", "tests", "docs"])
def test_names_say_what_a_thing_is(folder):
    found = {}
    for path in (ROOT / folder).rglob("*.py"):
        nodes = ast.walk(tree(path))
        names = {getattr(node, part, None) for node in nodes for part in ("id", "arg", "name", "asname", "attr")}
        found[str(path.relative_to(ROOT))] = {name for name in names if name and name.strip("_") in OLD_NAMES}
    assert not {path: names for path, names in found.items() if names}


CODE_FROM_TEXT = {"eval", "exec", "compile", "__import__", "importlib.import_module", "np.load"}
CODE_FROM_FILES = {"pickle", "dill", "cloudpickle", "shelve", "marshal", "joblib"}


def unsafe_parts(text: str) -> list[str]:
    """Lines that run what a text or a file says, asserts that decide what is accepted, and paths of one machine."""
    found = []
    for node in ast.walk(parsed(text)):
        if isinstance(node, ast.Call):
            name = ast.unparse(node.func)
            if name in CODE_FROM_TEXT or "pickle" in name or "joblib" in name:
                found.append(f"{node.lineno}: {name}")
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            names = [alias.name for alias in node.names] + [getattr(node, "module", "") or ""]
            found += [f"{node.lineno}: {name}" for name in names if name.split(".")[0] in CODE_FROM_FILES]
        if isinstance(node, ast.Assert):
            # type narrowing only: python -O must not change what is accepted
            asked = ast.unparse(node.test)
            if "isinstance" not in asked and "is not None" not in asked:
                found.append(f"{node.lineno}: assert {asked}")
    found += re.findall(r"(?<![\w.])/(?:home|root|work|tmp|Users)/", text)
    return found


def test_nothing_unsafe():
    found = {str(path.relative_to(SOURCE)): unsafe_parts(path.read_text()) for path in FILES}
    assert not {name: parts for name, parts in found.items() if parts}


@pytest.mark.parametrize(
    "text",
    [
        "x = eval('1')",
        "importlib.import_module(name)",
        "import pickle",
        "from joblib import load",
        "cloudpickle.loads(data)",
        "assert x > 0",
        "PLACE = '/home/someone'",
    ],
)
def test_what_is_unsafe_is_found(text):
    assert unsafe_parts(text) and not unsafe_parts("assert isinstance(x, int)\nimport json\n")


def test_spaces_are_asked_for_abilities():
    found = {}
    for path in FILES:
        calls = [node for node in ast.walk(tree(path)) if isinstance(node, ast.Call)]
        asked = [ast.unparse(call.args[1]) for call in calls if ast.unparse(call.func) == "isinstance"]
        classes = {"Product", "Subsets", "Listed"} & set(re.findall(r"\w+", " ".join(asked)))
        if classes and room(path) != "spaces":
            found[str(path.relative_to(SOURCE))] = classes
    assert not found, "see spaces/base.py"


def test_public_names_are_said_twice_and_alike():
    """Once to type checkers, once to whoever uses a name first."""
    import recombine

    tree = ast.parse((SOURCE / "__init__.py").read_text())
    names = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.level:
            for alias in node.names:
                assert alias.asname == alias.name, "a name that is not exported on purpose"
                names[alias.name] = f".{node.module}" if node.module else f".{alias.name}"
    assert names == recombine._WHERE
    assert set(names) <= set(dir(recombine)) and sorted(names) == recombine.__all__
    for name in names:
        assert getattr(recombine, name) is not None
    with pytest.raises(AttributeError, match="nothing_like_it"):
        recombine.nothing_like_it  # noqa: B018


def test_the_command_line_does_not_wait_for_jax():
    script = "import sys, recombine, recombine.cli; sys.exit(bool({'jax', 'scipy', 'pandas'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", script]).returncode == 0


#: of the lab, what a page may know: the result and the data it is made of
READABLE = {"study_result", "comparing", "extent", "record", "store", "verdicts"}


@pytest.mark.parametrize("path", sorted((SOURCE / "report").rglob("*.py")), ids=lambda p: p.name)
def test_a_page_reads_a_result_and_nothing_else(path):
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.ImportFrom) and node.level == 2 and node.module:
            first, *rest = node.module.split(".")
            assert first not in {"studies", "cli", "bench", "testing"}
            if first == "lab":
                assert rest and rest[0] in READABLE, f"{path.name} imports lab.{'.'.join(rest)}"


@pytest.mark.parametrize("module", ["recombine.report.audit", "recombine.report", "recombine.audit.plan_from_table"])
def test_pages_of_audits_and_plans_know_no_study(module):
    script = f"import sys, {module}; sys.exit(any(name.startswith('recombine.studies') for name in sys.modules))"
    assert subprocess.run([sys.executable, "-c", script]).returncode == 0


def test_the_lab_is_imported_without_jax():
    script = (
        "import sys, pkgutil, importlib, recombine.lab\n"
        "for found in pkgutil.walk_packages(recombine.lab.__path__, 'recombine.lab.'):\n"
        "    importlib.import_module(found.name)\n"
        "sys.exit(', '.join({'jax', 'equinox', 'ray'} & set(sys.modules)) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
