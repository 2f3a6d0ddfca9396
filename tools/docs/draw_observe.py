#!/usr/bin/env python3
"""Usage: draw_observe.py <example_observed_world> <ouro> [<folder>]

Runs the example, and draws what it wrote as the pictures of docs/observe.md: the report as a terminal shows it, the
timeline of the Chrome trace as Perfetto draws it, the folded stacks as a flame graph, the pprof file as a
list like that of `pprof -top`. The pictures are of a real run.
"""

import html
import json
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
COLORS = ("#4e79a7", "#f28e2b", "#59a14f", "#e15759", "#76b7b2", "#edc948", "#b07aa1", "#9c755f")
FONT = "font-family=\"ui-monospace, 'DejaVu Sans Mono', Consolas, monospace\""


def document(width, height, parts, background="#ffffff"):
    head = (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
            f'viewBox="0 0 {width} {height}">')
    return "\n".join([head, f'<rect width="{width}" height="{height}" rx="6" fill="{background}"/>', *parts, "</svg>"])


def text(x, y, content, size=12, fill="#222222", anchor="start"):
    return (f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" fill="{fill}" text-anchor="{anchor}" {FONT} '
            f'paint-order="stroke" xml:space="preserve">{html.escape(content, quote=False)}</text>')


def bytes_text(count):
    for unit in ("B", "KiB", "MiB", "GiB"):
        if count < 1024 or unit == "GiB":
            return f"{count:.0f} {unit}" if count == int(count) else f"{count:.1f} {unit}"
        count /= 1024
    return ""


def draw_terminal(title, output):
    lines = [title, *output.splitlines()]
    width = int(24 + 7.3 * max(map(len, lines)))
    parts = [text(12, 24 + 16 * row, line, fill="#8fbf8f" if row == 0 else "#dddddd") for row, line in enumerate(lines)]
    return document(width, 24 + 16 * len(lines), parts, "#1e1e1e")


def read_counters(events):
    """Of each track, moments and values."""
    tracks = {}
    for event in events:
        if event.get("ph") == "C":
            for key, value in event["args"].items():
                tracks.setdefault((event["name"], key), []).append((event["ts"], value))
    return tracks


def draw_track(points, times, box, color, label):
    left, top, width, height = box
    first, last = times
    most = max(max(value for _, value in points), 1)
    place = [(left + width * (moment - first) / max(last - first, 1e-9), top + height - (height - 18) * value / most)
             for moment, value in points]
    # A counter keeps its value until the next look.
    path = " ".join(f"H{x:.1f} V{y:.1f}" for x, y in place)
    return [f'<path d="M{place[0][0]:.1f} {top + height} {path} L{place[-1][0]:.1f} {top + height} Z" fill="{color}" '
            f'fill-opacity="0.75"/>',
            text(left + 4, top + 14, f"{label}: {bytes_text(points[-1][1])}, at most {bytes_text(most)}")]


def draw_timeline(trace):
    events = trace["traceEvents"] if isinstance(trace, dict) else trace
    tracks = read_counters(events)
    byte_tracks = {name: points for name, points in tracks.items() if "/s" not in name[0] and "blocks" not in name[0]}
    moments = [moment for points in tracks.values() for moment, _ in points]
    times = (min(moments), max(moments))
    width, row = 860, 62
    parts = []
    shown = sorted(byte_tracks.items(), key=lambda item: -max(value for _, value in item[1]))[:7]
    for index, ((name, key), points) in enumerate(shown):
        label = name.replace(" (bytes)", "") if key in ("bytes", "value") else key
        box = (10, 10 + index * row, width - 20, row - 8)
        parts += draw_track(points, times, box, COLORS[index % len(COLORS)], label)
    bottom = 10 + len(shown) * row
    for event in events:
        if event.get("ph") in ("i", "I"):
            x = 10 + (width - 20) * (event["ts"] - times[0]) / max(times[1] - times[0], 1e-9)
            parts.append(f'<path d="M{x:.1f} 10 V{bottom}" stroke="#bb2222" stroke-opacity="0.5" '
                         f'stroke-dasharray="2 3"/>')
    parts.append(text(10, bottom + 14, "dashed: events (soft budgets, new peaks, spikes)", 11, "#bb2222"))
    return document(width, bottom + 24, parts)


def read_stacks(folded):
    root = {"name": "all", "value": 0, "below": {}}
    for line in folded.splitlines():
        stack, _, count = line.rpartition(" ")
        root["value"] += int(count)
        node = root
        for frame in stack.split(";"):
            node = node["below"].setdefault(frame, {"name": frame, "value": 0, "below": {}})
            node["value"] += int(count)
    return root


