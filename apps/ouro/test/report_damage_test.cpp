// What comes from a file or from another process may be anything: it becomes a clear message or a report,
// never harm. Run with sanitizers, these tests see every access and every overflow.
#include "report_json.hpp"
#include "report_model.hpp"
#include "report_text.hpp"
#include "report_traffic.hpp"

#include <ouro/base/random.hpp>
#include <ouro/observe/detail/recording_format.hpp>
#include <ouro/observe/recording.hpp>
#include <ouro/os/process_memory.hpp>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <string>

#include <gtest/gtest.h>

namespace ouro {
namespace {

using detail::RecordingHeader;
using detail::RecordingPart;
using detail::RecordingPartHeader;

void use(const LoadedImage& loaded) {
    const Report report = make_report(loaded);
    EXPECT_FALSE(report_text(report, {}).empty());
    EXPECT_FALSE(
        report_json(report).dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace).empty());
}

class ReportDamageTest : public testing::Test {
protected:
    void SetUp() override {
        path_ = testing::TempDir() + "ouro-damage-" + std::to_string(os::process_id()) + ".ouro";
        ASSERT_TRUE(save_recording(path_.c_str()));
        std::ifstream file(path_, std::ios::binary);
        whole_.assign(std::istreambuf_iterator<char>(file), {});
    }
    void TearDown() override { std::filesystem::remove(path_); }

    // Empty when a report came out of it.
    std::string message_for(const std::string& bytes) {
        std::ofstream(path_, std::ios::binary) << bytes;
        try {
            use(load_recording(path_));
        } catch (const ReportError& error) {
            return error.what();
        }
        return "";
    }

    // In place of the end.
    std::string with_part(const RecordingPartHeader& part) const {
        std::string bytes = whole_.substr(0, whole_.size() - sizeof part - sizeof(std::uint64_t));
        return bytes.append(reinterpret_cast<const char*>(&part), sizeof part);
    }

    // With the checksum that such bytes would have.
    static std::string sealed(std::string bytes) {
        std::uint64_t checksum = 0;
        std::size_t at = 0;
        const auto add = [&](std::size_t count) {
            checksum = detail::add_to_checksum(checksum, std::as_bytes(std::span(bytes).subspan(at, count)));
            at += count;
        };
        add(sizeof(RecordingHeader));
        for (RecordingPartHeader part{}; part.kind != RecordingPart::end;) {
            std::memcpy(&part, bytes.data() + at, sizeof part);
            add(sizeof part);
            if (part.kind != RecordingPart::end) add(part.bytes);
        }
        std::memcpy(bytes.data() + at, &checksum, sizeof checksum);
        return bytes;
    }

