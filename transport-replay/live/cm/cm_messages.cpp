#include <dissect/mad/cm.hpp>
#include <transport-replay/live/cm/cm_messages.hpp>

#include <algorithm>
#include <concepts>
#include <type_traits>
#include <utility>

namespace qps::transport::live {

using namespace dissect;

namespace {

// An Io takes a field and a member and makes one of the other: the lists below serve both ways.
class Reader {
public:
    Reader(Bytes body, AddressSpace space) : body_(body), space_(space) {}

    void operator()(const Field& field, Address& gid) const {
        const std::size_t first = field.bit / 8;
        gid = {{read_be<std::uint64_t>(body_, first), read_be<std::uint64_t>(body_, first + 8)}, space_};
    }
    template <std::size_t kMost> void operator()(const Field& field, ShortBytes<kMost>& bytes) const {
        bytes = ShortBytes<kMost>(slice(body_, field.bit / 8, field.width / 8));
    }
    template <class T> void operator()(const Field& field, T& number) const {
        const std::uint64_t value = read(body_, field);
        if constexpr (std::same_as<T, Psn>) number = Psn(static_cast<std::uint32_t>(value));
        else number = static_cast<T>(value);
    }

private:
    Bytes body_;
    AddressSpace space_;
};

class Writer {
public:
    explicit Writer(MutableBytes body) : body_(body) {}

    void operator()(const Field& field, const Address& gid) {
        std::array<std::byte, 16> bytes{};
        write_bits(bytes, 0, 64, gid.bits[0]);
        write_bits(bytes, 64, 64, gid.bits[1]);
        put(field, {0, bytes});
    }
    template <std::size_t kMost> void operator()(const Field& field, const ShortBytes<kMost>& bytes) {
        put(field, {0, bytes.bytes()});
    }
    template <class T> void operator()(const Field& field, const T& number) {
        if constexpr (std::same_as<T, Psn>) put(field, {number.value(), {}});
        else put(field, {static_cast<std::uint64_t>(number), {}});
    }
    [[nodiscard]] bool fits() const { return fits_; }

private:
    void put(const Field& field, const Value& value) { fits_ = set_value(body_, field, value) && fits_; }

