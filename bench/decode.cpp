// Our decoder over a capture:  bench_decode FILE THREADS [ROUNDS]
//
// By the library's own parallel way; THREADS 0 means as many as there are processors. The result (every packet a
// transport packet with a good ICRC, as bench_generate wrote it) is checked before the time is printed.
#include <dissect/base/packet.hpp>
#include <dissect/capture/capture_file.hpp>
#include <dissect/packet/pipeline.hpp>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <fmt/format.h>

namespace {

using namespace qps::dissect;

struct Count {
    std::uint64_t packets = 0;
    std::uint64_t good = 0;
};

Count decode_batch(const Batch& batch) {
    Packet packet;
    Count count;
    for (const Frame& frame : batch.frames) {
        decode(frame, packet);
        count.good += packet.has_transport() && packet.icrc.status == CrcStatus::good ? 1U : 0U;
    }
    count.packets = batch.frames.size();
    return count;
}

Count decode_all(CaptureFile& capture, std::size_t threads) {
    const Jobs jobs{threads};
    std::vector<Count> counts(jobs.slots());
    Count sum;
    run({.read = [&](Batch& batch) { return capture.read(batch); },
         .work = [&](std::size_t slot, const Batch& batch) { counts[slot] = decode_batch(batch); },
         .consume =
             [&](std::size_t slot) {
                 sum.packets += counts[slot].packets;
                 sum.good += counts[slot].good;
                 return true;
             }},
        jobs);
    return sum;
}

bool parse(std::string_view text, std::size_t& value) {
    return std::from_chars(text.begin(), text.end(), value).ptr == text.end();
}

}  // namespace

int main(int argc, char** argv) {
    const std::span arguments(argv, static_cast<std::size_t>(argc));
    std::size_t threads = 0;
    std::size_t rounds = 1;
    if (argc < 3 || argc > 4 || !parse(arguments[2], threads) || (argc == 4 && !parse(arguments[3], rounds)) ||
        rounds == 0) {
        fmt::print(stderr, "usage: bench_decode FILE THREADS [ROUNDS]\n");
        return 2;
    }
    if (threads == 0) threads = std::max(1U, std::thread::hardware_concurrency());

    std::vector<double> seconds;
    Count count;
    for (std::size_t i = 0; i < rounds; ++i) {
        const auto start = std::chrono::steady_clock::now();
        auto capture = CaptureFile::open(arguments[1]);
        if (!capture) {
            fmt::print(stderr, "bench_decode: cannot read {}\n", arguments[1]);
            return 1;
        }
        count = decode_all(*capture, threads);
        seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
        if (count.packets == 0 || count.good != count.packets) {
            fmt::print(stderr, "bench_decode: WRONG: {} packets, {} with a good ICRC\n", count.packets, count.good);
            return 1;
        }
    }
    std::ranges::sort(seconds);
    fmt::print("packets={} best={:.6f} median={:.6f} threads={}\n", count.packets, seconds.front(),
               seconds[seconds.size() / 2], threads);
    return 0;
}
