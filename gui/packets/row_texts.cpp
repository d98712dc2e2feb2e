#include <dissect/packet/render_value.hpp>
#include <gui/base/names.hpp>
#include <gui/packets/row_texts.hpp>

#include <QDateTime>
#include <utility>

namespace qps::gui {

using namespace dissect;

namespace {

// Clocks of a capture say what they like: the difference wraps instead of overflowing.
Duration between(Instant from, Instant to) {
    return Duration{static_cast<std::int64_t>(static_cast<std::uint64_t>(to) - static_cast<std::uint64_t>(from))};
}

std::optional<Instant> timeOf(const PacketRows& rows, FrameIndex frame) {
    const transport::PacketRow row = rows.row(frame);
    return row.has(transport::Mark::timeless) ? std::nullopt : std::optional(row.time());
}

// As utc() writes it, in the time zone of this machine, whose offset is said.
QString localText(Instant time) {
    constexpr std::int64_t kSecond = 1'000'000'000;
    constexpr qsizetype kIsoDate = 19;  // "2026-11-21T01:14:07"
    const auto ns = static_cast<std::int64_t>(time);
    std::int64_t second = ns / kSecond;
    std::int64_t rest = ns % kSecond;
    if (rest < 0) {
        rest += kSecond;
        --second;
    }
    const QDateTime local = QDateTime::fromSecsSinceEpoch(second);
    const QString zone =
        local.toOffsetFromUtc(local.offsetFromUtc()).toString(Qt::ISODate).mid(kIsoDate);  // "+01:00", of UTC "Z"
    return QStringLiteral("%1.%2 %3")
        .arg(local.toString(QStringLiteral("yyyy-MM-dd HH:mm:ss")))
        .arg(rest, 9, 10, QLatin1Char('0'))
        .arg(zone == QStringLiteral("Z") ? QStringLiteral("UTC") : zone);
}

}  // namespace

QString secondsText(Duration time) {
    constexpr std::uint64_t kSecond = 1'000'000'000;
    const auto signed_value = std::to_underlying(time);
    const std::uint64_t size =
        signed_value < 0 ? ~static_cast<std::uint64_t>(signed_value) + 1 : static_cast<std::uint64_t>(signed_value);
    return QStringLiteral("%1%2.%3")
        .arg(signed_value < 0 ? QStringLiteral("-") : QString())
        .arg(size / kSecond)
        .arg(size % kSecond, 9, 10, QLatin1Char('0'));
}

void RowTexts::setRows(PacketRows* rows) {
    rows_ = rows;
    forget();
}

void RowTexts::setColumns(std::vector<PacketColumn> columns) {
    columns_ = std::move(columns);
    if (columns_.size() > kMostColumns) columns_.resize(kMostColumns);
    forget();
}

void RowTexts::setRules(RowRules rules) {
    forget();  // before the rules go that its rows point to
    rules_ = std::move(rules);
}

void RowTexts::setTimeFormat(TimeFormat format) {
    time_ = format;
    forget();
}

void RowTexts::setNames(std::shared_ptr<const Names> names) {
    names_ = std::move(names);
    forget();
}

const RowText& RowTexts::at(std::uint64_t position) {
    const FrameIndex frame = rows_->frameAt(position);
    const std::uint64_t key = std::to_underlying(frame);
    if (const auto found = kept_.find(key); found != kept_.end()) return found->second;
    if (kept_.size() >= kMostKept) kept_.clear();
    return kept_.emplace(key, made(frame)).first->second;
}

RowText RowTexts::made(FrameIndex frame) {
    RowText text;
    text.cells.resize(columns_.size());
    const Packet* packet = rows_->read(frame);
    text.readable = packet != nullptr;
    if (packet != nullptr) {
        text.comment = notes_.comments.of(*packet);
        text.rule = rules_.of(*packet);
    }
    for (std::size_t i = 0; i < columns_.size(); ++i) {
        const PacketColumn& column = columns_[i];
        if (column.hidden) continue;
        if (column.kind == ColumnKind::Time) text.cells[i] = timeText(frame);
        else if (packet != nullptr) text.cells[i] = cellText(column, *packet, names_.get());
        else if (column.kind == ColumnKind::Number) text.cells[i] = QString::number(std::to_underlying(frame));
        else if (column.kind == ColumnKind::Info)
            text.cells[i] = QStringLiteral("cannot be read: the file has changed or is gone");
    }
    return text;
}

QString RowTexts::timeText(FrameIndex frame) const {
    const std::optional<Instant> time = timeOf(*rows_, frame);
    if (!time) return {};
    if (time_ == TimeFormat::Utc) return QString::fromStdString(utc(*time));
    if (time_ == TimeFormat::Local) return localText(*time);
    if (time_ != TimeFormat::SincePreviousShown && notes_.references.contains(frame)) return QStringLiteral("*REF*");
    const std::optional<Instant> from = origin(frame);
    return secondsText(from ? between(*from, *time) : Duration{});
}

std::optional<Instant> RowTexts::origin(FrameIndex frame) const {
    const auto ofShown = [this](std::optional<FrameIndex> other) {
        return other ? timeOf(*rows_, *other) : std::nullopt;
    };
    if (time_ == TimeFormat::SincePreviousShown) return ofShown(rows_->shownBefore(frame));
    if (const auto reference = notes_.references.previous(frame)) return timeOf(*rows_, *reference);
    return time_ == TimeFormat::SinceFirstShown ? ofShown(rows_->firstShown()) : timeOf(*rows_, FrameIndex{1});
}

}  // namespace qps::gui
