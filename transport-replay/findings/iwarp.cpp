// Findings about RDMA over TCP: connections that ended or were refused, FPDUs that were spoiled, what TCP had to repair.
#include <transport-replay/findings/draw.hpp>
#include <transport-replay/iwarp/iwarp_words.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/report/figures.hpp>
#include <transport-replay/report/words.hpp>

#include <algorithm>

#include <fmt/format.h>

namespace qps::transport::draw {

namespace {

using namespace words;

struct Stream {
    const IwarpConversation& iwarp;
    const Connection& connection;
    [[nodiscard]] std::string from(End end) const { return host(connection.end(end)); }
    [[nodiscard]] std::string to(End end) const { return who(connection.end(other(end))); }
};

template <class See>
void each(const Timeline& timeline, See see) {
    for (const IwarpConversation& iwarp : timeline.iwarp.conversations)
        if (const Connection* connection = timeline.find(iwarp.connection); connection != nullptr) see(Stream{iwarp, *connection});
}
template <class See>
void each_way(const Timeline& timeline, See see) {
    each(timeline, [&](const Stream& place) {
        for (const End end : {End::a, End::b}) see(place, end, place.iwarp.way(end));
    });
}

std::string bytes(std::uint64_t count) { return counted(count, "byte"); }

}  // namespace

// A Terminate is sent by who received something wrong: it is about what the other end sent (RFC 5040 4.8).
void iwarp_terminated(const Timeline& timeline, const Emit& emit) {
    each(timeline, [&](const Stream& place) {
        if (!place.iwarp.terminated) return;
        const Terminated& terminated = *place.iwarp.terminated;
        constexpr std::uint8_t kLocalCatastrophic = 0, kMpa = 2, kCrc = 2, kMpaLocal = 5;
        const bool mpa = terminated.layer == kMpa;
        const bool crc = mpa && terminated.code == kCrc;
        const bool own = mpa ? terminated.code == kMpaLocal : terminated.type == kLocalCatastrophic;
        // The set-up has no requests: there the active side (End::a) is the requester, and who sent the Terminate complains of the other.
        const End blamed = own ? terminated.from : other(terminated.from);
        const Party of_set_up = blamed == End::a ? Party::requester : Party::responder;
        emit({.party = crc   ? Party::fabric
                       : mpa ? of_set_up
                       : own ? Party::responder
                             : Party::requester,
              .connection = place.connection.uid,
              .packets = {terminated.frame},
              .summary = fmt::format("{} terminated the connection with {} because of an error ({}).", place.from(terminated.from),
                                     place.to(terminated.from), terminate_text(terminated)),
              .advice = own   ? fmt::format("Check the log of {}, which failed locally.", place.from(terminated.from))
                        : crc ? fmt::format("Look for a device between the hosts that changes payload, and for memory errors on {}.",
                                            place.from(other(terminated.from)))
                        : mpa ? fmt::format("Compare what the MPA request and reply say of IRD, ORD, markers and ready-to-receive message "
                                            "(`qpscope cm`): {} did not send what {} expects.",
                                            place.from(other(terminated.from)), place.from(terminated.from))
                            : fmt::format("Check what {} sent right before: memory keys, lengths and sequence numbers.",
                                          place.from(other(terminated.from)))});
    });
}

void iwarp_refused(const Timeline& timeline, const Emit& emit) {
    each(timeline, [&](const Stream& place) {
        const auto& reply = place.iwarp.way(End::b).set_up;
        if (!reply || !reply->rejected) return;
        emit({.party = Party::application,
              .connection = place.connection.uid,
              .packets = {reply->frame},
              .summary =
                  fmt::format("{} rejected the connection from {} in its MPA reply.", who(place.connection.end(End::b)), place.from(End::a)),
              .advice = fmt::format("Check the log of the program that listens on {} for the reason.", who(place.connection.end(End::b)))});
    });
}

void iwarp_crc_wrong(const Timeline& timeline, const Emit& emit) {
    each_way(timeline, [&](const Stream& place, End end, const IwarpWay& way) {
        if (way.crc_bad == 0) return;
        emit({.party = Party::fabric,
              .connection = place.connection.uid,
              .packets = way.crc_bad_frames,
              .count = way.crc_bad,
              .summary = fmt::format("{} of {} from {} to {} {} a wrong CRC.", way.crc_bad,
                                     counted(way.fpdus, "FPDU"), place.from(end), place.to(end), way.crc_bad == 1 ? "has" : "have"),
              .advice = fmt::format("Look for a device between the hosts that changes payload, and for memory errors on {}.", place.from(end))});
    });
}

void iwarp_retransmission(const Timeline& timeline, const Emit& emit) {
    each(timeline, [&](const Stream& place) {
        for (const End end : {End::a, End::b}) {
            const Way& way = place.connection.way(end);
            if (way.incidents->retransmitted == 0) continue;
            emit({.party = Party::fabric,
                  .connection = place.connection.uid,
                  .count = way.incidents->retransmitted,
                  .summary = fmt::format("{} retransmitted {} of {} to {}.", place.from(end), way.incidents->retransmitted,
                                         counted(way.requests, "segment"), place.to(end)),
                  .advice = fmt::format("Look for drops between {} and {}: RDMA over TCP stalls on each of them.", place.from(end),
                                        place.from(other(end)))});
        }
    });
}

void iwarp_stream_holes(const Timeline& timeline, const Emit& emit) {
    each_way(timeline, [&](const Stream& place, End end, const IwarpWay& way) {
        if (way.missing_bytes == 0) return;
        emit({.party = Party::capture,
              .connection = place.connection.uid,
              .count = way.lost_alignment == 0 ? 1 : way.lost_alignment,
              .summary = fmt::format("The capture lacks {} that {} sent to {}, so some messages are incomplete.",
                                     bytes(way.missing_bytes), place.from(end), place.to(end)),
              .advice = "Capture closer to one of the hosts, or with larger buffers."});
    });
}

// What the analysis reads all the same, and other readers may not.
void iwarp_nonconforming(const Timeline& timeline, const Emit& emit) {
    each_way(timeline, [&](const Stream& place, End end, const IwarpWay& way) {
        const auto say = [&](dissect::FrameIndex proof, std::string_view what) {
            if (proof == dissect::FrameIndex{}) return;
            emit({.party = Party::requester,
                  .connection = place.connection.uid,
                  .packets = {proof},
                  .summary = fmt::format("{} {}; it is read so.", place.from(end), what),
                  .advice = fmt::format("Update the RDMA stack of {}: implementations that follow the RFC do not understand it.",
                                        place.from(end))});
        };
        say(way.turned_read, "writes the fields of its READ requests least significant byte first, against RFC 5040");
        say(way.odd_markers, way.markers ? "has no MPA markers where RFC 5044 has them"
                                         : "sends no MPA markers, although the other end asked for them");
    });
}

void iwarp_unreadable(const Timeline& timeline, const Emit& emit) {
    each_way(timeline, [&](const Stream& place, End end, const IwarpWay& way) {
        if (way.unread_bytes == 0 || way.missing_bytes != 0) return;
        emit({.party = Party::undecided,
              .connection = place.connection.uid,
              .count = std::max<std::uint64_t>(1, way.lost_alignment),
              .summary = fmt::format("{} that {} sent to {} could not be read as FPDUs, although the capture has all of the stream.",
                                     bytes(way.unread_bytes), place.from(end), place.to(end)),
              .advice = fmt::format("Check whether {} is an implementation with markers or lengths of its own.", place.from(end))});
    });
}

}  // namespace qps::transport::draw
