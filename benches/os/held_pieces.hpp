#pragma once

#include "os/raw_memory.hpp"

#include <cstddef>
#include <string>

namespace ouro::bench {

// Bytes of the machine's free memory that lie in pieces smaller than 2 MiB, by the text of /proc/buddyinfo.
[[nodiscard]] std::size_t bytes_in_pieces(const std::string& buddyinfo);

// Holds such pieces as long as it lives. The system hands them out first: who asks first would get pages that
// lie anywhere, which takes up to a third more time to walk through, and who asks last such as lie side by
// side. Candidates are then on equal pages, whichever is made first.
class HeldPieces {
public:
    HeldPieces();

private:
    RawMapping pieces_;
};

}  // namespace ouro::bench
