#include <transport-replay/live/cm/connection_table.hpp>

namespace qps::transport::live {

using namespace dissect;

namespace {

template <class Map, class Key> CmConnection* look_up(ConnectionTable& table, const Map& index, const Key& key) {
    const auto found = index.find(key);
    return found == index.end() ? nullptr : table.find(found->second);
}

// Takes the id out, unless the key is another record's by now.
template <class Map, class Key> void take_out(Map& index, const Key& key, CmId id) {
    const auto found = index.find(key);
    if (found != index.end() && found->second == id) index.erase(found);
}

}  // namespace

CmConnection& ConnectionTable::add() {
    // 32 bits out of 64 that no peer can guess who does not know the seed; 0 means "none" in a REJ.
    constexpr std::uint64_t kStep = 0x9e37'79b9'7f4a'7c15;  // the golden ratio, as SplitMix64 steps
    CmId id{};
    do {
        id = CmId{static_cast<std::uint32_t>(mix(seed_ + ++drawn_ * kStep) >> 32)};
    } while (id == CmId{} || records_.contains(id));
    CmConnection& added = records_[id];
    added.id = id;
    added.born = ++born_;
    return added;
}

void ConnectionTable::forget_places(CmConnection& connection) {
    const std::pair age{connection.born, connection.id};
    if (is_half_open(connection.state)) half_open_.erase(age);
    if (is_remembered(connection.state)) remembered_.erase(age);
    if (waits_for_rtu(connection.state)) take_out(waiting_, connection.local_qpn, connection.id);
}

void ConnectionTable::erase(CmId id) {
    CmConnection* connection = find(id);
    if (connection == nullptr) return;
    forget_places(*connection);
    if (connection->request_key) take_out(requests_, *connection->request_key, id);
    if (connection->remote_qp_key) take_out(remote_qps_, *connection->remote_qp_key, id);
    arm(*connection, {});
    arm_alternate(*connection, {});
    records_.erase(id);
}

CmConnection* ConnectionTable::find(CmId id) {
    const auto found = records_.find(id);
    return found == records_.end() ? nullptr : &found->second;
}

CmConnection* ConnectionTable::find_request(const Address& remote, std::uint32_t remote_id, bool datagram) {
    return look_up(*this, requests_, std::tuple{remote, remote_id, datagram});
}

CmConnection* ConnectionTable::find_remote_qp(const Address& remote, Qpn qpn) {
    return look_up(*this, remote_qps_, std::pair{remote, qpn});
}

CmConnection* ConnectionTable::find_waiting(Qpn local) { return look_up(*this, waiting_, local); }

void ConnectionTable::index_request(CmConnection& connection) {
    connection.request_key = {connection.remote, connection.remote_id.value_or(0), connection.datagram};
    requests_.insert_or_assign(*connection.request_key, connection.id);
}

void ConnectionTable::index_remote_qp(CmConnection& connection) {
    connection.remote_qp_key = {connection.remote, connection.parameters.remote_qpn};
    remote_qps_.insert_or_assign(*connection.remote_qp_key, connection.id);
}

void ConnectionTable::move(CmConnection& connection, CmEndState to) {
    forget_places(connection);
    connection.state = to;
    const std::pair age{connection.born, connection.id};
    if (is_half_open(to)) half_open_.insert(age);
    if (is_remembered(to)) remembered_.insert(age);
    if (waits_for_rtu(to)) waiting_.insert_or_assign(connection.local_qpn, connection.id);
    // A refused attempt has no queue pair: the peer may ask again for its own.
    if (is_remembered(to) && connection.remote_qp_key) {
        take_out(remote_qps_, *connection.remote_qp_key, connection.id);
        connection.remote_qp_key.reset();
    }
}

void ConnectionTable::arm(CmConnection& connection, std::optional<Instant> deadline) {
    if (connection.deadline) timers_.erase({*connection.deadline, connection.id, false});
    connection.deadline = deadline;
    if (deadline) timers_.insert({*deadline, connection.id, false});
}

void ConnectionTable::arm_alternate(CmConnection& connection, std::optional<Instant> deadline) {
    if (connection.alternate_deadline) timers_.erase({*connection.alternate_deadline, connection.id, true});
    connection.alternate_deadline = deadline;
    if (deadline) timers_.insert({*deadline, connection.id, true});
}

std::optional<ConnectionTable::Timer> ConnectionTable::next_timer() const {
    if (timers_.empty()) return {};
    return *timers_.begin();
}

CmConnection* ConnectionTable::oldest(const Ages& ages) { return ages.empty() ? nullptr : find(ages.begin()->second); }
CmConnection* ConnectionTable::oldest_half_open() { return oldest(half_open_); }
CmConnection* ConnectionTable::oldest_remembered() { return oldest(remembered_); }

}  // namespace qps::transport::live
