#pragma once

#include <ouro/observe/byte_sink.hpp>

#include <string>

namespace ouro::testing_support {

// Text as a string.
class TextSink {
public:
    [[nodiscard]] ByteSink sink() {
        return {[](void* text, std::string_view bytes) { static_cast<std::string*>(text)->append(bytes); },
                &text_};
    }
    [[nodiscard]] const std::string& text() const { return text_; }

private:
    std::string text_;
};

}  // namespace ouro::testing_support
