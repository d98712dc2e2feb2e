// The fabric for programs, and as a picture: names with units, numbers in decimal, GUIDs and paths as people write
// them.
#include <dissect/packet/render_value.hpp>
#include <transport-replay/report/fabric.hpp>
#include <transport-replay/report/management_words.hpp>

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace qps::transport {

using namespace dissect;

namespace {

std::string guid_text(std::uint64_t guid) { return fmt::format("0x{:016x}", guid); }

std::optional<Lid> known(Lid lid) { return lid == Lid{} ? std::nullopt : std::optional(lid); }
std::optional<std::string> known_guid(std::uint64_t guid) {
    return guid == 0 ? std::nullopt : std::optional(guid_text(guid));
}

void add_port(Document& document, const FabricPort& port) {
    document.open();
    document.add("port", port.number);
    document.add("lid", known(port.lid));
    document.add("guid", known_guid(port.guid));
    if (port.described) {
        document.add("state", state_text(port));
        document.add("rate", rate_text(port));
        document.add("sm_lid", known(port.manager));
        document.add("gid_prefix", guid_text(port.gid_prefix));
    }
    document.close();
}

void add_end(Document& document, std::string_view name, const FabricEnd& end) {
    document.open(name);
    document.add("node_guid", known_guid(std::to_underlying(end.node)));
    document.add("lid", known(end.lid));
    document.add("port", end.port);
    document.close();
}

// Quoted as dot wants it.
std::string quoted(std::string_view text) {
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') out += '\\';
        out += c;
    }
    return out + '"';
}

std::string dot_name(NodeGuid guid, Lid lid) {
    return guid != NodeGuid{} ? fmt::format("\"{}\"", guid_text(std::to_underlying(guid)))
                              : fmt::format("\"LID {}\"", std::to_underlying(lid));
}

}  // namespace

void add_node(Document& document, const FabricNode& node) {
    document.add("guid", known_guid(std::to_underlying(node.guid)));
    document.add("node_type", type_text(node));
    document.add("description", node.description);
    document.add("ports_total", node.port_count);
    document.add("system_image_guid", known_guid(node.system_image));
    document.add("vendor_id", node.vendor);
    document.add("device_id", node.device);
    document.add("first_frame", node.first);
    document.open_list("ports");
    for (const auto& [number, port] : node.ports) add_port(document, port);
    document.close_list();
}

void add_link(Document& document, const FabricLink& link) {
    add_end(document, "a", link.a);
    add_end(document, "b", link.b);
    document.add("directed_route", link.walked);
    document.add("first_frame", link.first);
}

void add_manager(Document& document, const SubnetManager& manager) {
    document.add("port_guid", guid_text(manager.port_guid));
    document.add("lid", known(manager.lid));
    document.add("priority", manager.priority);
    document.add("state", manager.state);
    document.add("activity", manager.activity);
    document.add("answers", manager.answers);
    document.add("changes_of_state", manager.changes_of_state);
    document.add("first_frame", manager.first);
}

void add_partition(Document& document, const Partition& partition) {
    document.add("p_key", partition.key);
    document.open_list("members");
    for (const PartitionMember& member : partition.members) {
        document.open();
        document.add("node_guid", known_guid(std::to_underlying(member.port.node)));
        document.add("lid", known(member.port.lid));
        document.add("port", member.port.port);
        document.add("full", member.full);
        document.close();
    }
    document.close_list();
}

void add_group(Document& document, const MulticastGroup& group, const MemberPorts& ports) {
    document.add("mgid", text(group.group));
    document.add("mlid", group.lid);
    document.add("p_key", group.pkey);
    document.add("q_key", group.qkey);
    document.add("mtu", mtu_text(group.mtu).empty() ? std::optional<unsigned>() : 128U << group.mtu);
    document.add("rate_code", group.rate);
    document.open_list("members");
    for (const GroupMember& member : group.members) {
        document.open();
        document.add("port_gid", text(member.port));
        document.add("join_state", member.join_state);
        document.add("left", member.left);
        document.add("mtu_suffices", !ports.is_too_small(group, member));
        document.add("first_frame", member.first);
        document.close();
    }
    document.close_list();
}

