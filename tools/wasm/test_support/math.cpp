// The host's elementary functions under their usual names, so that tests can compare our deterministic ones
// with an independent implementation. The numbers are those of the table in host/imports.mjs.
#include "host.hpp"

#include <cmath>

extern "C" {

double sin(double x) {
    return ouro::wasm_host::math1(0, x);
}
double cos(double x) {
    return ouro::wasm_host::math1(1, x);
}
double tan(double x) {
    return ouro::wasm_host::math1(2, x);
}
double asin(double x) {
    return ouro::wasm_host::math1(3, x);
}
double acos(double x) {
    return ouro::wasm_host::math1(4, x);
}
double atan(double x) {
    return ouro::wasm_host::math1(5, x);
}
double exp(double x) {
    return ouro::wasm_host::math1(6, x);
}
double log(double x) {
    return ouro::wasm_host::math1(7, x);
}
double log2(double x) {
    return ouro::wasm_host::math1(8, x);
}
double log10(double x) {
    return ouro::wasm_host::math1(9, x);
}
double cbrt(double x) {
    return ouro::wasm_host::math1(10, x);
}
double atan2(double y, double x) {
    return ouro::wasm_host::math2(0, y, x);
}
double pow(double x, double y) {
    return ouro::wasm_host::math2(1, x, y);
}
double fmod(double x, double y) {
    return ouro::wasm_host::math2(2, x, y);
}

float sinf(float x) {
    return static_cast<float>(sin(static_cast<double>(x)));
}
float cosf(float x) {
    return static_cast<float>(cos(static_cast<double>(x)));
}
float atan2f(float y, float x) {
    return static_cast<float>(atan2(static_cast<double>(y), static_cast<double>(x)));
}
float expf(float x) {
    return static_cast<float>(exp(static_cast<double>(x)));
}
float logf(float x) {
    return static_cast<float>(log(static_cast<double>(x)));
}
float powf(float x, float y) {
    return static_cast<float>(pow(static_cast<double>(x), static_cast<double>(y)));
}
float fmodf(float x, float y) {
    return static_cast<float>(fmod(static_cast<double>(x), static_cast<double>(y)));
}

// Exact but for one rounding: scaling down stops where the last step alone can reach the denormals.
double ldexp(double x, int exponent) {
    constexpr int kBeyondAll = 2200;
    if (exponent > kBeyondAll) exponent = kBeyondAll;
    if (exponent < -kBeyondAll) exponent = -kBeyondAll;
    for (; exponent > 1023; exponent -= 1023)
        x *= 0x1p1023;
    for (; exponent < -1022; exponent += 969)
        x *= 0x1p-969;
    return x * __builtin_bit_cast(double, static_cast<unsigned long long>(1023 + exponent) << 52);
}

float ldexpf(float x, int exponent) {
    return static_cast<float>(ldexp(static_cast<double>(x), exponent));
}

}  // extern "C"
