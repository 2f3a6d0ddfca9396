#pragma once

#include "collection_model.hpp"

#include <ouro/memory/collections/string_interner.hpp>

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ouro::testing_support {

// StringInterner beside std::map, with the addresses of its texts, which must not change.
class InternerModel final : public CollectionModel {
public:
    InternerModel(MemoryResource& resource, std::uint64_t seed)
        : CollectionModel(seed), interner_(resource) {}

    void step() override {
        const std::uint32_t choice = random().below(1000);
        if (choice < 990) return intern();
        if (choice < 998) {
            (void)is_served(interner_.reserve(random_size()));
            return;
        }
        if (choice == 998) {
            interner_.clear();
        } else {
            interner_.release();
        }
        ids_.clear();
        texts_.clear();
    }

    void verify() override {
        ASSERT_EQ(interner_.check(), Status::ok);
        ASSERT_EQ(interner_.size(), texts_.size());
        for (std::size_t i = 0; i < texts_.size(); ++i) {
            const std::string_view text = interner_.texts()[i];
            ASSERT_EQ(text, texts_[i].first);
            ASSERT_EQ(text.data(), texts_[i].second) << "a text moved";
            ASSERT_EQ(text.data()[text.size()], '\0');
        }
    }

private:
    [[nodiscard]] std::string random_text() {
        std::string text(random().chance(0.02) ? random_size() : random().below(4), ' ');
        for (char& letter : text)
            letter = static_cast<char>(random().below(256));
        return text;
    }

    void intern() {
        const std::string text = random_text();
        const auto known = ids_.find(text);
        const auto found = interner_.find(text);
        ASSERT_EQ(found.status(), known == ids_.end() ? Status::not_found : Status::ok);
        const auto id = interner_.intern(text);
        if (known != ids_.end()) {
            // What is there needs no memory.
            ASSERT_EQ(id.status(), Status::ok);
            ASSERT_EQ(static_cast<std::uint32_t>(*id), known->second);
            ASSERT_EQ(*found, *id);
        } else if (is_served(id.status())) {
            // Ids count in the order of arrival.
            ASSERT_EQ(static_cast<std::size_t>(*id), texts_.size());
            ids_.emplace(text, static_cast<std::uint32_t>(*id));
            texts_.emplace_back(text, interner_.text(*id).data());
        } else {
            ASSERT_EQ(interner_.find(text).status(), Status::not_found);
        }
    }

    StringInterner interner_;
    std::map<std::string, std::uint32_t> ids_;
    std::vector<std::pair<std::string, const char*>> texts_;
};

}  // namespace ouro::testing_support