void add_counters(Document& document, const PortCounterHistory& history) {
    document.add("address", text(history.port_of));
    document.add("port", history.port);
    document.add("answers", history.answers);
    document.add("first_frame", history.first);
    document.add("last_frame", history.last);
    document.open_list("counters");
    const std::vector<const Field*> fields = counter_fields(history.attribute);
    for (std::size_t i = 0; i < fields.size() && i < history.counters.size(); ++i) {
        const CounterHistory& counter = history.counters[i];
        document.open();
        document.add("field", fields[i]->name);
        document.add("first", counter.first);
        document.add("last", counter.last);
        document.add("increments", counter.increments);
        document.add("resets", counter.resets);
        document.add("saturated", counter.saturated);
        document.close();
    }
    document.close_list();
}

void add_event(Document& document, const ManagementEvent& event) {
    document.add("generic", event.generic);
    document.add("reported", event.reported);
    document.add("notice_type", event.type);
    document.add("producer", event.producer);
    document.add("number", event.number);
    document.add("issuer_lid", event.issuer);
    document.add("count", event.count);
    document.add("first_frame", event.first);
    document.add("last_frame", event.last);
    document.add("time_ns", event.time);
    document.add("from", text(event.from));
    document.add("to", text(event.to));
    document.add("text", event_text(event));
}

void add_sum(Document& document, const ExchangeSum& sum) {
    document.add("request", request_text(sum.management_class, sum.method, sum.attribute));
    document.add("class", sum.management_class);
    document.add("method", sum.method);
    document.add("attribute", sum.attribute);
    document.add("requests", sum.requests);
    document.add("answered", sum.answered);
    document.add("refused", sum.refused);
    document.add("unanswered", sum.unanswered);
    document.add("retries", sum.retries);
    if (sum.timed == 0) return;
    document.add("min_ns", sum.fastest);
    document.add("max_ns", sum.slowest);
    document.add("mean_ns", std::to_underlying(sum.latency_sum) / static_cast<std::int64_t>(sum.timed));
}

void add_exchange(Document& document, const Exchange& exchange) {
    document.add("uid", exchange.uid);
    document.add("request", request_text(exchange.management_class, exchange.method, exchange.attribute));
    document.add("modifier", exchange.modifier);
    document.add("transaction", guid_text(exchange.transaction));
    document.add("requester", text(exchange.requester));
    document.add("responder", text(exchange.responder));
    document.add("path", exchange.path ? std::optional(text(*exchange.path)) : std::nullopt);
    document.add("return_path", exchange.return_path ? std::optional(text(*exchange.return_path)) : std::nullopt);
    document.add("outcome", name(exchange.outcome));
    document.add("status", exchange.status);
    document.add("retries", exchange.retries);
    document.add("request_frame", exchange.request);
    document.add("answer_frame", exchange.answer);
    document.add("latency_ns", exchange.latency);
    if (!exchange.rmpp) return;
    document.open("rmpp");
    document.add("segments", exchange.rmpp->segments);
    document.add("repeated", exchange.rmpp->repeated);
    document.add("acks", exchange.rmpp->acks);
    document.add("window", exchange.rmpp->window);
    document.add("bytes", exchange.rmpp->bytes);
    document.add("records", exchange.rmpp->records);
    document.add("complete", exchange.rmpp->complete);
    document.add("stopped_status", exchange.rmpp->stopped);
    document.close();
}

void append_dot(std::string& out, const FabricMap& map) {
    constexpr std::uint8_t kSwitch = 2;
    out += "graph fabric {\n  node [shape=box];\n";
    for (const FabricNode& node : map.nodes)
        out += fmt::format("  {} [label={}{}];\n", dot_name(node.guid, node.lid()), quoted(node_text(node)),
                           node.type == kSwitch ? ", shape=oval" : "");
    for (const FabricLink& link : map.links)
        out += fmt::format("  {} -- {} [taillabel=\"{}\", headlabel=\"{}\"];\n", dot_name(link.a.node, link.a.lid),
                           dot_name(link.b.node, link.b.lid), link.a.port, link.b.port);
    out += "}\n";
}

}  // namespace qps::transport
