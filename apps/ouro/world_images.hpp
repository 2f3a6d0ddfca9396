#pragma once

#include <ouro/ecs/image_bytes.hpp>
#include <ouro/streams/saved_image.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace ouro {

// An image that somebody else has, as its bytes. Throws ReportError, as all here.
class WorldImage {
public:
    virtual ~WorldImage() = default;
    [[nodiscard]] virtual ImageBytes bytes() const = 0;
    // "'level.image'", "process 123".
    [[nodiscard]] virtual std::string source() const = 0;
};

[[nodiscard]] std::unique_ptr<WorldImage> open_saved_image(const std::string& path);

// Of a running process that has one. Pages are read when they are asked for, and kept: what is read twice is
// the same, but pages may be of different moments.
[[nodiscard]] std::unique_ptr<WorldImage> open_process_image(std::uint32_t process_id);

}  // namespace ouro
