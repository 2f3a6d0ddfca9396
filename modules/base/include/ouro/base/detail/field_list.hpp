#pragma once

#include <ouro/base/detail/field_count.hpp>

#include <cstddef>
#include <type_traits>
#include <utility>

// The types of an aggregate's fields. The language gives them only to whoever names all fields at once.
namespace ouro::detail {

template <class... Fields>
struct FieldList {};

template <std::size_t kCount, class T>
auto list_1_to_8(T& value) {
    if constexpr (kCount == 1) {
        [[maybe_unused]] auto& [f0] = value;
        return FieldList<decltype(f0)>{};
    } else if constexpr (kCount == 2) {
        [[maybe_unused]] auto& [f0, f1] = value;
        return FieldList<decltype(f0), decltype(f1)>{};
    } else if constexpr (kCount == 3) {
        [[maybe_unused]] auto& [f0, f1, f2] = value;
        return FieldList<decltype(f0), decltype(f1), decltype(f2)>{};
    } else if constexpr (kCount == 4) {
        [[maybe_unused]] auto& [f0, f1, f2, f3] = value;
        return FieldList<decltype(f0), decltype(f1), decltype(f2), decltype(f3)>{};
    } else if constexpr (kCount == 5) {
        [[maybe_unused]] auto& [f0, f1, f2, f3, f4] = value;
        return FieldList<decltype(f0), decltype(f1), decltype(f2), decltype(f3), decltype(f4)>{};
    } else if constexpr (kCount == 6) {
        [[maybe_unused]] auto& [f0, f1, f2, f3, f4, f5] = value;
        return FieldList<decltype(f0), decltype(f1), decltype(f2), decltype(f3), decltype(f4),
                         decltype(f5)>{};
    } else if constexpr (kCount == 7) {
        [[maybe_unused]] auto& [f0, f1, f2, f3, f4, f5, f6] = value;
        return FieldList<decltype(f0), decltype(f1), decltype(f2), decltype(f3), decltype(f4), decltype(f5),
                         decltype(f6)>{};
    } else {
        [[maybe_unused]] auto& [f0, f1, f2, f3, f4, f5, f6, f7] = value;
        return FieldList<decltype(f0), decltype(f1), decltype(f2), decltype(f3), decltype(f4), decltype(f5),
                         decltype(f6), decltype(f7)>{};
    }
}

template <std::size_t kCount, class T>
auto list_9_to_13(T& value) {
    if constexpr (kCount == 9) {
        [[maybe_unused]] auto& [f0, f1, f2, f3, f4, f5, f6, f7, f8] = value;
        return FieldList<decltype(f0), decltype(f1), decltype(f2), decltype(f3), decltype(f4), decltype(f5),
                         decltype(f6), decltype(f7), decltype(f8)>{};
    } else if constexpr (kCount == 10) {
        [[maybe_unused]] auto& [f0, f1, f2, f3, f4, f5, f6, f7, f8, f9] = value;
        return FieldList<decltype(f0), decltype(f1), decltype(f2), decltype(f3), decltype(f4), decltype(f5),
                         decltype(f6), decltype(f7), decltype(f8), decltype(f9)>{};
    } else if constexpr (kCount == 11) {
        [[maybe_unused]] auto& [f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10] = value;
        return FieldList<decltype(f0), decltype(f1), decltype(f2), decltype(f3), decltype(f4), decltype(f5),
                         decltype(f6), decltype(f7), decltype(f8), decltype(f9), decltype(f10)>{};
    } else if constexpr (kCount == 12) {
        [[maybe_unused]] auto& [f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11] = value;
        return FieldList<decltype(f0), decltype(f1), decltype(f2), decltype(f3), decltype(f4), decltype(f5),
                         decltype(f6), decltype(f7), decltype(f8), decltype(f9), decltype(f10),
                         decltype(f11)>{};
    } else {
        [[maybe_unused]] auto& [f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12] = value;
        return FieldList<decltype(f0), decltype(f1), decltype(f2), decltype(f3), decltype(f4), decltype(f5),
                         decltype(f6), decltype(f7), decltype(f8), decltype(f9), decltype(f10), decltype(f11),
                         decltype(f12)>{};
    }
}

template <std::size_t kCount, class T>
auto list_14_to_18(T& value) {
    if constexpr (kCount == 14) {
        [[maybe_unused]] auto& [f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13] = value;
        return FieldList<decltype(f0), decltype(f1), decltype(f2), decltype(f3), decltype(f4), decltype(f5),
                         decltype(f6), decltype(f7), decltype(f8), decltype(f9), decltype(f10), decltype(f11),
                         decltype(f12), decltype(f13)>{};
    } else if constexpr (kCount == 15) {
        [[maybe_unused]] auto& [f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14] = value;
        return FieldList<decltype(f0), decltype(f1), decltype(f2), decltype(f3), decltype(f4), decltype(f5),
                         decltype(f6), decltype(f7), decltype(f8), decltype(f9), decltype(f10), decltype(f11),
                         decltype(f12), decltype(f13), decltype(f14)>{};
    } else if constexpr (kCount == 16) {
        [[maybe_unused]] auto& [f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15] = value;
        return FieldList<decltype(f0), decltype(f1), decltype(f2), decltype(f3), decltype(f4), decltype(f5),
                         decltype(f6), decltype(f7), decltype(f8), decltype(f9), decltype(f10), decltype(f11),
                         decltype(f12), decltype(f13), decltype(f14), decltype(f15)>{};
    } else if constexpr (kCount == 17) {
        [[maybe_unused]] auto& [f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16] =
            value;
        return FieldList<decltype(f0), decltype(f1), decltype(f2), decltype(f3), decltype(f4), decltype(f5),
                         decltype(f6), decltype(f7), decltype(f8), decltype(f9), decltype(f10), decltype(f11),
                         decltype(f12), decltype(f13), decltype(f14), decltype(f15), decltype(f16)>{};
    } else {
        [[maybe_unused]] auto& [f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16,
                                f17] = value;
        return FieldList<decltype(f0), decltype(f1), decltype(f2), decltype(f3), decltype(f4), decltype(f5),
                         decltype(f6), decltype(f7), decltype(f8), decltype(f9), decltype(f10), decltype(f11),
                         decltype(f12), decltype(f13), decltype(f14), decltype(f15), decltype(f16),
                         decltype(f17)>{};
    }
}

template <std::size_t kCount, class T>
auto list_19_to_22(T& value) {
    if constexpr (kCount == 19) {
        [[maybe_unused]] auto& [f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16,
                                f17, f18] = value;
        return FieldList<decltype(f0), decltype(f1), decltype(f2), decltype(f3), decltype(f4), decltype(f5),
                         decltype(f6), decltype(f7), decltype(f8), decltype(f9), decltype(f10), decltype(f11),
                         decltype(f12), decltype(f13), decltype(f14), decltype(f15), decltype(f16),
                         decltype(f17), decltype(f18)>{};
    } else if constexpr (kCount == 20) {
        [[maybe_unused]] auto& [f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16,
                                f17, f18, f19] = value;
        return FieldList<decltype(f0), decltype(f1), decltype(f2), decltype(f3), decltype(f4), decltype(f5),
                         decltype(f6), decltype(f7), decltype(f8), decltype(f9), decltype(f10), decltype(f11),
                         decltype(f12), decltype(f13), decltype(f14), decltype(f15), decltype(f16),
                         decltype(f17), decltype(f18), decltype(f19)>{};
    } else if constexpr (kCount == 21) {
        [[maybe_unused]] auto& [f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16,
                                f17, f18, f19, f20] = value;
        return FieldList<decltype(f0), decltype(f1), decltype(f2), decltype(f3), decltype(f4), decltype(f5),
                         decltype(f6), decltype(f7), decltype(f8), decltype(f9), decltype(f10), decltype(f11),
                         decltype(f12), decltype(f13), decltype(f14), decltype(f15), decltype(f16),
                         decltype(f17), decltype(f18), decltype(f19), decltype(f20)>{};
    } else {
        [[maybe_unused]] auto& [f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16,
                                f17, f18, f19, f20, f21] = value;
        return FieldList<decltype(f0), decltype(f1), decltype(f2), decltype(f3), decltype(f4), decltype(f5),
                         decltype(f6), decltype(f7), decltype(f8), decltype(f9), decltype(f10), decltype(f11),
                         decltype(f12), decltype(f13), decltype(f14), decltype(f15), decltype(f16),
                         decltype(f17), decltype(f18), decltype(f19), decltype(f20), decltype(f21)>{};
    }
}

template <std::size_t kCount, class T>
auto list_23_to_25(T& value) {
    if constexpr (kCount == 23) {
        [[maybe_unused]] auto& [f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16,
                                f17, f18, f19, f20, f21, f22] = value;
        return FieldList<decltype(f0), decltype(f1), decltype(f2), decltype(f3), decltype(f4), decltype(f5),
                         decltype(f6), decltype(f7), decltype(f8), decltype(f9), decltype(f10), decltype(f11),
                         decltype(f12), decltype(f13), decltype(f14), decltype(f15), decltype(f16),
                         decltype(f17), decltype(f18), decltype(f19), decltype(f20), decltype(f21),
                         decltype(f22)>{};
    } else if constexpr (kCount == 24) {
        [[maybe_unused]] auto& [f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16,
                                f17, f18, f19, f20, f21, f22, f23] = value;
        return FieldList<decltype(f0), decltype(f1), decltype(f2), decltype(f3), decltype(f4), decltype(f5),
                         decltype(f6), decltype(f7), decltype(f8), decltype(f9), decltype(f10), decltype(f11),
                         decltype(f12), decltype(f13), decltype(f14), decltype(f15), decltype(f16),
                         decltype(f17), decltype(f18), decltype(f19), decltype(f20), decltype(f21),
                         decltype(f22), decltype(f23)>{};
    } else {
        [[maybe_unused]] auto& [f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16,
                                f17, f18, f19, f20, f21, f22, f23, f24] = value;
        return FieldList<decltype(f0), decltype(f1), decltype(f2), decltype(f3), decltype(f4), decltype(f5),
                         decltype(f6), decltype(f7), decltype(f8), decltype(f9), decltype(f10), decltype(f11),
                         decltype(f12), decltype(f13), decltype(f14), decltype(f15), decltype(f16),
                         decltype(f17), decltype(f18), decltype(f19), decltype(f20), decltype(f21),
                         decltype(f22), decltype(f23), decltype(f24)>{};
    }
}

template <std::size_t kCount, class T>
auto list_26_to_28(T& value) {
    if constexpr (kCount == 26) {
        [[maybe_unused]] auto& [f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16,
                                f17, f18, f19, f20, f21, f22, f23, f24, f25] = value;
        return FieldList<decltype(f0), decltype(f1), decltype(f2), decltype(f3), decltype(f4), decltype(f5),
                         decltype(f6), decltype(f7), decltype(f8), decltype(f9), decltype(f10), decltype(f11),
                         decltype(f12), decltype(f13), decltype(f14), decltype(f15), decltype(f16),
                         decltype(f17), decltype(f18), decltype(f19), decltype(f20), decltype(f21),
                         decltype(f22), decltype(f23), decltype(f24), decltype(f25)>{};
    } else if constexpr (kCount == 27) {
        [[maybe_unused]] auto& [f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16,
                                f17, f18, f19, f20, f21, f22, f23, f24, f25, f26] = value;
        return FieldList<decltype(f0), decltype(f1), decltype(f2), decltype(f3), decltype(f4), decltype(f5),
                         decltype(f6), decltype(f7), decltype(f8), decltype(f9), decltype(f10), decltype(f11),
                         decltype(f12), decltype(f13), decltype(f14), decltype(f15), decltype(f16),
                         decltype(f17), decltype(f18), decltype(f19), decltype(f20), decltype(f21),
                         decltype(f22), decltype(f23), decltype(f24), decltype(f25), decltype(f26)>{};
    } else {
        [[maybe_unused]] auto& [f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16,
                                f17, f18, f19, f20, f21, f22, f23, f24, f25, f26, f27] = value;
        return FieldList<decltype(f0), decltype(f1), decltype(f2), decltype(f3), decltype(f4), decltype(f5),
                         decltype(f6), decltype(f7), decltype(f8), decltype(f9), decltype(f10), decltype(f11),
                         decltype(f12), decltype(f13), decltype(f14), decltype(f15), decltype(f16),
                         decltype(f17), decltype(f18), decltype(f19), decltype(f20), decltype(f21),
                         decltype(f22), decltype(f23), decltype(f24), decltype(f25), decltype(f26),
                         decltype(f27)>{};
    }
}

template <std::size_t kCount, class T>
auto list_29_to_30(T& value) {
    if constexpr (kCount == 29) {
        [[maybe_unused]] auto& [f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16,
                                f17, f18, f19, f20, f21, f22, f23, f24, f25, f26, f27, f28] = value;
        return FieldList<decltype(f0), decltype(f1), decltype(f2), decltype(f3), decltype(f4), decltype(f5),
                         decltype(f6), decltype(f7), decltype(f8), decltype(f9), decltype(f10), decltype(f11),
                         decltype(f12), decltype(f13), decltype(f14), decltype(f15), decltype(f16),
                         decltype(f17), decltype(f18), decltype(f19), decltype(f20), decltype(f21),
                         decltype(f22), decltype(f23), decltype(f24), decltype(f25), decltype(f26),
                         decltype(f27), decltype(f28)>{};
    } else {
        [[maybe_unused]] auto& [f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16,
                                f17, f18, f19, f20, f21, f22, f23, f24, f25, f26, f27, f28, f29] = value;
        return FieldList<decltype(f0), decltype(f1), decltype(f2), decltype(f3), decltype(f4), decltype(f5),
                         decltype(f6), decltype(f7), decltype(f8), decltype(f9), decltype(f10), decltype(f11),
                         decltype(f12), decltype(f13), decltype(f14), decltype(f15), decltype(f16),
                         decltype(f17), decltype(f18), decltype(f19), decltype(f20), decltype(f21),
                         decltype(f22), decltype(f23), decltype(f24), decltype(f25), decltype(f26),
                         decltype(f27), decltype(f28), decltype(f29)>{};
    }
}

template <std::size_t kCount, class T>
auto list_31_to_32(T& value) {
    if constexpr (kCount == 31) {
        [[maybe_unused]] auto& [f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16,
                                f17, f18, f19, f20, f21, f22, f23, f24, f25, f26, f27, f28, f29, f30] = value;
        return FieldList<decltype(f0), decltype(f1), decltype(f2), decltype(f3), decltype(f4), decltype(f5),
                         decltype(f6), decltype(f7), decltype(f8), decltype(f9), decltype(f10), decltype(f11),
                         decltype(f12), decltype(f13), decltype(f14), decltype(f15), decltype(f16),
                         decltype(f17), decltype(f18), decltype(f19), decltype(f20), decltype(f21),
                         decltype(f22), decltype(f23), decltype(f24), decltype(f25), decltype(f26),
                         decltype(f27), decltype(f28), decltype(f29), decltype(f30)>{};
    } else {
        [[maybe_unused]] auto& [f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16,
                                f17, f18, f19, f20, f21, f22, f23, f24, f25, f26, f27, f28, f29, f30, f31] =
            value;
        return FieldList<decltype(f0), decltype(f1), decltype(f2), decltype(f3), decltype(f4), decltype(f5),
                         decltype(f6), decltype(f7), decltype(f8), decltype(f9), decltype(f10), decltype(f11),
                         decltype(f12), decltype(f13), decltype(f14), decltype(f15), decltype(f16),
                         decltype(f17), decltype(f18), decltype(f19), decltype(f20), decltype(f21),
                         decltype(f22), decltype(f23), decltype(f24), decltype(f25), decltype(f26),
                         decltype(f27), decltype(f28), decltype(f29), decltype(f30), decltype(f31)>{};
    }
}

template <std::size_t kCount, class T>
auto list_fields(T& value) {
    if constexpr (kCount <= 8)
        return list_1_to_8<kCount>(value);
    else if constexpr (kCount <= 13)
        return list_9_to_13<kCount>(value);
    else if constexpr (kCount <= 18)
        return list_14_to_18<kCount>(value);
    else if constexpr (kCount <= 22)
        return list_19_to_22<kCount>(value);
    else if constexpr (kCount <= 25)
        return list_23_to_25<kCount>(value);
    else if constexpr (kCount <= 28)
        return list_26_to_28<kCount>(value);
    else if constexpr (kCount <= 30)
        return list_29_to_30<kCount>(value);
    else
        return list_31_to_32<kCount>(value);
}

// Requires: an aggregate without bases that has 1 to kMaxFields fields.
template <class T>
using FieldsOf = decltype(list_fields<count_fields<T>()>(std::declval<T&>()));

// What only a base of T can be made of: whether the first thing in an aggregate is a base.
template <class T>
struct OnlyABaseOf {
    template <class Base>
        requires(std::is_base_of_v<Base, T> && !std::is_same_v<std::remove_cv_t<Base>, T>)
    operator Base() const noexcept;
};
template <class T>
inline constexpr bool kHasBase = requires { T{OnlyABaseOf<T>{}}; };

}  // namespace ouro::detail
