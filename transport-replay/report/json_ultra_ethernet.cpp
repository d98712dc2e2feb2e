// Packet delivery contexts of Ultra Ethernet, for programs.
#include <dissect/ultra_ethernet/names.hpp>
#include <transport-replay/model/timeline.hpp>
#include <transport-replay/report/connections.hpp>
#include <transport-replay/report/json.hpp>
#include <transport-replay/report/ultra_ethernet.hpp>

namespace qps::transport {

namespace {

void add_codes(Document& document, std::string_view list, const std::vector<UetCode>& codes,
               std::span<const dissect::ValueName> names) {
    document.open_list(list);
    for (const UetCode& code : codes) {
        document.open();
        document.add("code", code.code);
        document.add("name", dissect::name_in(names, code.code));
        document.add("count", code.count);
        document.add_numbers("frames", code.frames);
        document.close();
    }
    document.close_list();
}

void add_path(Document& document, const UetPath& path) {
    document.open();
    document.add("entropy", path.entropy);
    document.add("packets", path.packets);
    document.add("resent", path.resent);
    document.add("refused", path.refused);
    document.add("trimmed", path.trimmed);
    document.add("ce_marked", path.marked);
    document.open("delay");
    document.add("count", path.delay.count);
    document.add("min_ns", path.delay.least);
    document.add("mean_ns", path.delay.mean());
    document.add("max_ns", path.delay.most);
    document.close();
    document.close();
}

void add_way(Document& document, const UetWay& way) {
    document.open();
    document.add("delivery", delivery_text(way));
    document.add("retransmitted_unseen", way.unseen);
    document.add("retransmitted_needlessly", way.needless);
    document.add("retransmitted_after_nack", way.after_nack);
    document.add("retransmitted_after_trimming", way.after_trimming);
    document.add("trimmed_packets", way.trimmed);
    add_codes(document, "nacks", way.nacks, dissect::kUetNackCodes);
    add_codes(document, "refusals", way.refusals, dissect::kSesReturnCodes);
    document.add("further_codes", way.further_codes);
    document.open_list("paths");
    for (const UetPath& path : way.paths) add_path(document, path);
    document.close_list();
    document.add("packets_of_further_paths", way.further_paths);
    document.close();
}

}  // namespace

void add_ultra_ethernet(Document& document, const UetReport& report, std::span<const ConnectionId> connections) {
    document.open_list("contexts");
    for (const UetConversation& context : report.conversations) {
        if (!is_wanted(connections, context.connection)) continue;
        document.open();
        document.add("connection", context.connection);
        document.add("opened", context.opened);
        document.open_list("directions");
        for (const UetWay& way : context.ways) add_way(document, way);
        document.close_list();
        document.close();
    }
    document.close_list();
    document.add("datagrams", report.datagrams);
    document.add("secured_packets", report.secured);
    document.add("unread_packets", report.unread);
}

}  // namespace qps::transport
