"""Damage as files suffer it, by accident or on purpose."""

TOKENS = [
    b"'", b'"', b"\\", b"{", b"}", b"{}", b",", b",,", b";", b"\t", b" ", b"\n", b"\r\n", b"\r",
    b"%", b"?", b"@data", b"@attribute a real\n", b"@relation b\n", b"-C 1", b"-C -1", b"nan",
    b"inf", b"-", b"+", b"_", b"0", b"1", b"1e5", b".", b"0.5", b"\x00", b"\xff", b"\xc3\xa9",
    b"\xef\xbb\xbf", b"\xa0", b"\xd9\xa3", b"<label name='a'>", b"</label>", b"<label name='b'/>",
    b"<!-- -->", b"<![CDATA[x]]>", b"&amp;", b"&x;", b"&#65;", b"<?xml version='1.0'?>", b">",
    b"<", b"NA", b"true", b"FALSE", b"label_c", b"<!DOCTYPE a>",
]  # fmt: skip
HUGE = [b"9" * 30, b"9" * 400, b"1e308", b"1e309", b"-1e999", b"1e-999", b"0" * 300, b"99999999999"]


def mutated(rng, content):
    """`content` with up to three damages; some files stay as they are."""
    for _ in range(rng.choice([0, 1, 1, 1, 2, 3])):
        content = rng.choice([damage_piece, damage_piece, damage_lines, swap_quotes])(rng, content)
    return content


def damage_piece(rng, content):
    """Another few bytes in the place of a piece, or none, or the piece many times."""
    i = rng.randint(0, len(content))
    j = i + rng.choice([0, 1, 1, 6, len(content)])
    piece = content[i:j]
    flipped = bytes([piece[0] ^ (1 << rng.randrange(8))]) + piece[1:] if piece else b""
    other = [b"", flipped, piece * rng.choice([2, 50]), bytes([rng.randrange(256)])]
    return content[:i] + rng.choice([*other, rng.choice(TOKENS), rng.choice(HUGE)]) + content[j:]


def damage_lines(rng, content):
    """A line removed, twice, or in the place of another."""
    lines = content.split(b"\n")
    i, j = rng.randrange(len(lines)), rng.randrange(len(lines))
    lines[j : j + rng.randint(0, 1)] = [[], [lines[i]], [lines[i], lines[j]]][rng.randrange(3)]
    return b"\n".join(lines)


def swap_quotes(rng, content):
    old, new = rng.sample([b"'", b'"'], 2)
    return content.replace(old, new, rng.choice([1, -1]))
