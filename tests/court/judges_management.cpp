// Judges of connection management: REQ and REJ, read from their datagrams (volume 1, 12.6.5 and 12.6.7).
#include <tests/court/judges.hpp>

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace qps::court {

namespace {

constexpr std::size_t kHeaders = 12 + 8, kMadHeader = 24;  // BTH and DETH; before the message
constexpr std::uint32_t kManagementClass = 0x07, kRequest = 0x10, kReject = 0x12;

// A message of communication management.
struct Message {
    const Wire* wire = nullptr;
    const Octets* bytes = nullptr;
    std::size_t place = 0;  // of the message
    std::uint32_t attribute = 0;

    [[nodiscard]] std::uint32_t number(std::size_t at, std::size_t octets) const { return number_at(*bytes, place + at, octets); }
    [[nodiscard]] std::uint32_t local() const { return number(0, 4); }
    [[nodiscard]] std::uint32_t remote() const { return number(4, 4); }
    [[nodiscard]] std::uint32_t port() const { return number(14, 2); }    // of a REQ: the end of the service ID
    [[nodiscard]] std::uint32_t reason() const { return number(10, 2); }  // of a REJ
};

std::vector<Message> messages(const Hearing& hearing) {
    std::vector<Message> out;
    for (const Wire& wire : hearing.wires()) {
        const Octets& bytes = hearing.recording().records[wire.frame - 1].bytes;
        const std::size_t mad = wire.bth + kHeaders;
        if (!wire.management() || mad + 256 > bytes.size() || bytes[mad + 1] != kManagementClass) continue;
        out.push_back({.wire = &wire, .bytes = &bytes, .place = mad + kMadHeader, .attribute = number_at(bytes, mad + 16, 2)});
    }
    return out;
}

void cm_rejected(Hearing& hearing) {
    const auto said =
        hearing.must_say("^" + kHost + " rejected the connection requested by " + kHost + "(?: to port (\\d+))?: reason (\\d+)");
    if (!said) return;
    const std::uint64_t reason = count_of((*said)[4]).value_or(0);
    std::string why = "no REJ answers a REQ between them";
    for (const std::vector<Message> all = messages(hearing); const Message& reject : all) {
        if (reject.attribute != kReject || reject.wire->from != (*said)[1] || reject.wire->to != (*said)[2]) continue;
        const auto is_answered = [&](const Message& request) {
            return request.attribute == kRequest && request.wire->frame < reject.wire->frame && request.local() == reject.remote() &&
                   request.wire->from == (*said)[2];
        };
        const auto request = std::ranges::find_if(all, is_answered);
        if (request == all.end()) continue;
        why = reject.reason() != reason ? fmt::format("the REJ in frame {} has reason {}", reject.wire->frame, reject.reason())
              : !(*said)[3].empty() && request->port() != count_of((*said)[3])
                  ? fmt::format("the REQ in frame {} is for port {}", request->wire->frame, request->port())
              : std::ranges::count(hearing.claim().frames, reject.wire->frame) == 0
                  ? fmt::format("frame {}, the REJ, is not in its evidence", reject.wire->frame)
                  : "";
        if (const auto data = hearing.take("private data ([0-9a-f]+)")) {
            std::string shown;
            for (std::size_t i = 0; i < (*data)[1].size() / 2; ++i) shown += fmt::format("{:02x}", reject.number(84 + i, 1));
            if (shown != (*data)[1]) why = fmt::format("the private data begins with {}", shown);
        }
        if (why.empty()) return;
    }
    hearing.object(why);
}

constexpr std::array kManagementJudges{
    Judge{"cm-rejected", cm_rejected},
};

}  // namespace

std::span<const Judge> management_judges() { return kManagementJudges; }

}  // namespace qps::court
