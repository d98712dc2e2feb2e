// How much of an analysis is serial:  bench_lanes FILE [LANES]
//
// Takes the capture through every stage of a shared-out analysis in one thread, and prints the processor time a packet
// of each in nanoseconds, which share of it cannot be shared (reaching for stretches, the gate, numbering, the end),
// and what that leaves of 16 and of 64 processors (Amdahl 1967), as far as there are pairs of hosts enough.
#include <dissect/base/packet.hpp>
#include <dissect/capture/capture_file.hpp>
#include <transport-replay/analysis/sharded_analysis.hpp>
#include <transport-replay/model/timeline.hpp>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <ctime>
#include <numeric>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace {

using namespace qps;

// Processor time of this thread, in nanoseconds: what others do on the machine does not count.
double processor_time() {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return 1e9 * static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec);
}

// Adds the time since it was made to a sum.
class Spent {
public:
    explicit Spent(double& sum) : sum_(sum) {}
    ~Spent() { sum_ += processor_time() - start_; }
    Spent(const Spent&) = delete;
    Spent& operator=(const Spent&) = delete;

private:
    double& sum_;
    double start_ = processor_time();
};

struct Times {
    double read = 0, work = 0, gate = 0, visit = 0, finish = 0;
    std::vector<double> sieves, lanes;
};

double faster(double serial, double processors) { return 1 / (serial + (1 - serial) / processors); }

int measure(const char* path, std::size_t lanes) {
    auto capture = dissect::CaptureFile::open(path);
    if (!capture) {
        fmt::print(stderr, "bench_lanes: cannot read {}\n", path);
        return 1;
    }
    transport::ShardedAnalysis analysis({}, lanes, false);
    transport::ShardedBatch observations(lanes);
    dissect::Batch batch;
    dissect::Packet packet;
    Times times;
    times.sieves.resize(analysis.sieves());
    times.lanes.resize(lanes);
    const auto reach = [&] {
        const Spent spent(times.read);
        return capture->reach(batch);
    };
    const auto walk = [&] {
        const Spent spent(times.work);
        capture->walk(batch);
    };
    const auto settle = [&] {
        const Spent spent(times.read);
        capture->settle(batch);
    };
    const auto read = [&] {
        if (reach()) {
            walk();
            settle();
            return true;
        }
        const Spent spent(times.read);
        return capture->read(batch);
    };
    while (read()) {
        {
            const Spent spent(times.work);
            observations.clear();
            for (dissect::Frame& frame : batch.frames) {
                if (batch.numbered_from)
                    frame.index = dissect::FrameIndex{*batch.numbered_from + std::to_underlying(frame.index)};
                dissect::decode(frame, packet);
                observations.add(packet);
            }
        }
        for (std::size_t sieve = 0; sieve < times.sieves.size(); ++sieve) {
            const Spent spent(times.sieves[sieve]);
            analysis.sift(observations, sieve);
        }
        {
            const Spent spent(times.gate);
            analysis.gate(observations);
        }
        for (std::size_t lane = 0; lane < lanes; ++lane) {
            const Spent spent(times.lanes[lane]);
            analysis.follow(observations, lane);
        }
        const Spent spent(times.visit);
        analysis.visit(observations, {});
    }
    std::uint64_t packets = 0;
    {
        const Spent spent(times.finish);
        packets = analysis.finish(capture->drops()).packets;
    }
    const double follow = std::accumulate(times.lanes.begin(), times.lanes.end(), 0.0);
    const double sift = std::accumulate(times.sieves.begin(), times.sieves.end(), 0.0);
    const double serial = times.read + times.gate + times.visit + times.finish;
    const double share = serial / (serial + times.work + sift + follow);
    const auto of_packet = [&](double time) { return time / static_cast<double>(std::max<std::uint64_t>(1, packets)); };
    fmt::print(
        "packets={} read={:.1f} work={:.1f} sift={:.1f} gate={:.1f} follow={:.1f} longest_lane={:.1f} visit={:.1f} finish={:.1f} "
        "serial_percent={:.2f} amdahl_16={:.1f} amdahl_64={:.1f}\n",
        packets, of_packet(times.read), of_packet(times.work), of_packet(sift), of_packet(times.gate),
        of_packet(follow), of_packet(std::ranges::max(times.lanes)), of_packet(times.visit), of_packet(times.finish),
        100 * share, faster(share, 16), faster(share, 64));
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    const std::span arguments(argv, static_cast<std::size_t>(argc));
    std::size_t lanes = 2;
    if (argc == 3) {
        const std::string_view text = arguments[2];
        std::from_chars(text.begin(), text.end(), lanes);
    }
    if (argc < 2 || argc > 3 || lanes == 0 || lanes > transport::ShardedAnalysis::kMostLanes) {
        fmt::print(stderr, "usage: bench_lanes FILE [LANES]\n");
        return 2;
    }
    return measure(arguments[1], lanes);
}
