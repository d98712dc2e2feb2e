#include <transport-replay/ulp/read_watch.hpp>

#include <algorithm>
#include <utility>

namespace qps::transport {

using namespace dissect;

void ReadWatch::asked(Psn psn, bool keep, std::uint8_t detail) {
    std::erase_if(reads_, [&](const Reading& reading) { return !reading.psn.before(psn); });
    if (reads_.size() == kMaxReads) reads_.pop_front();
    reads_.push_back({psn, psn, keep, detail, {}});
}

// The youngest READ that this PSN is not before.
ReadWatch::Reading* ReadWatch::current_of(Psn psn) {
    const auto found =
        std::find_if(reads_.rbegin(), reads_.rend(), [&](const Reading& reading) { return !psn.before(reading.psn); });
    return found == reads_.rend() ? nullptr : &*found;
}

std::uint8_t ReadWatch::answered(const Observation& observation, ByteShare& share) {
    Reading* reading = current_of(observation.psn);
    if (reading == nullptr) return 0;
    const bool begins = observation.psn == reading->psn;
    if (begins) {
        reading->payload.clear();
        reading->next = observation.psn;
    }
    if (observation.psn == reading->next) {
        reading->next = observation.psn + 1;
        if (reading->keep) {
            const Bytes more = slice(observation.payload, 0, kMaxKeptOfRead - reading->payload.size());
            reading->keep = reading->payload.append(share, more);
        }
    } else {
        reading->keep = false;
        reading->payload.clear();
    }
    return begins ? reading->detail : 0;
}

HeldBytes ReadWatch::take(Psn psn) {
    while (!reads_.empty() && reads_.front().psn.before(psn)) reads_.pop_front();
    if (reads_.empty() || reads_.front().psn != psn) return {};
    HeldBytes payload = std::move(reads_.front().payload);
    reads_.pop_front();
    return payload;
}

}  // namespace qps::transport
