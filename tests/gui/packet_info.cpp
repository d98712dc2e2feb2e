// What a row and a tree say of a packet: its protocol, its message, a summary at each heading, queue pairs and keys in
// both bases.
#include <dissect/headers/grid_ftp.hpp>
#include <gui/packets/field_model.hpp>
#include <gui/packets/owned_packet.hpp>
#include <gui/packets/packet_columns.hpp>
#include <gui/packets/packet_info.hpp>
#include <tests/gui/sample.hpp>
#include <tests/support/packets.hpp>

#include <array>
#include <map>

#include "application.hpp"

using namespace qps::gui;
using namespace qps::gui::tests;
using qps::dissect::Filter;
using qps::dissect::FrameIndex;
using qps::dissect::LayerKind;
using qps::dissect::Packet;
using qps::transport::PacketReader;
using qps::transport::PacketRow;

namespace {

// Of each protocol that a sample shows: the first Info.
std::map<std::string, std::string> infos(const std::string& sample) {
    const ReadSample read = readSample(sample);
    PacketReader reader(read.index);
    std::map<std::string, std::string> found;
    for (std::uint64_t frame = 1; frame <= read.index->packets.size(); ++frame) {
        const Packet* packet = reader.read(FrameIndex{frame});
        REQUIRE(packet != nullptr);
        std::string info;
        appendInfo(info, *packet);
        found.emplace(shownProtocol(*packet), info);
    }
    return found;
}

QString cell(const FieldModel& model, const char* name, int column) {
    for (int i = 0; i < 400; ++i)
        if (const QModelIndex index = model.indexOf(static_cast<std::size_t>(i));
            index.isValid() && index.data().toString() == QLatin1String(name))
            return model.indexOf(static_cast<std::size_t>(i), column).data().toString();
    return {};
}

}  // namespace

TEST_CASE("a row names the protocol that a packet carries, and says its message first") {
    const auto set_up = infos("ucmatose");
    REQUIRE(set_up.contains("CM"));
    CHECK(set_up.at("CM").starts_with("REQ comm=0x"));
    CHECK(set_up.at("CM").find("class=") == std::string::npos);
    CHECK(set_up.contains("RoCEv2"));
    CHECK(set_up.at("RoCEv2").starts_with("RC_SEND_ONLY qp=34 psn="));

    const auto storage = infos("nvme_rdma");
    REQUIRE(storage.contains("NVMe"));
    CHECK(storage.at("NVMe").starts_with("nvme"));
    CHECK(storage.at("NVMe").find("[RC_SEND_ONLY qp=") != std::string::npos);

    CHECK(infos("fabric_sweep").contains("SMP"));
    CHECK(infos("nfs_v3").contains("NFS"));
    CHECK(infos("congestion").contains("CNP"));
    CHECK(infos("iwarp_write").contains("iWARP"));
}

TEST_CASE("what a row is tinted for it says in words, first") {
    struct Told {
        const char* words;
        const char* filter;
    };
    constexpr std::array kTold{Told{"[retransmission]", "rdma.retransmission"},
                               Told{"[duplicate]", "rdma.duplicated"},
                               Told{"[mirror copy]", "rdma.mirror_copy"},
                               Told{"[PSN gap, ", "rdma.psn_missing"},
                               Told{"[ICRC wrong]", "rdma.icrc.status == bad"},
                               Told{"NAK ", "infiniband.aeth.syndrome.opcode == NAK"},
                               Told{"RNR NAK, timer ", "infiniband.aeth.syndrome.opcode == RNR_NAK"}};
    std::array<std::size_t, kTold.size()> seen{};
    for (const char* sample : {"loss_write", "dup_write", "corrupt_send", "err_rnr", "err_mixed", "multi_qp"}) {
        const ReadSample read = readSample(sample);
        PacketReader reader(read.index);
        std::vector<Filter> filters;
        for (const Told& told : kTold) filters.push_back(Filter::compile(told.filter).value());
        for (std::uint64_t frame = 1; frame <= read.index->packets.size(); ++frame) {
            const Packet* packet = reader.read(FrameIndex{frame});
            REQUIRE(packet != nullptr);
            std::string info;
            appendInfo(info, *packet);
            CAPTURE(sample, frame, info);
            for (std::size_t i = 0; i < kTold.size(); ++i) {
                const bool told = kTold[i].words[0] == '['
                                      ? info.find(kTold[i].words) != std::string::npos
                                      : info.rfind(kTold[i].words, 0) == 0 ||
                                            info.find(std::string("] ") + kTold[i].words) != std::string::npos;
                REQUIRE(told == filters[i].matches(*packet));
                seen[i] += told ? 1 : 0;
            }
        }
    }
    for (std::size_t i = 0; i < kTold.size(); ++i) {
        CAPTURE(kTold[i].words);
        CHECK((seen[i] != 0 || std::string_view(kTold[i].words) == "[mirror copy]"));
    }
    const ReadSample loss = readSample("loss_write");
    PacketReader reader(loss.index);
    for (std::uint64_t frame = 1; frame <= loss.index->packets.size(); ++frame) {
        if (loss.index->row(FrameIndex{frame}).syndrome() != 0x60) continue;
        std::string info;
        appendInfo(info, *reader.read(FrameIndex{frame}));
        CHECK(info.starts_with("NAK PSN sequence error, PSN " +
                               std::to_string(loss.index->row(FrameIndex{frame}).psn().value()) + ", QP "));
        break;
    }
}

