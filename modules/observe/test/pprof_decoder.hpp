#pragma once

#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace ouro::test {

// What a protobuf message holds, by number of field: numbers, and bytes that are texts, messages or packed
// numbers. Throws on what is no message.
class DecodedMessage {
public:
    explicit DecodedMessage(std::string_view bytes) {
        while (!bytes.empty()) {
            const std::uint64_t key = take_varint(bytes);
            switch (key & 7) {
                case 0:
                    numbers_[key >> 3].push_back(take_varint(bytes));
                    break;
                case 2: {
                    const std::uint64_t length = take_varint(bytes);
                    if (length > bytes.size()) throw std::runtime_error("bytes end early");
                    parts_[key >> 3].emplace_back(bytes.data(), length);
                    bytes.remove_prefix(length);
                    break;
                }
                default:
                    throw std::runtime_error("a kind of field that is not used");
            }
        }
    }

    // Zero when it is missing, as the format says.
    std::uint64_t number(std::uint64_t field) const {
        const auto found = numbers_.find(field);
        return found == numbers_.end() ? 0 : found->second.back();
    }
    std::vector<std::string> parts(std::uint64_t field) const {
        const auto found = parts_.find(field);
        return found == parts_.end() ? std::vector<std::string>{} : found->second;
    }
    std::vector<DecodedMessage> messages(std::uint64_t field) const {
        std::vector<DecodedMessage> all;
        for (const std::string& part : parts(field))
            all.emplace_back(part);
        return all;
    }
    std::vector<std::uint64_t> packed(std::uint64_t field) const {
        std::vector<std::uint64_t> all;
        for (const std::string& part : parts(field)) {
            for (std::string_view rest = part; !rest.empty();)
                all.push_back(take_varint(rest));
        }
        return all;
    }

private:
    static std::uint64_t take_varint(std::string_view& bytes) {
        std::uint64_t value = 0;
        for (unsigned shift = 0; shift < 64; shift += 7) {
            if (bytes.empty()) throw std::runtime_error("a number ends early");
            const auto byte = static_cast<unsigned char>(bytes.front());
            bytes.remove_prefix(1);
            value |= std::uint64_t{byte & 0x7fU} << shift;
            if (byte < 0x80) return value;
        }
        throw std::runtime_error("a number is too long");
    }

    std::map<std::uint64_t, std::vector<std::uint64_t>> numbers_;
    std::map<std::uint64_t, std::vector<std::string>> parts_;
};

}  // namespace ouro::test
