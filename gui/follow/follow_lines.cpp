#include <dissect/packet/render.hpp>
#include <dissect/ulp/ulp.hpp>
#include <gui/base/text.hpp>
#include <gui/follow/follow_lines.hpp>
#include <transport-replay/report/figures.hpp>
#include <transport-replay/report/ulp.hpp>
#include <transport-replay/report/verbs.hpp>

#include <QByteArrayView>
#include <QCoreApplication>
#include <algorithm>
#include <cctype>

namespace qps::gui {

using namespace transport;

namespace {

constexpr qsizetype kLineOfText = 120;       // characters
constexpr std::size_t kBytesOfHexLine = 16;  // as append_hex_dump() has them

struct BodyLine {
    QString text;
    std::optional<std::size_t> byte{};  // that it begins with
};

std::vector<BodyLine> textLines(dissect::Bytes bytes) {
    std::vector<BodyLine> lines;
    bool open = false;  // the last line may go on
    for (std::size_t at = 0; at < bytes.size(); ++at) {
        const auto letter = std::to_integer<unsigned char>(bytes[at]);
        constexpr unsigned char kFirst = 0x20, kLast = 0x7e;
        if (letter == '\n') {
            open = false;
            continue;
        }
        if (!open || lines.back().text.size() == kLineOfText) lines.push_back({{}, at});
        open = true;
        lines.back().text +=
            letter >= kFirst && letter <= kLast ? QLatin1Char(static_cast<char>(letter)) : QLatin1Char('.');
    }
    return lines;
}

void addText(std::vector<BodyLine>& lines, const QString& text, bool hex) {
    std::size_t byte = 0;
    for (const QString& line : text.split(QLatin1Char('\n'), Qt::SkipEmptyParts)) {
        lines.push_back({line, hex ? std::optional(byte) : std::nullopt});
        byte += kBytesOfHexLine;
    }
}

QString followWords(const char* text) { return QCoreApplication::translate("FollowView", text); }

// The message as `follow` prints it, below its heading.
std::vector<BodyLine> bodyOf(const FollowedMessage& followed, PayloadForm form, dissect::Packet& scratch) {
    const dissect::Bytes all = followed.payload.bytes;
    const dissect::Bytes bytes = all.first(std::min(all.size(), kMostOfOne));
    std::vector<BodyLine> body;
    if (form == PayloadForm::PlainText) {
        body = textLines(bytes);
    } else {
        std::string text;
        const bool decoded = form == PayloadForm::Decoded && followed.message.verb == dissect::Verb::send &&
                             followed.hint.protocol != dissect::UlpProtocol::none;
        if (decoded) {
            dissect::decode_message(bytes, followed.hint, scratch);
            dissect::append_tree(text, scratch);
        } else {
            dissect::append_hex_dump(text, bytes);
        }
        addText(body, shown(text), !decoded);
    }
    const auto say = [&](const QString& words) { body.push_back({words}); };
    if (bytes.size() < all.size())
        say(followWords("... and %1 more").arg(shown(counted(all.size() - bytes.size(), "byte"))));
    if (followed.payload.cut_bytes != 0)
        say(followWords("(%1 truncated by the capture)").arg(shown(counted(followed.payload.cut_bytes, "byte"))));
    const bool whole = followed.message.outcome == Outcome::completed || followed.message.outcome == Outcome::sent;
    if (whole && followed.payload.missing_packets != 0)
        say(followWords("(%1 not captured)").arg(shown(counted(followed.payload.missing_packets, "packet"))));
    return body;
}

SheetCell followCell(const std::string& text) { return {shown(text), {}, {}}; }

// The bytes that a text stands for: those of "0x..." by their digits, else its own.
QByteArray searchedBytes(const QString& text) {
    if (text.startsWith(QLatin1String("0x"), Qt::CaseInsensitive) && text.size() % 2 == 0) {
        const QByteArray digits = text.mid(2).toLatin1();
        if (!digits.isEmpty() && std::ranges::all_of(digits, [](char c) { return std::isxdigit(c) != 0; }))
            return QByteArray::fromHex(digits);
    }
    return text.toUtf8();
}

// Whether a line shows the beginning of the bytes.
bool beginsAt(const FollowLines& shown, std::size_t line, const QByteArray& wanted) {
    const TextLine& one = shown.lines[line];
    if (!one.byte) return false;
    const auto message = std::ranges::find(shown.followed, one.message, &FollowedMessage::number);
    if (message == shown.followed.end()) return false;
    const auto& bytes = message->payload.bytes;
    const bool goesOn =
        line + 1 < shown.lines.size() && shown.lines[line + 1].message == one.message && shown.lines[line + 1].byte;
    const std::size_t end = goesOn ? *shown.lines[line + 1].byte : bytes.size();
    const QByteArrayView all(reinterpret_cast<const char*>(bytes.data()), static_cast<qsizetype>(bytes.size()));
    const qsizetype found = all.indexOf(wanted, static_cast<qsizetype>(*one.byte));
    return found >= 0 && static_cast<std::size_t>(found) < end;
}

}  // namespace

FollowLines followLines(std::vector<FollowedMessage> followed, PayloadForm form, PayloadOf of,
                        const std::array<std::string, 2>& ends, dissect::Instant start) {
    FollowLines made;
    dissect::Packet scratch;
    for (FollowedMessage& one : followed) {
        const End sender = payload_sender(one);
        if (of != PayloadOf::BothEnds && (of == PayloadOf::EndA) != (sender == End::a)) continue;
        const Message& message = one.message;
        const auto from = static_cast<std::size_t>(one.requester);
        const auto number = static_cast<std::size_t>(one.number);
        const auto put = [&](const BodyLine& line, bool heading) {
            made.lines.push_back({line.text, number, sender, heading, line.byte});
        };
        put({QCoreApplication::translate("FollowView", "message %1 at %2: %3 from %4 to %5, PSN %6, %7, %8")
                 .arg(QString::number(one.number), shown(seconds_text(message.first_time - start)),
                      shown(verb_text(message)), shown(ends[from]), shown(ends[1 - from]),
                      shown(psn_range(message.first, message.last)), shown(counted(one.payload.bytes.size(), "byte")),
                      shown(outcome_text(message)))},
            true);
        if (message.ulp) put({QStringLiteral("    ") + shown(label_text(*message.ulp))}, false);
        for (const BodyLine& line : bodyOf(one, form, scratch)) put(line, false);
        made.rows.push_back({{{QString::number(one.number), static_cast<double>(one.number), {}},
                              followCell(ends[static_cast<std::size_t>(sender)]),
                              followCell(verb_text(message)),
                              countCell(one.payload.bytes.size()),
                              followCell(outcome_text(message)),
                              message.ulp ? followCell(label_text(*message.ulp)) : SheetCell{},
                              countCell(std::to_underlying(message.first_frame))},
                             {},
                             message.first_frame,
                             Tone::plain});
        one.payload.bytes.resize(std::min(one.payload.bytes.size(), kMostOfOne));
        one.payload.bytes.shrink_to_fit();
        made.followed.push_back(std::move(one));
    }
    return made;
}

std::optional<std::size_t> findLine(const FollowLines& shown, const QString& text, std::optional<std::size_t> from,
                                    bool backwards) {
    const std::size_t count = shown.lines.size();
    if (text.isEmpty() || count == 0) return std::nullopt;
    const QByteArray wanted = searchedBytes(text);
    // Once around, and the line itself last.
    std::size_t at = from.value_or(backwards ? 0 : count - 1);
    for (std::size_t i = 0; i < count; ++i) {
        at = backwards ? (at + count - 1) % count : (at + 1) % count;
        if (shown.lines[at].text.contains(text, Qt::CaseInsensitive) || beginsAt(shown, at, wanted)) return at;
    }
    return std::nullopt;
}

}  // namespace qps::gui
