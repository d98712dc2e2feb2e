// Findings about how two ends are set up to reach each other: RoCE version, GID, path MTU, partition.
#include <transport-replay/findings/draw.hpp>
#include <transport-replay/findings/evidence.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/report/words.hpp>

#include <algorithm>

#include <fmt/format.h>

namespace qps::transport::draw {

namespace {

using namespace words;

constexpr std::uint16_t kFullMember = 0x8000;  // bit 15 of a P_Key (10.9.3)
constexpr std::uint16_t kPartition = 0x7fff;
constexpr std::uint32_t kJumboMtu = 2048;           // the least path MTU that a link of 1500 bytes cannot carry
constexpr std::uint64_t kBulkBytes = 1ULL << 20;    // below, nobody feels the headers
constexpr std::uint64_t kHeaderBytes = 82;          // Ethernet with preamble, gap and FCS 38, IPv4 20, UDP 8, BTH 12, ICRC 4
constexpr std::uint64_t kLinkLocal = 0xfe80 >> 6U;  // fe80::/10

bool roce(const Address& address) { return address.space == AddressSpace::roce_v1 || address.space == AddressSpace::roce_v2; }
bool link_local(const Address& address) { return roce(address) && address.bits[0] >> 54U == kLinkLocal; }

}  // namespace

void roce_version_mismatch(const Timeline& timeline, const Emit& emit) {
    const auto silent = [&](const OneWay& way, AddressSpace space) { return way.source.space == space && way.destination.space == space; };
    std::optional<Heard> heard;
    for (const OneWay& way : timeline.quality.one_way) {
        if (!silent(way, AddressSpace::roce_v1)) continue;
        Address source = way.destination, destination = way.source;
        source.space = destination.space = AddressSpace::roce_v2;
        const auto back = std::ranges::lower_bound(timeline.quality.one_way, std::pair{source, destination}, {},
                                                   [](const OneWay& one) { return std::pair{one.source, one.destination}; });
        if (back == timeline.quality.one_way.end() || back->source != source || back->destination != destination) continue;
        if (!heard) heard.emplace(timeline);
        const std::string v1 = text(way.source), v2 = text(source);
        emit({.party = Party::undecided,
              .packets = {heard->first(way.source, way.destination), heard->first(source, destination)},
              .count = way.packets + back->packets,
              .summary = fmt::format("{} sends RoCEv1 to {} ({}), which replies with RoCEv2 ({}): neither accepts the packets of the other.", v1, v2,
                                     counted(way.packets, "packet"), counted(back->packets, "packet")),
              .advice = fmt::format("Choose a GID index with RoCEv2 on {} (`show_gids`, NCCL_IB_GID_INDEX, UCX_IB_GID_INDEX, "
                                    "default_roce_mode of rdma_cm).",
                                    v1)});
    }
}

void link_local_gid(const Timeline& timeline, const Emit& emit) {
    std::uint64_t count = 0;
    std::uint64_t unanswered = 0;
    FindingDraft draft{.party = Party::application};
    std::string example;
    for (const Connection& connection : timeline.connections) {
        if (!link_local(connection.ends[0].address) && !link_local(connection.ends[1].address)) continue;
        // A capture of one direction is no proof of silence; somebody who sends again is.
        const bool silent = connection.reliable() && connection.one_way() &&
                            connection.ways[connection.ways[0].packets != 0 ? 0 : 1].incidents->recovery(RecoveryKind::timeout).episodes != 0;
        unanswered += silent ? 1 : 0;
        add_evidence(draft, connection.first_frame());
        if (count++ == 0 || (silent && unanswered == 1))
            example = fmt::format("{} and {}", host(connection.ends[0]), host(connection.ends[1]));
    }
    if (count == 0) return;
    draft.count = count;
    draft.severity = unanswered != 0 ? Severity::warning : Severity::note;
    draft.summary = fmt::format("{} used link-local GIDs (fe80::), such as between {}{}.", counted(count, "connection"), example,
                                unanswered == 0 ? "" : fmt::format("; {} of them got no answer", unanswered));
    draft.advice =
        "Choose the GID index of a routable address (`show_gids`, NCCL_IB_GID_INDEX, ibv_ah_attr.grh.sgid_index): routers "
        "do not forward link-local ones.";
    emit(std::move(draft));
}

void path_mtu_differs(const Timeline& timeline, const Emit& emit) {
    for (const Connection& connection : timeline.connections) {
        const std::uint32_t a = connection.ways[0].path_mtu, b = connection.ways[1].path_mtu;
        const std::uint32_t agreed = connection.cm_path_mtu.value_or(0);
        const std::uint32_t used = std::max(a, b);
        const bool ways = a != 0 && b != 0 && a != b;
        const bool cm = agreed != 0 && used != 0 && used != agreed;
        if (!ways && !cm) continue;
        std::string summary;
        if (ways)
            summary =
                fmt::format("{} sends packets of {} and {} of {}", host(connection.ends[0]), length(a), who(connection.ends[1]), length(b));
        else summary = fmt::format("{} and {} send packets of {}", host(connection.ends[0]), who(connection.ends[1]), length(used));
        if (agreed != 0) summary += fmt::format("; CM negotiated a path MTU of {}", agreed);
        if (connection.failed) summary += "; the connection failed";
        emit({.party = Party::application,
              .connection = connection.uid,
              .packets = first_frames(connection),
              .summary = summary + ".",
              .advice = "Set one path MTU at both ends (path_mtu of the queue pair, active_mtu in `ibv_devinfo`), with an Ethernet "
                        "MTU that carries it everywhere on the path.",
              // Packets shorter than agreed only cost headers.
              .severity = ways || used > agreed ? Severity::warning : Severity::note});
    }
}

namespace {

void path_mtu_small(const Timeline& timeline, std::uint16_t recording, const Emit& emit) {
    std::uint32_t greatest = 0;
    std::uint64_t bytes = 0;
    FindingDraft draft{.party = Party::application, .count = 0};
    std::uint32_t small = 0;
    for (const Connection& connection : timeline.connections) {
        if (connection.recording != recording) continue;
        const std::uint32_t used = std::max(connection.ways[0].path_mtu, connection.ways[1].path_mtu);
        greatest = std::max(greatest, used);
        if (used == 0 || used >= kJumboMtu || connection.bytes() < kBulkBytes) continue;
        ++draft.count;
        bytes += connection.bytes();
        small = std::max(small, used);
        add_evidence(draft, connection.first_frame());
    }
    if (draft.count == 0 || greatest < kJumboMtu) return;
    draft.summary = fmt::format(
        "{} moved {} in packets of {} or less, while others in this capture use {}: headers take {} of the link "
        "instead of {}.",
        counted(draft.count, "connection"), bytes_text(bytes), length(small), greatest, share(kHeaderBytes, kHeaderBytes + small),
        share(kHeaderBytes, kHeaderBytes + greatest));
    draft.advice = "Raise the Ethernet MTU of these hosts to 4200 or more and path_mtu to 4096 (`ip link set mtu`, `ibv_devinfo`).";
    emit(std::move(draft));
}

}  // namespace

void path_mtu_small(const Timeline& timeline, const Emit& emit) {
    for (std::size_t recording = 0; recording <= timeline.recordings.size(); ++recording)
        path_mtu_small(timeline, static_cast<std::uint16_t>(recording), emit);
}

void pkey_mismatch(const Timeline& timeline, const Emit& emit) {
    for (const Connection& connection : timeline.connections) {
        const auto a = most_of(connection.ways[0].pkeys), b = most_of(connection.ways[1].pkeys);
        const auto number = [](dissect::Pkey key) { return std::to_underlying(key); };
        const auto same = [&](dissect::Pkey x, dissect::Pkey y) { return ((number(x) ^ number(y)) & kPartition) == 0; };
        const CmAttempt* attempt = attempt_of(timeline, connection);
        const auto agreed = attempt != nullptr ? attempt->pkey : std::nullopt;
        const auto departs = [&](const std::optional<dissect::Pkey>& sent) { return agreed && sent && !same(*sent, *agreed); };
        std::string what;
        if (a && b && !same(*a, *b)) {
            what = fmt::format("{} sends with P_Key 0x{:04x} and {} with 0x{:04x}", host(connection.ends[0]), number(*a),
                               who(connection.ends[1]), number(*b));
        } else if (a && b && ((number(*a) | number(*b)) & kFullMember) == 0) {
            what = fmt::format("{} and {} both send as limited members of P_Key 0x{:04x}, which may not communicate with each other",
                               host(connection.ends[0]), who(connection.ends[1]), number(*a));
        } else if (departs(a) || departs(b)) {
            const std::string senders = a && b ? fmt::format("{} and {} send", host(connection.ends[0]), who(connection.ends[1]))
                                        : a    ? fmt::format("{} sends", host(connection.ends[0]))
                                               : fmt::format("{} sends", who(connection.ends[1]));
            what = fmt::format("{} with P_Key 0x{:04x} although CM negotiated 0x{:04x}", senders,
                               number(departs(a) ? a.value_or(*agreed) : b.value_or(*agreed)), number(*agreed));
        } else {
            continue;
        }
        const bool answered = answers_of(connection.ways[0]) + answers_of(connection.ways[1]) != 0;
        emit({.party = Party::application,
              .connection = connection.uid,
              .packets = first_frames(connection),
              .summary = fmt::format("{}{}.", what, answered ? "; packets are answered nevertheless" : "; nothing is answered"),
              .advice =
                  "Compare the P_Key tables (`/sys/class/infiniband/*/ports/*/pkeys`) and pkey_index at both ends (NCCL_IB_PKEY); one of "
                  "the two must be a full member (bit 15).",
              .severity = answered ? Severity::warning : Severity::error});
    }
}

}  // namespace qps::transport::draw
