// A program to report on: uses memory, writes a recording when a path is given, says so, and waits for the
// end of its input.
#include "report_traffic.hpp"

#include <ouro/observe/recording.hpp>

#include <cstdio>

int main(int argc, char** argv) {
    const ouro::test::ReportTraffic traffic;
    if (argc > 1 && !ouro::save_recording(argv[1])) return 1;
    std::puts("ready");
    std::fflush(stdout);
    while (std::getchar() != EOF) {
    }
    return 0;
}
