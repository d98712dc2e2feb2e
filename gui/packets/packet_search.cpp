#include <dissect/filter/filter.hpp>
#include <dissect/packet/notation.hpp>
#include <gui/packets/packet_info.hpp>
#include <gui/packets/packet_search.hpp>

#include <QCoreApplication>
#include <algorithm>
#include <string>
#include <utility>

namespace qps::gui {

using dissect::FrameIndex;
using Test = std::function<bool(PacketRows&, FrameIndex)>;

namespace {

QString said(const char* text) { return QCoreApplication::translate("PacketSearch", text); }

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

std::expected<Test, QString> filterTest(const QString& text) {
    auto filter = dissect::Filter::compile(text.toStdString());
    if (!filter) return std::unexpected(QString::fromStdString(filter.error().message));
    return [filter = *filter](PacketRows& rows, FrameIndex frame) {
        const dissect::Packet* packet = rows.read(frame);
        return packet != nullptr && filter.matches(*packet);
    };
}

Test textTest(const QString& text) {
    std::string wanted = text.toStdString();
    std::ranges::transform(wanted, wanted.begin(), lower);
    return [wanted, line = std::string()](PacketRows& rows, FrameIndex frame) mutable {
        const dissect::Packet* packet = rows.read(frame);
        if (packet == nullptr) return false;
        line.clear();
        appendInfo(line, *packet);
        line += '\n';
        dissect::append_line(line, *packet);
        std::ranges::transform(line, line.begin(), lower);
        return line.find(wanted) != std::string::npos;
    };
}

std::expected<Test, QString> bytesTest(const QString& text) {
    const auto wanted = bytesOfHex(text);
    if (!wanted) return std::unexpected(said("Invalid bytes: expected pairs of hex digits, such as 0a 0b 0c"));
    return [wanted = *wanted](PacketRows& rows, FrameIndex frame) {
        const dissect::Packet* packet = rows.read(frame);
        return packet != nullptr && !std::ranges::search(packet->frame.bytes, wanted).empty();
    };
}

// By the row alone, without decoding the packet.
std::expected<Test, QString> psnTest(const QString& text) {
    bool number = false;
    const uint psn = text.trimmed().toUInt(&number, 0);
    if (!number || psn > dissect::Psn::kMask) return std::unexpected(said("Invalid PSN: expected 0 to 16777215"));
    return [psn = dissect::Psn(psn)](PacketRows& rows, FrameIndex frame) {
        const transport::PacketRow row = rows.row(frame);
        return row.kind() == transport::ObservationKind::transport && row.psn() == psn;
    };
}

}  // namespace

std::optional<std::vector<std::byte>> bytesOfHex(const QString& text) {
    std::vector<std::byte> bytes;
    QString digits = text.trimmed();
    if (digits.startsWith(QLatin1String("0x"), Qt::CaseInsensitive)) digits.remove(0, 2);
    int high = -1;
    for (const QChar c : digits) {
        const int value = static_cast<int>(QStringLiteral("0123456789abcdef").indexOf(c.toLower()));
        if (value < 0) {
            if (high >= 0 || !QStringLiteral(" :-.").contains(c)) return std::nullopt;
            continue;
        }
        if (high >= 0) bytes.push_back(static_cast<std::byte>(high * 16 + value));
        high = high >= 0 ? -1 : value;
    }
    if (bytes.empty() || high >= 0) return std::nullopt;
    return bytes;
}

std::expected<PacketSearch, QString> PacketSearch::make(SearchKind kind, const QString& text) {
    if (text.trimmed().isEmpty()) return std::unexpected(said("Nothing to search for"));
    std::expected<Test, QString> test = textTest(text);
    if (kind == SearchKind::Filter) test = filterTest(text);
    else if (kind == SearchKind::Bytes) test = bytesTest(text);
    else if (kind == SearchKind::Psn) test = psnTest(text);
    if (!test) return std::unexpected(test.error());
    return PacketSearch(std::move(*test));
}

bool PacketSearch::matches(PacketRows& rows, FrameIndex frame) const { return m_test(rows, frame); }

SearchResult searchPackets(PacketRows& rows, const PacketSearch& search, FrameIndex from, SearchWay way,
                           const std::function<bool(double)>& goOn) {
    constexpr std::uint64_t kAskEvery = 64;  // packets: a moment even where each waits for a disk
    const std::uint64_t count = rows.count();
    if (count == 0) return {};
    // A packet that is not shown lies between two that are.
    const bool shown = rows.isShown(from);
    const std::uint64_t start = rows.positionOf(from);
    const std::uint64_t steps = count;
    for (std::uint64_t i = 0; i < steps; ++i) {
        const std::uint64_t ahead = i + (shown ? 1 : 0);
        const bool forward = way == SearchWay::Forward;
        const std::uint64_t back = i + 1;
        const std::uint64_t position = forward ? (start + ahead) % count : (start + count - back % count) % count;
        const bool wrapped = forward ? start + ahead >= count : back > start;
        if (i % kAskEvery == 0 && !goOn(static_cast<double>(i) / static_cast<double>(count)))
            return {.cancelled = true};
        const FrameIndex frame = rows.frameAt(position);
        if (search.matches(rows, frame)) return {.frame = frame, .wrapped = wrapped};
    }
    return {};
}

}  // namespace qps::gui
