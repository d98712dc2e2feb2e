// What a user says of packets: comments, packets to ignore, packets that times count from. Of the session; an export
// writes the comments into the file.
#pragma once

#include <dissect/base/packet.hpp>
#include <dissect/capture/options.hpp>
#include <dissect/packet/render_value.hpp>
#include <transport-replay/index/row_set.hpp>

#include <QString>
#include <map>
#include <optional>
#include <string>

namespace qps::gui {

// Comments that were written, changed or removed since the capture was opened; those of the file stand in the file.
class Comments {
public:
    static constexpr std::size_t kMost = 100'000;  // written by hand

    // The comment that holds: ours, else the file's, which says whatever it likes and is made printable here.
    [[nodiscard]] QString of(const dissect::Packet& packet) const {
        if (const std::optional<QString> ours = written(packet.frame.index)) return *ours;
        std::string text;
        dissect::append_printable(text, dissect::comment(packet.frame));
        return QString::fromStdString(text);
    }
    [[nodiscard]] std::optional<QString> written(dissect::FrameIndex frame) const {
        const auto found = texts_.find(frame);
        return found == texts_.end() ? std::nullopt : std::optional(found->second);
    }
    // An empty text takes away the file's comment too. False past kMost.
    bool write(dissect::FrameIndex frame, const QString& text) {
        if (texts_.size() >= kMost && !texts_.contains(frame)) return false;
        texts_[frame] = text;
        return true;
    }
    [[nodiscard]] const std::map<dissect::FrameIndex, QString>& all() const { return texts_; }

private:
    std::map<dissect::FrameIndex, QString> texts_;
};

struct PacketNotes {
    transport::RowSet marks;  // a copy of the selection's, for the painter
    transport::RowSet ignored;
    transport::RowSet references;  // times after one count from it
    Comments comments;
};

}  // namespace qps::gui
