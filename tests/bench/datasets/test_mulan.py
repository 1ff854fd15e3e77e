"""Mulan's label files: names exactly as written, and nothing that could fill the memory."""

import pytest

from nldd.bench.datasets.source import read_label_names
from nldd.exceptions import InputError


@pytest.fixture
def read(tmp_path):
    def read(content, **options):
        path = tmp_path / "file.xml"
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return read_label_names(path, **options)

    return read


@pytest.mark.parametrize(
    ("content", "names"),
    [
        ('<labels><label name="b"/><label name="a"></label></labels>', ["b", "a"]),
        ("<labels><label name='a'><label name='b'/></label><label name='c'/></labels>", [*"abc"]),
        ('<labels xmlns="http://mulan.sourceforge.net/labels"><label name="a"/></labels>', ["a"]),
        ("<m:labels xmlns:m='u'><m:label name='a'/></m:labels>", ["a"]),
        ("<labels xmlns='with space'><label name='a'/></labels>", ["a"]),
        ("<labels><!-- x --><label name=' a &amp; &#39;&#10;' id='1'/>text</labels>", [" a & '\n"]),
        ("<labels><group><label name='a'/></group></labels>", ["a"]),
        ("\ufeff<?xml version='1.0'?>\r\n<labels><label name='é'/></labels>", ["é"]),
    ],
    ids=["order", "hierarchy", "default", "prefix", "spaces", "exact", "group", "mark"],
)  # fmt: skip
def test_names(read, content, names):
    assert read(content) == names


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "latin-1", "windows-1252", "us-ascii"])
def test_encodings(read, encoding):
    name = "a" if encoding == "us-ascii" else "é"
    text = f"<?xml version='1.0' encoding='{encoding}'?><labels><label name='{name}'/></labels>"
    assert read(text.encode(encoding)) == [name]


@pytest.mark.parametrize(
    ("content", "line", "message"),
    [
        ("", 1, "not well-formed XML: no element found"),
        ("@relation", 1, "not well-formed XML: .*invalid token"),
        ("<labels>\n<label name='a'>", 2, "not well-formed XML: no element found"),
        ("<labels>\n<label name='a'>\n</labels>", 3, "not well-formed XML: mismatched tag"),
        ("<labels><label name='&x;'/></labels>", 1, "not well-formed XML: undefined entity"),
        ("<labels><x:label name='a'/></labels>", 1, "not well-formed XML: unbound prefix"),
        ("<labels><label name='\x00'/></labels>", 1, "not well-formed XML"),
        ("<html>\n<label name='a'/></html>", 1, "expected <labels> .* got <html>"),
        ("<label name='a'/>", 1, "expected <labels> .* got <label>"),
        ("<labels>\n\n</labels>", 3, "<labels> holds no label"),
        ("<labels>\n<label/></labels>", 2, "a <label> has no name"),
        ("<labels>\n<label name=''/></labels>", 2, "a <label> has no name"),
        (
            "<labels>\n<label name='a'/>\n<label\nname='a'/></labels>",
            3,
            "label 'a' was named before, in line 2",
        ),
        ("<?xml version='1.0' encoding='none'?><labels/>", 1, "unknown encoding: none"),
        ("<?xml version='1.0' encoding='shift_jis'?><labels/>", 1, "multi-byte encodings"),
    ],
)
def test_files_that_are_refused(read, content, line, message):
    with pytest.raises(InputError, match=rf"file\.xml, line {line}: .*{message}"):
        read(content)


DOCTYPES = {
    "plain": "<!DOCTYPE labels>",
    "external": '<!DOCTYPE labels SYSTEM "file:///etc/passwd">',
    "entity": "<!DOCTYPE labels [<!ENTITY a 'b'>]>",
    "parameter": "<!DOCTYPE labels [<!ENTITY % a 'b'> %a;]>",
    "laughs": "<!DOCTYPE labels [<!ENTITY a0 'ha'>"
    + "".join(f"<!ENTITY a{i + 1} '{f'&a{i};' * 10}'>" for i in range(12))
    + "]>",
}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-16-be", "latin-1"])
@pytest.mark.parametrize("doctype", DOCTYPES)
def test_document_types_are_refused_in_every_encoding(read, doctype, encoding):
    text = (
        f"<?xml version='1.0' encoding='{encoding.removesuffix('-be')}'?>\n"
        f"{DOCTYPES[doctype]}<labels><label name='&a12;'/></labels>"
    )
    mark = b"\xfe\xff" if encoding == "utf-16-be" else b""
    with pytest.raises(InputError, match=r"line 2: document types and entities are not allowed"):
        read(mark + text.encode(encoding))
