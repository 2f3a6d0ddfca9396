#pragma once

#include <cstddef>

// How many fields an aggregate has. The language answers that only by yes or no, for each number by itself.
namespace ouro::detail {

inline constexpr std::size_t kMaxFields = 32;

// Whether T has as many fields as there are braces. Each pair of braces is one field, also where that is an
// array or an aggregate.
template <class T>
consteval std::size_t count_to_8() {
    if constexpr (requires { T{{}, {}, {}, {}, {}, {}, {}, {}}; })
        return 8;
    else if constexpr (requires { T{{}, {}, {}, {}, {}, {}, {}}; })
        return 7;
    else if constexpr (requires { T{{}, {}, {}, {}, {}, {}}; })
        return 6;
    else if constexpr (requires { T{{}, {}, {}, {}, {}}; })
        return 5;
    else if constexpr (requires { T{{}, {}, {}, {}}; })
        return 4;
    else if constexpr (requires { T{{}, {}, {}}; })
        return 3;
    else if constexpr (requires { T{{}, {}}; })
        return 2;
    else if constexpr (requires { T{{}}; })
        return 1;
    else
        return 0;
}

template <class T>
consteval std::size_t count_to_16() {
    if constexpr (requires { T{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}}; })
        return 16;
    else if constexpr (requires { T{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}}; })
        return 15;
    else if constexpr (requires { T{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}}; })
        return 14;
    else if constexpr (requires { T{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}}; })
        return 13;
    else if constexpr (requires { T{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}}; })
        return 12;
    else if constexpr (requires { T{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}}; })
        return 11;
    else if constexpr (requires { T{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}}; })
        return 10;
    else if constexpr (requires { T{{}, {}, {}, {}, {}, {}, {}, {}, {}}; })
        return 9;
    else
        return count_to_8<T>();
}

template <class T>
consteval std::size_t count_to_24() {
    if constexpr (requires {
                      T{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {},
                        {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}};
                  })
        return 24;
    else if constexpr (requires {
                           T{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {},
                             {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}};
                       })
        return 23;
    else if constexpr (requires {
                           T{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {},
                             {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}};
                       })
        return 22;
    else if constexpr (requires {
                           T{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {},
                             {}, {}, {}, {}, {}, {}, {}, {}, {}, {}};
                       })
        return 21;
    else if constexpr (requires {
                           T{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}};
                       })
        return 20;
    else if constexpr (requires {
                           T{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}};
                       })
        return 19;
    else if constexpr (requires {
                           T{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}};
                       })
        return 18;
    else if constexpr (requires { T{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}}; })
        return 17;
    else
        return count_to_16<T>();
}

template <class T>
consteval std::size_t count_to_32() {
    if constexpr (requires {
                      T{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {},
                        {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}};
                  })
        return 32;
    else if constexpr (requires {
                           T{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {},
                             {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}};
                       })
        return 31;
    else if constexpr (requires {
                           T{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {},
                             {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}};
                       })
        return 30;
    else if constexpr (requires {
                           T{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {},
                             {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}};
                       })
        return 29;
    else if constexpr (requires {
                           T{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {},
                             {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}};
                       })
        return 28;
    else if constexpr (requires {
                           T{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {},
                             {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}};
                       })
        return 27;
    else if constexpr (requires {
                           T{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {},
                             {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}};
                       })
        return 26;
    else if constexpr (requires {
                           T{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {},
                             {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}};
                       })
        return 25;
    else
        return count_to_24<T>();
}

// Zero when there are none, or one that cannot be made of nothing; one more than kMaxFields when there are
// too many. Requires: an aggregate.
template <class T>
consteval std::size_t count_fields() {
    if constexpr (requires {
                      T{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {},
                        {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}};
                  })
        return kMaxFields + 1;
    else
        return count_to_32<T>();
}

}  // namespace ouro::detail