    test::ReportTraffic traffic_;
    std::string path_;
    std::string whole_;
};

TEST_F(ReportDamageTest, EveryCutIsNoticed) {
    EXPECT_EQ(message_for(whole_), "");
    Random random(1);
    for (int round = 0; round < 60; ++round) {
        const std::size_t length = random.next() % whole_.size();
        SCOPED_TRACE(length);
        const std::string message = message_for(whole_.substr(0, length));
        EXPECT_NE(message.find(length < sizeof(RecordingHeader) ? "is not a recording" : "is damaged"),
                  std::string::npos)
            << message;
    }
}

TEST_F(ReportDamageTest, LengthsThatLieAreNoticed) {
    for (const RecordingPartHeader part : {RecordingPartHeader{RecordingPart::image, 0, ~std::uint64_t{0}, 1},
                                           {RecordingPart::image, 0, 1, ~std::uint64_t{0}},
                                           {RecordingPart::image, 0, sizeof(detail::ObserveImage), 1},
                                           {RecordingPart::image, 0, 0, sizeof(detail::ObserveImage)},
                                           {RecordingPart::blocks, 0, 0, ~std::uint64_t{0}},
                                           {RecordingPart::tags, 0, 0, 1000},
                                           {RecordingPart::mappings, 0, 0, ~std::uint64_t{0}},
                                           {RecordingPart::mappings, 0, 0, std::uint64_t{60} << 20},
                                           {static_cast<RecordingPart>(77), 0, 0, 0}}) {
        EXPECT_NE(message_for(with_part(part)).find("is damaged"), std::string::npos);
    }
}

TEST_F(ReportDamageTest, OtherVersionsAreNamed) {
    std::string other = whole_;
    other[offsetof(RecordingHeader, version)] = 99;
    EXPECT_NE(message_for(other).find("a recording of version 99"), std::string::npos);
    const std::size_t image = sizeof(RecordingHeader) + sizeof(RecordingPartHeader);
    other = whole_;
    other[image + offsetof(detail::ImageHeader, version)] = 98;
    EXPECT_NE(message_for(sealed(other)).find("of another version of Ouroboros (98"), std::string::npos);
    other = whole_;
    other[image] = 'x';
    EXPECT_NE(message_for(sealed(other)).find("holds no records"), std::string::npos);
    EXPECT_EQ(sealed(whole_), whole_);
}

TEST_F(ReportDamageTest, EveryBitThatFlipsIsNoticed) {
    const std::size_t bits = whole_.size() * 8;
    // Odd, so that every bit of a byte has its turn; all of the header's.
    const std::size_t step = bits / 200 | 1;
    const std::size_t header_bits = sizeof(RecordingHeader) * 8;
    for (std::size_t bit = 0; bit < bits; bit += bit < header_bits ? 1 : step) {
        SCOPED_TRACE(bit);
        std::string bytes = whole_;
        bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << bit % 8));
        EXPECT_NE(message_for(bytes), "");
        if (testing::Test::HasFailure()) break;
    }
    EXPECT_NE(message_for(whole_ + "x").find("is damaged"), std::string::npos);
}

TEST_F(ReportDamageTest, RandomDamageIsNoHarm) {
    for (std::uint64_t seed = 0; seed < 150; ++seed) {
        SCOPED_TRACE(seed);
        Random random(seed);
        std::string bytes = whole_;
        for (std::uint64_t count = random.next() % 64 + 1; count != 0; --count)
            bytes[random.next() % bytes.size()] = static_cast<char>(random.next());
        EXPECT_EQ(message_for(bytes).empty(), bytes == whole_);
    }
}

// Whole words of the records at their worst: the largest, the smallest, random ones.
TEST_F(ReportDamageTest, RandomRecordsAreNoHarm) {
    for (std::uint64_t seed = 0; seed < 150; ++seed) {
        SCOPED_TRACE(seed);
        Random random(seed);
        LoadedImage loaded = load_recording(path_);
        const auto bytes = loaded.copy.bytes();
        const std::uint64_t worst[] = {~std::uint64_t{0}, std::uint64_t{1} << 63, ~std::uint64_t{0} >> 1, 0};
        for (std::uint64_t count = random.next() % 4'000; count != 0; --count) {
            const std::uint64_t chance = random.next();
            const std::uint64_t word = chance % 8 < 4 ? worst[chance % 4] : random.next();
            // Near the places that are in use, half of the time.
            const std::size_t range = chance % 16 < 8 ? std::size_t{200'000} : bytes.size();
            std::memcpy(bytes.data() + random.next() % (range / 8) * 8, &word, sizeof word);
        }
        use(loaded);
    }
}

TEST_F(ReportDamageTest, AllOnesAreNoHarm) {
    LoadedImage loaded = load_recording(path_);
    std::memset(loaded.copy.bytes().data(), 0xff, loaded.copy.bytes().size());
    use(loaded);
}

TEST_F(ReportDamageTest, NamesDoNotReachTheTerminalAsTheyAre) {
    LoadedImage loaded = load_recording(path_);
    const auto bytes = loaded.copy.bytes();
    const std::string name = "traffic-game";
    const auto at = std::search(bytes.begin(), bytes.end(), reinterpret_cast<const std::byte*>(name.data()),
                                reinterpret_cast<const std::byte*>(name.data()) + name.size());
    ASSERT_NE(at, bytes.end());
    *at = std::byte{0x1b};
    const std::string text = report_text(make_report(loaded), {});
    EXPECT_EQ(text.find('\x1b'), std::string::npos);
    EXPECT_NE(text.find("?raffic-game"), std::string::npos);
}

}  // namespace
}  // namespace ouro
