#include <transport-replay/report/fabric.hpp>
#include <transport-replay/series/fabric_layout.hpp>

#include <algorithm>
#include <deque>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>

namespace qps::transport::series {

namespace {

constexpr std::uint8_t kSwitchType = 2, kRouterType = 3;
constexpr std::uint8_t kDownState = 1;
constexpr int kSweeps = 4;  // down and up; more change little
constexpr std::size_t kFar = std::numeric_limits<std::size_t>::max();

class Laying {
public:
    explicit Laying(const ManagementReport& report)
        : report_(report), map_(report.fabric), neighbours_(map_.nodes.size()) {
        for (std::size_t i = 0; i < map_.nodes.size(); ++i) {
            by_guid_.emplace(map_.nodes[i].guid, i);
            for (const auto& [number, port] : map_.nodes[i].ports)
                if (port.lid != dissect::Lid{}) by_lid_.emplace(port.lid, i);
        }
    }

    FabricLayout run() {
        add_wires();
        rank();
        order();
        return std::move(layout_);
    }

private:
    [[nodiscard]] std::optional<std::size_t> node_of(const FabricEnd& end) const {
        if (end.node != NodeGuid{}) {
            const auto found = by_guid_.find(end.node);
            return found == by_guid_.end() ? std::nullopt : std::optional(found->second);
        }
        const auto found = by_lid_.find(end.lid);
        return found == by_lid_.end() ? std::nullopt : std::optional(found->second);
    }

    void add_wires() {
        std::map<std::pair<std::size_t, std::uint8_t>, FabricRow> ports;
        for (FabricRow& row : fabric_rows(report_))
            ports.emplace(std::pair(static_cast<std::size_t>(&row.node - map_.nodes.data()), row.port.number),
                          std::move(row));
        std::map<std::pair<std::size_t, std::size_t>, std::size_t> between;
        for (std::size_t i = 0; i < map_.links.size(); ++i) {
            const FabricLink& link = map_.links[i];
            const auto a = node_of(link.a), b = node_of(link.b);
            if (!a || !b) {
                ++layout_.without_nodes;
                continue;
            }
            FabricWire wire{i, *a, *b, between[std::minmax(*a, *b)]++, {}, false, false};
            wire.words = fmt::format("{} to {}", end_text(nodes_, link.a), end_text(nodes_, link.b));
            std::string errors, rate;
            for (const auto& key : {std::pair(*a, link.a.port), std::pair(*b, link.b.port)}) {
                const auto row = ports.find(key);
                if (row == ports.end()) continue;
                const FabricPort& port = row->second.port;
                wire.down = wire.down || (port.described && port.state <= kDownState);
                if (rate.empty()) rate = rate_text(port);
                if (!row->second.errors.empty())
                    errors += fmt::format("{}{}", errors.empty() ? "" : ", ", row->second.errors);
            }
            wire.errors = !errors.empty();
            if (!rate.empty()) wire.words += ", " + rate;
            if (wire.down) wire.words += ", down";
            if (wire.errors) wire.words += "; " + errors;
            neighbours_[*a].push_back(*b);
            neighbours_[*b].push_back(*a);
            layout_.wires.push_back(std::move(wire));
        }
    }

    [[nodiscard]] bool forwards(std::size_t node) const {
        return map_.nodes[node].type == kSwitchType || map_.nodes[node].type == kRouterType;
    }

    // How far each node is from the nearest that forwards nothing; without any, from the first.
    void rank() {
        std::vector<std::size_t> far(map_.nodes.size(), kFar);
        std::deque<std::size_t> next;
        const auto begin = [&](std::size_t node) {
            far[node] = 0;
            next.push_back(node);
        };
        const auto spread = [&] {
            for (; !next.empty(); next.pop_front())
                for (const std::size_t other : neighbours_[next.front()])
                    if (far[other] == kFar) {
                        far[other] = far[next.front()] + 1;
                        next.push_back(other);
                    }
        };
        for (std::size_t node = 0; node < far.size(); ++node)
            if (!forwards(node)) begin(node);
        spread();
        for (std::size_t node = 0; node < far.size(); ++node)
            if (far[node] == kFar) {
                begin(node);
                spread();
            }
        const std::size_t top = far.empty() ? 0 : *std::ranges::max_element(far);
        rows_.resize(far.empty() ? 0 : top + 1);
        layout_.places.resize(far.size());
        for (std::size_t node = 0; node < far.size(); ++node) {
            layout_.places[node] = {node, top - far[node], 0};
            rows_[top - far[node]].push_back(node);
        }
        layout_.rows = rows_.size();
        for (const auto& row : rows_) layout_.width = std::max(layout_.width, static_cast<double>(row.size()));
    }

    // Shorter rows are spread over the whole width.
    void spread_out(const std::vector<std::size_t>& row) {
        const double room = layout_.width / static_cast<double>(row.size());
        for (std::size_t i = 0; i < row.size(); ++i) layout_.places[row[i]].x = (static_cast<double>(i) + 0.5) * room;
    }

    // Each node to the middle of its neighbours in the rows that were ordered before.
    void order_row(std::vector<std::size_t>& row, bool by_above) {
        std::vector<std::pair<double, std::size_t>> wanted;
        for (const std::size_t node : row) {
            double sum = 0;
            std::size_t count = 0;
            for (const std::size_t other : neighbours_[node]) {
                const bool above = layout_.places[other].row < layout_.places[node].row;
                const bool below = layout_.places[other].row > layout_.places[node].row;
                if (by_above ? !above : !below) continue;
                sum += layout_.places[other].x;
                ++count;
            }
            wanted.emplace_back(count == 0 ? layout_.places[node].x : sum / static_cast<double>(count), node);
        }
        std::ranges::stable_sort(wanted, {}, &std::pair<double, std::size_t>::first);
        for (std::size_t i = 0; i < row.size(); ++i) row[i] = wanted[i].second;
        spread_out(row);
    }

    void order() {
        for (const auto& row : rows_) spread_out(row);
        for (int sweep = 0; sweep < kSweeps; ++sweep) {
            for (std::size_t row = 1; row < rows_.size(); ++row) order_row(rows_[row], true);
            for (std::size_t row = rows_.size(); row-- > 1;) order_row(rows_[row - 1], false);
        }
    }

    const ManagementReport& report_;
    const FabricMap& map_;
    FabricNodes nodes_{map_};
    std::vector<std::vector<std::size_t>> neighbours_;
    std::map<NodeGuid, std::size_t> by_guid_;
    std::map<dissect::Lid, std::size_t> by_lid_;
    std::vector<std::vector<std::size_t>> rows_;
    FabricLayout layout_;
};

}  // namespace

FabricLayout lay_out(const ManagementReport& report) { return Laying(report).run(); }

}  // namespace qps::transport::series