TEST_CASE("the filter of a protocol finds packets of that protocol") {
    for (const char* sample : {"ucmatose", "nvme_rdma", "fabric_sweep", "nfs_v3", "congestion", "iser_io"}) {
        const ReadSample read = readSample(sample);
        PacketReader reader(read.index);
        for (std::uint64_t frame = 1; frame <= std::min<std::uint64_t>(read.index->packets.size(), 200); ++frame) {
            const Packet* packet = reader.read(FrameIndex{frame});
            const std::string text = protocolFilter(*packet);
            if (text.empty()) continue;
            const auto filter = Filter::compile(text);
            CAPTURE(sample, frame, text);
            REQUIRE(filter.has_value());
            CHECK(filter->matches(*packet));
        }
    }
}

TEST_CASE("headings of a tree have a summary, queue pairs and keys both bases") {
    needApplication();
    const ReadSample read = readSample("write_8k");
    PacketReader reader(read.index);
    FieldModel model;
    bool seen = false;
    for (std::uint64_t frame = 1; frame <= read.index->packets.size() && !seen; ++frame) {
        const Packet* packet = reader.read(FrameIndex{frame});
        if (find(*packet, LayerKind::reth) == nullptr) continue;
        seen = true;
        model.setPacket(std::make_shared<OwnedPacket>(*packet));
        const PacketRow& row = read.index->row(FrameIndex{frame});
        CHECK(cell(model, "Base Transport Header", FieldModel::Words) ==
              QStringLiteral("RC RDMA_WRITE_FIRST, QP %1, PSN %2")
                  .arg(std::to_underlying(row.dest_qp()))
                  .arg(row.psn().value()));
        CHECK(cell(model, "Internet Protocol version 4", FieldModel::Words) ==
              QStringLiteral("10.77.0.11 to 10.77.0.12"));
        CHECK(cell(model, "RDMA Extended Transport Header", FieldModel::Words).startsWith(QStringLiteral("va 0x")));
        CHECK(cell(model, "Destination queue pair", FieldModel::Words) ==
              QStringLiteral("%1 (0x%2)")
                  .arg(std::to_underlying(row.dest_qp()))
                  .arg(std::to_underlying(row.dest_qp()), 6, 16, QLatin1Char('0')));
        const QString key = cell(model, "Remote key", FieldModel::Words);
        CHECK(key.startsWith(QStringLiteral("0x")));
        CHECK(key.contains(QStringLiteral(" (")));
    }
    CHECK(seen);
}

TEST_CASE("the summary of a text is the text, spaces included") {
    using namespace qps::dissect;
    PacketSpec spec;
    for (const LayerKind kind : {LayerKind::ethernet, LayerKind::ipv4, LayerKind::tcp})
        spec.headers.push_back(HeaderSpec{kind});
    set(spec, "tcp.srcport", 2811);
    set(spec, "tcp.dstport", 40'000);
    std::vector<std::byte> bytes = build(spec);
    for (const char c : std::string_view("220 host ready")) bytes.push_back(static_cast<std::byte>(c));
    bytes[17] = static_cast<std::byte>(bytes.size() - 14);
    const qps::tests::Decoded decoded(bytes, LinkType::ethernet);
    const Layer* text = find(decoded.packet, kind::grid_ftp);
    REQUIRE(text != nullptr);
    CHECK(layerSummary(decoded.packet, *text) == "220 host ready");
}
