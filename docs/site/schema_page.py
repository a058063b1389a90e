"""The site's page of a report's JSON Schema: each key with its type, what it may be, and what it means."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import homenode as hn

HEAD = """# The form of a report

Made from `homenode.report_schema()`, a JSON Schema (draft 2020-12), which is in the package as
`report-1.schema.json`: any validator takes it. `replay -o` and `replay --json` write such
reports, and `homenode report` reads them. Keys in **bold** are always there, inner ones wherever
the outer one is; the others are there if they say something. Units stand in the meanings, and
times without one are in seconds.
Words are explained in the [glossary](docs/glossary.md).
"""

_BOUNDS = {"minimum": "≥", "exclusiveMinimum": ">", "maximum": "≤", "exclusiveMaximum": "<"}


def type_of(form: Mapping[str, Any]) -> str:
    """In words: "list of integer ≥ 0", "run, each", "`flow` or `line`"."""
    if "$ref" in form:
        name = str(form["$ref"]).rsplit("/", 1)[-1]
        return f"[{name}](#{name})"
    if "const" in form:
        return f"`{form['const']}`"
    if "enum" in form:
        return " or ".join(f"`{value}`" for value in form["enum"])
    if "anyOf" in form or "oneOf" in form:
        return " or ".join(type_of(one) for one in form.get("anyOf", form.get("oneOf")))
    kind = form.get("type", "anything")
    words = " or ".join(kind) if isinstance(kind, list) else str(kind)
    if words == "array" and isinstance(form.get("items"), Mapping):
        exact = form.get("minItems")
        of = type_of(form["items"])
        return f"{exact} × {of}" if exact is not None and exact == form.get("maxItems") else f"list of {of}"
    if words == "object" and isinstance(form.get("additionalProperties"), Mapping) and form["additionalProperties"]:
        return f"object of {type_of(form['additionalProperties'])}"
    return " ".join([words, *(f"{sign} {form[key]}" for key, sign in _BOUNDS.items() if key in form)])


def rows(form: Mapping[str, Any], within: str = "") -> Iterator[tuple[str, str, str]]:
    """Key, type and meaning of each property, those of objects within objects behind them as `outer.inner`."""
    required = form.get("required", ())
    for name, value in form.get("properties", {}).items():
        path = within + name
        yield f"**`{path}`**" if name in required else f"`{path}`", type_of(value), value.get("description", "")
        inner, mark = value, "."
        while inner.get("type") == "array" and isinstance(inner.get("items"), Mapping):
            inner, mark = inner["items"], "[]."
        yield from rows(inner, path + mark)


def page(schema: Mapping[str, Any]) -> str:
    """The page as Markdown."""
    lines = [HEAD]
    parts = {"The whole report": schema, **schema.get("$defs", {})}
    for name, form in parts.items():
        lines += [f"## {name}", ""]
        if about := form.get("description"):
            lines += [about + ("" if about.endswith(".") else "."), ""]
        lines += ["| key | type | meaning |", "|---|---|---|"]
        lines += [
            f"| {key} | {kind} | {meaning} |".replace("\n", " ")
            for key, kind, meaning in ((k, t.replace("|", "\\|"), m.replace("|", "\\|")) for k, t, m in rows(form))
        ]
        lines.append("")
    lines += ["## The schema itself", "", "```json", json.dumps(schema, indent=1, ensure_ascii=False), "```", ""]
    return "\n".join(lines)


def write_page(folder: Path) -> None:
    """Write the page of the installed package's schema, under the name that the site's reference has for it."""
    (folder / "report_schema").with_suffix(".md").write_text(page(hn.report_schema()), encoding="utf-8")