def draw_frames(node, left, width, depth, parts, deepest):
    if width < 1.5:
        return
    deepest[0] = max(deepest[0], depth)
    color = COLORS[sum(map(ord, node["name"])) % len(COLORS)]
    parts.append(f'<rect x="{left:.1f}" y="{depth * 20}" width="{max(width - 1, 0.5):.1f}" height="19" fill="{color}" '
                 f'fill-opacity="0.6"/>')
    room = int((width - 6) / 6.3)
    label = f"{node['name'].split('(')[0]} {bytes_text(node['value'])}"
    if room >= 4:
        parts.append(text(left + 3, depth * 20 + 14, label if len(label) <= room else label[:room - 1] + "…", 10.5))
    for child in sorted(node["below"].values(), key=lambda below: -below["value"]):
        share = width * child["value"] / node["value"]
        draw_frames(child, left, share, depth + 1, parts, deepest)
        left += share


def draw_flames(folded):
    parts, deepest = [], [0]
    draw_frames(read_stacks(folded), 4, 952, 0, parts, deepest)
    return document(960, (deepest[0] + 1) * 20 + 4, ['<g transform="translate(0 3)">', *parts, "</g>"])


def read_varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def read_message(data):
    """The fields of a protobuf message, for each its number and its value."""
    at = 0
    while at < len(data):
        key, at = read_varint(data, at)
        value, at = read_varint(data, at)
        if key & 7 == 2:
            value, at = data[at:at + value], at + value
        yield key >> 3, value


def read_numbers(data):
    at = 0
    while at < len(data):
        value, at = read_varint(data, at)
        yield value


def read_pprof(data):
    """Of each sample the functions, innermost first, and the bytes in use."""
    fields = list(read_message(data))
    strings = [value.decode() for number, value in fields if number == 6]
    types = [strings[dict(read_message(value))[1]] for number, value in fields if number == 1]
    functions = {}
    for function in (dict(read_message(value)) for number, value in fields if number == 5):
        functions[function[1]] = strings[function[2]].split("(")[0]
    places = {}
    for place in (dict(read_message(value)) for number, value in fields if number == 4):
        places[place[1]] = functions[dict(read_message(place[4]))[1]]
    for sample in (dict(read_message(value)) for number, value in fields if number == 2):
        values = list(read_numbers(sample[2]))
        yield [places[place] for place in read_numbers(sample[1])], values[types.index("inuse_space")]


def list_functions(samples):
    """As `pprof -top` does: what functions allocated themselves, and with those that they called."""
    flat, whole = {}, {}
    for stack, count in samples:
        flat[stack[0]] = flat.get(stack[0], 0) + count
        for function in set(stack):
            whole[function] = whole.get(function, 0) + count
    total = sum(flat.values())
    lines = ["      flat  flat%   sum%        cum   cum%"]
    seen = 0
    rows = [item for item in whole.items() if item[1] != 0]
    for function, count in sorted(rows, key=lambda item: (-flat.get(item[0], 0), -item[1]))[:10]:
        own = flat.get(function, 0)
        seen += own
        lines.append(f"{bytes_text(own):>10} {own / total:6.1%} {seen / total:6.1%} {bytes_text(count):>10} "
                     f"{count / total:6.1%}  {function}")
    return "\n".join(lines)


def main():
    example, ouro = map(os.path.realpath, sys.argv[1:3])
    target = sys.argv[3] if len(sys.argv) > 3 else os.path.join(ROOT, "docs", "images")
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([example, folder], check=True, stdout=subprocess.DEVNULL)
        command = ["report", "world.ouro", "--top", "3"]
        report = subprocess.run([ouro, *command], check=True, stdout=subprocess.PIPE, text=True, encoding="utf-8",
                                cwd=folder, env=dict(os.environ, LC_ALL="C.UTF-8")).stdout
        with open(os.path.join(folder, "world.trace.json"), encoding="utf-8") as file:
            trace = json.load(file)
        with open(os.path.join(folder, "world.folded"), encoding="utf-8") as file:
            folded = file.read()
        with open(os.path.join(folder, "world.pprof"), "rb") as file:
            functions = list_functions(read_pprof(file.read()))
    pictures = {"observe-report.svg": draw_terminal("$ ouro " + " ".join(command), report),
                "observe-timeline.svg": draw_timeline(trace), "observe-flames.svg": draw_flames(folded),
                "observe-pprof.svg": draw_terminal("world.pprof: functions by bytes in use", functions)}
    for name, picture in pictures.items():
        with open(os.path.join(target, name), "w", encoding="utf-8") as file:
            file.write(picture + "\n")


if __name__ == "__main__":
    main()
