#pragma once

#include <ouro/base/random.hpp>
#include <ouro/base/status.hpp>
#include <ouro/memory/memory_resource.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>

#include <gtest/gtest.h>

namespace ouro::testing_support {

// A collection driven by random calls, beside something of the standard library that does the same. A call
// that the resource refuses must leave the collection as it was.
class CollectionModel {
public:
    virtual ~CollectionModel() = default;
    CollectionModel(const CollectionModel&) = delete;
    CollectionModel& operator=(const CollectionModel&) = delete;

    // One random call, whose result is compared at once.
    virtual void step() = 0;
    // Compares all that the collection holds.
    virtual void verify() = 0;

    // Calls that the resource refused.
    [[nodiscard]] std::uint64_t refusals() const { return refusals_; }

protected:
    explicit CollectionModel(std::uint64_t seed)
        : random_(seed), reach_(kReaches[random_.below(kReaches.size())]) {}

    [[nodiscard]] Random& random() { return random_; }
    // A collection stays small or becomes large, as its seed wants.
    [[nodiscard]] std::uint32_t random_size() { return random_.below(reach_); }

    // False where the resource refused; a failure that says anything else fails the test.
    [[nodiscard]] bool is_served(Status status) {
        if (status == Status::ok) return true;
        ++refusals_;
        EXPECT_TRUE(status == Status::capacity_exhausted || status == Status::out_of_memory ||
                    status == Status::out_of_address_space || status == Status::budget_exceeded)
            << status_name(status);
        return false;
    }

private:
    static constexpr std::array<std::uint32_t, 3> kReaches = {12, 300, 5000};

    Random random_;
    std::uint32_t reach_;
    std::uint64_t refusals_ = 0;
};

// The element for a number. That for 0 is what a value-initialised one is.
template <class T>
[[nodiscard]] T make_element(std::uint32_t number) {
    if constexpr (std::is_same_v<T, std::string>) {
        return number == 0 ? "" : "a text too long to be stored inside, number " + std::to_string(number);
    } else if constexpr (std::is_same_v<T, std::unique_ptr<std::uint32_t>>) {
        return number == 0 ? nullptr : std::make_unique<std::uint32_t>(number);
    } else if constexpr (std::is_arithmetic_v<T>) {
        return static_cast<T>(number);
    } else {
        return T(number);
    }
}

template <class T>
[[nodiscard]] bool is_element(const T& value, std::uint32_t number) {
    if constexpr (std::is_same_v<T, std::unique_ptr<std::uint32_t>>) {
        return number == 0 ? value == nullptr : value != nullptr && *value == number;
    } else {
        return value == make_element<T>(number);
    }
}

}  // namespace ouro::testing_support
