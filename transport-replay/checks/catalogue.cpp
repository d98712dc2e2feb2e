// The table of conformance checks. Clauses are those of volume 1 of the InfiniBand specification, A11, A16, A17, A19 its annexes.
// The rows of iWARP name RFCs with their sections.
// The texts are ours and short: the rules behind them stand where they are judged.
#include <transport-replay/checks/catalogue.hpp>

#include <algorithm>

namespace qps::transport::conformance {

namespace {

constexpr CheckModes P = CheckModes::passive, A = CheckModes::active, PA = CheckModes::both;
constexpr CheckSeverity L = CheckSeverity::low, M = CheckSeverity::medium, H = CheckSeverity::high;

constexpr BasisMarks operator|(BasisMarks one, BasisMarks other) { return {static_cast<std::uint8_t>(one.bits | other.bits)}; }
constexpr BasisMarks marked(BasisMark mark) { return {std::to_underlying(mark)}; }
constexpr BasisMarks kS = marked(BasisMark::source), kQ = marked(BasisMark::quoted), kD = marked(BasisMark::discussed),
                     kB = marked(BasisMark::book), kV = marked(BasisMark::verified), kP = marked(BasisMark::published),
                     kR = marked(BasisMark::memory);

constexpr bool kDangerous = true;
constexpr CheckFamily kTrace = CheckFamily::trace, kFormat = CheckFamily::format, kResponder = CheckFamily::responder,
                      kRequester = CheckFamily::requester, kManagement = CheckFamily::management, kCongestion = CheckFamily::congestion,
                      kRobustness = CheckFamily::robustness, kFraming = CheckFamily::framing, kPlacement = CheckFamily::placement,
                      kDirect = CheckFamily::direct_memory;

// clang-format off
constexpr std::array<CheckRow, kCheckCount> kChecks{{
    {"TRC-01", kTrace, P, "the whole capture", "nothing dropped by the capture, both directions seen, timestamps in order", H, "what missing packets would prove", kP, {}, {}},
    {"TRC-02", kTrace, P, "packets longer than the snap length", "whole packets, or checks of ICRC and payload do not apply", M, "what truncated packets would prove", kV, {}, {}},
    {"TRC-03", kTrace, P, "connections older than the capture", "their start seen, or PSN and MSN are learned from the first packets", M, "what an unseen start would prove", kV, {}, {}},

    {"FMT-01", kFormat, P, "the ICRC of every packet", "that of the packet's bytes", H, "C7-47, C7-48", kS | kV, {}, {}},
    {"FMT-02", kFormat, P, "payloads that are not a multiple of 4", "the pad fills the last word, with zeros, and the ICRC covers it", H, "9.2.4; a fix of 2019", kS | kD, {}, {}},
    {"FMT-03", kFormat, A, "one bit flipped in payload, AETH, RETH or destination QP", "silently dropped, nothing executed", H, "C7-48", kQ, {}, {}},
    {"FMT-04", kFormat, A, "TTL, ECN, DSCP, flow label, FECN, BECN, Resv6 changed after the ICRC was made", "accepted", H, "A17.3.3", kS | kV, {}, {}},
    {"FMT-05", kFormat, A, "Resv6 and Resv7 set, ICRC right", "accepted, the bits ignored", M, "C9-6", kQ, {}, {}},
    {"FMT-06", kFormat, P, "reserved bits and version of every packet", "Resv6, Resv7 and TVer are 0", L, "C9-6", kQ, {}, {}},
    {"FMT-07", kFormat, A, "TVer 1 to 15", "silently dropped", M, "9.6.1", kS, {}, {}},
    {"FMT-08", kFormat, P, "RC packets of paths that cannot migrate", "MigReq is 1", L, "17.2.8; published testers", kP | kR, {}, {}},
    {"FMT-09", kFormat, P, "UC, UD and management packets", "AckReq is 0", L, "9.7.2; a fix on linux-rdma", kD, {}, {}},
    {"FMT-10", kFormat, P, "packets with the SE bit", "only the last of a SEND, or of a WRITE with immediate", L, "9.2.3, oA19-6", kS | kQ, {}, {}},
    {"FMT-11", kFormat, A, "reserved and unknown opcodes to an RC queue pair", "silently dropped or NAK invalid request; the device survives", H, "9.6.1; a fix on linux-rdma", kD, kDangerous, {}},
    {"FMT-12", kFormat, A, "packets too short for their headers, pad without payload, UDP length below the headers", "silently dropped; the device survives", H, "fixes on linux-rdma", kD, kDangerous, {}},
    {"FMT-13", kFormat, A, "an ACK that carries payload or pad", "dropped or taken as an ACK", L, "9.7.5.1.1", kR, {}, {}},
    {"FMT-14", kFormat, A, "P_Key 0x7FFE, 0x0000, 0x7FFF", "dropped, dropped, accepted where the device is a full member", M, "C9-42, 10.9.3", kS | kQ, {}, {}},
    {"FMT-15", kFormat, A, "P_Key or Q_Key wrong, and the ICRC too", "violation counters stay: the ICRC is checked first", L, "9.6.1", kR, {}, {}},
    {"FMT-16", kFormat, P, "UDP source ports", "0xC000 or above, one for a queue pair and direction", L, "A17.3.1", kS | kQ, {}, {}},
    {"FMT-17", kFormat, P, "IPv4 headers", "20 bytes, DF set, no fragments, UDP length the rest of the IP length", M, "A17.3.1.2", kQ, {}, {}},
    {"FMT-18", kFormat, A, "IPv4 fragments and options", "silently dropped or handled right; the device survives", M, "A17.3.1.2", kQ, kDangerous, {}},
    {"FMT-19", kFormat, P, "RoCEv1 packets", "IPVer 6, NxtHdr 0x1B, PayLen BTH to ICRC", M, "A16.5", kS | kQ, {}, {}},
    {"FMT-20", kFormat, PA, "native InfiniBand packets", "PktLen, LNH, LVer and VCRC are right", M, "C7-7, 7.8.2", kV, {}, {}},
    {"FMT-21", kFormat, P, "FECN and BECN of RoCE packets that are not CNPs", "0", L, "C9-6, A17.9", kQ, {}, {}},
    {"FMT-22", kFormat, P, "datagrams of queue pair 1", "source QP 1, Q_Key 0x80010000, a MAD of 256 bytes", M, "C13-3, 13.5.3", kS | kQ, {}, {}},
    {"FMT-23", kFormat, A, "destination QP 0, unknown, or in RESET or INIT", "silently dropped", M, "9.6.1", kS, {}, {}},
    {"FMT-24", kFormat, A, "an RC opcode to a UD queue pair, a UD opcode to an RC one", "silently dropped", M, "9.6.1", kS, {}, {}},
    {"FMT-25", kFormat, A, "QPN and PSN right, source address or GID wrong", "silently dropped", H, "9.6.1; published attacks", kS | kP, {}, {}},
    {"FMT-26", kFormat, P, "payloads of requests and responses", "never above the path MTU, and exactly it but for the last of a message", M, "C5-8", kQ, {}, {}},

    {"RSP-01", kResponder, A, "a SEND of three packets, AckReq on the last", "one ACK of the last PSN, MSN one higher", H, "9.7.5.1.1; CTS v1c09-060#01", kQ, {}, {}},
    {"RSP-02", kResponder, P, "all acknowledgements", "PSNs never go back, and lie within what was sent", H, "9.7.5.1.1", kP, {}, {}},
    {"RSP-03", kResponder, A, "five packets, AckReq on each", "each covered by an ACK; one ACK may cover several", M, "o9-30", kQ, {}, {}},
    {"RSP-04", kResponder, A, "a message without AckReq", "an ACK or none; the connection goes on", L, "9.7.5.1.1", kR, {}, {}},
    {"RSP-05", kResponder, A, "one PSN left out", "exactly one NAK sequence error, of the expected PSN", H, "9.7.5.1.2", kS | kB, {}, {}},
    {"RSP-06", kResponder, A, "one PSN left out, then ten more new ones", "no further NAK until the expected PSN came", M, "9.7.5.1.2", kB | kP, {}, {}},
    {"RSP-07", kResponder, A, "after the NAK: the expected PSN, then another gap", "a new NAK", M, "9.7.5.1.2", kB, {}, {}},
    {"RSP-08", kResponder, A, "after the NAK: a duplicate", "the duplicate is answered", M, "9.7.5.1.2", kB, {}, {}},
    {"RSP-09", kResponder, A, "a duplicate SEND or WRITE with AckReq", "an ACK; memory, receive queue and MSN stay", H, "C9-105, C9-148", kQ, {}, {}},
    {"RSP-10", kResponder, A, "a duplicate WRITE older than a later READ", "the ACK's PSN is not past the READ", M, "C9-105; a fix in Linux", kS | kQ, {}, {}},
    {"RSP-11", kResponder, A, "the expected PSN - 2^23 and + 2^23 - 1", "a duplicate, and out of sequence", M, "9.7.1", kS | kQ, {}, {}},
    {"RSP-12", kResponder, A, "a connection that starts at PSN 0xFFFFFE", "goes on through 0", H, "9.7.1", kS, {}, {}},
    {"RSP-13", kResponder, A, "a READ of n path MTUs and one byte", "FIRST, MIDDLE, LAST; PSNs in a row; one byte and three of pad in LAST", H, "9.7.5.1.5", kQ, {}, {}},
    {"RSP-14", kResponder, A, "a READ of no bytes with R_Key 0", "an empty READ response ONLY", M, "C9-88", kQ, {}, {}},
    {"RSP-15", kResponder, A, "a duplicate READ of no bytes", "the same answer", M, "C9-88", kQ, {}, {}},
    {"RSP-16", kResponder, A, "a duplicate of a whole READ", "the same data in the same PSNs", H, "9.7.5.1.3", kS | kB, {}, {}},
    {"RSP-17", kResponder, A, "a READ requested again from its middle", "responses that start with FIRST or ONLY", M, "9.7.5.1.3", kS, {}, {}},
    {"RSP-18", kResponder, A, "a READ requested again from its middle, then whole", "answered, or omitted as documented", L, "9.7.5.1.3", kR, {}, {}},
    {"RSP-19", kResponder, A, "a duplicate READ of a larger range, another R_Key, an address that wraps", "silently dropped, no data out of range", H, "9.7.5.1.3; a fix on linux-rdma", kD, kDangerous, {}},
    {"RSP-20", kResponder, P, "MSNs of READ responses", "one higher for each READ, in LAST and ONLY at the latest", L, "C9-148", kQ, {}, {}},
    {"RSP-21", kResponder, P, "the order of responses", "that of the requests' PSNs; no READ is overtaken", H, "o9-30", kQ, {}, {}},
    {"RSP-22", kResponder, A, "FETCH ADD, COMPARE SWAP that hits and that misses", "the old value comes back, memory is right", H, "9.4.5", kQ, {}, {}},
    {"RSP-23", kResponder, A, "a duplicate ATOMIC", "the saved value; not executed a second time", H, "9.4.5, 9.7.5.1.3", kB, {}, {}},
    {"RSP-24", kResponder, A, "a duplicate ATOMIC with other operands or address, or at a READ's PSN", "silently dropped", M, "9.7.5.1.3", kB, {}, {}},
    {"RSP-25", kResponder, A, "an ATOMIC at an address that is not a multiple of 8", "NAK invalid request, as an ACKNOWLEDGE; the queue pair fails", M, "9.4.5", kS | kD, {}, {}},
    {"RSP-26", kResponder, A, "more READs and ATOMICs outstanding than negotiated", "NAK invalid request", M, "9.7.4.1.2", kS, {}, {}},
    {"RSP-27", kResponder, A, "a SEND where no receive is posted", "RNR NAK of that PSN with the timer that was set", H, "9.7.5.2.8", kS | kB, {}, {}},
    {"RSP-28", kResponder, A, "further PSNs after an RNR NAK", "silence, no sequence NAK", M, "9.7.5.2.8", kS | kB, {}, {}},
    {"RSP-29", kResponder, A, "the SEND retransmitted once a receive is posted", "an ACK, exactly one completion", H, "9.7.5.2.8", kS | kB, {}, {}},
    {"RSP-30", kResponder, A, "WRITE with immediate where no receive is posted", "data is accepted, RNR NAK only at LAST or ONLY", M, "9.7.5.2.8", kR, {}, {}},
    {"RSP-31", kResponder, A, "MIDDLE or LAST without FIRST", "NAK invalid request, the queue pair fails", H, "9.7.4.1.1", kS | kB, {}, {}},
    {"RSP-32", kResponder, A, "FIRST, then ONLY, FIRST, READ or another operation", "NAK invalid request", H, "9.7.4.1.1", kS | kB, {}, {}},
    {"RSP-33", kResponder, A, "a WRITE whose LAST is a MIDDLE", "NAK invalid request, with the next packet at the latest", M, "9.7.4.1.1", kP, {}, {}},
    {"RSP-34", kResponder, A, "SEND FIRST or MIDDLE with less than the path MTU", "NAK invalid request", M, "C9-92", kQ, {}, {}},
    {"RSP-35", kResponder, A, "SEND LAST without payload", "NAK invalid request", M, "C9-92", kQ, {}, {}},
    {"RSP-36", kResponder, A, "ONLY or LAST with more than the path MTU", "NAK invalid request", M, "C9-92", kQ, {}, {}},
    {"RSP-37", kResponder, A, "a DMA length above 2^31", "NAK invalid request", M, "C9-94", kQ, {}, {}},
    {"RSP-38", kResponder, A, "a WRITE that ends early, or ONLY with a DMA length above the path MTU", "NAK invalid request", M, "9.7.4.1.6", kQ, {}, {}},
    {"RSP-39", kResponder, A, "a WRITE with more payload than its DMA length", "NAK invalid request, nothing written outside", H, "9.7.4.1.6", kQ, kDangerous, {}},
    {"RSP-40", kResponder, A, "DMA length 0 with payload", "NAK invalid request; the device survives", H, "9.7.4.1.6", kQ, kDangerous, {}},
    {"RSP-41", kResponder, A, "wrong R_Key, domain, permission or range", "NAK remote access error, the queue pair fails, no access", H, "9.7.4.1.5, C9-222.1.1", kS | kQ, {}, {}},
    {"RSP-42", kResponder, A, "a READ whose region is invalidated in the middle of a response", "NAK remote access error with the PSN of the response that failed", M, "9.7.5.2", kB, kDangerous, {}},
    {"RSP-43", kResponder, A, "an operation that the queue pair does not allow", "NAK invalid request", M, "9.7.4.1.2", kS, {}, {}},
    {"RSP-44", kResponder, A, "a SEND longer than the posted receive", "NAK invalid request, the queue pair fails", M, "9.7.4.1.6", kQ, {}, {}},
    {"RSP-45", kResponder, A, "SEND with invalidate: a valid R_Key, an unknown one, one of another domain", "invalidated; the queue pair fails; it fails and the key stays", H, "9.4.1.1", kQ, {}, {}},
    {"RSP-46", kResponder, A, "packets after NAK invalid request, access or operational error", "the queue pair is silent", M, "C9-220", kQ, {}, {}},
    {"RSP-47", kResponder, P, "credits in ACKs", "the code for unlimited only where CM agreed on no flow control or on a shared receive queue", L, "9.7.7.2", kS | kR, {}, {}},
    {"RSP-48", kResponder, A, "UC: a gap in one message, then a whole one", "the second is delivered", H, "9.8.2", kS, {}, {}},
    {"RSP-49", kResponder, A, "UC WRITE: LAST lost, then ONLY", "delivered; the queue pair goes on", H, "9.8.2", kS, {}, {}},
    {"RSP-50", kResponder, PA, "UC and UD packets of any kind", "never a response", M, "9.8.2, 9.8.3", kS, {}, {}},
    {"RSP-51", kResponder, A, "UD: wrong Q_Key, too long, no receive posted", "silently dropped, the next good one delivered", M, "C9-205", kQ, {}, {}},
    {"RSP-52", kResponder, A, "UD over IPv4 and IPv6", "payload at byte 40 of the receive, the IP header before it", M, "A17.4.5.2", kQ, {}, {}},
    {"RSP-53", kResponder, A, "FLUSH and ATOMIC WRITE where advertised; ATOMIC WRITE not of 8 bytes", "an empty READ response ONLY; NAK invalid request", M, "oA19-2, oA19-5, oA19-28", kQ, {}, {}},
    {"RSP-54", kResponder, A, "ten thousand duplicates at once", "a bounded number of ACKs; the device survives", L, "robustness", kR, kDangerous, {}},
    {"RSP-55", kResponder, A, "requests refused for good that used up no receive", "an asynchronous event of the queue pair: access error, or invalid request", M, "9.9.3, 11.6.3; ibv_get_async_event", kS | kR, {}, {}},

    {"REQ-01", kRequester, P, "PSNs of requests", "one more for each packet; a READ takes one for each of its responses", H, "9.7.1, 9.7.3", kS | kB, {}, {}},
    {"REQ-02", kRequester, P, "opcodes of requests", "FIRST, MIDDLEs, LAST of one operation, or ONLY", H, "9.7.4.1.1", kS | kB, {}, {}},
    {"REQ-03", kRequester, P, "RETH of WRITEs", "the DMA length is the sum of the payload; address and R_Key stay when retransmitted", H, "9.7.4.1.6", kQ, {}, {}},
    {"REQ-04", kRequester, P, "the first PSN of a connection that CM set up", "the starting PSN announced by CM", M, "12.7.31", kS | kR, {}, {}},
    {"REQ-05", kRequester, P, "what is outstanding", "at most 2^23 PSNs, READs and ATOMICs at most as negotiated", M, "9.7.1, 9.7.4.1.2", kS | kQ, {}, {}},
    {"REQ-06", kRequester, A, "only the first of two requests is acknowledged", "the second does not complete", H, "9.7.6; CTS v1c09-060#01", kQ, {}, {}},
    {"REQ-07", kRequester, A, "one ACK past several SENDs", "all complete", H, "9.7.5.1.1", kS | kB, {}, {}},
    {"REQ-08", kRequester, A, "an ACK of a PSN never sent", "ignored", H, "9.7.6", kS | kP, {}, {}},
    {"REQ-09", kRequester, A, "an ACK older than what is outstanding", "ignored", M, "9.7.6", kS, {}, {}},
    {"REQ-10", kRequester, A, "a plain ACK at the PSN of a READ or ATOMIC", "no success; requested again, or bad response", H, "o9-30", kS | kQ, {}, {}},
    {"REQ-11", kRequester, A, "an ACK past an outstanding READ", "the READ is requested again, one retry used", M, "9.7.5.1.2", kS, {}, {}},
    {"REQ-12", kRequester, A, "one READ response lost", "requested again from its PSN, address and length moved", M, "9.7.5.1.3", kS, {}, {}},
    {"REQ-13", kRequester, PA, "the time until lost READ responses are requested again", "before the ACK timeout where later responses came", L, "published measurements", kP, {}, {}},
    {"REQ-14", kRequester, A, "READ responses: MIDDLE first, ONLY of many, LAST missing", "completes in error, never in success", H, "9.7.6", kS, {}, {}},
    {"REQ-15", kRequester, A, "READ responses too short or too long", "completes in error, nothing beyond the buffer written", H, "9.7.6", kS, kDangerous, {}},
    {"REQ-16", kRequester, A, "an ATOMIC ACK to a SEND, a READ response to a WRITE", "completes in error", H, "9.7.6", kS, {}, {}},
    {"REQ-17", kRequester, A, "AETH of a reserved type or NAK code, or with bit 7", "never success; ignored, or in error", H, "9.7.5.2.1", kS, {}, {}},
    {"REQ-18", kRequester, A, "a sequence NAK in the middle", "retransmitted from its PSN, the same bytes; nothing before it", M, "9.7.5.1.2", kP, {}, {}},
    {"REQ-19", kRequester, A, "one sequence NAK more than retries", "retries exceeded, the queue pair fails", M, "CTS v1c09-142", kQ, {}, {}},
    {"REQ-20", kRequester, A, "no answers, retry count 0 to 7", "exactly that many retries, then retries exceeded; 7 is not infinite", H, "9.7.6.1.3; CTS v1c09-142, v1c09-143", kQ, {}, {}},
    {"REQ-21", kRequester, P, "packets retransmitted after an ACK timeout", "between one and four ACK timeouts after the last transmission of that PSN", M, "9.7.6.1.3, C9-139", kR, {}, {}},
    {"REQ-22", kRequester, A, "timeout 0", "no retransmission by timeout", M, "9.7.6.1.3; CTS", kQ, {}, {}},
    {"REQ-23", kRequester, A, "an RNR NAK with each timer", "no retransmission before that time", H, "C9-130; CTS v1c09-130#01", kS | kQ, {}, {}},
    {"REQ-24", kRequester, A, "an RNR NAK", "retransmitted from its PSN; earlier ones count as acknowledged", M, "9.7.5.2.8", kS, {}, {}},
    {"REQ-25", kRequester, A, "an RNR NAK with more work queued", "no new PSN before the retransmission", L, "9.7.5.2.8; forum", kP, {}, {}},
    {"REQ-26", kRequester, A, "RNR retry count 0, n, 7", "fails at once, after n, never", M, "9.7.5.2.8; linux-rdma", kD, {}, {}},
    {"REQ-27", kRequester, A, "NAK invalid request, access error, operational error", "the matching completion status, the rest flushed", M, "C9-220", kQ, {}, {}},
    {"REQ-28", kRequester, A, "NAK access error in the middle of a READ response", "remote access error; neither success nor endless retransmission", H, "9.7.5.2; a fix on linux-rdma", kD, {}, {}},
    {"REQ-29", kRequester, P, "retransmitted packets", "the original bytes, but for what may change", M, "9.7.5.1.2", kB | kR, {}, {}},
    {"REQ-30", kRequester, P, "requests", "AckReq on the last packet of what waits for an answer", M, "9.7.2", kS | kR, {}, {}},
    {"REQ-31", kRequester, A, "credits 0, 1, 2 with flow control", "SENDs and WRITEs with immediate within the limit", L, "9.7.7.2", kS | kR, {}, {}},
    {"REQ-32", kRequester, A, "floods of ACKs, ACKs out of order", "what was acknowledged stays acknowledged", M, "9.7.6", kS, {}, {}},
    {"REQ-33", kRequester, A, "READ responses twice", "the second ignored", M, "9.7.6", kS, {}, {}},
    {"REQ-34", kRequester, P, "work that waits for READs (fence)", "not sent before the READ's response came", M, "10.8.3.3", kR, {}, "a fence is not on the wire: no capture shows which work had one"},
    {"REQ-35", kRequester, P, "datagrams (UD)", "one packet each, never more than the path MTU", L, "C10-93.1.1", kQ, {}, {}},

    {"CM-01", kManagement, P, "CM datagrams", "class 7, version 2, method SEND, 256 bytes, between queue pairs 1 with their Q_Key", M, "13.4.3, 16.7.1, C13-3", kS | kQ, {}, {}},
    {"CM-02", kManagement, P, "fields of REQs", "transport type, P_Key, GIDs of the packet's addresses, reserved bits 0, subnet local as the hop limit says", M, "12.6.5", kS, {}, {}},
    {"CM-03", kManagement, P, "REQs of rdma_cm", "a service ID of its port space, private data that starts with the addresses and ports of the packet", M, "A11.2, A11.6", kS, {}, {}},
    {"CM-04", kManagement, A, "a REQ to a port that listens", "a REP in time, the communication ID echoed, resources within the offer", H, "12.9.7", kS, {}, {}},
    {"CM-05", kManagement, A, "a REQ to a service that is not offered", "REJ 8 of the REQ", M, "12.6.7", kS, {}, {}},
    {"CM-06", kManagement, A, "a REQ twice before it is accepted", "silence or MRA, never a second REP with another ID", M, "12.9.8", kS, {}, {}},
    {"CM-07", kManagement, A, "an MRA to the device's REQ", "it waits for the service timeout before it retries", M, "12.9.8", kS | kR, {}, {}},
    {"CM-08", kManagement, A, "the device's REQ is never answered", "repeated after each timeout up to its limit, then REJ 4 with the CA GUID", M, "12.9.8", kS, {}, {}},
    {"CM-09", kManagement, A, "a REP is lost", "repeated until the RTU comes", M, "12.9.8", kS, {}, {}},
    {"CM-10", kManagement, A, "data instead of an RTU", "the connection is up", M, "12.9.7", kS, {}, {}},
    {"CM-11", kManagement, A, "a REP with an unknown communication ID", "REJ 6", L, "12.6.7", kS, {}, {}},
    {"CM-12", kManagement, A, "a REQ from a queue pair that is connected already", "REJ 10, and DREQ of the old connection", M, "12.9.8", kS, {}, {}},
    {"CM-13", kManagement, A, "REQ of transport type 2, or 3 without an extension", "REJ 9", L, "12.6.7", kS, {}, {}},
    {"CM-14", kManagement, A, "a REQ with a path MTU above the port's", "REJ 26", M, "12.6.7", kS, {}, {}},
    {"CM-15", kManagement, A, "initiator depth above the device's, private data of another version, IP version 5", "negotiated down, or REJ", L, "A11.6, 12.7.29", kS, {}, {}},
    {"CM-16", kManagement, A, "class version 1", "REJ 31 or silence", L, "13.4.3", kR, {}, {}},
    {"CM-17", kManagement, A, "DREQ: right, of a wrong QPN, of an unknown ID", "DREP, silence, DREP", M, "12.9.7", kS, {}, {}},
    {"CM-18", kManagement, A, "DREQ twice", "a second DREP while the connection is in TIMEWAIT", M, "12.9.8.4", kS, {}, {}},
    {"CM-19", kManagement, P, "the time after DREQ and DREP", "no data; no packets of the old PSNs from the same QPN before TIMEWAIT is over", H, "12.9.8.4", kS | kR, {}, {}},
    {"CM-20", kManagement, A, "both sides send DREQ at once", "both send DREP", M, "12.9.7", kS, {}, {}},
    {"CM-21", kManagement, A, "REJ of an established connection", "the connection is left", L, "12.9.7", kS, {}, {}},
    {"CM-22", kManagement, A, "LAP over RoCE", "APR unsupported, or silence", L, "12.8", kS, {}, {}},
    {"CM-23", kManagement, A, "SIDR_REQ of a service that is there, and of one that is not", "SIDR_REP 0 with QPN and Q_Key; status 1", M, "12.11.2", kS, {}, {}},
    {"CM-24", kManagement, P, "the ACK timeout announced by CM, and the queue pair's", "the timeout on the wire matches the announced one", M, "12.7.34", kS, {}, {}},
    {"CM-25", kManagement, P, "retry counts announced by CM", "no more retries than announced", M, "12.7.38, 12.7.39", kS | kR, {}, {}},
    {"CM-26", kManagement, P, "transaction IDs", "answers echo them, retries are identical", L, "13.4.6.4", kS | kR, {}, {}},
    {"CM-27", kManagement, P, "private data beyond what is used", "zeros to the end of the datagram", L, "13.4.2", kR, {}, {}},
    {"CM-28", kManagement, A, "queue pair 1: datagrams too long, of another class or method; then a valid REQ", "invalid datagrams dropped, the REQ answered", H, "C13-3, C9-205", kQ | kD, kDangerous, {}},

    {"CNP-01", kCongestion, P, "CNPs", "opcode 0x81, SE, MigReq, pad, AckReq and PSN 0, BECN 1, 16 zero bytes", M, "A17.9.3", kQ, {}, {}},
    {"CNP-02", kCongestion, A, "data marked CE", "a CNP to the queue pair of the sender", M, "A17.9.1", kQ, {}, {}},
    {"CNP-03", kCongestion, P, "how many CNPs for how many marks", "no more than marks; the rate shows what they are limited by", L, "A17.9; published measurements", kP, {}, {}},
    {"CNP-04", kCongestion, A, "data that is ECN-capable or not, but not marked", "no CNP", M, "RFC 3168, A17.9.1", kQ, {}, {}},
    {"CNP-05", kCongestion, A, "CE on ACKs, CNPs, UD multicast", "no CNP for CNPs and multicast", L, "A17.9.1", kS, {}, {}},
    {"CNP-06", kCongestion, A, "a CNP to the device", "that queue pair slows down, others do not; no answer", L, "DCQCN", kP, {}, {}},
    {"CNP-07", kCongestion, A, "a CNP to an unknown queue pair, or with a wrong ICRC", "silently dropped", M, "9.6.1, C7-48", kS | kQ, {}, {}},
    {"CNP-08", kCongestion, P, "the ECN field of data where CNPs are used", "ECN-capable", L, "A17.9.1", kR, {}, {}},
    {"CNP-09", kCongestion, P, "CNPs that come with NAKs", "a CNP only for a mark; a NAK alone is not congestion", L, "published measurements", kP, {}, {}},
    {"CNP-10", kCongestion, P, "the time from a mark to its CNP", "below a millisecond", L, "published measurements", kP, {}, {}},

    {"ERR-01", kRobustness, A, "all invalid requests, one after another on new queue pairs", "the device survives, other queue pairs go on", H, "9.9.2; robustness", kP, kDangerous, {}},
    {"ERR-02", kRobustness, P, "queue pairs that failed", "send nothing more", M, "C9-220", kQ, {}, {}},
    {"ERR-03", kRobustness, A, "retries exhausted on one queue pair", "others keep their pace", M, "published measurements", kP, {}, {}},
    {"ERR-04", kRobustness, P, "the device's counters against the capture", "they agree with the packets", M, "published measurements", kP, {}, "a capture has no counters of the device"},
    {"ERR-05", kRobustness, A, "loss, duplicates, reordering, corruption", "all data right, everything completes exactly once", H, "9.7; published measurements", kP, kDangerous, {}},
    {"ERR-06", kRobustness, A, "a queue pair number reused while old packets are in flight", "the old ones are dropped", M, "12.9.8.4", kR, {}, {}},
    {"ERR-07", kRobustness, P, "SENDs that arrive twice", "executed once: the MSN counts them once", H, "C9-105, C9-148; a fix on linux-rdma", kQ | kD, {}, {}},

    {"MPA-01", kFraming, P, "the first 16 bytes of each way of a connection", "the key of a request from the initiator, that of a reply from the responder", H, "RFC 5044 7.1.1", kS | kR, {}, {}},
    {"MPA-02", kFraming, P, "the revision of MPA requests and replies", "1 or 2, in a reply no later than in the request", M, "RFC 5044 7.1.1, RFC 6581 6", kS | kR, {}, {}},
    {"MPA-03", kFraming, P, "the private data length of set-up frames", "at most 512", M, "RFC 5044 7.1.1", kS | kR, {}, {}},
    {"MPA-04", kFraming, P, "the reserved bits of set-up frames", "0, in revision 1 also the flag of enhanced connections", L, "RFC 5044 7.1.1, RFC 6581 6", kR, {}, {}},
    {"MPA-05", kFraming, P, "the flag R of MPA requests", "0: it belongs to replies", L, "RFC 5044 7.1.1", kR, {}, {}},
    {"MPA-06", kFraming, P, "set-up frames with the flag S", "4 bytes of private data at least, and a reply has S only where its request has", M, "RFC 6581 6", kS | kR, {}, {}},
    {"MPA-07", kFraming, P, "the ORD of enhanced replies", "no higher than the IRD of the request, unless either is left open", M, "RFC 6581 9.1", kS | kR, {}, {}},
    {"MPA-08", kFraming, P, "when the initiator sends its first FPDU", "behind the MPA reply: its TCP has acknowledged that", M, "RFC 5044 7.1.2", kR, {}, {}},
    {"MPA-09", kFraming, P, "when the responder sends its first FPDU", "behind the first FPDU of the initiator: its TCP has acknowledged that", M, "RFC 5044 7.1.2", kR, {}, {}},
    {"MPA-10", kFraming, P, "what follows a reply with the flag R", "nothing", M, "RFC 5044 7.1.2", kS | kR, {}, {}},
    {"MPA-11", kFraming, P, "markers, where the peer asked for them", "each 512 bytes of the stream, pointing back to the start of the FPDU", H, "RFC 5044 4.3", kR, {}, {}},
    {"MPA-12", kFraming, P, "the reserved half of markers", "0", L, "RFC 5044 4.3", kR, {}, {}},
    {"MPA-13", kFraming, P, "the CRC of every FPDU, where either end asked for CRCs", "the CRC-32C of the FPDU with its markers", H, "RFC 5044 4.4, 7.1.1", kS | kR, {}, {}},
    {"MPA-14", kFraming, P, "the pad of FPDUs", "0", L, "RFC 5044 4.1", kR, {}, {}},
    {"MPA-15", kFraming, P, "the ULPDU length of FPDUs", "a DDP header at least: 14 bytes tagged, 18 untagged", H, "RFC 5041 4.1", kS | kR, {}, {}},
    {"MPA-16", kFraming, P, "the first FPDU of the initiator, where both ends set the flag of peer-to-peer connections", "an empty SEND, WRITE or READ, of a kind that both announced", M, "RFC 6581 5, 9.2", kS | kR, {}, {}},
    {"MPA-17", kFraming, P, "where a FIN stands in the stream, on connections without Terminate", "behind a whole FPDU", M, "RFC 5044 7.2", kR, {}, {}},
    {"MPA-18", kFraming, A, "a request of a revision that does not exist", "no connection: rejected, or the TCP connection ends", M, "RFC 5044 7.1.1", kS | kR, {}, {}},
    {"MPA-19", kFraming, A, "a request with another key", "no connection: the TCP connection ends", M, "RFC 5044 7.1.1", kS | kR, {}, {}},
    {"MPA-20", kFraming, A, "a request that announces more than 512 bytes of private data", "no connection: rejected, or the TCP connection ends", M, "RFC 5044 7.1.1", kS | kR, {}, {}},
    {"MPA-21", kFraming, A, "a request in TCP segments of one byte", "accepted as if it came in one", H, "RFC 5044 7.1; TCP is a stream", kS | kR, {}, {}},
    {"MPA-22", kFraming, A, "an FPDU with a wrong CRC, where CRCs are in use", "not taken: the connection ends, and nothing behind it is answered", H, "RFC 5044 4.4, 8", kS | kR, {}, {}},
    {"MPA-23", kFraming, A, "FPDUs in TCP segments of one byte", "taken as if each came in one", H, "RFC 5044 4; TCP is a stream", kS | kR, {}, {}},
    {"MPA-24", kFraming, A, "several FPDUs in one TCP segment", "all taken, in their order", H, "RFC 5044 4", kS | kR, {}, {}},
    {"MPA-25", kFraming, A, "an FPDU too short for a DDP header", "not taken: the connection ends; the device survives", H, "RFC 5041 4.1; a fix on linux-rdma", kD, kDangerous, {}},
    {"MPA-26", kFraming, A, "a connection that its initiator ends within the request", "the next connection is accepted", H, "RFC 5044 7.1", kR | kV, kDangerous, {}},

    {"DDP-01", kPlacement, P, "the DDP version of every segment", "1", M, "RFC 5041 4.1", kS | kR, {}, {}},
    {"DDP-02", kPlacement, P, "the reserved bits of DDP", "0", L, "RFC 5041 4.2, 4.3", kR, {}, {}},
    {"DDP-03", kPlacement, P, "the queue number of untagged segments", "0 for SENDs and immediate data, 1 for READ and ATOMIC requests, 2 for Terminates, 3 for ATOMIC responses", H, "RFC 5040 4.1, RFC 7306 4", kS | kR, {}, {}},
    {"DDP-04", kPlacement, P, "the first MSN of each queue", "1", H, "RFC 5041 5.2", kS | kR, {}, {}},
    {"DDP-05", kPlacement, P, "the MSNs of a queue", "the same within a message, one higher from message to message", H, "RFC 5041 5.2", kS | kR, {}, {}},
    {"DDP-06", kPlacement, P, "the message offsets of untagged segments", "0 at first, then where the segment before ended", H, "RFC 5041 5.3", kS | kR, {}, {}},
    {"DDP-07", kPlacement, P, "the flag L of the last segment of untagged messages", "1", H, "RFC 5041 4.3", kS | kR, {}, {}},
    {"DDP-08", kPlacement, P, "STag and tagged offset within a tagged message", "the STag of the segment before, the offset where it ended", H, "RFC 5041 5.3", kS | kR, {}, {}},
    {"DDP-09", kPlacement, P, "tagged offset and length of tagged segments", "the offset does not wrap within the segment", H, "RFC 5041 7.1", kS | kR, {}, {}},
    {"DDP-10", kPlacement, P, "what DDP carries for RDMAP in all segments of an untagged message", "the same", M, "RFC 5041 4.3", kS | kR, {}, {}},
    {"DDP-11", kPlacement, A, "a segment of another DDP version", "not taken: the connection ends", M, "RFC 5041 7.2", kS | kR, {}, {}},
    {"DDP-12", kPlacement, A, "an untagged segment to a queue that does not exist", "not taken: the connection ends", H, "RFC 5041 7.1", kS | kR, {}, {}},
    {"DDP-13", kPlacement, A, "an untagged message whose MSN skips one", "not taken: the connection ends", H, "RFC 5041 7.1", kS | kR, {}, {}},
    {"DDP-14", kPlacement, A, "a message whose first segment is not at offset 0", "not taken: the connection ends", H, "RFC 5041 7.1", kS | kR, {}, {}},
    {"DDP-15", kPlacement, A, "a WRITE to an STag that does not exist", "nothing is written: the connection ends", H, "RFC 5041 7.1, 8.2", kS | kR, {}, {}},

    {"RDM-01", kDirect, P, "the RDMAP version of every segment", "1", M, "RFC 5040 4.1", kS | kR, {}, {}},
    {"RDM-02", kDirect, P, "the reserved bits of RDMAP", "0", L, "RFC 5040 4.1", kR, {}, {}},
    {"RDM-03", kDirect, P, "the RDMAP opcode of every segment", "one of RFC 5040 or RFC 7306", H, "RFC 5040 4.1, RFC 7306 4", kS | kR, {}, {}},
    {"RDM-04", kDirect, P, "the flag T of every segment", "1 for WRITEs and READ responses alone", H, "RFC 5040 4.1", kS | kR, {}, {}},
    {"RDM-05", kDirect, P, "the word behind the RDMAP control of messages that invalidate nothing", "0", L, "RFC 5040 4.1", kR, {}, {}},
    {"RDM-06", kDirect, P, "READ requests", "one segment with 28 bytes", H, "RFC 5040 4.4", kS | kR, {}, {}},
    {"RDM-07", kDirect, P, "the STag of READ responses", "the sink of an open READ", H, "RFC 5040 4.5", kS | kR, {}, {}},
    {"RDM-08", kDirect, P, "the tagged offset of READ responses", "the sink offset of the READ, and what follows from it", H, "RFC 5040 4.5", kS | kR, {}, {}},
    {"RDM-09", kDirect, P, "the length of READ responses", "that of the READ", H, "RFC 5040 4.5", kS | kR, {}, {}},
    {"RDM-10", kDirect, P, "the order of READ responses", "that of the READs", H, "RFC 5040 5.5", kS | kR, {}, {}},
    {"RDM-11", kDirect, P, "the byte order of READ requests, as their responses show it", "most significant byte first", H, "RFC 5040 4.4", kV, {}, {}},
    {"RDM-12", kDirect, P, "READs and ATOMICs that are outstanding on enhanced connections", "no more than the IRD that the peer announced", H, "RFC 6581 9.1", kS | kR, {}, {}},
    {"RDM-13", kDirect, P, "Terminates as DDP messages", "one segment with MSN 1 and offset 0", M, "RFC 5040 4.8", kS | kR, {}, {}},
    {"RDM-14", kDirect, P, "layer, type and code of Terminates", "one that RFC 5040, 5041, 5044 or 6581 defines", L, "RFC 5040 4.8, RFC 5041 8.2, RFC 5044 8, RFC 6581 9.2", kS | kR, {}, {}},
    {"RDM-15", kDirect, P, "the reserved bits of Terminates", "0", L, "RFC 5040 4.8", kR, {}, {}},
    {"RDM-16", kDirect, P, "the length of Terminates", "what HdrCt announces: length, DDP header, RDMAP header of the segment", M, "RFC 5040 4.8", kS | kR, {}, {}},
    {"RDM-17", kDirect, P, "the DDP header that a Terminate quotes", "that of a segment its sender had from the peer", M, "RFC 5040 4.8", kS | kR, {}, {}},
    {"RDM-18", kDirect, P, "what follows a Terminate from the same end", "nothing", M, "RFC 5040 7.1", kR, {}, {}},
    {"RDM-19", kDirect, P, "ATOMIC requests", "one segment with 52 bytes; FETCH_ADD, SWAP or CMP_SWAP", M, "RFC 7306 5", kR, {}, {}},
    {"RDM-20", kDirect, P, "the request identifier of ATOMIC responses", "that of an open request", H, "RFC 7306 5", kR, {}, {}},
    {"RDM-21", kDirect, P, "ATOMIC responses", "one segment with 12 bytes", M, "RFC 7306 5", kR, {}, {}},
    {"RDM-22", kDirect, P, "immediate data messages", "one segment with 8 bytes", M, "RFC 7306 6", kR, {}, {}},
    {"RDM-23", kDirect, A, "a segment of another RDMAP version", "not taken: the connection ends", M, "RFC 5040 7.2", kS | kR, {}, {}},
    {"RDM-24", kDirect, A, "a segment with a reserved opcode", "not taken: the connection ends", H, "RFC 5040 7.2", kS | kR, {}, {}},
    {"RDM-25", kDirect, A, "a READ of an STag that does not exist", "a Terminate: remote protection error of RDMAP", M, "RFC 5040 4.8, 7.1", kS | kR, {}, {}},
    {"RDM-26", kDirect, A, "a READ response that answers no READ", "nothing is written: the connection ends", H, "RFC 5040 5.2, 7.2", kS | kR, {}, {}},
    {"RDM-27", kDirect, A, "a Terminate", "the connection ends", M, "RFC 5040 7.1", kS | kR, {}, {}},
}};
// clang-format on

constexpr char upper_case(char letter) { return letter >= 'a' && letter <= 'z' ? static_cast<char>(letter - 'a' + 'A') : letter; }

}  // namespace

std::span<const CheckRow> checks() { return kChecks; }

const CheckRow* find_check(std::string_view id) {
    const auto* found = std::ranges::find_if(kChecks, [&](const CheckRow& row) { return std::ranges::equal(row.id, id, {}, {}, upper_case); });
    return found == kChecks.end() ? nullptr : found;
}

std::size_t place(const CheckRow& check) { return static_cast<std::size_t>(&check - kChecks.data()); }

std::string words(BasisMarks marks) {
    constexpr std::array<std::pair<BasisMark, std::string_view>, 7> kWords{{{BasisMark::source, "source"},
                                                                            {BasisMark::quoted, "quoted"},
                                                                            {BasisMark::discussed, "discussed"},
                                                                            {BasisMark::book, "book"},
                                                                            {BasisMark::verified, "verified"},
                                                                            {BasisMark::published, "published"},
                                                                            {BasisMark::memory, "memory"}}};
    std::string text;
    for (const auto& [mark, word] : kWords) {
        if (!marks.has(mark)) continue;
        if (!text.empty()) text += ", ";
        text += word;
    }
    return text;
}

}  // namespace qps::transport::conformance
