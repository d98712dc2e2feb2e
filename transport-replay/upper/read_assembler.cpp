#include <transport-replay/upper/read_assembler.hpp>

#include <algorithm>

namespace qps::transport {

using namespace dissect;

void ReadAssembler::asked(Psn first) {
    if (std::ranges::find(reads_, first, &Read::first) != reads_.end()) return;
    if (reads_.size() == kMostAsked) reads_.pop_front();
    reads_.push_back({first, first, {}});
}

void ReadAssembler::answered(const Observation& response) {
    const auto read = std::ranges::find(reads_, response.psn, &Read::next);
    if (read == reads_.end()) return;
    read->next = response.psn + 1;
    const Bytes more = slice(response.payload, 0, kMostHeld - read->bytes.size());
    read->bytes.insert(read->bytes.end(), more.begin(), more.end());
}

std::vector<std::byte> ReadAssembler::take(Psn first) {
    const auto read = std::ranges::find(reads_, first, &Read::first);
    if (read == reads_.end()) return {};
    std::vector<std::byte> bytes = std::move(read->bytes);
    reads_.erase(read);
    return bytes;
}

}  // namespace qps::transport
