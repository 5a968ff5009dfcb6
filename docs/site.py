"""What mkdocs needs to know of this repository, as hooks of mkdocs.yml.

Pages link to each other and to files of the repository as a git host resolves it. On the site README, CONTRIBUTING and
CHANGELOG are pages beside those of docs/, and each file or folder of the repository that a page links to is a page
under `source/`, so that nothing leads away and the strict build follows every link.
"""

from __future__ import annotations

import ast
import posixpath
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parent.parent
ROOT_PAGES = {"README.md": "index.md", "CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}
SOURCE = "source/"
LINK = re.compile(r"(\]\()([^)#\s]+)((?:#[^)\s]*)?\))")
LANGUAGES = {".py": "python", ".toml": "toml", ".sh": "bash", ".json": "json"}
LOADED = re.compile(
    r"""<(?:script|img|iframe|source)\b[^>]*?\ssrc=["']?((?:https?:)?//[^"'\s>]+)"""
    r"""|<link\b[^>]*?\shref=["']?((?:https?:)?//[^"'\s>]+)"""
)


def on_files(files: Files, config: Any) -> Files:
    """Add the pages that do not lie in docs/: those at the root, and every file that a page links to."""
    for name, uri in ROOT_PAGES.items():
        files.append(File.generated(config, uri, content=(ROOT / name).read_text(encoding="utf-8")))
    pages = [file for file in files if file.is_documentation_page() and file.inclusion.is_included()]
    linked = {target for page in pages for target in _targets(page.content_string, page.src_uri)}
    for target in sorted(linked):
        if _uri(target, files) is None and (ROOT / target).exists():
            _add_source(target, files, config)
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:  # noqa: ARG001  # by name
    """Links as the site has its pages; what is not found stays, for the strict build to name."""
    uri = page.file.src_uri
    if uri.startswith(SOURCE):
        return markdown

    def led(match: re.Match[str]) -> str:
        found = _uri(_target(match[2], uri), files)
        return (
            f"{match[1]}{posixpath.relpath(found, posixpath.dirname(uri) or '.')}{match[3]}"
            if found
            else match[0]
        )

    return LINK.sub(led, markdown)


def on_post_build(config: Any) -> None:
    """Refuse a site whose pages load anything from other hosts."""
    for path in sorted(Path(config.site_dir).rglob("*.html")):
        found = LOADED.search(path.read_text(encoding="utf-8"))
        if found:
            raise PluginError(f"{path}: loads {found[1] or found[2]} from another host")


def _targets(markdown: str, uri: str) -> Iterator[str]:
    """What the links of a page lead to, from the root of the repository."""
    return (_target(match[2], uri) for match in LINK.finditer(markdown))


def _target(link: str, uri: str) -> str:
    """A link of a page as a path from the root of the repository, as a git host takes it."""
    if "://" in link or link.startswith(("mailto:", "/")):
        return link
    written = {page: name for name, page in ROOT_PAGES.items()}.get(uri, f"docs/{uri}")
    return posixpath.normpath(posixpath.join(posixpath.dirname(written), link))


def _uri(target: str, files: Files) -> str | None:
    """Where a file or folder of the repository is on the site; None where it is not."""
    inside = target.removeprefix("docs/") if target.startswith("docs/") else None
    for uri in (ROOT_PAGES.get(target), inside, f"{SOURCE}{target}.md", f"{SOURCE}{target}/index.md"):
        file = files.get_file_from_path(uri) if uri else None
        if file and file.inclusion.is_included():
            return file.src_uri
    return None


def _add_source(target: str, files: Files, config: Any) -> None:
    """A page of a file's text, or of a folder's Python files with what each is."""
    path = ROOT / target
    if path.is_dir():
        lines = [f"# `{target}`", ""]
        for one in sorted(path.glob("*.py")):
            lines.append(f"- [`{one.name}`]({one.name}.md): {_summary(one)}")
            if files.get_file_from_path(f"{SOURCE}{target}/{one.name}.md") is None:
                _add_source(f"{target}/{one.name}", files, config)
        files.append(File.generated(config, f"{SOURCE}{target}/index.md", content="\n".join(lines) + "\n"))
        return
    fence = f"````{LANGUAGES.get(path.suffix, 'text')}\n{path.read_text(encoding='utf-8').rstrip()}\n````\n"
    files.append(File.generated(config, f"{SOURCE}{target}.md", content=f"# `{target}`\n\n{fence}"))


def _summary(path: Path) -> str:
    """The first paragraph of a module's docstring."""
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return " ".join(text.partition("\n\n")[0].split())
