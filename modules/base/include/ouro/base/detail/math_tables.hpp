#pragma once

// Constants of ouro::math. The polynomials are minimax approximations (Remez exchange at 300 bits, weighted
// for the relative error of the whole function) with coefficients rounded to double; "short" ones serve
// float.

#include <ouro/base/detail/math_core.hpp>

#include <array>
#include <cstdint>

namespace ouro::math::detail {

// sin(d) = d + d z S(z) and cos(d) = 1 - z/2 + z^2 C(z), with z = d^2 and |d| <= 1/32.
inline constexpr std::array<double, 3> kSin = {-0x1.5555555555544p-3, 0x1.1111110f7537ep-7,
                                               -0x1.a0173b276a802p-13};
inline constexpr std::array<double, 2> kCos = {0x1.5555555374b12p-5, -0x1.6c1438e153a9cp-10};
// The same for |d| <= pi/4.
inline constexpr std::array<double, 4> kSinShort = {-0x1.5555554c71e2bp-3, 0x1.1111086a6bf73p-7,
                                                    -0x1.a00f7f2ea75ecp-13, 0x1.6cd1f39a8a8a3p-19};
inline constexpr std::array<double, 4> kCosShort = {0x1.5555554ed99d5p-5, -0x1.6c16b82a2bb39p-10,
                                                    0x1.a010dedc74c94p-16, -0x1.241e9e2751176p-22};

// sin(k/16) and cos(k/16).
inline constexpr std::array<std::array<Dd, 2>, 14> kSixteenths = {{
    {{Dd{0x0.0p+0, 0x0.0p+0}, Dd{0x1.0000000000000p+0, 0x0.0p+0}}},
    {{Dd{0x1.ffaaaeeed4edbp-5, -0x1.2d16d32684b69p-59}, Dd{0x1.ff0015549f4d3p-1, 0x1.328387b99426fp-55}}},
    {{Dd{0x1.feaaeee86ee36p-4, -0x1.afcb2bcc6f03bp-59}, Dd{0x1.fc015527d5bd3p-1, 0x1.b68f35094efb8p-55}}},
    {{Dd{0x1.7dc102fbaf2b5p-3, 0x1.5ab50e23c97c3p-59}, Dd{0x1.f706bdf9ece1cp-1, -0x1.698c80c36dcb4p-55}}},
    {{Dd{0x1.faaeed4f31577p-3, -0x1.15d88508e32b8p-57}, Dd{0x1.f01549f7deea1p-1, 0x1.d3c1e99e5cafdp-55}}},
    {{Dd{0x1.3ad129769d3d8p-2, 0x1.03d550487839ap-63}, Dd{0x1.e733ea0193d40p-1, -0x1.6428b3546ce13p-55}}},
    {{Dd{0x1.7710255764214p-2, -0x1.6ead7314bb6cep-57}, Dd{0x1.dc6b7eb995912p-1, 0x1.4b364776dcd35p-58}}},
    {{Dd{0x1.b1d8305321617p-2, -0x1.ae242cb99f519p-56}, Dd{0x1.cfc6cfa52ad9fp-1, 0x1.8b5b5508f2a0dp-55}}},
    {{Dd{0x1.eaee8744b05f0p-2, -0x1.789b43c9b027dp-58}, Dd{0x1.c1528065b7d50p-1, -0x1.892111312e828p-55}}},
    {{Dd{0x1.110d0c4b69c3bp-1, 0x1.d918998809981p-55}, Dd{0x1.b11d04162a4c6p-1, 0x1.1dd561efbc0c2p-56}}},
    {{Dd{0x1.2b91dea88421ep-1, -0x1.fa371db216ab0p-55}, Dd{0x1.9f368ed912f85p-1, -0x1.1d200c5791606p-55}}},
    {{Dd{0x1.44eb381cf386bp-1, -0x1.3ed6c1e6a5505p-55}, Dd{0x1.8bb105a5dc900p-1, 0x1.863e03e9474c1p-55}}},
    {{Dd{0x1.5cffc16bf8f0dp-1, 0x1.96cb370eb578ap-55}, Dd{0x1.769fec655211fp-1, -0x1.827d5cf8c68c5p-57}}},
    {{Dd{0x1.73b7680dea578p-1, -0x1.2248306dc12a2p-56}, Dd{0x1.6018526f563dfp-1, 0x1.46ca5e0e432d0p-55}}},
}};

// exp(r) = 1 + r + r^2 E(r), |r| <= ln(2)/32.
inline constexpr std::array<double, 6> kExp = {0x1.0000000000004p-1,  0x1.5555555555545p-3,
                                               0x1.55555554801efp-5,  0x1.111111125d0b4p-7,
                                               0x1.6c1840fcb9047p-10, 0x1.a01910eeec0afp-13};
// The same for |r| <= ln(2)/2.
inline constexpr std::array<double, 7> kExpShort = {
    0x1.000000005ddb3p-1,  0x1.5555557dcc7a5p-3,  0x1.5555541e7f0b1p-5, 0x1.1110a26b4e78cp-7,
    0x1.6c18d302b4e0ap-10, 0x1.a1854cbfd1492p-13, 0x1.9e893cff0f8d2p-16};

// 2^(i/16).
inline constexpr std::array<Dd, 16> kRootsOfTwo = {{
    Dd{0x1.0000000000000p+0, 0x0.0p+0},
    Dd{0x1.0b5586cf9890fp+0, 0x1.8a62e4adc610bp-54},
    Dd{0x1.172b83c7d517bp+0, -0x1.19041b9d78a76p-55},
    Dd{0x1.2387a6e756238p+0, 0x1.9b07eb6c70573p-54},
    Dd{0x1.306fe0a31b715p+0, 0x1.6f46ad23182e4p-55},
    Dd{0x1.3dea64c123422p+0, 0x1.ada0911f09ebcp-55},
    Dd{0x1.4bfdad5362a27p+0, 0x1.d4397afec42e2p-56},
    Dd{0x1.5ab07dd485429p+0, 0x1.6324c054647adp-54},
    Dd{0x1.6a09e667f3bcdp+0, -0x1.bdd3413b26456p-54},
    Dd{0x1.7a11473eb0187p+0, -0x1.41577ee04992fp-55},
    Dd{0x1.8ace5422aa0dbp+0, 0x1.6e9f156864b27p-54},
    Dd{0x1.9c49182a3f090p+0, 0x1.c7c46b071f2bep-56},
    Dd{0x1.ae89f995ad3adp+0, 0x1.7a1cd345dcc81p-54},
    Dd{0x1.c199bdd85529cp+0, 0x1.11065895048ddp-55},
    Dd{0x1.d5818dcfba487p+0, 0x1.2ed02d75b3707p-55},
    Dd{0x1.ea4afa2a490dap+0, -0x1.e9c23179c2893p-54},
}};

// log(1 + f) = f - f^2/2 + f^3 L(f), |f| <= 1/64.
inline constexpr std::array<double, 8> kLog = {
    0x1.5555555555555p-2, -0x1.fffffffffffffp-3, 0x1.99999999a17b4p-3, -0x1.555555555f7d4p-3,
    0x1.249247a7730b0p-3, -0x1.fffffcb67370bp-4, 0x1.c7552ae440784p-4, -0x1.99d1dbf7e63d2p-4};
inline constexpr std::array<double, 5> kLogShort = {0x1.5555555556053p-2, -0x1.ffffff7c28dc4p-3,
                                                    0x1.999998d7ff701p-3, -0x1.556d287f0a296p-3,
                                                    0x1.24ab071d619dap-3};

// atan(t) = t + t z A(z), with z = t^2 and |t| <= 0.1635.
inline constexpr std::array<double, 7> kAtan = {
    -0x1.555555555553cp-2, 0x1.999999998de3dp-3, -0x1.24924915c2055p-3, 0x1.c71c5ffda4034p-4,
    -0x1.74575e8a79a04p-4, 0x1.3a0fc9c98e836p-4, -0x1.f1e173fac532cp-5};
inline constexpr std::array<double, 4> kAtanShort = {-0x1.55555520da5a1p-2, 0x1.999903ff4730dp-3,
                                                     -0x1.244fd95f22477p-3, 0x1.afb71c1bcbc85p-4};

inline constexpr double kTwoOverPi = 0x1.45f306dc9c883p-1;
inline constexpr Dd kPi{0x1.921fb54442d18p+1, 0x1.1a62633145c07p-53};
inline constexpr Dd kHalfPi{0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54};

// pi/2 in three parts; the first two leave room for an exact product with an integer of 20 bits.
inline constexpr double kHalfPi1 = 0x1.921fb54400000p+0;
inline constexpr double kHalfPi2 = 0x1.0b4611a600000p-34;
inline constexpr double kHalfPi3 = 0x1.3198a2e037073p-69;
// pi/2 - kHalfPi1 in one piece.
inline constexpr double kHalfPi2Rest = 0x1.0b4611a626331p-34;

// ln 2 in two parts; the first is a multiple of 2^-38, so its product with 16 times an exponent is exact.
inline constexpr double kLn2Hi = 0x1.62e42fefa0000p-1;
inline constexpr double kLn2Lo = 0x1.cf79abc9e3b3ap-40;
// ln 2 again, the first part of 26 bits.
inline constexpr double kLn2Upper = 0x1.62e4300000000p-1;
inline constexpr double kLn2Lower = -0x1.05c610ca86c39p-29;
inline constexpr Dd kLog2E{0x1.71547652b82fep+0, 0x1.777d0ffda0d24p-56};

// The arc tangent of c = 0, 1/4, 1/2, 1, seen from each octant: atan c, pi/2 - atan c, pi/2 + atan c,
// pi - atan c.
inline constexpr std::array<double, 4> kAtanPivots = {0.0, 0.25, 0.5, 1.0};
inline constexpr std::array<std::array<Dd, 4>, 4> kAtanBase = {{
    {{Dd{0x0.0p+0, 0x0.0p+0}, Dd{0x1.f5b75f92c80ddp-3, 0x1.8ab6e3cf7afbdp-57},
      Dd{0x1.dac670561bb4fp-2, 0x1.a2b7f222f65e2p-56}, Dd{0x1.921fb54442d18p-1, 0x1.1a62633145c07p-55}}},
    {{Dd{0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54}, Dd{0x1.5368c951e9cfdp+0, -0x1.96f47948a99f1p-54},
      Dd{0x1.1b6e192ebbe44p+0, 0x1.b1b466a88828ep-54}, Dd{0x1.921fb54442d18p-1, 0x1.1a62633145c07p-55}}},
    {{Dd{0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54}, Dd{0x1.d0d6a1369bd34p+0, -0x1.a23602a65700cp-57},
      Dd{0x1.0468a8ace4df6p+1, 0x1.0620bf7406affp-55}, Dd{0x1.2d97c7f3321d2p+1, 0x1.a79394c9e8a0ap-54}}},
    {{Dd{0x1.921fb54442d18p+1, 0x1.1a62633145c07p-53}, Dd{0x1.72c43f4b1650ap+1, 0x1.c1b6f4f44e10bp-53},
      Dd{0x1.56c6e7397f5aep+1, 0x1.660b64ece6f4bp-53}, Dd{0x1.2d97c7f3321d2p+1, 0x1.a79394c9e8a0ap-54}}},
}};

// The logarithm's table: the significand range [90/128, 180/128) in 64 slices of equal bit patterns. A slice
// holds a factor of at most 9 fractional bits near the reciprocal of its middle, and minus the factor's
// logarithm (hi is a multiple of 2^-42). The two slices around 1 have the factor 1, which keeps log accurate
// there.
struct LogSlice {
    double factor;
    double hi;
    double lo;
};
inline constexpr std::uint64_t kLogFirstSlice = 0x3fe6'8000'0000'0000u;
inline constexpr std::array<LogSlice, 64> kLogSlices = {{
    {0x1.6a00000000000p+0, -0x1.62c82f2b9c000p-2, -0x1.e54bdbd7c8a98p-44},
    {0x1.6600000000000p+0, -0x1.5767717456000p-2, 0x1.64ead9524d7cap-44},
    {0x1.6200000000000p+0, -0x1.4be5f95778000p-2, 0x1.d7c92cd9ad824p-44},
    {0x1.5e80000000000p+0, -0x1.41b941cce1000p-2, 0x1.0469013e43fc9p-44},
    {0x1.5b00000000000p+0, -0x1.3772662bfe000p-2, 0x1.e9436ac53b023p-44},
    {0x1.5700000000000p+0, -0x1.2b9303ab8a000p-2, 0x1.6db12d6bfb0a5p-45},
    {0x1.5380000000000p+0, -0x1.2112559861000p-2, -0x1.82e78ba2950c4p-44},
    {0x1.5000000000000p+0, -0x1.1675cababa000p-2, -0x1.8380e731f55c4p-44},
    {0x1.4c80000000000p+0, -0x1.0bbccdb0d2000p-2, -0x1.2f32ccc5dcdfbp-44},
    {0x1.4980000000000p+0, -0x1.0274dc16c2000p-2, -0x1.979e89cf835c2p-45},
    {0x1.4600000000000p+0, -0x1.ef0adcbdc6000p-3, 0x1.b26b79c86af24p-45},
    {0x1.4300000000000p+0, -0x1.dc1bca0abe000p-3, -0x1.8fac1a628ccc6p-44},
    {0x1.3f80000000000p+0, -0x1.c5cba543ae000p-3, -0x1.0929decb454fcp-45},
    {0x1.3c80000000000p+0, -0x1.b2797ee464000p-3, 0x1.be88a906d00a9p-44},
    {0x1.3980000000000p+0, -0x1.9ef83d276a000p-3, 0x1.730b7b3f9ce00p-45},
    {0x1.3680000000000p+0, -0x1.8b46f82236000p-3, -0x1.2d9f2102dd7c9p-46},
    {0x1.3380000000000p+0, -0x1.7764c128f2000p-3, -0x1.274903479e3d1p-47},
    {0x1.3100000000000p+0, -0x1.66acd4272a000p-3, -0x1.aa1bdbfc6c785p-44},
    {0x1.2e00000000000p+0, -0x1.526e5e3a1c000p-3, 0x1.790ba37fc5238p-44},
    {0x1.2b80000000000p+0, -0x1.41682bf728000p-3, 0x1.10047081f849dp-45},
    {0x1.2880000000000p+0, -0x1.2cca0f5f60000p-3, 0x1.b5ef191aff120p-44},
    {0x1.2600000000000p+0, -0x1.1b72ad52f6000p-3, -0x1.e80a41811a396p-45},
    {0x1.2380000000000p+0, -0x1.09f561ee72000p-3, 0x1.8f3057157d1a8p-45},
    {0x1.2080000000000p+0, -0x1.e98b549670000p-4, -0x1.4677489c50e97p-44},
    {0x1.1e00000000000p+0, -0x1.c5e548f5bc000p-4, -0x1.d0c57585fbe06p-46},
    {0x1.1b80000000000p+0, -0x1.a1ef1d8060000p-4, -0x1.cd4176df97bcbp-44},
    {0x1.1980000000000p+0, -0x1.84ef898e84000p-4, 0x1.7d5cd246977c9p-44},
    {0x1.1700000000000p+0, -0x1.60658a9374000p-4, -0x1.0c3b1dee9c4f8p-44},
    {0x1.1480000000000p+0, -0x1.3b87598b1c000p-4, 0x1.2241594aca313p-45},
    {0x1.1200000000000p+0, -0x1.16536eea38000p-4, 0x1.47c5e768fa309p-46},
    {0x1.1000000000000p+0, -0x1.f0a30c0118000p-5, 0x1.d599e83368e91p-45},
    {0x1.0d80000000000p+0, -0x1.a4fe9ffa40000p-5, 0x1.6e584a0402925p-44},
    {0x1.0b80000000000p+0, -0x1.67f94f0948000p-5, -0x1.ecc1f3e7e4ed7p-44},
    {0x1.0980000000000p+0, -0x1.2a7ec22150000p-5, 0x1.78ce77a9163fep-45},
    {0x1.0700000000000p+0, -0x1.b9fc027b00000p-6, 0x1.b9a010ae6922ap-44},
    {0x1.0500000000000p+0, -0x1.3cea443470000p-6, 0x1.6a2c432d6a40bp-44},
    {0x1.0300000000000p+0, -0x1.7dc475f820000p-7, 0x1.eb1245b5da1f5p-44},
    {0x1.0000000000000p+0, 0x0.0p+0, 0x0.0p+0},
    {0x1.0000000000000p+0, 0x0.0p+0, 0x0.0p+0},
    {0x1.f400000000000p-1, 0x1.8492528c90000p-6, -0x1.aa0ba325a0c34p-45},
    {0x1.ed00000000000p-1, 0x1.35c8bfaa10000p-5, 0x1.8357d5ef9eb35p-44},
    {0x1.e500000000000p-1, 0x1.bbcebfc690000p-5, -0x1.7bf868c317c2ap-46},
    {0x1.de00000000000p-1, 0x1.1973bd1464000p-4, 0x1.566d154f930b3p-44},
    {0x1.d700000000000p-1, 0x1.55e10050e0000p-4, 0x1.c1d740c53c72ep-47},
    {0x1.d100000000000p-1, 0x1.8a6477a91c000p-4, 0x1.c28c0af9bd6dfp-44},
    {0x1.ca00000000000p-1, 0x1.c885801bc4000p-4, 0x1.646d1c65aacd3p-45},
    {0x1.c400000000000p-1, 0x1.fe89139dbc000p-4, 0x1.56594d82f7a82p-44},
    {0x1.be00000000000p-1, 0x1.1aa2b7e240000p-3, -0x1.1ac38dde3b366p-44},
    {0x1.b800000000000p-1, 0x1.365fcb015a000p-3, -0x1.fd3a0afb9691bp-44},
    {0x1.b200000000000p-1, 0x1.527e5e4a1c000p-3, -0x1.4e60b8d4b411dp-44},
    {0x1.ac00000000000p-1, 0x1.6f0128b756000p-3, 0x1.577390d31ef0fp-44},
    {0x1.a700000000000p-1, 0x1.871213750e000p-3, 0x1.328eb42f9af75p-44},
    {0x1.a100000000000p-1, 0x1.a454082e6a000p-3, 0x1.60a77c81f7171p-44},
    {0x1.9c00000000000p-1, 0x1.bd087383be000p-3, -0x1.d4bc4595412b6p-45},
    {0x1.9700000000000p-1, 0x1.d60a17f904000p-3, -0x1.5d6e06fc20d39p-44},
    {0x1.9200000000000p-1, 0x1.ef5ade4dd0000p-3, -0x1.a211565bb8e11p-51},
    {0x1.8d00000000000p-1, 0x1.047e60cde8000p-2, 0x1.dbdf10d397f3cp-45},
    {0x1.8800000000000p-1, 0x1.1178e8227e000p-2, 0x1.1ef78ce2d07f2p-44},
    {0x1.8400000000000p-1, 0x1.1bf99635a7000p-2, -0x1.1ac89575c2125p-44},
    {0x1.7f00000000000p-1, 0x1.2941afb187000p-2, -0x1.210c2b730e28bp-44},
    {0x1.7b00000000000p-1, 0x1.3401e12aed000p-2, -0x1.17c73556e291dp-44},
    {0x1.7600000000000p-1, 0x1.419b423d5f000p-2, -0x1.ce379226de3ecp-44},
    {0x1.7200000000000p-1, 0x1.4c9e09e173000p-2, -0x1.e20891b0ad8a4p-45},
    {0x1.6e00000000000p-1, 0x1.57bf753c8d000p-2, 0x1.fadedee5d40efp-46},
}};

// The binary fraction of 2/pi, most significant word first, after one word of zeros.
inline constexpr std::array<std::uint64_t, 20> kTwoOverPiWords = {0,
                                                                  0xa2f9836e4e441529u,
                                                                  0xfc2757d1f534ddc0u,
                                                                  0xdb6295993c439041u,
                                                                  0xfe5163abdebbc561u,
                                                                  0xb7246e3a424dd2e0u,
                                                                  0x06492eea09d1921cu,
                                                                  0xfe1deb1cb129a73eu,
                                                                  0xe88235f52ebb4484u,
                                                                  0xe99c7026b45f7e41u,
                                                                  0x3991d639835339f4u,
                                                                  0x9c845f8bbdf9283bu,
                                                                  0x1ff897ffde05980fu,
                                                                  0xef2f118b5a0a6d1fu,
                                                                  0x6d367ecf27cb09b7u,
                                                                  0x4f463f669e5fea2du,
                                                                  0x7527bac7ebe5f17bu,
                                                                  0x3d0739f78a5292eau,
                                                                  0x6bfb5fb11f8d5d08u,
                                                                  0x56033046fc7b6babu};

}  // namespace ouro::math::detail
