"""What MkDocs does not know of the tree: links to sources and folders become
pages with their text or list, and comments for utils/check-docs.py are left out."""

import os
import pathlib
import posixpath
import re

from mkdocs.structure.files import File, InclusionLevel

ROOT = pathlib.Path(__file__).resolve().parents[2]
HERE = pathlib.PurePosixPath("utils/site")
FENCE = re.compile(r"^(`{3,})[^\n]*\n.*?^\1\n", re.M | re.S)
COMMENT = re.compile(r"^<!--.*?-->\n", re.M | re.S)
LINK = re.compile(r"(\[[^\]]*\]\()([^)\s#:]+)(#[^)\s]*)?\)")
LANGUAGES = {".py": "python", ".cpp": "cpp", ".cuh": "cpp", ".h": "cpp", ".hpp": "cpp",
             ".c": "c", ".cmake": "cmake", ".in": "cmake"}


def outside_fences(text, change):
    """`text` with what is not a block of code changed."""
    parts, at = [], 0
    for fence in FENCE.finditer(text):
        parts += [change(text[at:fence.start()]), fence[0]]
        at = fence.end()
    return "".join([*parts, change(text[at:])])


def target(page, link):
    """What a link of `page` names, as a path in the tree."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(page), link))


def page_of(path):
    """The page for a source or a folder of the tree, if it is one."""
    there = ROOT / path
    if path.startswith("..") or path.endswith(".md"):
        return None
    if there.is_dir():
        return f"{path}/index.md"
    return f"{path}.md" if there.is_file() else None


def title_of(document):
    heading = re.search(r"^# (.*)", document.read_text(), re.M)
    return heading[1] if heading else document.stem


def source_text(path):
    text = (ROOT / path).read_text()
    fence = "`" * max([3] + [len(run) + 1 for run in re.findall("`+", text)])
    language = LANGUAGES.get(pathlib.PurePath(path).suffix, "text")
    return f"{fence}{language}\n{text.rstrip()}\n{fence}\n"


def folder_text(path):
    entries = sorted(entry for entry in (ROOT / path).iterdir() if entry.is_file())
    return "".join(f"- [{entry.stem}]({entry.name}): {title_of(entry)}\n"
                   if entry.suffix == ".md" else f"- [{entry.name}]({entry.name})\n"
                   for entry in entries)


def links(page, text):
    found = []
    outside_fences(text, lambda part: found.extend(
        target(page, link[2]) for link in LINK.finditer(part)) or part)
    return found


def generate(files, config, path):
    """Makes the page of a path that a page links; returns its name and text."""
    page = page_of(path)
    if not page or page in files.src_uris or path in files.src_uris:
        return page, ""
    text = folder_text(path) if (ROOT / path).is_dir() else source_text(path)
    head = f"---\nsearch: {{exclude: true}}\n---\n\n# {path}\n\n"
    files.append(File.generated(config, page, content=head + text,
                                inclusion=InclusionLevel.NOT_IN_NAV))
    return page, text


def pages_of(item):
    """Of an item of a section: itself, or those of a folder."""
    if not item.endswith("/"):
        return [item]
    return [item + path.name for path in sorted((ROOT / item).glob("*.md"))]


def on_config(config):
    os.environ.setdefault("SOURCE_DATE_EPOCH", "0")
    # The one has dates, the other is for a server.
    config.theme.static_templates -= {"sitemap.xml", "404.html"}
    for section in config.nav:
        for name, pages in section.items():
            if isinstance(pages, list):
                section[name] = [page for item in pages for page in pages_of(item)]
    return config


def on_files(files, config):
    for name in ("style.css", "iframe-worker.js", "options.js"):
        files.append(File.generated(config, str(HERE / name),
                                    abs_src_path=str(ROOT / HERE / name)))
    waiting = [(file.src_uri, file.content_string) for file in files.documentation_pages()]
    while waiting:
        page, text = waiting.pop()
        for path in links(page, text):
            made, content = generate(files, config, path)
            if content:
                waiting.append((made, content))
    return files


def in_languages(uri, files):
    """The document in English and in Chinese, or the first page in that language."""
    folder, name = posixpath.split(uri)
    english = uri.replace(".zh.md", ".md").replace("/zh/", "/")
    chinese = uri
    if english == uri:
        chinese = f"{uri[:-3]}.zh.md" if not folder else f"{folder}/zh/{name}"
    return [files.get_file_from_path(uri) or files.get_file_from_path(first)
            for uri, first in ((english, "README.md"), (chinese, "README.zh.md"))]


def on_page_markdown(markdown, page, config, files):
    uri = page.file.src_uri
    page.meta["languages"] = in_languages(uri, files)
    if uri.startswith("docs/results/"):
        page.meta["search"] = {"boost": 0.5}  # what was measured, after what is so

    def replace(link):
        path = target(uri, link[2])
        made = page_of(path)
        if path in files.src_uris or made not in files.src_uris:
            return link[0]
        there = posixpath.relpath(made, posixpath.dirname(uri) or ".")
        return f"{link[1]}{there}{link[3] or ''})"
    return outside_fences(markdown, lambda part: LINK.sub(replace, COMMENT.sub("", part)))


def on_page_context(context, page, config, nav):
    config.extra["alternate"] = [
        {"name": name, "lang": language, "link": file.url} for name, language, file in
        zip(("English", "中文"), ("en", "zh"), page.meta["languages"])]
    return context


def on_post_page(output, page, config):
    # For these, Material would ask for a sitemap.
    output = re.sub(r'^ *<link rel="alternate".*\n', "", output, flags=re.M)
    chinese = page.file == page.meta["languages"][1]
    return output.replace('<html lang="en"', '<html lang="zh"', 1) if chinese else output
