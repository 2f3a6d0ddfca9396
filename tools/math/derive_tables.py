#!/usr/bin/env python3
"""Where the numbers of modules/base/include/ouro/base/detail/math_tables.hpp come from.

Derives every polynomial (minimax by Remez exchange, for the relative error of the whole function) and every constant
from its definition, and compares them with the header. Needs mpmath (Debian: python3-mpmath); run by hand when a table
changes.
"""

import pathlib
import re
import sys

from mpmath import (atan, cos, exp, floor, frexp, ldexp, log, log1p, lu_solve, matrix, mp, mpf, nint, pi, polyval, sin,
                    sqrt)

HEADER = pathlib.Path(__file__).resolve().parents[2] / "modules/base/include/ouro/base/detail/math_tables.hpp"
NEARLY_ZERO = mpf(2) ** -60
mp.prec = 300


def rounded(x, bits=53):
    if x == 0:
        return mpf(0)
    significand, exponent = frexp(x)
    return ldexp(nint(ldexp(significand, bits)), exponent - bits)


def multiple_of(x, exponent):
    """The multiple of 2^exponent nearest to x."""
    return ldexp(nint(ldexp(x, -exponent)), exponent)


def double_double(x):
    high = rounded(x)
    return [high, rounded(x - high)]


def error_extrema(errors):
    """The places of the largest error in each run of equal sign."""
    places = []
    for place, error in enumerate(errors):
        if places and (errors[places[-1]] > 0) == (error > 0):
            if abs(error) > abs(errors[places[-1]]):
                places[-1] = place
        else:
            places.append(place)
    return places


def minimax(function, weight, low, high, count):
    """The `count` coefficients that make the largest weighted error on [low, high] smallest, rounded to double."""
    middle, half = (low + high) / 2, (high - low) / 2
    points = [middle + half * cos(pi * (2 * i + 1) / (2 * (count + 1))) for i in range(count + 1)][::-1]
    points = [x if abs(weight(x)) > mpf(2) ** -100 else x + 2 * half * mpf("1e-5") for x in points]
    grid = [middle - half * cos(pi * mpf(i) / (60 * count)) for i in range(60 * count + 1)]
    samples = [(x, function(x), weight(x)) for x in grid if abs(weight(x)) > mpf(2) ** -100]
    coefficients = []
    for _ in range(40):
        system, right = matrix(count + 1, count + 1), matrix(count + 1, 1)
        for row, x in enumerate(points):
            for column in range(count):
                system[row, column] = x ** column * weight(x)
            system[row, count] = (-1) ** row
            right[row] = function(x) * weight(x)
        solution = lu_solve(system, right)
        coefficients = [solution[i] for i in range(count)]
        errors = [w * (g - polyval(coefficients[::-1], x)) for x, g, w in samples]
        extrema = error_extrema(errors)
        while len(extrema) > count + 1:
            extrema.pop(0 if abs(errors[extrema[0]]) < abs(errors[extrema[-1]]) else -1)
        moved = [samples[place][0] for place in extrema]
        if len(extrema) < count + 1 or moved == points:
            break
        points = moved
    return [rounded(c) for c in coefficients]


def polynomials():
    """What the functions leave over when their first terms are taken out."""
    def sin_rest(z):
        return (sin(sqrt(z)) - sqrt(z)) / (sqrt(z) * z)

    def cos_rest(z):
        return (cos(sqrt(z)) - 1 + z / 2) / z ** 2

    def exp_rest(r):
        r = r if r != 0 else NEARLY_ZERO
        return (exp(r) - 1 - r) / r ** 2

    def log_rest(f):
        f = f if f != 0 else NEARLY_ZERO
        return (log1p(f) - f + f * f / 2) / f ** 3

    def atan_rest(z):
        return (atan(sqrt(z)) - sqrt(z)) / (sqrt(z) * z)

    def sin_weight(z):
        return z * sqrt(z) / sin(sqrt(z))

    def cos_weight(z):
        return z * z / cos(sqrt(z))

    def exp_weight(r):
        return r * r / exp(r)

    def log_weight(f):
        return f * f * (1 if f == 0 else f / log1p(f))

    def atan_weight(z):
        return z * sqrt(z) / atan(sqrt(z))

    sixteenth, quarter_turn = mpf(1) / 1024 * mpf("1.000001"), (pi / 4 * mpf("1.0000001")) ** 2
    exp_slice, exp_half = log(2) / 32 * mpf("1.0001"), log(2) / 2 * mpf("1.0000001")
    log_slice, atan_slice = mpf(1) / 64 * mpf("1.0000001"), mpf("0.1635") ** 2
    return {
        "kSin": minimax(sin_rest, sin_weight, NEARLY_ZERO, sixteenth, 3),
        "kCos": minimax(cos_rest, cos_weight, NEARLY_ZERO, sixteenth, 2),
        "kSinShort": minimax(sin_rest, sin_weight, NEARLY_ZERO, quarter_turn, 4),
        "kCosShort": minimax(cos_rest, cos_weight, NEARLY_ZERO, quarter_turn, 4),
        "kExp": minimax(exp_rest, exp_weight, -exp_slice, exp_slice, 6),
        "kExpShort": minimax(exp_rest, exp_weight, -exp_half, exp_half, 7),
        "kLog": minimax(log_rest, log_weight, -log_slice, log_slice, 8),
        "kLogShort": minimax(log_rest, log_weight, -log_slice, log_slice, 5),
        "kAtan": minimax(atan_rest, atan_weight, NEARLY_ZERO, atan_slice, 7),
        "kAtanShort": minimax(atan_rest, atan_weight, NEARLY_ZERO, atan_slice, 4),
    }


