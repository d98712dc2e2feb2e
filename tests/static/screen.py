#!/usr/bin/env python3
"""What the test of the window's folder looks at, without a library.

  screen.py picture SCREEN FILE            the screen of an Xvfb (-fbdir) as PNG
  screen.py lines SCREEN                   how many lines of text are on it
  screen.py colours FILE                   how many colours a PNG has
  screen.py same CAPTURE PCAPNG N          whether the one packet of PCAPNG is number N of CAPTURE
  screen.py same CAPTURE PCAPNG acknowledges   whether PCAPNG has those packets of CAPTURE that are acknowledgments of RC
"""
import struct
import sys
import zlib


def screen(path):
    """Width, height, rows of bytes (blue, green, red, nothing): XWD, as Xvfb keeps it."""
    data = open(path, "rb").read()
    head = struct.unpack(">25I", data[:100])
    size, width, height, line, colours = head[0], head[4], head[5], head[12], head[19]
    start = size + 12 * colours
    return width, height, [data[start + y * line:start + y * line + 4 * width] for y in range(height)]


def picture(path, out):
    width, height, rows = screen(path)
    raw = bytearray()
    for row in rows:
        pixels = bytearray(3 * width)
        pixels[0::3], pixels[1::3], pixels[2::3] = row[2::4], row[1::4], row[0::4]
        raw += b"\0" + pixels
    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
    with open(out, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)) +
                   chunk(b"IDAT", zlib.compress(bytes(raw), 6)) + chunk(b"IEND", b""))


def lines(path):
    """Bands of rows with much that is dark, as letters are, between rows with little."""
    _, _, rows = screen(path)
    count, inside = 0, False
    for row in rows:
        dark = sum(1 for green in row[1::4] if green < 128)
        if dark > 40 and not inside:
            count, inside = count + 1, True
        elif dark < 20:
            inside = False
    return count


def unfiltered(path):
    """Bytes of a PNG's pixels, a tuple each."""
    data = open(path, "rb").read()
    at, body = 8, b""
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at:at + 8])
        if kind == b"IHDR":
            width, height, depth, colour = struct.unpack(">IIBB", data[at + 8:at + 18])
        if kind == b"IDAT":
            body += data[at + 8:at + 8 + length]
        at += 12 + length
    assert depth == 8 and colour in (2, 6), "only true colours"
    step = 3 if colour == 2 else 4
    raw, before, pixels = zlib.decompress(body), bytearray(step * width), set()
    for y in range(height):
        start = y * (step * width + 1)
        kind, row = raw[start], bytearray(raw[start + 1:start + 1 + step * width])
        for x in range(len(row)):
            left, up, corner = (row[x - step] if x >= step else 0), before[x], (before[x - step] if x >= step else 0)
            near = [(abs(left + up - corner - each), i, each) for i, each in enumerate((left, up, corner))]
            row[x] = (row[x] + (0, left, up, (left + up) // 2, min(near)[2])[kind]) & 255
        pixels.update(bytes(row[i:i + step]) for i in range(0, len(row), step))
        before = row
    return pixels


def pcap(path):
    data = open(path, "rb").read()
    end = "<" if data[:4] in (b"\xd4\xc3\xb2\xa1", b"\x4d\x3c\xb2\xa1") else ">"
    at, packets = 24, []
    while at < len(data):
        length = struct.unpack(end + "I", data[at + 8:at + 12])[0]
        packets.append(data[at + 16:at + 16 + length])
        at += 16 + length
    return packets


def pcapng(path):
    data = open(path, "rb").read()
    end = "<" if data[8:12] == b"\x4d\x3c\x2b\x1a" else ">"
    at, packets = 0, []
    while at < len(data):
        kind, size = struct.unpack(end + "II", data[at:at + 8])
        if kind == 6:
            length = struct.unpack(end + "I", data[at + 20:at + 24])[0]
            packets.append(data[at + 28:at + 28 + length])
        at += size
    return packets


def is_acknowledgment(frame):
    """RoCEv2 over IPv4 with one of the opcodes of RC that have an AETH."""
    if frame[12:14] != b"\x08\x00" or frame[23] != 17:
        return False
    bth = 14 + 4 * (frame[14] & 15) + 8
    return frame[bth - 6:bth - 4] == struct.pack(">H", 4791) and frame[bth] in (0x0d, 0x0f, 0x10, 0x11, 0x12)


def main():
    what, words = sys.argv[1], sys.argv[2:]
    if what == "picture":
        picture(*words)
    elif what == "lines":
        print(lines(words[0]))
    elif what == "colours":
        print(len(unfiltered(words[0])))
    else:
        ours, theirs = pcap(words[0]), pcapng(words[1])
        wanted = [each for each in ours if is_acknowledgment(each)] if words[2] == "acknowledges" else [ours[int(words[2]) - 1]]
        assert wanted and theirs == wanted, f"{len(theirs)} packets, {len(wanted)} expected"


main()
