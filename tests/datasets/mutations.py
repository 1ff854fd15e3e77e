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


def flip_bit(rng, content):
    return replaced(rng, content, lambda byte: byte ^ (1 << rng.randrange(8)))


def set_byte(rng, content):
    return replaced(rng, content, lambda _: rng.randrange(256))


def replaced(rng, content, change):
    if not content:
        return content
    i = rng.randrange(len(content))
    return content[:i] + bytes([change(content[i])]) + content[i + 1 :]


def truncate(rng, content):
    return content[: rng.randint(0, len(content))]


def insert_token(rng, content):
    i = rng.randint(0, len(content))
    return content[:i] + rng.choice(TOKENS) + content[i:]


def remove_piece(rng, content):
    i = rng.randint(0, len(content))
    return content[:i] + content[i + rng.randint(1, 6) :]


def repeat_piece(rng, content):
    i = rng.randint(0, len(content))
    j = i + rng.randint(1, 12)
    return content[:j] + content[i:j] * rng.choice([1, 2, 50]) + content[j:]


def on_lines(change):
    def mutate(rng, content):
        lines = content.split(b"\n")
        change(lines, rng.randrange(len(lines)), rng.randrange(len(lines)))
        return b"\n".join(lines)

    return mutate


def _double(lines, i, j):
    lines.insert(j, lines[i])


def _remove(lines, i, j):
    del lines[i]


def _swap(lines, i, j):
    lines[i], lines[j] = lines[j], lines[i]


def swap_quotes(rng, content):
    old, new = rng.sample([b"'", b'"'], 2)
    return content.replace(old, new, rng.choice([1, -1]))


def huge_number(rng, content):
    digits = [i for i, byte in enumerate(content) if byte in b"0123456789"]
    if not digits:
        return content
    i = rng.choice(digits)
    return content[:i] + rng.choice(HUGE) + content[i + 1 :]


MUTATIONS = [
    flip_bit, set_byte, truncate, insert_token, insert_token, remove_piece, repeat_piece,
    swap_quotes, huge_number, on_lines(_double), on_lines(_remove), on_lines(_swap),
]  # fmt: skip


def mutated(rng, content):
    """`content` with up to three damages; some files stay as they are."""
    for _ in range(rng.choice([0, 1, 1, 1, 2, 3])):
        content = rng.choice(MUTATIONS)(rng, content)
    return content
