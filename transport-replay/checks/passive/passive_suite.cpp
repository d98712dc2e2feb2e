#include <transport-replay/checks/passive/iwarp_watch.hpp>
#include <transport-replay/checks/passive/nvme_watch.hpp>
#include <transport-replay/checks/passive/passive_suite.hpp>

#include <array>
#include <bit>
#include <utility>

namespace qps::transport::conformance {

using namespace dissect;

namespace {

// Which checks of the format look at packets, by what these are: bits of Passive.
using Looks = std::array<std::uint64_t, kTraitSets>;
// A function that is no constant expression: the compiler would evaluate the whole table, at ten seconds for this
// source.
Looks made_looks() {
    Looks all{};
    for (std::size_t traits = 0; traits < all.size(); ++traits)
        for (const FormatRow& row : kFormatRows)
            if (looks(row, static_cast<std::uint16_t>(traits))) all[traits] |= bit(row.check);
    return all;
}
const Looks& looks_by_traits() {
    static const Looks kAll = made_looks();
    return kAll;
}

template <class Visit> void for_each_check(std::uint64_t bits, Visit visit) {
    for (std::uint64_t left = bits; left != 0; left &= left - 1) visit(static_cast<Passive>(std::countr_zero(left)));
}

}  // namespace

PassiveSuite::PassiveSuite(const MemoryBudget& budget)
    : looks_(&looks_by_traits()),
      most_watched_(most_watched(budget)),
      iwarp_(std::make_unique<IwarpWatch>(budget)),
      most_streams_(IwarpWatch::most_streams(budget)),
      most_held_(IwarpWatch::most_held(budget)),
      nvme_(std::make_unique<NvmeWatch>(budget)),
      most_queues_(NvmeWatch::most_queues(budget)),
      most_commands_(NvmeWatch::most_commands(budget)) {}
PassiveSuite::PassiveSuite(PassiveSuite&&) noexcept = default;
PassiveSuite& PassiveSuite::operator=(PassiveSuite&&) noexcept = default;
PassiveSuite::~PassiveSuite() = default;

static_assert(IwarpWatch::memory_of(MemoryBudget{}) <= PassiveSuite::memory_of_iwarp(MemoryBudget{}));
static_assert(IwarpWatch::memory_of(MemoryBudget{MemoryBudget::kLeast}) <=
              PassiveSuite::memory_of_iwarp(MemoryBudget{MemoryBudget::kLeast}));

static_assert(NvmeWatch::memory_of(MemoryBudget{}) <= PassiveSuite::memory_of_nvme(MemoryBudget{}));
static_assert(NvmeWatch::memory_of(MemoryBudget{MemoryBudget::kLeast}) <=
              PassiveSuite::memory_of_nvme(MemoryBudget{MemoryBudget::kLeast}));

void PassiveSuite::has_nvme_at(std::uint16_t port) { nvme_->also_at(port); }

void PassiveSuite::observe(const Observation& packet, const PacketFacts& facts, const PacketRecord& record) {
    if (packet.kind == ObservationKind::stream && !record.mirror_copy) {
        iwarp_->observe(packet, record, tallies_);
        streams_ = std::max(streams_, iwarp_->streams());
        held_ = std::max(held_, iwarp_->held());
        return;
    }
    if (packet.kind != ObservationKind::transport) return;
    tallies_.packet(packet.flow.source);
    for_each_check((*looks_)[facts.traits], [&](Passive check) { tallies_.look(check); });
    if (record.icrc_not_judged && !record.mirror_copy) {
        tallies_.icrc_not_judged();
        tallies_.doubt(Passive::fmt_01, packet.frame);
    }
    // An ICRC that is wrong is judged with its sender's others, at the end.
    const bool with_sender = record.connection && !packet.management;
    for_each_check(with_sender ? facts.wrong & ~bit(Passive::fmt_01) : facts.wrong, [&](Passive check) {
        if (check == Passive::fmt_01) tallies_.doubt(check, packet.frame);
        else tallies_.fail(check, packet.frame);
    });
    if (record.mirror_copy) return;
    if (packet.management) {
        management_.observe(packet, facts, tallies_);
        nvme_->set_up(packet, tallies_);
        nvme_queues_ = std::max(nvme_queues_, nvme_->queues());
        return;
    }
    if (!record.connection || !info(packet.opcode).defined) return;
    if (nvme_->any()) {
        nvme_->observe(packet, record, tallies_);
        nvme_commands_ = std::max(nvme_commands_, nvme_->commands());
        tallies_.about(packet.flow.source);
    }
    const std::size_t index = std::to_underlying(*record.connection) - 1;
    if (index >= most_watched_) {
        ++unwatched_;
        return;
    }
    while (watches_.size() <= index) watches_.emplace_back();
    const bool room = remembered_ < kRememberedWays;
    bool remember = room;
    watches_[index].observe(packet, facts, record, remember, tallies_);
    if (room && !remember) ++remembered_;
}

// 9.7.4.1.6: what a WRITE announces is what it brings.
void PassiveSuite::message(ConnectionId connection, End requester, const Message& message) {
    const bool whole = message.starts && message.ends && message.missing == 0 && message.packets == message.span();
    if (!whole || message.verb != Verb::write || !message.access || message.service == Service::iwarp) return;
    if (message.outcome != Outcome::completed && message.outcome != Outcome::sent) return;
    const std::size_t index = std::to_underlying(connection) - 1;
    tallies_.about(index < watches_.size() ? watches_[index].host(requester) : HostTallies::kTogether);
    tallies_.look(Passive::req_03);
    if (message.bytes != message.access->length)
        tallies_.fail(Passive::req_03, message.first_frame, message.last_frame);
}

PassiveRecord PassiveSuite::take() {
    iwarp_->finish(tallies_);
    PassiveRecord record{.hosts = tallies_.take(),
                         .watched = {},
                         .unwatched = unwatched_ + iwarp_->unwatched() + nvme_->unwatched(),
                         .untold = tallies_.untold()};
    std::uint32_t number = 0;
    watches_.consume([&](ConversationWatch& watch) {
        ++number;
        if (watch.any()) record.watched.push_back(watch.summary(ConnectionId{number}));
    });
    return record;
}

}  // namespace qps::transport::conformance