    MutableBytes body_;
    bool fits_ = true;
};

// Where the fields of a path lie, by message.
struct PathPlaces {
    Field local_lid, remote_lid, local_gid, remote_gid, flow_label, rate, traffic_class, hop_limit, sl, subnet_local,
        ack_timeout;
};
constexpr PathPlaces kPrimary{named(kCmReqFields, "infiniband.cm.req.prim_locallid"),
                              named(kCmReqFields, "infiniband.cm.req.prim_remotelid"),
                              named(kCmReqFields, "infiniband.cm.req.prim_localgid"),
                              named(kCmReqFields, "infiniband.cm.req.prim_remotegid"),
                              named(kCmReqFields, "infiniband.cm.req.prim_flowlabel"),
                              named(kCmReqFields, "infiniband.cm.req.prim_pktrate"),
                              named(kCmReqFields, "infiniband.cm.req.prim_tfcclass"),
                              named(kCmReqFields, "infiniband.cm.req.prim_hoplim"),
                              named(kCmReqFields, "infiniband.cm.req.prim_sl"),
                              named(kCmReqFields, "infiniband.cm.req.prim_subnetlocal"),
                              named(kCmReqFields, "infiniband.cm.req.prim_localacktout")};
constexpr PathPlaces kAlternate{
    named(kCmReqFields, "infiniband.cm.req.alt_locallid"),    named(kCmReqFields, "infiniband.cm.req.alt_remotelid"),
    named(kCmReqFields, "infiniband.cm.req.alt_localgid"),    named(kCmReqFields, "infiniband.cm.req.alt_remotegid"),
    named(kCmReqFields, "infiniband.cm.req.alt_flowlabel"),   named(kCmReqFields, "infiniband.cm.req.alt_pktrate"),
    named(kCmReqFields, "infiniband.cm.req.alt_tfcclass"),    named(kCmReqFields, "infiniband.cm.req.alt_hoplim"),
    named(kCmReqFields, "infiniband.cm.req.alt_sl"),          named(kCmReqFields, "infiniband.cm.req.alt_subnetlocal"),
    named(kCmReqFields, "infiniband.cm.req.alt_localacktout")};
constexpr PathPlaces kLoaded{
    named(kCmLapFields, "infiniband.cm.lap.alt_locallid"),    named(kCmLapFields, "infiniband.cm.lap.alt_remotelid"),
    named(kCmLapFields, "infiniband.cm.lap.alt_localgid"),    named(kCmLapFields, "infiniband.cm.lap.alt_remotegid"),
    named(kCmLapFields, "infiniband.cm.lap.alt_flowlabel"),   named(kCmLapFields, "infiniband.cm.lap.alt_pktrate"),
    named(kCmLapFields, "infiniband.cm.lap.alt_tfcclass"),    named(kCmLapFields, "infiniband.cm.lap.alt_hoplim"),
    named(kCmLapFields, "infiniband.cm.lap.alt_sl"),          named(kCmLapFields, "infiniband.cm.lap.alt_subnetlocal"),
    named(kCmLapFields, "infiniband.cm.lap.alt_localacktout")};

template <class Io> void describe(Io& io, CmPathFields& path, const PathPlaces& at) {
    io(at.local_lid, path.local_lid);
    io(at.remote_lid, path.remote_lid);
    io(at.local_gid, path.local_gid);
    io(at.remote_gid, path.remote_gid);
    io(at.flow_label, path.flow_label);
    io(at.rate, path.rate);
    io(at.traffic_class, path.traffic_class);
    io(at.hop_limit, path.hop_limit);
    io(at.sl, path.sl);
    io(at.subnet_local, path.subnet_local);
    io(at.ack_timeout, path.ack_timeout);
}

template <class Io> void describe(Io& io, CmReq& req) {
    constexpr auto at = [](std::string_view name) consteval { return named(kCmReqFields, name); };
    io(at("infiniband.cm.req"), req.local_id);
    io(at("infiniband.cm.req.vendorid"), req.vendor);
    io(at("infiniband.cm.req.serviceid"), req.service);
    io(at("infiniband.cm.req.localcaguid"), req.guid);
    io(at("infiniband.cm.req.localqkey"), req.qkey);
    io(at("infiniband.cm.req.localqpn"), req.qpn);
    io(at("infiniband.cm.req.responderres"), req.responder_resources);
    io(at("infiniband.cm.req.initdepth"), req.initiator_depth);
    io(at("infiniband.cm.req.remoteresptout"), req.remote_response_timeout);
    io(at("infiniband.cm.req.transpsvctype"), req.transport);
    io(at("infiniband.cm.req.e2eflowctrl"), req.flow_control);
    io(at("infiniband.cm.req.startpsn"), req.starting_psn);
    io(at("infiniband.cm.req.localresptout"), req.local_response_timeout);
    io(at("infiniband.cm.req.retrcount"), req.retry_count);
    io(at("infiniband.cm.req.pkey"), req.pkey);
    io(at("infiniband.cm.req.pppmtu"), req.mtu);
    io(at("infiniband.cm.req.rnrretrcount"), req.rnr_retry_count);
    io(at("infiniband.cm.req.maxcmretr"), req.max_retries);
    io(at("infiniband.cm.req.srq"), req.shared_receive_queue);
    io(at("infiniband.cm.req.ext_transport"), req.extended_transport);
    describe(io, req.primary, kPrimary);
    describe(io, req.alternate, kAlternate);
    io(at("infiniband.cm.req.private"), req.private_data);
}

template <class Io> void describe(Io& io, CmMra& mra) {
    constexpr auto at = [](std::string_view name) consteval { return named(kCmMraFields, name); };
    io(at("infiniband.cm.mra.localcommid"), mra.local_id);
    io(at("infiniband.cm.mra.remotecommid"), mra.remote_id);
    io(at("infiniband.cm.mra.msgmra"), mra.about);
    io(at("infiniband.cm.mra.servicetimeout"), mra.service_timeout);
    io(at("infiniband.cm.mra.private"), mra.private_data);
}

template <class Io> void describe(Io& io, CmRej& rej) {
    constexpr auto at = [](std::string_view name) consteval { return named(kCmRejFields, name); };
    io(at("infiniband.cm.rej.localcommid"), rej.local_id);
    io(at("infiniband.cm.rej.remotecommid"), rej.remote_id);
    io(at("infiniband.cm.rej.msgrej"), rej.about);
    io(at("infiniband.cm.rej.rejinfolen"), rej.information_length);
    io(at("infiniband.cm.rej.reason"), rej.reason);
    io(at("infiniband.cm.rej.ari"), rej.information);
    io(at("infiniband.cm.rej.private"), rej.private_data);
}

template <class Io> void describe(Io& io, CmRep& rep) {
    constexpr auto at = [](std::string_view name) consteval { return named(kCmRepFields, name); };
    io(at("infiniband.cm.rep"), rep.local_id);
    io(at("infiniband.cm.rep.remotecommid"), rep.remote_id);
    io(at("infiniband.cm.rep.localqkey"), rep.qkey);
    io(at("infiniband.cm.rep.localqpn"), rep.qpn);
    io(at("infiniband.cm.rep.localeecn"), rep.context);
    io(at("infiniband.cm.rep.startpsn"), rep.starting_psn);
    io(at("infiniband.cm.rep.respres"), rep.responder_resources);
    io(at("infiniband.cm.rep.initdepth"), rep.initiator_depth);
    io(at("infiniband.cm.rep.tgtackdelay"), rep.target_ack_delay);
    io(at("infiniband.cm.rep.failoveracc"), rep.failover_accepted);
    io(at("infiniband.cm.rep.e2eflowctrl"), rep.flow_control);
    io(at("infiniband.cm.rep.rnrretrcount"), rep.rnr_retry_count);
    io(at("infiniband.cm.rep.srq"), rep.shared_receive_queue);
    io(at("infiniband.cm.rep.localcaguid"), rep.guid);
    io(at("infiniband.cm.rep.private"), rep.private_data);
}

template <class Io> void describe(Io& io, CmRtu& rtu) {
    constexpr auto at = [](std::string_view name) consteval { return named(kCmRtuFields, name); };
    io(at("infiniband.cm.rtu.localcommid"), rtu.local_id);
    io(at("infiniband.cm.rtu.remotecommid"), rtu.remote_id);
    io(at("infiniband.cm.rtu.private"), rtu.private_data);
}

template <class Io> void describe(Io& io, CmDreq& dreq) {
    constexpr auto at = [](std::string_view name) consteval { return named(kCmDreqFields, name); };
    io(at("infiniband.cm.dreq.localcommid"), dreq.local_id);
    io(at("infiniband.cm.dreq.remotecommid"), dreq.remote_id);
    io(at("infiniband.cm.req.remoteqpneecn"), dreq.remote_qpn);
    io(at("infiniband.cm.dreq.private"), dreq.private_data);
}

template <class Io> void describe(Io& io, CmDrep& drep) {
    constexpr auto at = [](std::string_view name) consteval { return named(kCmDrepFields, name); };
    io(at("infiniband.cm.drsp.localcommid"), drep.local_id);
    io(at("infiniband.cm.drsp.remotecommid"), drep.remote_id);
    io(at("infiniband.cm.drsp.private"), drep.private_data);
}

template <class Io> void describe(Io& io, CmLap& lap) {
    constexpr auto at = [](std::string_view name) consteval { return named(kCmLapFields, name); };
    io(at("infiniband.cm.lap.localcommid"), lap.local_id);
    io(at("infiniband.cm.lap.remotecommid"), lap.remote_id);
    io(at("infiniband.cm.lap.remoteqpneecn"), lap.remote_qpn);
    io(at("infiniband.cm.lap.remoteresptout"), lap.remote_response_timeout);
    describe(io, lap.path, kLoaded);
    io(at("infiniband.cm.lap.private"), lap.private_data);
}

template <class Io> void describe(Io& io, CmApr& apr) {
    constexpr auto at = [](std::string_view name) consteval { return named(kCmAprFields, name); };
    io(at("infiniband.cm.apr.localcommid"), apr.local_id);
    io(at("infiniband.cm.apr.remotecommid"), apr.remote_id);
    io(at("infiniband.cm.apr.status"), apr.status);
    io(at("infiniband.cm.apr.private"), apr.private_data);
}

template <class Io> void describe(Io& io, CmSidrReq& req) {
    constexpr auto at = [](std::string_view name) consteval { return named(kCmSidrReqFields, name); };
    io(at("infiniband.cm.sidr_req.requestid"), req.request_id);
    io(at("infiniband.cm.sidr_req.pkey"), req.pkey);
    io(at("infiniband.cm.sidr_req.serviceid"), req.service);
    io(at("infiniband.cm.sidr_req.private"), req.private_data);
}

template <class Io> void describe(Io& io, CmSidrRep& rep) {
    constexpr auto at = [](std::string_view name) consteval { return named(kCmSidrRepFields, name); };
    io(at("infiniband.cm.sidr_rep.requestid"), rep.request_id);
    io(at("infiniband.cm.sidr_rep.status"), rep.status);
    io(at("infiniband.cm.sidr_rep.qpn"), rep.qpn);
    io(at("infiniband.cm.sidr_rep.serviceid"), rep.service);
    io(at("infiniband.cm.sidr_rep.qkey"), rep.qkey);
    io(at("infiniband.cm.sidr_rep.private"), rep.private_data);
}

constexpr std::uint64_t kFirstAttribute = 0x10;
constexpr std::uint64_t kMethodSend = 0x03;

}  // namespace

template <class Message> Message read_message(Bytes body, AddressSpace space) {
    Message message;
    const Reader reader(body, space);
    describe(reader, message);
    if constexpr (std::same_as<Message, CmRej>)  // a length above the field's is the field's
        message.information = RejectInformation(slice(message.information.bytes(), 0, message.information_length));
    return message;
}

template <class Message> std::optional<ManagementDatagram> write_message(Message message, std::uint64_t transaction) {
    ManagementDatagram datagram;
    if constexpr (std::same_as<Message, CmRej>)
        message.information_length = static_cast<std::uint8_t>(message.information.size());
    constexpr auto at = [](std::string_view name) consteval { return named(kMadFields, name); };
    Writer head(datagram.bytes);
    head(at("infiniband.mad.baseversion"), kMadBaseVersion);
    head(at("infiniband.mad.mgmtclass"), ManagementClass::communication);
    head(at("infiniband.mad.classversion"), kCmClassVersion);
    head(at("infiniband.mad.method"), kMethodSend);
    head(at("infiniband.mad.transactionid"), transaction);
    head(at("infiniband.mad.attributeid"), kFirstAttribute + std::to_underlying(kMessageOf<Message>));
    Writer body(MutableBytes(datagram.bytes).subspan(kMadHeaderLength));
    describe(body, message);
    if (!body.fits()) return {};
    return datagram;
}

template CmReq read_message<CmReq>(Bytes, AddressSpace);
template std::optional<ManagementDatagram> write_message<CmReq>(CmReq, std::uint64_t);
template CmMra read_message<CmMra>(Bytes, AddressSpace);
template std::optional<ManagementDatagram> write_message<CmMra>(CmMra, std::uint64_t);
template CmRej read_message<CmRej>(Bytes, AddressSpace);
template std::optional<ManagementDatagram> write_message<CmRej>(CmRej, std::uint64_t);
template CmRep read_message<CmRep>(Bytes, AddressSpace);
template std::optional<ManagementDatagram> write_message<CmRep>(CmRep, std::uint64_t);
template CmRtu read_message<CmRtu>(Bytes, AddressSpace);
template std::optional<ManagementDatagram> write_message<CmRtu>(CmRtu, std::uint64_t);
template CmDreq read_message<CmDreq>(Bytes, AddressSpace);
template std::optional<ManagementDatagram> write_message<CmDreq>(CmDreq, std::uint64_t);
template CmDrep read_message<CmDrep>(Bytes, AddressSpace);
template std::optional<ManagementDatagram> write_message<CmDrep>(CmDrep, std::uint64_t);
template CmSidrReq read_message<CmSidrReq>(Bytes, AddressSpace);
template std::optional<ManagementDatagram> write_message<CmSidrReq>(CmSidrReq, std::uint64_t);
template CmSidrRep read_message<CmSidrRep>(Bytes, AddressSpace);
template std::optional<ManagementDatagram> write_message<CmSidrRep>(CmSidrRep, std::uint64_t);
template CmLap read_message<CmLap>(Bytes, AddressSpace);
template std::optional<ManagementDatagram> write_message<CmLap>(CmLap, std::uint64_t);
template CmApr read_message<CmApr>(Bytes, AddressSpace);
template std::optional<ManagementDatagram> write_message<CmApr>(CmApr, std::uint64_t);

}  // namespace qps::transport::live
