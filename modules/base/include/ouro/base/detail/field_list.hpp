#pragma once

#include <ouro/base/detail/field_count.hpp>

#include <cstddef>
#include <type_traits>
#include <utility>

// The types of an aggregate's fields and their places. The language gives them only to whoever names all
// fields at once.
namespace ouro::detail {

// Also where the fields of a certain value are, for whoever asks with one.
template <class... Fields>
struct FieldList {
    const volatile void* places[sizeof...(Fields)];
};

// There is no reference to a bit-field: where one is among the fields, there is no list.
template <class... Fields>
constexpr FieldList<Fields...> list_of(Fields&... fields) noexcept {
    return {{__builtin_addressof(fields)...}};
}

template <std::size_t kCount, class T>
constexpr auto list_1_to_8(T& value) {
    if constexpr (kCount == 1) {
        [[maybe_unused]] auto& [f0] = value;
        if constexpr (requires { list_of(f0); }) return list_of(f0);
    } else if constexpr (kCount == 2) {
        [[maybe_unused]] auto& [f0, f1] = value;
        if constexpr (requires { list_of(f0, f1); }) return list_of(f0, f1);
    } else if constexpr (kCount == 3) {
        [[maybe_unused]] auto& [f0, f1, f2] = value;
        if constexpr (requires { list_of(f0, f1, f2); }) return list_of(f0, f1, f2);
    } else if constexpr (kCount == 4) {
        [[maybe_unused]] auto& [f0, f1, f2, f3] = value;
        if constexpr (requires { list_of(f0, f1, f2, f3); }) return list_of(f0, f1, f2, f3);
    } else if constexpr (kCount == 5) {
        [[maybe_unused]] auto& [f0, f1, f2, f3, f4] = value;
        if constexpr (requires { list_of(f0, f1, f2, f3, f4); }) return list_of(f0, f1, f2, f3, f4);
    } else if constexpr (kCount == 6) {
        [[maybe_unused]] auto& [f0, f1, f2, f3, f4, f5] = value;
        if constexpr (requires { list_of(f0, f1, f2, f3, f4, f5); }) return list_of(f0, f1, f2, f3, f4, f5);
    } else if constexpr (kCount == 7) {
        [[maybe_unused]] auto& [f0, f1, f2, f3, f4, f5, f6] = value;
        if constexpr (requires { list_of(f0, f1, f2, f3, f4, f5, f6); })
            return list_of(f0, f1, f2, f3, f4, f5, f6);
    } else {
        [[maybe_unused]] auto& [f0, f1, f2, f3, f4, f5, f6, f7] = value;
        if constexpr (requires { list_of(f0, f1, f2, f3, f4, f5, f6, f7); })
            return list_of(f0, f1, f2, f3, f4, f5, f6, f7);
    }
}

template <std::size_t kCount, class T>
constexpr auto list_9_to_13(T& value) {
    if constexpr (kCount == 9) {
        [[maybe_unused]] auto& [f0, f1, f2, f3, f4, f5, f6, f7, f8] = value;
        if constexpr (requires { list_of(f0, f1, f2, f3, f4, f5, f6, f7, f8); })
            return list_of(f0, f1, f2, f3, f4, f5, f6, f7, f8);
    } else if constexpr (kCount == 10) {
        [[maybe_unused]] auto& [f0, f1, f2, f3, f4, f5, f6, f7, f8, f9] = value;
        if constexpr (requires { list_of(f0, f1, f2, f3, f4, f5, f6, f7, f8, f9); })
            return list_of(f0, f1, f2, f3, f4, f5, f6, f7, f8, f9);
    } else if constexpr (kCount == 11) {
        [[maybe_unused]] auto& [f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10] = value;
        if constexpr (requires { list_of(f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10); })
            return list_of(f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10);
    } else if constexpr (kCount == 12) {
        [[maybe_unused]] auto& [f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11] = value;
        if constexpr (requires { list_of(f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11); })
            return list_of(f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11);
    } else {
        [[maybe_unused]] auto& [f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12] = value;
        if constexpr (requires { list_of(f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12); })
            return list_of(f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12);
    }
}

template <std::size_t kCount, class T>
constexpr auto list_14_to_18(T& value) {
    if constexpr (kCount == 14) {
        [[maybe_unused]] auto& [f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13] = value;
        if constexpr (requires { list_of(f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13); })
            return list_of(f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13);
    } else if constexpr (kCount == 15) {
        [[maybe_unused]] auto& [f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14] = value;
        if constexpr (requires { list_of(f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14); })
            return list_of(f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14);
    } else if constexpr (kCount == 16) {
        [[maybe_unused]] auto& [f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15] = value;
        if constexpr (requires {
                          list_of(f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15);
                      })
            return list_of(f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15);
    } else if constexpr (kCount == 17) {
        [[maybe_unused]] auto& [f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16] =
            value;
        if constexpr (requires {
                          list_of(f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16);
                      })
            return list_of(f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16);
    } else {
        [[maybe_unused]] auto& [f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16,
                                f17] = value;
        if constexpr (requires {
                          list_of(f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16,
                                  f17);
                      })
            return list_of(f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16, f17);
    }
}

template <std::size_t kCount, class T>
constexpr auto list_19_to_22(T& value) {
    if constexpr (kCount == 19) {
        [[maybe_unused]] auto& [f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16,
                                f17, f18] = value;
        if constexpr (requires {
                          list_of(f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16,
                                  f17, f18);
                      })
            return list_of(f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16, f17,
                           f18);
    } else if constexpr (kCount == 20) {
        [[maybe_unused]] auto& [f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16,
                                f17, f18, f19] = value;
        if constexpr (requires {
                          list_of(f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16,
                                  f17, f18, f19);
                      })
            return list_of(f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16, f17,
                           f18, f19);
    } else if constexpr (kCount == 21) {
        [[maybe_unused]] auto& [f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16,
                                f17, f18, f19, f20] = value;
        if constexpr (requires {
                          list_of(f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16,
                                  f17, f18, f19, f20);
                      })
            return list_of(f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16, f17,
                           f18, f19, f20);
    } else {
        [[maybe_unused]] auto& [f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16,
                                f17, f18, f19, f20, f21] = value;
        if constexpr (requires {
                          list_of(f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16,
                                  f17, f18, f19, f20, f21);
                      })
            return list_of(f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16, f17,
                           f18, f19, f20, f21);
    }
}

template <std::size_t kCount, class T>
constexpr auto list_23_to_25(T& value) {
    if constexpr (kCount == 23) {
        [[maybe_unused]] auto& [f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16,
                                f17, f18, f19, f20, f21, f22] = value;
        if constexpr (requires {
                          list_of(f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16,
                                  f17, f18, f19, f20, f21, f22);
                      })
            return list_of(f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16, f17,
                           f18, f19, f20, f21, f22);
    } else if constexpr (kCount == 24) {
        [[maybe_unused]] auto& [f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16,
                                f17, f18, f19, f20, f21, f22, f23] = value;
        if constexpr (requires {
                          list_of(f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16,
                                  f17, f18, f19, f20, f21, f22, f23);
                      })
            return list_of(f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16, f17,
                           f18, f19, f20, f21, f22, f23);
    } else {
        [[maybe_unused]] auto& [f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16,
                                f17, f18, f19, f20, f21, f22, f23, f24] = value;
        if constexpr (requires {
                          list_of(f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16,
                                  f17, f18, f19, f20, f21, f22, f23, f24);
                      })
            return list_of(f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16, f17,
                           f18, f19, f20, f21, f22, f23, f24);
    }
}

template <std::size_t kCount, class T>
constexpr auto list_26_to_28(T& value) {
    if constexpr (kCount == 26) {
        [[maybe_unused]] auto& [f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16,
                                f17, f18, f19, f20, f21, f22, f23, f24, f25] = value;
        if constexpr (requires {
                          list_of(f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16,
                                  f17, f18, f19, f20, f21, f22, f23, f24, f25);
                      })
            return list_of(f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16, f17,
                           f18, f19, f20, f21, f22, f23, f24, f25);
    } else if constexpr (kCount == 27) {
        [[maybe_unused]] auto& [f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16,
                                f17, f18, f19, f20, f21, f22, f23, f24, f25, f26] = value;
        if constexpr (requires {
                          list_of(f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16,
                                  f17, f18, f19, f20, f21, f22, f23, f24, f25, f26);
                      })
            return list_of(f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16, f17,
                           f18, f19, f20, f21, f22, f23, f24, f25, f26);
    } else {
        [[maybe_unused]] auto& [f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16,
                                f17, f18, f19, f20, f21, f22, f23, f24, f25, f26, f27] = value;
        if constexpr (requires {
                          list_of(f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16,
                                  f17, f18, f19, f20, f21, f22, f23, f24, f25, f26, f27);
                      })
            return list_of(f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16, f17,
                           f18, f19, f20, f21, f22, f23, f24, f25, f26, f27);
    }
}

template <std::size_t kCount, class T>
constexpr auto list_29_to_30(T& value) {
    if constexpr (kCount == 29) {
        [[maybe_unused]] auto& [f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16,
                                f17, f18, f19, f20, f21, f22, f23, f24, f25, f26, f27, f28] = value;
        if constexpr (requires {
                          list_of(f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16,
                                  f17, f18, f19, f20, f21, f22, f23, f24, f25, f26, f27, f28);
                      })
            return list_of(f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16, f17,
                           f18, f19, f20, f21, f22, f23, f24, f25, f26, f27, f28);
    } else {
        [[maybe_unused]] auto& [f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16,
                                f17, f18, f19, f20, f21, f22, f23, f24, f25, f26, f27, f28, f29] = value;
        if constexpr (requires {
                          list_of(f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16,
                                  f17, f18, f19, f20, f21, f22, f23, f24, f25, f26, f27, f28, f29);
                      })
            return list_of(f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16, f17,
                           f18, f19, f20, f21, f22, f23, f24, f25, f26, f27, f28, f29);
    }
}

template <std::size_t kCount, class T>
constexpr auto list_31_to_32(T& value) {
    if constexpr (kCount == 31) {
        [[maybe_unused]] auto& [f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16,
                                f17, f18, f19, f20, f21, f22, f23, f24, f25, f26, f27, f28, f29, f30] = value;
        if constexpr (requires {
                          list_of(f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16,
                                  f17, f18, f19, f20, f21, f22, f23, f24, f25, f26, f27, f28, f29, f30);
                      })
            return list_of(f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16, f17,
                           f18, f19, f20, f21, f22, f23, f24, f25, f26, f27, f28, f29, f30);
    } else {
        [[maybe_unused]] auto& [f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16,
                                f17, f18, f19, f20, f21, f22, f23, f24, f25, f26, f27, f28, f29, f30, f31] =
            value;
        if constexpr (requires {
                          list_of(f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16,
                                  f17, f18, f19, f20, f21, f22, f23, f24, f25, f26, f27, f28, f29, f30, f31);
                      })
            return list_of(f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16, f17,
                           f18, f19, f20, f21, f22, f23, f24, f25, f26, f27, f28, f29, f30, f31);
    }
}

template <std::size_t kCount, class T>
constexpr auto list_fields(T& value) {
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

// void where fields are bit-fields. Requires: an aggregate without bases that has 1 to kMaxFields fields.
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
