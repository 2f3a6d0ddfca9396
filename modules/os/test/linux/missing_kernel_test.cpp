#include "child_process.hpp"

#include <ouro/os/capabilities.hpp>
#include <ouro/os/kernel_tracker.hpp>
#include <ouro/os/memory_object.hpp>
#include <ouro/os/process_barrier.hpp>
#include <ouro/os/tracker_choice.hpp>

#include <cerrno>
#include <cstddef>

#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

namespace {

using ouro::Status;
using ouro::os::testing_support::run_in_child;
namespace os = ouro::os;

// From here on the system call fails in this process as it would on a kernel without it.
bool forbid_call(long number, int error) {
    sock_filter program[] = {
        {BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(seccomp_data, nr)},
        {BPF_JMP | BPF_JEQ | BPF_K, 0, 1, static_cast<unsigned>(number)},
        {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ERRNO | static_cast<unsigned>(error)},
        {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW},
    };
    sock_fprog filter{static_cast<unsigned short>(sizeof(program) / sizeof(program[0])), program};
    return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

int outcome_without_userfaultfd(int error, Status expected) {
    return run_in_child([=] {
        if (!forbid_call(SYS_userfaultfd, error)) return 1;
        if (os::KernelTracker::create().status() != expected) return 2;
        const os::Capabilities report = os::query_capabilities();
        if (report.userfaultfd != expected || report.kernel_tracking()) return 3;
        return os::choose_tracker(report).kind == os::TrackerKind::protect ? 0 : 4;
    });
}

TEST(MissingKernel, WithoutUserfaultfdPagesAreProtectedInstead) {
    EXPECT_EQ(outcome_without_userfaultfd(ENOSYS, Status::not_supported), 0);
}

TEST(MissingKernel, AForbiddenUserfaultfdIsToldApart) {
    EXPECT_EQ(outcome_without_userfaultfd(EPERM, Status::permission_denied), 0);
}

TEST(MissingKernel, WithoutMemoryObjectsThereAreNoAliases) {
    const int outcome = run_in_child([] {
        if (!forbid_call(SYS_memfd_create, ENOSYS)) return 1;
        if (os::MemoryObject::create(4096, "none").status() != Status::not_supported) return 2;
        return os::query_capabilities().memory_aliases ? 3 : 0;
    });
    EXPECT_EQ(outcome, 0);
}

TEST(MissingKernel, WithoutMembarrierThereIsNoBarrier) {
    for (const int error : {ENOSYS, EPERM}) {
        const int outcome = run_in_child([=] {
            if (!forbid_call(SYS_membarrier, error)) return 1;
            if (os::process_barrier().status() != Status::not_supported) return 2;
            return os::process_barrier_available() || os::query_capabilities().process_barrier ? 3 : 0;
        });
        EXPECT_EQ(outcome, 0) << error;
    }
}

}  // namespace
