#include <dissect/headers/grid_ftp.hpp>
#include <dissect/headers/infiniband.hpp>
#include <dissect/headers/internet.hpp>
#include <dissect/headers/link.hpp>
#include <dissect/mad/cm.hpp>
#include <dissect/packet/notation.hpp>
#include <dissect/packet/render_value.hpp>
#include <gui/packets/packet_info.hpp>
#include <transport-replay/report/figures.hpp>

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace qps::gui {

using namespace dissect;

namespace {

// Protocols on top of RDMA, by the family of their layers. The word is a filter.
struct Upper {
    LayerFamily family{};
    std::string_view name;
    std::string_view word;
};
constexpr std::array kUppers{
    Upper{LayerFamily::nvme, "NVMe", "nvme"},
    Upper{LayerFamily::iser, "iSER", "iser"},
    Upper{LayerFamily::iscsi, "iSER", "iscsi"},
    Upper{LayerFamily::scsi, "SCSI", "scsi"},
    Upper{LayerFamily::srp, "SRP", "srp"},
    Upper{LayerFamily::rpc_rdma, "RPC", "rpcordma or rpc or nfs"},
    Upper{LayerFamily::smb_direct, "SMB", "smb"},
    Upper{LayerFamily::rds, "RDS", "rds"},
    Upper{LayerFamily::ipoib, "IPoIB", "ipoib"},
    Upper{LayerFamily::rsockets, "rsockets", "rsockets"},
    Upper{LayerFamily::lnet, "LNet", "lnet"},
    Upper{LayerFamily::ucx, "UCX", "rdma.ucx.am or rdma.ucx.ud"},
    Upper{LayerFamily::libfabric, "libfabric", "rdma.rxm or rdma.rxd"},
    Upper{LayerFamily::sdp, "SDP", "infiniband_sdp.bsdh"},
};

const Upper* upperOf(LayerKind kind) {
    const auto found = std::ranges::find_if(kUppers, [kind](const Upper& row) { return is_of(kind, row.family); });
    return found == kUppers.end() ? nullptr : &*found;
}

std::optional<Value> valueOf(const Packet& packet, const Layer& layer, std::string_view name) {
    for (const Field& field : header(layer.kind).fields)
        if (field.name == name)
            if (auto value = value_of(packet, layer, field)) return value;
    return std::nullopt;
}

std::string plain(const Packet& packet, const Layer& layer, std::string_view name) {
    std::string text;
    for (const Field& field : header(layer.kind).fields)
        if (field.name == name && text.empty())
            if (const auto value = value_of(packet, layer, field)) append_plain(text, field, *value);
    return text;
}

bool isNfs(const Packet& packet, const Layer& layer) {
    constexpr std::uint64_t kNfs = 100'003;  // RFC 7530
    if (header(layer.kind).name.starts_with("nfs")) return true;
    const auto program = valueOf(packet, layer, "rpc.program");
    return program && program->number == kNfs;
}

std::string_view classOf(const Packet& packet, const Layer& mad) {
    switch (const auto value = valueOf(packet, mad, "infiniband.mad.mgmtclass"); value ? value->number : 0) {
        case 0x01:
        case 0x81: return "SMP";
        case 0x03: return "SA";
        case 0x04: return "PerfMgt";
        case 0x07: return "CM";
        default: return "MAD";
    }
}

// " class=ComMgt attr=REQ method=Get" as "REQ method=Get": the class is the protocol.
std::string madWords(const Packet& packet, const Layer& mad) {
    std::string words;
    append_words_of_layer(words, packet, mad);
    if (const std::size_t at = words.find(" class="); at != std::string::npos)
        words.erase(at, words.find(' ', at + 1) - at);
    if (const std::size_t at = words.find("attr="); at != std::string::npos) words.erase(at, 5);
    return words;
}

bool isUpper(const Layer& layer) { return upperOf(layer.kind) != nullptr; }

// "SEND_ONLY" of "RC_SEND_ONLY", for the service in front of it.
std::string opcodeWords(const Packet& packet) {
    std::string name(info(packet.opcode).name());
    if (const std::size_t at = name.find('_'); info(packet.opcode).defined && at != std::string::npos) name[at] = ' ';
    return name;
}

std::string listed(std::string words) {
    if (!words.empty() && words.front() == ' ') words.erase(0, 1);
    for (std::size_t at = words.find(' '); at != std::string::npos; at = words.find(' ', at + 2))
        words.replace(at, 1, ", ");
    std::ranges::replace(words, '=', ' ');
    return words;
}

std::string acknowledgmentWords(const Packet& packet, const Layer& aeth) {
    const auto code = valueOf(packet, aeth, "infiniband.aeth.syndrome.error_code");
    std::string words = code ? "NAK, " + transport::nak_text(static_cast<std::uint8_t>(code->number))
                        : valueOf(packet, aeth, "rdma.aeth.rnr_timer_ms") ? std::string("RNR NAK")
                                                                          : std::string("ACK");
    return words + ", MSN " + plain(packet, aeth, "infiniband.aeth.msn");
}

// What is not to be overlooked, as rows are tinted for it: nobody has to see the colour, and copies have none.
void appendMarks(std::string& out, const Packet& packet) {
    const Annotation* known = packet.annotation;
    if (known != nullptr && known->retransmission) out += "[retransmission] ";
    if (known != nullptr && known->duplicated) out += "[duplicate] ";
    if (known != nullptr && known->mirror_copy) out += "[mirror copy] ";
    if (known != nullptr && known->psn_missing != 0)
        out += fmt::format("[PSN gap, {} missing] ", transport::grouped(known->psn_missing));
    if (packet.icrc.status == CrcStatus::bad) out += "[ICRC wrong] ";
}

// "NAK PSN sequence error, PSN 12164704, QP 54, MSN 7": what ends or stops a message is said before its header is.
std::string refusalWords(const Packet& packet) {
    const Layer* bth = find(packet, LayerKind::bth);
    const Layer* aeth = find(packet, LayerKind::aeth);
    if (bth == nullptr || aeth == nullptr || !packet.has_transport()) return {};
    std::string words;
    if (const auto code = valueOf(packet, *aeth, "infiniband.aeth.syndrome.error_code"))
        words = "NAK " + transport::nak_text(static_cast<std::uint8_t>(code->number));
    else if (valueOf(packet, *aeth, "rdma.aeth.rnr_timer_ms"))
        words = fmt::format("RNR NAK, timer {} ms", plain(packet, *aeth, "rdma.aeth.rnr_timer_ms"));
    if (words.empty()) return words;
    return fmt::format("{}, PSN {}, QP {}, MSN {}", words, plain(packet, *bth, "infiniband.bth.psn"),
                       plain(packet, *bth, "infiniband.bth.destqp"), plain(packet, *aeth, "infiniband.aeth.msn"));
}

}  // namespace

std::string_view shownProtocol(const Packet& packet) {
    if (const Layer* mad = find(packet, LayerKind::mad)) return classOf(packet, *mad);
    const auto layers = packet.layers();
    const auto is_nfs = [&](const Layer& layer) { return isNfs(packet, layer); };
    if (std::ranges::any_of(layers, is_nfs)) return "NFS";
    for (const Layer& layer : layers)
        if (const Upper* upper = upperOf(layer.kind)) return upper->name;
    if (packet.has_transport() && info(packet.opcode).defined && info(packet.opcode).verb == Verb::notify) return "CNP";
    return protocol(packet);
}

std::string protocolFilter(const Packet& packet) {
    const Layer* mad = find(packet, LayerKind::mad);
    for (const Layer& layer : packet.layers())
        if (const Upper* upper = mad == nullptr ? upperOf(layer.kind) : nullptr) return std::string(upper->word);
    if (mad != nullptr)
        if (const auto value = valueOf(packet, *mad, "infiniband.mad.mgmtclass"))
            return fmt::format("infiniband.mad.mgmtclass == {}", value->number);
    if (packet.has_transport() && info(packet.opcode).defined && info(packet.opcode).verb == Verb::notify)
        return "rdma.service == CNP";
    return {};
}

void appendInfo(std::string& out, const Packet& packet) {
    const Layer* mad = find(packet, LayerKind::mad);
    const auto layers = packet.layers();
    const auto upper = std::ranges::find_if(layers, isUpper);
    std::string words;
    if (mad != nullptr) words = madWords(packet, *mad);
    const auto begin = mad != nullptr ? layers.begin() + (mad - layers.data()) + 1 : upper;
    for (auto layer = begin; layer != layers.end(); ++layer) append_words_of_layer(words, packet, *layer);
    appendMarks(out, packet);
    if (const std::string refusal = mad == nullptr ? refusalWords(packet) : std::string(); !refusal.empty()) {
        out += refusal;
        return;
    }
    if (words.find_first_not_of(' ') == std::string::npos) return append_line(out, packet);
    out += std::string_view(words).substr(words.find_first_not_of(' '));
    if (mad == nullptr) {
        out += "  [";
        append_line(out, packet);
        // The words are said already.
        if (const std::size_t at = out.rfind(words); at != std::string::npos && at > words.size())
            out.erase(at, words.size());
        out += ']';
    }
}

std::string layerSummary(const Packet& packet, const Layer& layer) {
    std::string words;
    if (layer.kind == kind::grid_ftp) return plain(packet, layer, "rdma.gridftp.line");
    switch (layer.kind) {
        case LayerKind::frame:
            return fmt::format("number {}, {} bytes", std::to_underlying(packet.frame.index),
                               packet.frame.wire_bytes());
        case LayerKind::ethernet: return plain(packet, layer, "eth.src") + " to " + plain(packet, layer, "eth.dst");
        case LayerKind::ipv4: return plain(packet, layer, "ip.src") + " to " + plain(packet, layer, "ip.dst");
        case LayerKind::ipv6: return plain(packet, layer, "ipv6.src") + " to " + plain(packet, layer, "ipv6.dst");
        case LayerKind::udp:
            return "port " + plain(packet, layer, "udp.srcport") + " to " + plain(packet, layer, "udp.dstport");
        case LayerKind::lrh:
            return "LID " + plain(packet, layer, "infiniband.lrh.slid") + " to " +
                   plain(packet, layer, "infiniband.lrh.dlid");
        case LayerKind::grh:
            return plain(packet, layer, "infiniband.grh.sgid") + " to " + plain(packet, layer, "infiniband.grh.dgid");
        case LayerKind::bth:
            if (!packet.has_transport()) return {};
            return fmt::format("{}, QP {}, PSN {}", opcodeWords(packet), plain(packet, layer, "infiniband.bth.destqp"),
                               plain(packet, layer, "infiniband.bth.psn"));
        case LayerKind::aeth: return acknowledgmentWords(packet, layer);
        case LayerKind::rdma: {
            if (const std::string connection = plain(packet, layer, "rdma.connection"); !connection.empty())
                words = "connection " + connection;
            const auto add = [&](std::string_view more) { words += (words.empty() ? "" : ", ") + std::string(more); };
            if (valueOf(packet, layer, "rdma.retransmission")) add("retransmission");
            if (valueOf(packet, layer, "rdma.psn_missing")) add("PSNs before it are missing");
            if (packet.icrc.status == CrcStatus::bad) add("ICRC wrong");
            return words;
        }
        case LayerKind::mad: return listed(std::string(classOf(packet, layer)) + ' ' + madWords(packet, layer));
        case LayerKind::payload: return fmt::format("{} bytes", layer.length);
        default: append_words_of_layer(words, packet, layer); return listed(std::move(words));
    }
}

std::string otherBase(const TreeLine& line) {
    if (line.field == nullptr || value_type(line.field->format) != ValueType::unsigned_integer ||
        !line.value.bytes.empty())
        return {};
    const std::string_view name = line.field->name.substr(line.field->name.rfind('.') + 1);
    constexpr std::array<std::string_view, 9> kMeant{"destqp", "srcqp", "qpn",  "r_key", "q_key",
                                                     "p_key",  "rkey",  "qkey", "stag"};
    const bool meant = std::ranges::any_of(kMeant, [name](std::string_view word) { return name.ends_with(word); });
    if (!meant || !line.field->names.empty()) return {};
    if (line.field->format == Format::hexadecimal) return std::to_string(line.value.number);
    return fmt::format("0x{:0{}x}", line.value.number, (line.field->width + 3) / 4);
}

}  // namespace qps::gui
