#include <cli/tone.hpp>
#include <dissect/headers/infiniband.hpp>

#include <cstdlib>

namespace qps::cli {

using namespace dissect;

namespace {

constexpr std::string_view kError = "\033[31m";       // NAKs, wrong CRCs
constexpr std::string_view kWarning = "\033[33m";     // RNR, what cannot be decoded
constexpr std::string_view kCongestion = "\033[35m";  // CNP, CE, PAUSE
constexpr std::string_view kManagement = "\033[36m";
constexpr std::string_view kOther = "\033[2m";  // no RDMA

bool is_set(const char* variable) {
    const char* value = std::getenv(variable);
    return value != nullptr && *value != '\0' && std::string_view(value) != "0";
}

std::string_view tone_of_acknowledgment(const Packet& packet) {
    const Layer* aeth = find(packet, LayerKind::aeth);
    if (aeth == nullptr || aeth->fault != Fault::none) return {};
    switch (static_cast<SyndromeType>(read_bits(packet.bytes_of(*aeth), 1, 2))) {
        case SyndromeType::nak: return kError;
        case SyndromeType::rnr_nak:
        case SyndromeType::reserved: return kWarning;
        case SyndromeType::ack: break;
    }
    return {};
}

}  // namespace

bool wants_color(ColorMode color, const Output& output) {
    if (color != ColorMode::automatic) return color == ColorMode::always;
    if (is_set("NO_COLOR")) return false;
    if (is_set("CLICOLOR_FORCE")) return true;
    const char* terminal = std::getenv("TERM");
    return output.is_terminal() && terminal != nullptr && std::string_view(terminal) != "dumb";
}

std::string_view tone(const Packet& packet) {
    if (packet.icrc.status == CrcStatus::bad || packet.vcrc.status == CrcStatus::bad) return kError;
    for (const Layer& layer : packet.layers()) {
        if (layer.kind == LayerKind::mac_pause || layer.kind == LayerKind::mac_pfc) return kCongestion;
        if (layer.fault != Fault::none && layer.fault != Fault::cut) return kWarning;
        if (layer.kind == LayerKind::mad) return kManagement;
    }
    if (packet.encapsulation == Encapsulation::none) return kOther;
    if (packet.opcode == Opcode::cnp || packet.opcode == Opcode::cnp_native) return kCongestion;
    return tone_of_acknowledgment(packet);
}

std::string_view tone(transport::Tone tone) {
    switch (tone) {
        case transport::Tone::error: return kError;
        case transport::Tone::warning: return kWarning;
        case transport::Tone::plain: break;
    }
    return {};
}

void append_toned(std::string& out, transport::Tone its, std::string_view text) {
    const std::string_view start = tone(its);
    out += start;
    out += text;
    if (!start.empty()) out += kToneEnd;
}

}  // namespace qps::cli
