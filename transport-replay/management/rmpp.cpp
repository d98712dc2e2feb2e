#include <dissect/mad/administration.hpp>
#include <transport-replay/management/rmpp.hpp>

#include <algorithm>
#include <utility>

namespace qps::transport {

using namespace dissect;

namespace {

constexpr Field kRmppType = named(kRmppFields, "infiniband.rmpp.rmpptype");
constexpr Field kActive = named(kRmppFields, "infiniband.rmpp.rmppflags.active");
constexpr Field kFirst = named(kRmppFields, "infiniband.rmpp.rmppflags.first");
constexpr Field kLast = named(kRmppFields, "infiniband.rmpp.rmppflags.last");
constexpr Field kRmppStatus = named(kRmppFields, "infiniband.rmpp.rmppstatus");
constexpr Field kData1 = named(kRmppFields, "infiniband.rmpp.data1");
constexpr Field kData2 = named(kRmppFields, "infiniband.rmpp.data2");
constexpr Field kAttributeOffset = named(kSaFields, "infiniband.sa.attributeoffset");

enum class RmppType : std::uint8_t { data = 1, ack = 2, stop = 3, abort = 4 };

constexpr std::size_t kSaOffset = kMadHeaderLength + kRmppHeaderLength;

}  // namespace

// A transfer that is over stays until its place is wanted: its last segment may come again.
RmppTransfers::Transfer* RmppTransfers::find_or_begin(const RmppKey& key, bool first) {
    if (const auto found = transfers_.find(key); found != transfers_.end()) {
        const bool over =
            found->second.transfer.complete || found->second.transfer.given_up || found->second.transfer.stopped;
        if (!first || !over) return &found->second;
        transfers_.erase(found);  // the number is used again
    }
    if (transfers_.size() >= kMaxRmppTransfers) {
        const auto oldest =
            std::ranges::min_element(transfers_, {}, [](const auto& entry) { return entry.second.begun; });
        if (!oldest->second.transfer.complete) ++dropped_;
        give_up(oldest->second);
        transfers_.erase(oldest);
    }
    Transfer& transfer = transfers_[key];
    transfer.begun = ++begun_;
    return &transfer;
}

void RmppTransfers::give_up(Transfer& transfer) {
    held_ -= transfer.data.capacity();
    for (const auto& [number, bytes] : transfer.waiting) held_ -= bytes.size();
    std::vector<std::byte>().swap(transfer.data);  // assigning {} keeps the memory
    transfer.waiting.clear();
    if (!transfer.transfer.complete) transfer.transfer.given_up = true;
}

void RmppTransfers::take_in_order(Transfer& transfer, Bytes data) {
    ++transfer.next;
    ++transfer.transfer.segments;
    transfer.transfer.bytes += data.size();
    const std::size_t before = transfer.data.capacity();
    transfer.data.insert(transfer.data.end(), data.begin(), data.end());
    held_ += transfer.data.capacity() - before;
}

void RmppTransfers::take_data(Transfer& transfer, const ManagementDatagram& datagram) {
    const Bytes rmpp = slice(datagram.bytes, kMadHeaderLength, kRmppHeaderLength);
    const auto number = static_cast<std::uint32_t>(read(rmpp, kData1));
    if (transfer.transfer.complete || number < transfer.next || transfer.waiting.contains(number)) {
        ++transfer.transfer.repeated;
        return;
    }
    if (transfer.transfer.given_up || transfer.transfer.stopped) return;
    const Bytes data = slice(datagram.bytes, mad_places::kSa, valid_in_segment(rmpp));
    // What is held counts with the room that a vector has for more: it doubles.
    const bool grows = transfer.data.size() + data.size() > transfer.data.capacity();
    const std::size_t more = grows ? std::max(transfer.data.capacity(), data.size()) : 0;
    const bool too_much =
        transfer.data.size() + data.size() > kMaxRmppBytes || held_ + std::max(more, data.size()) > kMaxRmppHeld;
    const bool too_far = number - transfer.next > kMaxRmppOutOfOrder || transfer.waiting.size() >= kMaxRmppOutOfOrder;
    if (too_much || (number != transfer.next && too_far)) {
        ++dropped_;
        return give_up(transfer);
    }
    if (number == 1)
        transfer.record_size = static_cast<std::size_t>(read(slice(datagram.bytes, kSaOffset), kAttributeOffset)) * 8;
    if (read(rmpp, kLast) != 0) transfer.last = number;
    if (number != transfer.next) {
        transfer.waiting[number].assign(data.begin(), data.end());
        held_ += data.size();
        return;
    }
    take_in_order(transfer, data);
    for (auto next = transfer.waiting.find(transfer.next); next != transfer.waiting.end();
         next = transfer.waiting.find(transfer.next)) {
        held_ -= next->second.size();
        take_in_order(transfer, next->second);
        transfer.waiting.erase(next);
    }
    if (transfer.last != 0 && transfer.next > transfer.last) transfer.transfer.complete = true;
}

void RmppTransfers::take_ack(Transfer& transfer, Bytes rmpp) {
    ++transfer.transfer.acks;
    const auto acknowledged = static_cast<std::uint32_t>(read(rmpp, kData1));
    const auto window_last = static_cast<std::uint32_t>(read(rmpp, kData2));
    if (window_last > acknowledged)
        transfer.transfer.window = std::max(transfer.transfer.window, window_last - acknowledged);
}

RmppStep RmppTransfers::observe(const ManagementDatagram& datagram, const Observation& observation) {
    RmppStep step;
    if (datagram.management_class != ManagementClass::subnet_administration || !datagram.whole()) return step;
    const Bytes rmpp = slice(datagram.bytes, kMadHeaderLength, kRmppHeaderLength);
    const auto type = static_cast<RmppType>(read(rmpp, kRmppType));
    if (type < RmppType::data || type > RmppType::abort || read(rmpp, kActive) == 0) return step;
    step.rmpp = true;
    step.data = type == RmppType::data;
    const FlowKey& flow = observation.flow;
    key_ = {datagram.transaction, flow.source, flow.destination, datagram.management_class};
    // What is no data may come from either side; an ABORT of the sender's is about its own transfer.
    if (!step.data && !transfers_.contains(key_)) std::swap(key_.sender, key_.receiver);
    step.key = &key_;
    Transfer* transfer = nullptr;
    if (step.data) transfer = find_or_begin(key_, read(rmpp, kFirst) != 0);
    else if (const auto found = transfers_.find(key_); found != transfers_.end()) transfer = &found->second;
    if (transfer == nullptr) return step;
    const bool was_complete = transfer->transfer.complete;
    switch (type) {
        case RmppType::data: take_data(*transfer, datagram); break;
        case RmppType::ack: take_ack(*transfer, rmpp); break;
        default:
            transfer->transfer.stopped = static_cast<std::uint8_t>(read(rmpp, kRmppStatus));
            transfer->transfer.aborted = type == RmppType::abort;
            give_up(*transfer);
    }
    if (transfer->transfer.complete && !was_complete) {
        held_ -= transfer->data.capacity();
        completed_ = std::move(transfer->data);
        transfer->data.clear();
        step.records = completed_;
        step.record_size = transfer->record_size;
        if (step.record_size != 0)
            transfer->transfer.records = static_cast<std::uint32_t>(completed_.size() / step.record_size);
    }
    step.transfer = transfer->transfer;
    return step;
}

}  // namespace qps::transport
