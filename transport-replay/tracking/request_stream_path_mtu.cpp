// READs that were requested before the path MTU was known: how many PSNs they take shows in the requests behind them.
#include <transport-replay/model/path_mtu.hpp>
#include <transport-replay/tracking/request_stream.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace qps::transport {

using namespace dissect;

namespace {

constexpr std::array<std::uint32_t, 5> kPathMtus{4096, 2048, 1024, 512, 256};

// Whether the request asks for what a READ left to ask for after that many bytes.
bool asks_for_rest(const Message& read, const Observation& request, std::uint64_t taken) {
    return request.access && info(request.opcode).verb == Verb::read_request && request.access->length != 0 &&
           request.access->key == read.access->key && request.access->address == read.access->address + taken &&
           request.access->address + request.access->length == read.access->address + read.access->length;
}

// The path MTU by which a READ of that length takes so many PSNs; 0: none.
std::uint32_t path_mtu_of(std::uint32_t length, std::uint32_t psns) {
    const auto pmtu =
        std::ranges::find_if(kPathMtus, [&](std::uint32_t candidate) { return packets_of(length, candidate) == psns; });
    return pmtu == kPathMtus.end() ? 0 : *pmtu;
}

}  // namespace

// A READ that was requested before the path MTU was known takes as many PSNs as it does: what comes `distance` PSNs
// after its turn is so much less ahead. Returns what is left of the distance.
std::int32_t RequestStream::widen_last_read(std::int32_t distance, std::uint32_t pmtu) {
    if (open() == 0 || pmtu == 0) return distance;
    Message& read = runs_.back();
    if (read.verb != Verb::read_request || read.last != read.first || !read.access || read.last + 1 != next_)
        return distance;
    const std::int64_t more = std::int64_t{packets_of(read.access->length, pmtu)} - 1;
    if (more > distance) return distance;  // the path MTU is not what it seems
    read.last = read.first + static_cast<std::uint32_t>(more);
    next_ = read.last + 1;
    return distance - static_cast<std::int32_t>(more);
}

// A request that comes `distance` PSNs after its turn is in order where the READ before it takes just so many more.
bool RequestStream::reads_explain(const Observation& request, std::int32_t distance) {
    if (open() == 0) return false;
    Message& read = runs_.back();
    if (read.verb != Verb::read_request || read.last != read.first || !read.access || read.last + 1 != next_)
        return false;
    const auto psns = static_cast<std::uint32_t>(distance) + 1;
    const auto of_rest = std::ranges::find_if(
        kPathMtus, [&](std::uint32_t pmtu) { return asks_for_rest(read, request, std::uint64_t{psns} * pmtu); });
    const std::uint32_t pmtu = of_rest != kPathMtus.end() ? *of_rest : path_mtu_of(read.access->length, psns);
    if (pmtu == 0) return false;
    inferred_pmtu_ = pmtu;
    read.last = read.first + (packets_of(read.access->length, pmtu) - 1);
    next_ = read.last + 1;
    return true;
}

// A READ that overtook another one made the path MTU look smaller than it is. A request whose PSN a READ before it has
// by that path MTU, before any response of it, and that asks for no rest of it, shows that. The path MTU that it tells
// then, or `pmtu`.
std::uint32_t RequestStream::correct_guess(const Observation& request, std::uint32_t pmtu) {
    const Index at = run_at_or_before(request.psn);
    if (at == kNone || (pmtu != 0 && pmtu != inferred_pmtu_)) return pmtu;
    const Message& read = runs_[at];
    const auto before = static_cast<std::uint32_t>(request.psn - read.first);
    if (read.verb != Verb::read_request || !read.access || before == 0 || read.response_next != read.first) return pmtu;
    if (before >= packets_of(read.access->length, inferred_pmtu_) ||
        asks_for_rest(read, request, std::uint64_t{before} * inferred_pmtu_))
        return pmtu;
    const std::uint32_t guessed = std::exchange(inferred_pmtu_, path_mtu_of(read.access->length, before));
    take_back(guessed, inferred_pmtu_);
    return inferred_pmtu_;
}

// READs that take as many PSNs as a guess told take as many as `pmtu` tells; 0: nobody knows.
void RequestStream::take_back(std::uint32_t guessed, std::uint32_t pmtu) {
    for (Message& run : open_runs()) {
        if (run.verb != Verb::read_request || !run.access ||
            run.last != run.first + (packets_of(run.access->length, guessed) - 1))
            continue;
        run.last = run.first + (pmtu == 0 ? 0 : packets_of(run.access->length, pmtu) - 1);
    }
    if (open() != 0) next_ = runs_.back().last + 1;
}

}  // namespace qps::transport
