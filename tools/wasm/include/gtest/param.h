#pragma once

#include <cstddef>
#include <initializer_list>
#include <iterator>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/printing.h>
#include <gtest/registry.h>

namespace testing {

template <typename T>
class WithParamInterface {
public:
    using ParamType = T;
    static const T& GetParam() { return *current_; }
    static void set_param(const T* value) { current_ = value; }
    virtual ~WithParamInterface() = default;

private:
    static inline const T* current_ = nullptr;
};

template <typename T>
class TestWithParam : public Test, public WithParamInterface<T> {};

template <typename T>
struct TestParamInfo {
    T param;
    std::size_t index;
};

// A generator is anything that converts to a vector of the parameter type.
template <typename... Ts>
class ValueList {
public:
    explicit ValueList(Ts... values) : values_(std::move(values)...) {}
    template <typename T>
    operator std::vector<T>() const {
        return std::apply([](const auto&... value) { return std::vector<T>{static_cast<T>(value)...}; },
                          values_);
    }

private:
    std::tuple<Ts...> values_;
};

template <typename... Ts>
ValueList<Ts...> Values(Ts... values) {
    return ValueList<Ts...>(std::move(values)...);
}

template <typename Container>
auto ValuesIn(const Container& values) {
    using Value = std::remove_cvref_t<decltype(*std::begin(values))>;
    return std::vector<Value>(std::begin(values), std::end(values));
}

template <typename T>
std::vector<T> ValuesIn(std::initializer_list<T> values) {
    return std::vector<T>(values);
}

inline std::vector<bool> Bool() {
    return {false, true};
}

template <typename T, typename Step = int>
std::vector<T> Range(T first, T end, Step step = 1) {
    std::vector<T> values;
    for (T value = first; value < end; value = static_cast<T>(value + step))
        values.push_back(value);
    return values;
}

namespace internal {

// All bodies and instances of one parameterized fixture.
template <typename Fixture>
class ParamSuite {
public:
    using Param = typename Fixture::ParamType;
    using Namer = std::function<std::string(const TestParamInfo<Param>&)>;

    static ParamSuite& get(const char* name) {
        static ParamSuite* suite = [name] {
            auto* created = new ParamSuite(name);
            add_expander([created] { created->expand(); });
            return created;
        }();
        return *suite;
    }

    struct Instance {
        std::string prefix;
        std::vector<Param> params;
        Namer namer;
    };
    // Registers one case: (full suite, full name, note, parameter).
    using AddCase = void (*)(std::string, std::string, std::string, const Param*);

    void add_body(const char* name, AddCase add) { bodies_.emplace_back(name, add); }
    void add_instance(Instance instance) { instances_.push_back(std::move(instance)); }

private:
    explicit ParamSuite(const char* name) : name_(name) {}

    void expand() {
        for (const Instance& instance : instances_) {
            for (const auto& [body, add] : bodies_)
                expand_body(instance, body, add);
        }
    }

    void expand_body(const Instance& instance, const std::string& body, AddCase add) {
        for (std::size_t i = 0; i < instance.params.size(); ++i) {
            const Param& param = *new Param(instance.params[i]);  // lives as long as the program
            const std::string label = instance.namer ? instance.namer({param, i}) : std::to_string(i);
            const std::string prefix = instance.prefix.empty() ? "" : instance.prefix + "/";
            add(prefix + name_, body + "/" + label, "GetParam() = " + PrintToString(param), &param);
        }
    }

    std::string name_;
    std::vector<std::pair<std::string, AddCase>> bodies_;
    std::vector<Instance> instances_;
};

template <typename Fixture, typename Body>
bool add_param_body(const char* suite, const char* name) {
    using Param = typename Fixture::ParamType;
    ParamSuite<Fixture>::get(suite).add_body(
        name, [](std::string full_suite, std::string full_name, std::string note, const Param* param) {
            add_test<Body, Fixture>(std::move(full_suite), std::move(full_name), "", std::move(note),
                                    [param] { WithParamInterface<Param>::set_param(param); });
        });
    return true;
}

template <typename Fixture>
bool add_param_instance(const char* suite, const char* prefix,
                        std::vector<typename Fixture::ParamType> params,
                        typename ParamSuite<Fixture>::Namer namer = nullptr) {
    ParamSuite<Fixture>::get(suite).add_instance({prefix, std::move(params), std::move(namer)});
    return true;
}

}  // namespace internal
}  // namespace testing
