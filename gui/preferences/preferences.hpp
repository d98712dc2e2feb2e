// Preferences: what the user wants of every capture, kept for the next window.
#pragma once

#include <gui/base/names.hpp>
#include <gui/packets/row_texts.hpp>
#include <gui/session/session.hpp>

#include <QString>
#include <QStringList>
#include <expected>
#include <memory>

namespace qps::gui {

struct Preferences {
    Reading reading;
    TimeFormat time = TimeFormat::SinceFirst;  // of the packet list
    bool useNames = true;
    QString namesFile;  // as /etc/hosts; empty: none
    QString ncclLog;    // the output of NCCL_DEBUG=INFO; empty: none
    [[nodiscard]] bool operator==(const Preferences&) const = default;
};

// In settings and profiles; of values that are none the usual one is taken.
[[nodiscard]] QString savedPolicy(transport::IcrcPolicy policy);
[[nodiscard]] transport::IcrcPolicy restoredPolicy(const QString& name);
[[nodiscard]] QString savedTime(TimeFormat format);
[[nodiscard]] TimeFormat restoredTime(const QString& name);
// "100G"; empty: as the capture says. An error is a sentence.
[[nodiscard]] QString speedText(dissect::BitsPerSecond speed);
[[nodiscard]] std::expected<dissect::BitsPerSecond, QString> readSpeed(const QString& text);

// "4800, 4801"; empty: 4791 alone. An error is a sentence.
[[nodiscard]] QString portsText(const std::vector<std::uint16_t>& ports);
[[nodiscard]] std::expected<std::vector<std::uint16_t>, QString> readPorts(const QString& text);
[[nodiscard]] QString protocolText(std::optional<std::uint8_t> protocol);  // empty: none
[[nodiscard]] std::expected<std::optional<std::uint8_t>, QString> readProtocol(const QString& text);
// "10.0.0.1, fd00::1"; empty: nobody. An error is a sentence.
[[nodiscard]] QString hostsText(const std::vector<transport::Address>& hosts);
[[nodiscard]] std::expected<std::vector<transport::Address>, QString> readHosts(const QString& text);

// But for the time, which is kept with the columns.
[[nodiscard]] Preferences savedPreferences();
void save(const Preferences& preferences);

// The names of both files, where they are wanted; what could not be read as sentences. Null where there is none.
struct ReadNames {
    std::shared_ptr<const Names> names;
    QStringList problems;
};
[[nodiscard]] ReadNames readNames(const Preferences& preferences);

}  // namespace qps::gui
