#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>

namespace ouro::os::testing_support {

// sample_module.cpp, loaded.
class SampleLibrary {
public:
    explicit SampleLibrary(const char* path) : handle_(::dlopen(path, RTLD_LAZY | RTLD_LOCAL)) {
        EXPECT_NE(handle_, nullptr) << ::dlerror();
    }
    ~SampleLibrary() {
        if (handle_ != nullptr) ::dlclose(handle_);
    }
    SampleLibrary(const SampleLibrary&) = delete;
    SampleLibrary& operator=(const SampleLibrary&) = delete;

    [[nodiscard]] void* symbol(const char* name) const {
        void* found = ::dlsym(handle_, name);
        EXPECT_NE(found, nullptr) << name;
        return found;
    }
    template <class Function>
    [[nodiscard]] Function* function(const char* name) const {
        return reinterpret_cast<Function*>(symbol(name));
    }

private:
    void* handle_;
};

}  // namespace ouro::os::testing_support
