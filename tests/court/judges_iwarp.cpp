// Judges of RDMA over TCP: FPDUs with their CRCs and markers (RFC 5044), segments that came again or not, Terminates
// (RFC 5040 4.8).
#include <tests/court/judges.hpp>
#include <tests/court/stream.hpp>

#include <algorithm>
#include <array>
#include <set>

#include <fmt/format.h>

namespace qps::court {

namespace {

// What the first of these ends sent to the other, whose numbers are ports.
std::optional<Stream> stream_between(Hearing& hearing, const std::string& sender, const std::string& receiver) {
    const auto from = hearing.end(sender), to = hearing.end(receiver);
    const auto is = [](const std::optional<ClaimedEnd>& end, const std::string& address, std::uint32_t port) {
        return end && end->address == address && (!end->qp || *end->qp == port);
    };
    for (Stream& stream : read_streams(hearing.recording()))
        if (is(from, stream.from, stream.from_port) && is(to, stream.to, stream.to_port)) return std::move(stream);
    hearing.object(fmt::format("there is no stream from its {} to its {}", sender, receiver));
    return {};
}
std::optional<Stream> stream_of(Hearing& hearing) { return stream_between(hearing, "sender", "receiver"); }
// What the other end of it sent.
std::optional<Stream> reverse_of(const Hearing& hearing, const Stream& stream) {
    for (Stream& other : read_streams(hearing.recording()))
        if (other.from == stream.to && other.to == stream.from && other.from_port == stream.to_port &&
            other.to_port == stream.from_port)
            return std::move(other);
    return {};
}
// Its FPDUs, as the set-up says that they are.
Fpdus fpdus_of(const Hearing& hearing, const Stream& stream) {
    const auto own = set_up_of(stream);
    const auto other = reverse_of(hearing, stream);
    const auto asked = other ? set_up_of(*other) : std::nullopt;  // the receiver asks for markers
    return read_fpdus(stream, own ? own->length : 0,
                      asked && asked->markers ? std::optional<std::uint32_t>(0) : std::nullopt);
}
bool is_evidence(const Hearing& hearing, std::size_t frame) {
    return std::ranges::count(hearing.claim().frames, frame) != 0;
}

// "DDP, tagged buffer error: base or bounds violation" (RFC 5040 4.8, RFC 5041 7.1, RFC 5044 8).
std::string terminate_words(std::uint32_t layer, std::uint32_t type, std::uint32_t code) {
    constexpr std::array<std::string_view, 3> kLayers{"RDMAP", "DDP", "MPA"};
    constexpr std::array<std::string_view, 3> kRdmap{"local catastrophic error", "remote protection error",
                                                     "remote operation error"};
    constexpr std::array<std::string_view, 3> kDdp{"local catastrophic error", "tagged buffer error",
                                                   "untagged buffer error"};
    constexpr std::array<std::string_view, 4> kMpaCodes{"", "TCP connection closed, terminated or lost", "CRC wrong",
                                                        "marker and ULPDU length do not agree"};
    if (layer >= kLayers.size() || (layer < 2 && type >= kRdmap.size())) return "";
    std::string words = fmt::format("{}, {}", kLayers[layer],
                                    layer == 0   ? kRdmap[type]
                                    : layer == 1 ? kDdp[type]
                                                 : "MPA error");
    if (layer == 1 && type == 1) {
        constexpr std::array<std::string_view, 5> kTagged{"invalid STag", "base or bounds violation",
                                                          "STag is not of this stream", "tagged offset wrapped",
                                                          "invalid DDP version"};
        return code < kTagged.size() ? fmt::format("{}: {}", words, kTagged[code]) : "";
    }
    return layer == 2 && code > 0 && code < kMpaCodes.size() ? fmt::format("{}: {}", words, kMpaCodes[code]) : "";
}

void terminated(Hearing& hearing) {
    const auto stream = stream_of(hearing);
    if (!stream) return;
    constexpr std::size_t kTerminate = 7, kUntaggedHeader = 18;
    for (const Fpdu& fpdu : fpdus_of(hearing, *stream).all) {
        if ((fpdu.ulpdu[1] & 0xfU) != kTerminate || fpdu.ulpdu.size() < kUntaggedHeader + 2) continue;
        const std::uint32_t layer = fpdu.ulpdu[kUntaggedHeader] >> 4U, type = fpdu.ulpdu[kUntaggedHeader] & 0xfU,
                            code = fpdu.ulpdu[kUntaggedHeader + 1];
        hearing.equal_fact("terminate_layer", layer);
        hearing.equal_fact("terminate_type", type);
        hearing.equal_fact("terminate_code", code);
        const std::string words = terminate_words(layer, type, code);
        hearing.expect(words.empty() || words == hearing.word("terminate_error"), "the Terminate says " + words);
        hearing.expect(is_evidence(hearing, stream->frame_of(fpdu.place)), "its evidence is not the Terminate");
        return;
    }
    hearing.object("there is no Terminate");
}

void mpa_refused(Hearing& hearing) {
    const auto stream = stream_between(hearing, "passive_side", "active_side");
    if (!stream) return;
    const auto reply = set_up_of(*stream);
    if (!reply || !reply->reply) return hearing.object("there is no reply");
    hearing.expect(reply->rejected, "the reply accepts");
    hearing.expect(is_evidence(hearing, stream->frame_of(0)), "its evidence is not the reply");
}

void crc_wrong(Hearing& hearing) {
    const auto stream = stream_of(hearing);
    if (!stream) return;
    const Fpdus fpdus = fpdus_of(hearing, *stream);
    std::uint64_t wrong = 0;
    for (const Fpdu& fpdu : fpdus.all) {
        if (fpdu.crc_right) continue;
        ++wrong;
        hearing.expect(is_evidence(hearing, stream->frame_of(fpdu.place)),
                       fmt::format("frame {} is not in its evidence", stream->frame_of(fpdu.place)));
    }
    hearing.equal_fact("wrong_crcs", static_cast<double>(wrong));
    hearing.equal_fact("fpdus", static_cast<double>(fpdus.all.size()));
}

// How many segments have bytes that were sent before, in the order in which they were sent: that of the capture, or
// that of their IPv4 identifications where the sender counts. It does where they go up with the segments that reach
// furthest.
std::uint64_t not_beyond(const Stream& stream) {
    std::vector<std::pair<std::int64_t, const Segment*>> order;  // identifications without their wrap
    std::int64_t last = 0, highest = 0, top = -1;
    bool counts = true;
    for (const Segment& segment : stream.segments) {
        last += static_cast<std::int16_t>(segment.identification - static_cast<std::uint32_t>(last & 0xffff));
        order.emplace_back(last, &segment);
        if (segment.at + static_cast<std::int64_t>(segment.data.size()) <= highest) continue;
        highest = segment.at + static_cast<std::int64_t>(segment.data.size());
        counts &= segment.ipv4 && (order.size() == 1 || last > top);
        top = last;
    }
    if (counts) std::ranges::stable_sort(order, {}, [](const auto& one) { return one.first; });
    std::uint64_t again = 0;
    highest = 0;
    for (const auto& [id, segment] : order) {
        again += segment->at < highest ? 1U : 0U;
        highest = std::max(highest, segment->at + static_cast<std::int64_t>(segment->data.size()));
    }
    return again;
}

void sent_again(Hearing& hearing) {
    const auto stream = stream_of(hearing);
    if (!stream) return;
    hearing.at_most_fact("retransmitted", static_cast<double>(not_beyond(*stream)));
    hearing.at_most_fact("tcp_segments", static_cast<double>(stream->segments.size()));
}

void holes(Hearing& hearing) {
    if (const auto stream = stream_of(hearing))
        hearing.equal_fact("missing_bytes", static_cast<double>(stream->missing()));
}

// The sink of a READ request (RFC 5040 4.4) is where its response goes; turned round it is.
bool only_turned_sinks_fit(const Hearing& hearing, const Stream& stream, std::size_t from) {
    constexpr std::size_t kSink = 18, kRequest = 1, kResponse = 2;
    const auto other = reverse_of(hearing, stream);
    bool turned = false, straight = false;
    for (const Fpdu& request : read_fpdus(stream, from, {}).all) {
        if ((request.ulpdu[1] & 0xfU) != kRequest || request.ulpdu.size() < kSink + 16 || !other) continue;
        const std::uint32_t sink = number_at(request.ulpdu, kSink, 4);
        const std::uint32_t backwards = sink >> 24U | (sink >> 8U & 0xff00U) | (sink << 8U & 0xff0000U) | sink << 24U;
        for (const Fpdu& response : fpdus_of(hearing, *other).all) {
            if ((response.ulpdu[1] & 0xfU) != kResponse) continue;
            turned |= number_at(response.ulpdu, 2, 4) == backwards;
            straight |= number_at(response.ulpdu, 2, 4) == sink;
        }
    }
    return turned && !straight;
}

void odd_sender(Hearing& hearing) {
    const auto stream = stream_of(hearing);
    if (!stream) return;
    const auto set_up = set_up_of(*stream);
    if (!set_up) return hearing.object("nothing set MPA up there");
    const auto all_right = [&](std::optional<std::uint32_t> shift) {
        const Fpdus fpdus = read_fpdus(*stream, set_up->length, shift);
        return !fpdus.all.empty() && std::ranges::all_of(fpdus.all, &Fpdu::crc_right) &&
               fpdus.end + 4 >= stream->bytes.size();
    };
    const std::string what = hearing.word("nonconformity").value_or("");
    if (what == "no_markers") {
        const auto other = reverse_of(hearing, *stream);
        const auto asked = other ? set_up_of(*other) : std::nullopt;
        hearing.expect(asked && asked->markers && all_right({}),
                       "markers were not asked for, or the stream is not right without them");
    } else if (what == "markers_elsewhere") {
        bool elsewhere = all_right({});
        for (std::uint32_t shift = 4; shift < 512 && !elsewhere; shift += 4) elsewhere = all_right(shift);
        hearing.expect(
            elsewhere && !all_right(0),
            "its markers are where they must be, or the stream is not right with markers elsewhere, nor without");
    } else if (what == "byte_order") {
        hearing.expect(only_turned_sinks_fit(hearing, *stream, set_up->length),
                       "responses go where its requests say, or nowhere");
    } else {
        hearing.object("it does not say what is odd");
    }
}

void unreadable(Hearing& hearing) {
    const auto stream = stream_of(hearing);
    if (!stream) return;
    hearing.equal("bytes that are missing", 0, stream->missing());
    const Fpdus fpdus = fpdus_of(hearing, *stream);
    std::size_t right = fpdus.end;
    // From where what is read as FPDUs has wrong CRCs only, they are none.
    for (const Fpdu& fpdu : fpdus.all)
        if (!fpdu.crc_right) right = std::min(right, fpdu.place);
    hearing.at_most_fact("unread_bytes", static_cast<double>(stream->bytes.size() - right));
}

constexpr std::array kIwarpJudges{
    Judge{"iwarp-terminated", terminated}, Judge{"iwarp-refused", mpa_refused},
    Judge{"iwarp-crc-wrong", crc_wrong},   Judge{"iwarp-retransmission", sent_again},
    Judge{"iwarp-stream-holes", holes},    Judge{"iwarp-nonconforming", odd_sender},
    Judge{"iwarp-unreadable", unreadable},
};

}  // namespace

std::span<const Judge> iwarp_judges() { return kIwarpJudges; }

}  // namespace qps::court
