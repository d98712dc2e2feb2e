#include <transport-replay/evidence/iscsi_keys.hpp>

#include <algorithm>
#include <array>

namespace qps::transport {

namespace {

constexpr std::array<std::string_view, 31> kHarmlessKeys{
    "AuthMethod",
    "CHAP_A",
    "DataDigest",
    "DataPDUInOrder",
    "DataSequenceInOrder",
    "DefaultTime2Retain",
    "DefaultTime2Wait",
    "ErrorRecoveryLevel",
    "FirstBurstLength",
    "HeaderDigest",
    "IFMarkInt",
    "IFMarker",
    "ImmediateData",
    "InitialR2T",
    "InitiatorRecvDataSegmentLength",
    "MaxAHSLength",
    "MaxBurstLength",
    "MaxConnections",
    "MaxOutstandingR2T",
    "MaxOutstandingUnexpectedPDUs",
    "MaxRecvDataSegmentLength",
    "OFMarkInt",
    "OFMarker",
    "RDMAExtensions",
    "SessionType",
    "TaggedBufferForSolicitedDataOnly",
    "TargetPortalGroupTag",
    "TargetRecvDataSegmentLength",
    "TaskReporting",
    "iSCSIProtocolLevel",
    "iSERHelloRequired",
};

constexpr std::array<std::string_view, 21> kNamingKeys{
    "CHAP_C",     "CHAP_I", "CHAP_N", "CHAP_R",      "InitiatorAlias", "InitiatorName", "KRB_AP_REP",
    "KRB_AP_REQ", "SRP_A",  "SRP_B",  "SRP_GROUP",   "SRP_HM",         "SRP_M",         "SRP_N",
    "SRP_U",      "SRP_g",  "SRP_s",  "SendTargets", "TargetAddress",  "TargetAlias",   "TargetName",
};

constexpr std::array<std::string_view, 3> kAnswers{"NotUnderstood", "Irrelevant", "Reject"};
constexpr std::array<std::string_view, 14> kWords{"Yes",       "No",      "None",          "CRC32C",   "CHAP",
                                                  "KRB5",      "SRP",     "SPKM1",         "SPKM2",    "Normal",
                                                  "Discovery", "RFC3720", "ResponseFence", "FastAbort"};

bool is_number(std::string_view word) {
    constexpr std::size_t kLongest = 20;  // digits of 64 bits: what is longer is no number that is negotiated
    const bool hexadecimal = word.starts_with("0x") || word.starts_with("0X");
    const std::string_view digits = hexadecimal ? word.substr(2) : word;
    const auto is_digit = [&](char c) {
        return (c >= '0' && c <= '9') || (hexadecimal && ((c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F')));
    };
    return !digits.empty() && digits.size() <= kLongest && std::ranges::all_of(digits, is_digit);
}

}  // namespace

IscsiKey iscsi_key(std::string_view name) {
    if (std::ranges::find(kHarmlessKeys, name) != kHarmlessKeys.end()) return IscsiKey::harmless;
    if (std::ranges::find(kNamingKeys, name) != kNamingKeys.end()) return IscsiKey::naming;
    return IscsiKey::unknown;
}

bool is_iscsi_answer(std::string_view value) { return std::ranges::find(kAnswers, value) != kAnswers.end(); }

bool is_harmless_iscsi_value(std::string_view value) {
    while (!value.empty()) {
        const std::size_t end = std::min(value.find_first_of(",~"), value.size());  // of a list, of a range
        const std::string_view word = value.substr(0, end);
        if (!is_number(word) && !is_iscsi_answer(word) && std::ranges::find(kWords, word) == kWords.end()) return false;
        value.remove_prefix(std::min(end + 1, value.size()));
    }
    return true;
}

}  // namespace qps::transport
