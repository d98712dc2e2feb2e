// Judges of RDMA over TCP: FPDUs with their CRCs and markers (RFC 5044), segments that came again or not, Terminates (RFC 5040 4.8).
#include <tests/court/judges.hpp>
#include <tests/court/stream.hpp>

#include <algorithm>
#include <array>
#include <set>

#include <fmt/format.h>

namespace qps::court {

namespace {

const std::string kPort = "(?: port (\\d+))?";

std::uint64_t tally(const std::string& words) { return count_of(words).value_or(0); }

// What `from` sent to that port of `to`, of the connection that the finding is of: its ends are addresses with ports.
std::optional<Stream> stream_to(Hearing& hearing, const std::string& from, const std::string& to, const std::string& port) {
    for (Stream& stream : read_streams(hearing.recording()))
        if (stream.from == from && stream.to == to && stream.to_port == tally(port)) {
            const auto& ends = hearing.claim().ends;
            const bool own = !ends || std::ranges::any_of(*ends, [&](const ClaimedEnd& end) {
                return end.address == from && (!end.qp || *end.qp == stream.from_port);
            });
            if (own) return std::move(stream);
        }
    hearing.object(fmt::format("there is no stream from {} to {} port {}", from, to, port));
    return {};
}
// What the other end of it sent.
std::optional<Stream> reverse_of(const Hearing& hearing, const Stream& stream) {
    for (Stream& other : read_streams(hearing.recording()))
        if (other.from == stream.to && other.to == stream.from && other.from_port == stream.to_port && other.to_port == stream.from_port)
            return std::move(other);
    return {};
}
// Its FPDUs, as the set-up says that they are.
Fpdus fpdus_of(const Hearing& hearing, const Stream& stream) {
    const auto own = set_up_of(stream);
    const auto other = reverse_of(hearing, stream);
    const auto asked = other ? set_up_of(*other) : std::nullopt;  // the receiver asks for markers
    return read_fpdus(stream, own ? own->length : 0, asked && asked->markers ? std::optional<std::uint32_t>(0) : std::nullopt);
}
bool is_evidence(const Hearing& hearing, std::size_t frame) { return std::ranges::count(hearing.claim().frames, frame) != 0; }

// "DDP, tagged buffer error: base or bounds violation" (RFC 5040 4.8, RFC 5041 7.1, RFC 5044 8).
std::string terminate_words(std::uint32_t layer, std::uint32_t type, std::uint32_t code) {
    constexpr std::array<std::string_view, 3> kLayers{"RDMAP", "DDP", "MPA"};
    constexpr std::array<std::string_view, 3> kRdmap{"local catastrophic error", "remote protection error", "remote operation error"};
    constexpr std::array<std::string_view, 3> kDdp{"local catastrophic error", "tagged buffer error", "untagged buffer error"};
    constexpr std::array<std::string_view, 4> kMpaCodes{"", "TCP connection closed, terminated or lost", "CRC wrong",
                                                        "marker and ULPDU length do not agree"};
    if (layer >= kLayers.size() || (layer < 2 && type >= kRdmap.size())) return "";
    std::string words = fmt::format("{}, {}", kLayers[layer], layer == 0 ? kRdmap[type] : layer == 1 ? kDdp[type] : "MPA error");
    if (layer == 1 && type == 1) {
        constexpr std::array<std::string_view, 5> kTagged{"invalid STag", "base or bounds violation", "STag is not of this stream",
                                                          "tagged offset wrapped", "invalid DDP version"};
        return code < kTagged.size() ? fmt::format("{}: {}", words, kTagged[code]) : "";
    }
    return layer == 2 && code > 0 && code < kMpaCodes.size() ? fmt::format("{}: {}", words, kMpaCodes[code]) : "";
}

void terminated(Hearing& hearing) {
    const auto said =
        hearing.must_say("^" + kHost + " terminated the connection with " + kHost + kPort + " because of an error \\((.*)\\)");
    if (!said) return;
    const auto stream = stream_to(hearing, (*said)[1], (*said)[2], (*said)[3]);
    if (!stream) return;
    constexpr std::size_t kTerminate = 7, kUntaggedHeader = 18;
    for (const Fpdu& fpdu : fpdus_of(hearing, *stream).all) {
        if ((fpdu.ulpdu[1] & 0xfU) != kTerminate || fpdu.ulpdu.size() < kUntaggedHeader + 2) continue;
        const std::uint8_t first = fpdu.ulpdu[kUntaggedHeader];
        const std::string words = terminate_words(first >> 4U, first & 0xfU, fpdu.ulpdu[kUntaggedHeader + 1]);
        hearing.expect(words.empty() || words == (*said)[4], "the Terminate says " + words);
        hearing.expect(is_evidence(hearing, stream->frame_of(fpdu.place)), "its evidence is not the Terminate");
        return;
    }
    hearing.object("there is no Terminate");
}

void mpa_refused(Hearing& hearing) {
    const auto said = hearing.must_say("^" + kHost + kPort + " rejected the connection from " + kHost + " in its MPA reply");
    if (!said) return;
    for (const Stream& stream : read_streams(hearing.recording())) {
        const auto reply = set_up_of(stream);
        if (stream.from != (*said)[1] || stream.from_port != tally((*said)[2]) || stream.to != (*said)[3] || !reply || !reply->reply)
            continue;
        hearing.expect(reply->rejected, "the reply accepts");
        return hearing.expect(is_evidence(hearing, stream.frame_of(0)), "its evidence is not the reply");
    }
    hearing.object("there is no reply");
}

void crc_wrong(Hearing& hearing) {
    const auto said =
        hearing.must_say("^" + kNumber + " of " + kNumber + " FPDUs? from " + kHost + " to " + kHost + kPort + " (?:has|have) a wrong CRC");
    if (!said) return;
    const auto stream = stream_to(hearing, (*said)[3], (*said)[4], (*said)[5]);
    if (!stream) return;
    const Fpdus fpdus = fpdus_of(hearing, *stream);
    std::uint64_t wrong = 0;
    for (const Fpdu& fpdu : fpdus.all) {
        if (fpdu.crc_right) continue;
        ++wrong;
        hearing.expect(is_evidence(hearing, stream->frame_of(fpdu.place)),
                       fmt::format("frame {} is not in its evidence", stream->frame_of(fpdu.place)));
    }
    hearing.equal("wrong CRCs", tally((*said)[1]), wrong);
    hearing.equal("FPDUs", tally((*said)[2]), fpdus.all.size());
}

// How many segments have bytes that were sent before, in the order in which they were sent: that of the capture, or that of their IPv4
// identifications where the sender counts. It does where they go up with the segments that reach furthest.
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
    const auto said = hearing.must_say("^" + kHost + " retransmitted " + kNumber + " of " + kNumber + " segments? to " + kHost + kPort);
    if (!said) return;
    const auto stream = stream_to(hearing, (*said)[1], (*said)[4], (*said)[5]);
    if (!stream) return;
    hearing.at_most("retransmitted segments", tally((*said)[2]), not_beyond(*stream));
    hearing.at_most("segments", tally((*said)[3]), stream->segments.size());
}

void holes(Hearing& hearing) {
    const auto said = hearing.must_say("^The capture lacks " + kNumber + " bytes? that " + kHost + " sent to " + kHost + kPort);
    if (!said) return;
    const auto stream = stream_to(hearing, (*said)[2], (*said)[3], (*said)[4]);
    if (stream) hearing.equal("bytes that are missing", tally((*said)[1]), stream->missing());
}

void odd_sender(Hearing& hearing) {
    const auto said = hearing.must_say("^" + kHost +
                                       " (writes the fields of its READ requests least significant byte first|has no MPA markers "
                                       "where RFC 5044 has them|sends no MPA markers, although the other end asked for them)");
    if (!said) return;
    (void)hearing.take("RFC 5040");
    const auto streams = read_streams(hearing.recording());
    for (const Stream& stream : streams) {
        const auto set_up = set_up_of(stream);
        if (stream.from != (*said)[1] || !set_up) continue;
        const auto all_right = [&](std::optional<std::uint32_t> shift) {
            const Fpdus fpdus = read_fpdus(stream, set_up->length, shift);
            return !fpdus.all.empty() && std::ranges::all_of(fpdus.all, &Fpdu::crc_right) && fpdus.end + 4 >= stream.bytes.size();
        };
        if ((*said)[2].starts_with("sends no")) {
            const auto other = reverse_of(hearing, stream);
            const auto asked = other ? set_up_of(*other) : std::nullopt;
            return hearing.expect(asked && asked->markers && all_right({}),
                                  "markers were not asked for, or the stream is not right without them");
        }
        if ((*said)[2].starts_with("has no")) {
            (void)hearing.take("RFC 5044");
            bool elsewhere = all_right({});
            for (std::uint32_t shift = 4; shift < 512 && !elsewhere; shift += 4) elsewhere = all_right(shift);
            if (all_right(0)) continue;
            return hearing.expect(elsewhere, "the stream is not right with markers elsewhere, nor without");
        }
        // The sink of a READ request (RFC 5040 4.4) is where its response goes; turned round it is.
        constexpr std::size_t kSink = 18, kRequest = 1, kResponse = 2;
        const auto other = reverse_of(hearing, stream);
        bool turned = false, straight = false;
        for (const Fpdu& request : read_fpdus(stream, set_up->length, {}).all) {
            if ((request.ulpdu[1] & 0xfU) != kRequest || request.ulpdu.size() < kSink + 16 || !other) continue;
            const std::uint32_t sink = number_at(request.ulpdu, kSink, 4);
            const std::uint32_t backwards = sink >> 24U | (sink >> 8U & 0xff00U) | (sink << 8U & 0xff0000U) | sink << 24U;
            for (const Fpdu& response : fpdus_of(hearing, *other).all) {
                if ((response.ulpdu[1] & 0xfU) != kResponse) continue;
                turned |= number_at(response.ulpdu, 2, 4) == backwards;
                straight |= number_at(response.ulpdu, 2, 4) == sink;
            }
        }
        return hearing.expect(turned && !straight, "responses go where its requests say, or nowhere");
    }
    hearing.object("there is no such stream");
}

void unreadable(Hearing& hearing) {
    const auto said =
        hearing.must_say("^" + kNumber + " bytes? that " + kHost + " sent to " + kHost + kPort + " could not be read as FPDUs");
    if (!said) return;
    const auto stream = stream_to(hearing, (*said)[2], (*said)[3], (*said)[4]);
    if (!stream) return;
    hearing.equal("bytes that are missing", 0, stream->missing());
    std::size_t right = fpdus_of(hearing, *stream).end;
    // From where what is read as FPDUs has wrong CRCs only, they are none.
    for (const Fpdu& fpdu : fpdus_of(hearing, *stream).all)
        if (!fpdu.crc_right) right = std::min(right, fpdu.place);
    hearing.at_most("bytes", tally((*said)[1]), stream->bytes.size() - right);
}

constexpr std::array kIwarpJudges{
    Judge{"iwarp-terminated", terminated}, Judge{"iwarp-refused", mpa_refused}, Judge{"iwarp-crc-wrong", crc_wrong},
    Judge{"iwarp-retransmission", sent_again}, Judge{"iwarp-stream-holes", holes},  Judge{"iwarp-nonconforming", odd_sender},
    Judge{"iwarp-unreadable", unreadable},
};

}  // namespace

std::span<const Judge> iwarp_judges() { return kIwarpJudges; }

}  // namespace qps::court
