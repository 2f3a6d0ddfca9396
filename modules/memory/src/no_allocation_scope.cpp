#include <ouro/memory/no_allocation_scope.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>
#include <utility>

namespace ouro {
namespace {

// Puts a message together without formatting functions, which may allocate. What does not fit is cut off.
class Message {
public:
    void add(std::string_view text) noexcept {
        const std::size_t count = std::min(text.size(), text_.size() - 1 - size_);
        std::copy_n(text.data(), count, text_.data() + size_);
        size_ += count;
    }
    [[nodiscard]] const char* text() const noexcept { return text_.data(); }

private:
    std::array<char, 256> text_{};
    std::size_t size_ = 0;
};

}  // namespace

NoAllocationScope::NoAllocationScope(const char* name, std::source_location place) noexcept
    : name_(name),
      file_(place.file_name()),
      line_(place.line()),
      outer_(std::exchange(detail::no_allocation_scope, this)) {}

NoAllocationScope::~NoAllocationScope() {
    OURO_ASSERT(detail::no_allocation_scope == this,
                "scopes without allocation end in opposite order, on the thread where they began");
    detail::no_allocation_scope = outer_;
}

AllowAllocationScope::AllowAllocationScope() noexcept
    : outer_(std::exchange(detail::no_allocation_scope, nullptr)) {}

AllowAllocationScope::~AllowAllocationScope() {
    OURO_ASSERT(detail::no_allocation_scope == nullptr,
                "scopes without allocation end in opposite order, on the thread where they began");
    detail::no_allocation_scope = outer_;
}

void detail::refuse_allocation_in(const NoAllocationScope& scope) {
    // The handler may allocate, for its report.
    no_allocation_scope = nullptr;
    Message message;
    message.add("an allocation in the scope '");
    message.add(scope.name());
    message.add("', which allows none");
    assert_failed("is_allocation_allowed()", message.text(), scope.file(), scope.line());
}

}  // namespace ouro
