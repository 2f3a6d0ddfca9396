// The parts of libc++ that neither allocate nor block but are not in its headers.
#include "abort.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <memory_resource>
#include <new>
#include <unordered_map>

namespace {

bool is_prime(std::size_t n) {
    if (n < 4) return n > 1;
    if (n % 2 == 0 || n % 3 == 0) return false;
    for (std::size_t d = 5; d <= n / d; d += 6) {
        if (n % d == 0 || n % (d + 2) == 0) return false;
    }
    return true;
}

}  // namespace

// <new> stands outside of the versioned namespace.
const std::nothrow_t std::nothrow{};

void std::__throw_bad_alloc() {
    ouro::wasm::abort_with("out of memory");
}

_LIBCPP_BEGIN_NAMESPACE_STD

// The least prime at or above n; bucket counts of the unordered containers.
size_t __next_prime(size_t n) {
    while (n > 1 && !is_prime(n))
        ++n;
    return n;
}

// The comparison in the signature is only a name; the types that come here are ordered by <.
template <class Compare, class Iterator>
void __sort(Iterator first, Iterator last, Compare) {
    __less<> order;
    const auto depth = 2 * std::__log2i(last - first);
    std::__introsort<_ClassicAlgPolicy, __less<>&, Iterator,
                     __use_branchless_sort<__less<>, Iterator>::value>(first, last, order, depth);
}

#define OURO_INSTANTIATE_SORT(type) template void __sort<__less<type>&, type*>(type*, type*, __less<type>&)
OURO_INSTANTIATE_SORT(char);
OURO_INSTANTIATE_SORT(signed char);
OURO_INSTANTIATE_SORT(unsigned char);
OURO_INSTANTIATE_SORT(short);
OURO_INSTANTIATE_SORT(unsigned short);
OURO_INSTANTIATE_SORT(int);
OURO_INSTANTIATE_SORT(unsigned);
OURO_INSTANTIATE_SORT(long);
OURO_INSTANTIATE_SORT(unsigned long);
OURO_INSTANTIATE_SORT(long long);
OURO_INSTANTIATE_SORT(unsigned long long);
OURO_INSTANTIATE_SORT(float);
OURO_INSTANTIATE_SORT(double);
#undef OURO_INSTANTIATE_SORT

void* align(size_t alignment, size_t bytes, void*& at, size_t& space) {
    const auto address = reinterpret_cast<uintptr_t>(at);
    const size_t skip = (0 - address) & (alignment - 1);
    if (skip > space || bytes > space - skip) return nullptr;
    at = static_cast<char*>(at) + skip;
    space -= skip;
    return at;
}

__shared_count::~__shared_count() = default;
__shared_weak_count::~__shared_weak_count() = default;

// Owners are counted from -1 here: the last one that leaves sees 0 and needs no atomic step.
void __shared_weak_count::__release_weak() noexcept {
    if (__libcpp_acquire_load(&__shared_weak_owners_) == 0 ||
        __libcpp_atomic_refcount_decrement(__shared_weak_owners_) == -1) {
        __on_zero_shared_weak();
    }
}

__shared_weak_count* __shared_weak_count::lock() noexcept {
    long owners = __atomic_load_n(&__shared_owners_, __ATOMIC_SEQ_CST);
    while (owners != -1) {
        if (__atomic_compare_exchange_n(&__shared_owners_, &owners, owners + 1, false, __ATOMIC_SEQ_CST,
                                        __ATOMIC_SEQ_CST)) {
            return this;
        }
    }
    return nullptr;
}

const void* __shared_weak_count::__get_deleter(const type_info&) const noexcept {
    return nullptr;
}

pmr::memory_resource::~memory_resource() = default;

_LIBCPP_END_NAMESPACE_STD
