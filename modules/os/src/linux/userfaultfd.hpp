#pragma once

#include "file_descriptor.hpp"

#include <ouro/base/expected.hpp>

#include <cstdint>

// What kernel tracking is made of, one by one, for the tracker and for the capabilities report.
namespace ouro::os {

// A userfaultfd for faults of user code, with the features; not_supported where the kernel lacks one.
[[nodiscard]] Expected<FileDescriptor> open_userfaultfd(std::uint64_t features) noexcept;

// The process's page map, where the kernel knows PAGEMAP_SCAN; not_supported elsewhere.
[[nodiscard]] Expected<FileDescriptor> open_pagemap() noexcept;

}  // namespace ouro::os
