// The parts of libc++ that allocate and are not in its headers, for test programs.
#include <charconv>
#include <memory_resource>
#include <new>
#include <string>

namespace {

class NewDelete final : public std::pmr::memory_resource {
    void* do_allocate(std::size_t bytes, std::size_t align) override {
        return ::operator new(bytes, std::align_val_t(align));
    }
    void do_deallocate(void* block, std::size_t bytes, std::size_t align) override {
        ::operator delete(block, bytes, std::align_val_t(align));
    }
    bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }
};

class Null final : public std::pmr::memory_resource {
    void* do_allocate(std::size_t, std::size_t) override { std::__throw_bad_alloc(); }
    void do_deallocate(void*, std::size_t, std::size_t) override {}
    bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }
};

std::pmr::memory_resource* default_resource = nullptr;

template <typename Integer>
std::string decimal(Integer value) {
    char text[24];
    const auto result = std::to_chars(text, text + sizeof text, value);
    return std::string(text, result.ptr);
}

}  // namespace

_LIBCPP_BEGIN_NAMESPACE_STD

#define OURO_INSTANTIATE(...) template __VA_ARGS__;
_LIBCPP_STRING_UNSTABLE_EXTERN_TEMPLATE_LIST(OURO_INSTANTIATE, char)
OURO_INSTANTIATE(string operator+ <char, char_traits<char>, allocator<char>>(char const*, string const&))
#undef OURO_INSTANTIATE

string to_string(int value) {
    return decimal(value);
}
string to_string(unsigned value) {
    return decimal(value);
}
string to_string(long value) {
    return decimal(value);
}
string to_string(unsigned long value) {
    return decimal(value);
}
string to_string(long long value) {
    return decimal(value);
}
string to_string(unsigned long long value) {
    return decimal(value);
}

pmr::memory_resource* pmr::new_delete_resource() noexcept {
    static NewDelete resource;
    return &resource;
}

pmr::memory_resource* pmr::null_memory_resource() noexcept {
    static Null resource;
    return &resource;
}

pmr::memory_resource* pmr::get_default_resource() noexcept {
    memory_resource* chosen = __atomic_load_n(&default_resource, __ATOMIC_ACQUIRE);
    return chosen != nullptr ? chosen : new_delete_resource();
}

pmr::memory_resource* pmr::set_default_resource(memory_resource* resource) noexcept {
    memory_resource* before = __atomic_exchange_n(&default_resource, resource, __ATOMIC_ACQ_REL);
    return before != nullptr ? before : new_delete_resource();
}

_LIBCPP_END_NAMESPACE_STD
