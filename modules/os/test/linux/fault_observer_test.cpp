#include <ouro/os/error_output.hpp>
#include <ouro/os/fault_observer.hpp>
#include <ouro/os/virtual_memory.hpp>

#include <cstdlib>

#include <gtest/gtest.h>
#include <signal.h>

namespace {

using ouro::Status;
using ouro::os::AccessFault;

std::byte* expected_address = nullptr;

void tell(const AccessFault& fault) {
    if (fault.address == expected_address) ouro::os::write_error_text(fault.is_write ? "a write" : "a read");
    if (fault.instruction != nullptr) ouro::os::write_error_text(" by known code\n");
}

// Faults itself: must not be told again.
void misbehave(const AccessFault&) {
    *reinterpret_cast<volatile unsigned char*>(expected_address) = 1;
}

TEST(FaultObserverDeath, IsToldBeforeTheProcessEnds) {
    const auto block = ouro::os::reserve({.bytes = ouro::os::page_size()});
    ASSERT_TRUE(block);
    expected_address = block->data;
    auto* byte = reinterpret_cast<volatile unsigned char*>(block->data);
    EXPECT_DEATH(
        {
            (void)ouro::os::add_fault_observer(tell);
            *byte = 1;
        },
        "a write by known code");
    EXPECT_DEATH(
        {
            (void)ouro::os::add_fault_observer(tell);
            [[maybe_unused]] const unsigned char value = *byte;
        },
        "a read by known code");
    EXPECT_DEATH(
        {
            (void)ouro::os::add_fault_observer(tell);
            (void)ouro::os::add_fault_observer(misbehave);
            *byte = 1;
        },
        "a write by known code");
    EXPECT_TRUE(ouro::os::release(*block));
}

void do_nothing(const AccessFault&) {}

[[noreturn]] void send_after(void (*action)(int)) {
    ::signal(SIGSEGV, action);
    if (!ouro::os::add_fault_observer(do_nothing)) std::_Exit(1);
    static_cast<void>(::raise(SIGSEGV));
    std::_Exit(2);
}

// No instruction is tried again after it: the default action must not wait for that.
TEST(FaultObserverDeath, ASignalThatWasSentDoesWhatItDidWithoutUs) {
    EXPECT_EXIT(send_after(SIG_DFL), testing::KilledBySignal(SIGSEGV), "");
    EXPECT_EXIT(send_after(SIG_IGN), testing::ExitedWithCode(2), "");
    EXPECT_EXIT(send_after([](int) { std::_Exit(3); }), testing::ExitedWithCode(3), "");
}

TEST(FaultObserver, AddingTwiceTakesOnePlace) {
    EXPECT_EQ(ouro::os::add_fault_observer(nullptr).status(), Status::bad_argument);
    for (unsigned i = 0; i < 2 * ouro::os::kMaxFaultObservers; ++i)
        EXPECT_TRUE(ouro::os::add_fault_observer(tell));
}

}  // namespace
