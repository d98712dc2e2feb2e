// Which packets are exported, under what name, and what of a filter Wireshark understands: everything about exports
// that needs neither dialogs nor files.
#pragma once

#include <gui/session/selection.hpp>
#include <transport-replay/index/extract.hpp>

#include <QString>
#include <functional>
#include <vector>

namespace qps::transport {
struct Timeline;
}  // namespace qps::transport

namespace qps::gui {

enum class Packets {
    Selected,
    Marked,
    Displayed,
    Connection,  // that which is selected, with the messages that set it up and took it down
    All,
};

using Ranges = std::vector<transport::FrameRange>;

// `selected`: those that the user has selected somewhere.
[[nodiscard]] transport::Chosen choose(Packets packets, const Ranges& selected, const Session& session,
                                       const Selection& selection);

// Of the connection that is selected: its packets, and those of its CM attempt, which name no connection. Empty where
// none is.
[[nodiscard]] transport::RowSet withSetUp(const Session& session, const Selection& selection);
// The same, for another thread. True from `stop`: what is returned is not all.
[[nodiscard]] transport::RowSet withSetUp(const transport::CaptureIndex& index, const transport::Timeline& timeline,
                                          transport::ConnectionId connection, const std::function<bool()>& stop = {});

// Which of them a user most likely wants: several that are selected; else what the filter shows, of a connection with
// its set-up; else all.
[[nodiscard]] Packets likeliest(std::uint64_t selected, const Selection& selection);

// What a file is offered to be called: "trace.pcap.gz" and "-marked.pcapng" give "trace-marked.pcapng".
[[nodiscard]] QString offeredName(const QString& capture, const QString& ending);
[[nodiscard]] QString ending(Packets packets);

// Whether Wireshark has all names of a filter, and they mean the same in a file that has only some of the packets.
[[nodiscard]] bool wiresharkKnows(const QString& filter);

// What became of an extraction, in one sentence.
[[nodiscard]] QString statusText(const transport::Extracted& outcome, const QString& path);

}  // namespace qps::gui
