// The end of each enumeration that an archive has: the value behind the last one. Numbers that only look like
// enumerations (times, identifiers) and those that are kept as a packet has them may have any value.
#pragma once

#include <transport-replay/analysis/lane_report.hpp>
#include <transport-replay/analysis/link_watch.hpp>
#include <transport-replay/checks/passive/passive_checks.hpp>
#include <transport-replay/parts/archived_type.hpp>

#include <cstdint>
#include <type_traits>
#include <utility>

namespace qps::transport::parts {

template <class E> inline constexpr std::uint64_t kEnd = 0;  // not in the list below: a static_assert says so
template <class E> constexpr std::uint64_t behind(E last) {
    return static_cast<std::uint64_t>(std::to_underlying(last)) + 1;
}

template <> inline constexpr std::uint64_t kEnd<dissect::BitsPerSecond> = kAnyValue;
template <> inline constexpr std::uint64_t kEnd<dissect::Duration> = kAnyValue;
template <> inline constexpr std::uint64_t kEnd<dissect::FrameIndex> = kAnyValue;
template <> inline constexpr std::uint64_t kEnd<dissect::Instant> = kAnyValue;
template <> inline constexpr std::uint64_t kEnd<dissect::InterfaceId> = kAnyValue;
template <> inline constexpr std::uint64_t kEnd<dissect::LayerKind> = kAnyValue;  // is_sound() knows which
template <> inline constexpr std::uint64_t kEnd<dissect::Lid> = kAnyValue;
template <> inline constexpr std::uint64_t kEnd<dissect::ManagementClass> = kAnyValue;
template <> inline constexpr std::uint64_t kEnd<dissect::Pkey> = kAnyValue;
template <> inline constexpr std::uint64_t kEnd<dissect::Qkey> = kAnyValue;
template <> inline constexpr std::uint64_t kEnd<dissect::Qpn> = kAnyValue;
template <> inline constexpr std::uint64_t kEnd<dissect::Rkey> = kAnyValue;
template <>
inline constexpr std::uint64_t kEnd<ConnectionId> = kAnyValue;  // names_nothing_else() knows how many there are
template <> inline constexpr std::uint64_t kEnd<ManagementMethod> = kAnyValue;
template <> inline constexpr std::uint64_t kEnd<NetworkId> = kAnyValue;
template <> inline constexpr std::uint64_t kEnd<NodeGuid> = kAnyValue;
template <> inline constexpr std::uint64_t kEnd<OperationCode> = kAnyValue;
template <> inline constexpr std::uint64_t kEnd<TapLabel> = kAnyValue;

template <> inline constexpr std::uint64_t kEnd<dissect::Service> = behind(dissect::Service::uet);
template <>
inline constexpr std::uint64_t kEnd<dissect::UlpProtocol> = std::to_underlying(dissect::UlpProtocol::count_);
template <> inline constexpr std::uint64_t kEnd<dissect::Verb> = behind(dissect::Verb::notify);
template <> inline constexpr std::uint64_t kEnd<AddressSpace> = behind(AddressSpace::ethernet);
template <> inline constexpr std::uint64_t kEnd<CmEvent> = behind(CmEvent::sidr_rep);
template <> inline constexpr std::uint64_t kEnd<CmMessage> = behind(CmMessage::apr);
template <> inline constexpr std::uint64_t kEnd<CmOutcome> = behind(CmOutcome::disconnect_unanswered);
template <> inline constexpr std::uint64_t kEnd<CmService> = behind(CmService::iwarp);
template <> inline constexpr std::uint64_t kEnd<CmState> = behind(CmState::sidr_answered);
template <> inline constexpr std::uint64_t kEnd<Confidence> = behind(Confidence::certain);
template <> inline constexpr std::uint64_t kEnd<End> = behind(End::b);
template <> inline constexpr std::uint64_t kEnd<ExchangeOutcome> = behind(ExchangeOutcome::incomplete);
template <> inline constexpr std::uint64_t kEnd<HostNumber> = 1;  // none: a part is of one host
template <> inline constexpr std::uint64_t kEnd<IcrcPolicy> = behind(IcrcPolicy::ignore);
template <> inline constexpr std::uint64_t kEnd<JoinedBy> = behind(JoinedBy::exchange);
template <> inline constexpr std::uint64_t kEnd<MessageKind> = behind(MessageKind::atomic_write);
template <> inline constexpr std::uint64_t kEnd<NakCause> = behind(NakCause::discarded_lost);
template <> inline constexpr std::uint64_t kEnd<Oddity> = behind(Oddity::early);
template <> inline constexpr std::uint64_t kEnd<PauseEnd> = behind(PauseEnd::capture_end);
template <> inline constexpr std::uint64_t kEnd<Outcome> = behind(Outcome::gave_up);
template <> inline constexpr std::uint64_t kEnd<conformance::Passive> = conformance::kPassiveChecks;
template <> inline constexpr std::uint64_t kEnd<RecoveryEnd> = behind(RecoveryEnd::failed);
template <> inline constexpr std::uint64_t kEnd<RecoveryKind> = behind(RecoveryKind::undecided);
template <> inline constexpr std::uint64_t kEnd<RefusedAccess::Verdict> = behind(RefusedAccess::Verdict::other_key);
template <> inline constexpr std::uint64_t kEnd<TransmissionSelection> = behind(TransmissionSelection::vendor);
template <> inline constexpr std::uint64_t kEnd<UlpBasis> = behind(UlpBasis::user);
template <> inline constexpr std::uint64_t kEnd<UlpEventKind> = behind(UlpEventKind::malformed);
template <> inline constexpr std::uint64_t kEnd<OperationOutcome> = behind(OperationOutcome::unanswered);
template <> inline constexpr std::uint64_t kEnd<UlpLabel::Part> = behind(UlpLabel::Part::answer);

}  // namespace qps::transport::parts
