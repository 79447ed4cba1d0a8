"""Workbooks as spreadsheets write them, made by hand: any part can be made wrong."""

import io
import zipfile
from xml.sax.saxutils import escape

MAIN = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
REL = 'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'
PACKAGE = 'xmlns="http://schemas.openxmlformats.org/package/2006/relationships"'
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def cell(at: str, text: str) -> str:
    return f'<c r="{at}" t="inlineStr"><is><t>{escape(text)}</t></is></c>'


def sheet(rows, *, extra: str = "") -> str:
    lines = []
    for number, row in enumerate(rows, start=1):
        cells = "".join(
            value if value.startswith("<c ") else cell(f"{chr(64 + at)}{number}", value)
            for at, value in enumerate(row, start=1)
            if value
        )
        lines.append(f'<row r="{number}">{cells}</row>')
    return (
        f"<worksheet {MAIN}><sheetData>{''.join(lines)}</sheetData>{extra}</worksheet>"
    )


def relations(targets) -> str:
    related = "".join(
        f'<Relationship Id="rId{n}" Type="{OFFICE}/{kind}" Target="{target}"/>'
        for n, (kind, target) in enumerate(targets, start=1)
    )
    return f"<Relationships {PACKAGE}>{related}</Relationships>"


def workbook(*sheets: str, shared: str = "", parts: dict[str, bytes] | None = None):
    names = [f"sheet{number}" for number in range(1, len(sheets) + 1)]
    listed = "".join(
        f'<sheet name="{name}" sheetId="{n}" r:id="rId{n}"/>'
        for n, name in enumerate(names, start=1)
    )
    related = [("worksheet", f"worksheets/{name}.xml") for name in names]
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(
            "_rels/.rels", relations([("officeDocument", "xl/workbook.xml")])
        )
        archive.writestr(
            "xl/workbook.xml",
            f"<workbook {MAIN} {REL}><sheets>{listed}</sheets></workbook>",
        )
        archive.writestr("xl/_rels/workbook.xml.rels", relations(related))
        if shared:
            archive.writestr("xl/sharedStrings.xml", f"<sst {MAIN}>{shared}</sst>")
        for name, text in zip(names, sheets, strict=True):
            archive.writestr(f"xl/worksheets/{name}.xml", text)
        for name, data in (parts or {}).items():
            archive.writestr(name, data)
    return out.getvalue()
