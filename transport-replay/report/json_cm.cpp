// Connection attempts for programs.
#include <dissect/packet/render_value.hpp>
#include <transport-replay/report/cm.hpp>
#include <transport-replay/report/json.hpp>

namespace qps::transport {

using namespace dissect;

namespace {

void add_private_data(Document& document, std::string_view name, const PrivateData& data) {
    if (data.used == 0) return;
    std::string hex;
    append_hex(hex, data.bytes());
    document.add(name, hex);
}

void add_mpa(Document& document, const MpaSetUp& mpa) {
    document.open("mpa");
    document.add("revision", mpa.revision);
    document.add("crc", mpa.crc);
    document.add("markers", mpa.markers);
    document.add("ird", mpa.ird);
    document.add("ord", mpa.ord);
    document.add("peer_to_peer", mpa.peer_to_peer);
    document.close();
}

void add_side(Document& document, std::string_view which, const CmSide& side) {
    document.open(which);
    document.add("address", text(side.address));
    document.add("communication_id", side.communication_id);
    document.add("qpn", side.qpn);
    document.add("starting_psn", side.starting_psn);
    document.add("responder_resources", side.responder_resources);
    document.add("initiator_depth", side.initiator_depth);
    document.add("rnr_retry_count", side.rnr_retry_count);
    document.add("shared_receive_queue", side.shared_receive_queue);
    document.add("flow_control", side.flow_control);
    if (side.mpa) add_mpa(document, *side.mpa);
    add_private_data(document, "private_data", side.private_data);
    document.close();
}

void add_agreed(Document& document, const CmAttempt& attempt) {
    document.add("pkey", attempt.pkey);
    document.add("path_mtu", attempt.path_mtu);
    document.add("retry_count", attempt.retry_count);
    document.add("local_ack_timeout", attempt.local_ack_timeout);
    document.add("target_ack_delay", attempt.target_ack_delay);
    document.add("remote_response_timeout", attempt.remote_response_timeout);
    document.add("local_response_timeout", attempt.local_response_timeout);
    document.add("mra_service_timeout", attempt.mra_service_timeout);
    document.add("max_cm_retries", attempt.max_cm_retries);
    document.add("alternate_path_status", attempt.alternate_path_status);
    document.add("sidr_status", attempt.sidr_status);
    document.add("sidr_qkey", attempt.sidr_qkey);
}

void add_service(Document& document, const CmAttempt& attempt) {
    document.add("service", attempt.service ? std::optional(std::string(name(*attempt.service))) : std::nullopt);
    document.add("service_id", attempt.service_id);
    if (!attempt.ip) return;
    document.open("ip");
    document.add("protocol", attempt.ip->protocol);
    document.add("port", attempt.ip->port);
    if (attempt.ip->addressed) {
        document.add("source_port", attempt.ip->source_port);
        document.add("source", text(attempt.ip->source));
        document.add("destination", text(attempt.ip->destination));
    }
    document.close();
}

void add_ladder(Document& document, const CmAttempt& attempt) {
    document.open_list("ladder");
    for (const CmRung& rung : attempt.ladder) {
        document.open();
        document.add("frame", rung.frame);
        document.add("time_ns", rung.time);
        document.add("message", message_text(attempt, rung));
        document.add("from_active", rung.from_active);
        document.add("duplicate", rung.duplicate);
        document.add("unexpected", rung.refused);
        document.add("state", name(rung.state));
        document.close();
    }
    document.close_list();
    document.add("rungs_dropped", attempt.rungs_dropped);
}

}  // namespace

void add_attempt(Document& document, const CmAttempt& attempt) {
    document.add("uid", attempt.uid);
    document.add("outcome", name(attempt.outcome));
    document.add("state", name(attempt.state));
    add_service(document, attempt);
    add_side(document, "active", attempt.active);
    add_side(document, "passive", attempt.passive);
    document.add("roles_guessed", attempt.roles_guessed);
    document.add("incomplete", attempt.incomplete);
    document.add("transaction", attempt.transaction);
    add_agreed(document, attempt);
    if (attempt.rejection) {
        document.open("rejection");
        document.add("reason", attempt.rejection->reason);
        document.add("text", reject_text(attempt.rejection->reason));
        document.add("by_active", attempt.rejection->by_active);
        document.add("rejected_message", attempt.rejection->rejected_message);
        add_private_data(document, "private_data", attempt.rejection->private_data);
        document.close();
    }
    document.add("setup_ns", attempt.setup_time());
    document.add("data_without_rtu", attempt.data_without_rtu);
    document.add("unexpected_messages", attempt.refused);
    document.add("first_frame", attempt.first_frame);
    document.add("last_frame", attempt.last_frame);
    add_ladder(document, attempt);
}

void add_join(Document& document, const MulticastJoin& join) {
    document.add("frame", join.frame);
    document.add("time_ns", join.time);
    document.add("member", text(join.member));
    document.add("group", text(join.group));
    document.add("port", text(join.port));
    document.add("method", join.method);
    document.add("join_state", join.join_state);
    document.add("status", join.status);
    document.add("latency_ns", join.answered_after);
    document.add("mlid", join.mlid);
    document.add("qkey", join.qkey);
}

}  // namespace qps::transport
