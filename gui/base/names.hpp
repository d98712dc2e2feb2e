// Names: what the user calls hosts and queue pairs, in place of addresses and numbers: names as a hosts file has them,
// labels of GIDs and of queue pairs, ranks from a log of NCCL.
//
// What an attacker could feed: files that somebody else wrote: names are short and printable, and there are kMost of
// them.
#pragma once

#include <transport-replay/model/connection.hpp>

#include <QHash>
#include <QString>
#include <cstdint>
#include <string>
#include <string_view>

namespace qps::transport {
struct NcclLog;
}  // namespace qps::transport

namespace qps::gui {

class Names {
public:
    static constexpr qsizetype kMost = 100'000;
    static constexpr qsizetype kLongest = 64;  // characters of a name; what comes behind is left out

    // Lines of an address and a name, as /etc/hosts has them; "10.0.0.1:17" and "[fe80::1]:0x11" in place of the
    // address name a queue pair, "lid:4" a LID. The first name of an address counts. What begins with # is a comment.
    struct Outcome {
        std::uint64_t names = 0;
        std::uint64_t malformed = 0;  // lines
        bool full = false;            // there are more than kMost
    };
    Outcome readHosts(std::string_view text);
    // "rank 3" to the addresses of the log, behind the names that they have. Returns how many addresses got one.
    std::uint64_t addRanks(const transport::NcclLog& log);

    [[nodiscard]] bool empty() const { return m_hosts.isEmpty() && m_queuePairs.isEmpty(); }
    // Empty where there is none. An address as transport::text() writes it.
    [[nodiscard]] QString host(const QString& address) const { return m_hosts.value(address); }
    [[nodiscard]] QString queuePair(const QString& address, dissect::Qpn number) const;
    // "node0 (10.0.0.1)", or the address alone.
    [[nodiscard]] QString named(const QString& address) const;
    // What an end of a connection is called: by its label, by the name of its host and its number, or as it is without
    // names. A number is always there: names of queue pairs are what somebody once wrote down.
    [[nodiscard]] QString end(const transport::Endpoint& end) const;    // "node0:17", "trainer (17)"
    [[nodiscard]] QString whoIs(const transport::Endpoint& end) const;  // "node0 QP 17"
    // A sentence with the names of the addresses and queue pairs that it has: "node0 (10.0.0.1) QP 17 sent ...". What
    // stands between backticks is to be typed, and stays as it is.
    [[nodiscard]] QString inText(const QString& text) const;

private:
    [[nodiscard]] bool add(QHash<QString, QString>& names, const QString& key, const QString& name, Outcome& outcome);
    [[nodiscard]] static QString keyOf(const QString& address, dissect::Qpn number);

    QHash<QString, QString> m_hosts;       // by address
    QHash<QString, QString> m_queuePairs;  // by address and number
};

// The same where there may be no names: `names` may be nullptr.
[[nodiscard]] QString inText(const Names* names, const std::string& text);
[[nodiscard]] QString endsText(const Names* names, const transport::Connection& connection);  // "node0:17 <-> node1:18"

// As transport::text() writes an address that a person typed; empty where it is none.
[[nodiscard]] QString plainAddress(std::string_view text);

}  // namespace qps::gui
