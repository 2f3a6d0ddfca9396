#pragma once

#include <memory>
#include <type_traits>

namespace ouro {

// Whether moving an object to another address and forgetting the old one is no more than copying its bytes.
// True of what is trivially copyable and of what owns something by a pointer alone; not of what holds an
// address within itself. Specialize it for such types of your own, and growing vectors copy instead of moving
// one by one:
//
//     template <>
//     inline constexpr bool ouro::kRelocatesAsBytes<Texture> = true;
template <class T>
inline constexpr bool kRelocatesAsBytes = std::is_trivially_copyable_v<T>;

template <class T>
inline constexpr bool kRelocatesAsBytes<std::unique_ptr<T>> = true;
template <class T>
inline constexpr bool kRelocatesAsBytes<std::shared_ptr<T>> = true;

}  // namespace ouro