def constants():
    first = multiple_of(pi / 2, -32)
    second = multiple_of(pi / 2 - first, -66)
    ln2_high, ln2_upper = multiple_of(log(2), -38), rounded(log(2), 26)
    return {
        "kTwoOverPi": [rounded(2 / pi)],
        "kPi": double_double(pi), "kHalfPi": double_double(pi / 2),
        "kHalfPi1": [first], "kHalfPi2": [second], "kHalfPi3": [rounded(pi / 2 - first - second)],
        "kHalfPi2Rest": [rounded(pi / 2 - first)],
        "kLn2Hi": [ln2_high], "kLn2Lo": [rounded(log(2) - ln2_high)],
        "kLn2Upper": [ln2_upper], "kLn2Lower": [rounded(log(2) - ln2_upper)],
        "kLog2E": double_double(1 / log(2)),
    }


def log_slices():
    """For each slice of [90/128, 91/64): an inverse of nine bits, and minus its logarithm in two parts."""
    numbers = []
    for i in range(64):
        low, width = (mpf(90 + i) / 128, mpf(1) / 128) if i < 38 else (1 + mpf(i - 38) / 64, mpf(1) / 64)
        inverse = mpf(1) if i in (37, 38) else multiple_of(2 / (2 * low + width), -9)
        high = multiple_of(-log(inverse), -42)
        numbers += [inverse, high, rounded(-log(inverse) - high)]
    return numbers


def two_over_pi_words():
    mp.prec = 1400
    rest, words = 2 / pi, [0]
    for _ in range(19):
        rest *= 2 ** 64
        words.append(int(floor(rest)))
        rest -= floor(rest)
    mp.prec = 300
    return words


def tables():
    sixteenths = [double_double(f(mpf(k) / 16)) for k in range(14) for f in (sin, cos)]
    pivots = (0, mpf(1) / 4, mpf(1) / 2, mpf(1))
    bases = [double_double(base + sign * atan(pivot))
             for base, sign in ((0, 1), (pi / 2, -1), (pi / 2, 1), (pi, -1)) for pivot in pivots]
    return polynomials() | constants() | {
        "kSixteenths": sum(sixteenths, []),
        "kRootsOfTwo": sum((double_double(mpf(2) ** (mpf(i) / 16)) for i in range(16)), []),
        "kAtanBase": sum(bases, []),
        "kLogSlices": log_slices(),
        "kTwoOverPiWords": two_over_pi_words(),
    }


def numbers_in_header(name, text):
    definition = re.search(rf"\b{name}\b\s*(?:=\s*)?([^;]*);", text).group(1)
    literals = re.findall(r"-?0x[0-9a-f.']+p[+-]?\d+|-?0x[0-9a-f']+|-?\d+\.\d*|-?\b\d+\b", definition)
    return [float.fromhex(x) if "p" in x else int(x.replace("'", ""), 16) if "x" in x else float(x) for x in literals]


def main():
    text = re.sub(r"//[^\n]*", "", HEADER.read_text())
    wrong = 0
    for name, derived in tables().items():
        derived = [x if isinstance(x, int) else float(x) for x in derived]
        found = numbers_in_header(name, text)
        same = len(found) == len(derived) and all(a == b for a, b in zip(found, derived))
        print(f"{name}: {len(derived)} numbers, {'as in the header' if same else 'NOT as in the header'}")
        if not same:
            wrong += 1
            print("  derived:", ", ".join(x.hex() if isinstance(x, float) else hex(x) for x in derived))
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
