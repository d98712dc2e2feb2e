// THE tables of NFS: operations of a COMPOUND with how far they can be walked, procedures of version 3, status codes.
// What the letters of a pattern mean is said in xdr.hpp.
#pragma once

#include <dissect/base/field.hpp>

namespace qps::dissect::nfs {

// What to know of an operation of a COMPOUND. A pattern "!" cannot be walked.
struct Operation {
    std::uint32_t number = 0;
    std::string_view name;
    std::uint8_t weight = 0;           // the heaviest of a COMPOUND says what it is for
    std::string_view arguments;        // behind the number
    std::string_view results;          // behind the status, where it is 0
    std::string_view failure = "";     // behind another status
    std::uint32_t failure_status = 0;  // which: 0 is any
};

struct Procedure {
    std::uint32_t number = 0;
    std::string_view name;
    std::string_view arguments;  // as far as they say what it is about
};

struct Status {
    std::uint32_t number = 0;
    std::string_view name;
    std::string_view words;
};

// How much an operation says of what its COMPOUND is for: the rest is on its way there.
inline constexpr std::uint8_t kFrame = 0;    // current file handle, session
inline constexpr std::uint8_t kAlong = 1;    // asked along with nearly anything
inline constexpr std::uint8_t kCheck = 2;    // asked along with much
inline constexpr std::uint8_t kPurpose = 3;  // what somebody wanted

inline constexpr std::array kOperations{
    Operation{3, "ACCESS", kCheck, "i", "ii"},
    Operation{4, "CLOSE", kPurpose, "QS", "S"},
    Operation{5, "COMMIT", kPurpose, "OC", "v"},
    Operation{6, "CREATE", kPurpose, "{5:o|3:ii|4:ii|*:}Na", "cb"},
    Operation{7, "DELEGPURGE", kPurpose, "l", ""},
    Operation{8, "DELEGRETURN", kPurpose, "S", ""},
    Operation{9, "GETATTR", kAlong, "b", "a"},
    Operation{10, "GETFH", kFrame, "", "F"},
    Operation{11, "LINK", kPurpose, "N", "c"},
    Operation{12, "LOCK", kPurpose, "iiOl{1:iSilo|0:Si}", "S", "llilo", 10010},
    Operation{13, "LOCKT", kPurpose, "iOllo", "", "llilo", 10010},
    Operation{14, "LOCKU", kPurpose, "iQSOl", "S"},
    Operation{15, "LOOKUP", kPurpose, "N", ""},
    Operation{16, "LOOKUPP", kPurpose, "", ""},
    Operation{17, "NVERIFY", kCheck, "a", ""},
    Operation{18, "OPEN", kPurpose, "Qiilo{0:|1:{0:a|1:a|2:v|3:va}}{0:N|1:i|2:SN|3:N|4:|5:S|6:}",
              "Scib{0:|1:siiiio|2:si{1:l|2:ii}iiio|3:{1:i|2:i|*:}|4:siiiio|5:si{1:l|2:ii}iiio}"},
    Operation{19, "OPENATTR", kPurpose, "i", ""},
    Operation{20, "OPEN_CONFIRM", kPurpose, "SQ", "S"},
    Operation{21, "OPEN_DOWNGRADE", kPurpose, "SQii", "S"},
    Operation{22, "PUTFH", kFrame, "F", ""},
    Operation{23, "PUTPUBFH", kFrame, "", ""},
    Operation{24, "PUTROOTFH", kFrame, "", ""},
    Operation{25, "READ", kPurpose, "SOC", "id"},
    Operation{26, "READDIR", kPurpose, "lviib", "v(loa)i"},
    Operation{27, "READLINK", kPurpose, "", "d"},
    Operation{28, "REMOVE", kPurpose, "N", "c"},
    Operation{29, "RENAME", kPurpose, "No", "cc"},
    Operation{30, "RENEW", kPurpose, "l", ""},
    Operation{31, "RESTOREFH", kFrame, "", ""},
    Operation{32, "SAVEFH", kFrame, "", ""},
    Operation{33, "SECINFO", kPurpose, "N", "[{6:oii|*:}]"},
    Operation{34, "SETATTR", kPurpose, "Sa", "b", "b"},
    Operation{35, "SETCLIENTID", kPurpose, "voiooi", "lv", "oo", 10017},
    Operation{36, "SETCLIENTID_CONFIRM", kPurpose, "lv", ""},
    Operation{37, "VERIFY", kCheck, "a", ""},
    Operation{38, "WRITE", kPurpose, "SOid", "Civ"},
    Operation{39, "RELEASE_LOCKOWNER", kPurpose, "lo", ""},
    Operation{40, "BACKCHANNEL_CTL", kPurpose, "i[{0:|1:ioii[i]|6:ioo}]", ""},
    Operation{41, "BIND_CONN_TO_SESSION", kPurpose, "Xii", "Xii"},
    Operation{42, "EXCHANGE_ID", kPurpose, "voi{0:|1:bb|2:bb[o][o]ii}[ooli]", "lQi{0:|1:bb|2:bbiiii[o]}loo[ooli]"},
    Operation{43, "CREATE_SESSION", kPurpose, "lQiiiiiii[i]iiiiii[i]i[{0:|1:ioii[i]|6:ioo}]", "XQiiiiiii[i]iiiiii[i]"},
    Operation{44, "DESTROY_SESSION", kPurpose, "X", ""},
    Operation{45, "FREE_STATEID", kPurpose, "S", ""},
    Operation{46, "GET_DIR_DELEGATION", kPurpose, "iblilibb", "{0:vSbbb|1:i}"},
    Operation{47, "GETDEVICEINFO", kPurpose, "xiCb", "iob", "i", 10005},
    Operation{48, "GETDEVICELIST", kPurpose, "iClv", "lv[x]i"},
    Operation{49, "LAYOUTCOMMIT", kPurpose, "OliS{0:|1:l}{0:|1:li}io", "{0:|1:l}"},
    Operation{50, "LAYOUTGET", kPurpose, "iiiOllSC", "iS[lliio]", "i", 10058},
    Operation{51, "LAYOUTRETURN", kCheck, "iii{1:OlSo|*:}", "{0:|1:S}"},
    Operation{52, "SECINFO_NO_NAME", kPurpose, "i", "[{6:oii|*:}]"},
    Operation{53, "SEQUENCE", kFrame, "XQTii", "XQTiii"},
    Operation{54, "SET_SSV", kPurpose, "oo", "o"},
    Operation{55, "TEST_STATEID", kPurpose, "[s]", "[i]"},
    Operation{56, "WANT_DELEGATION", kPurpose, "!", "!"},
    Operation{57, "DESTROY_CLIENTID", kPurpose, "l", ""},
    Operation{58, "RECLAIM_COMPLETE", kPurpose, "i", ""},
    Operation{59, "ALLOCATE", kPurpose, "SOl", ""},
    Operation{60, "COPY", kPurpose, "SsOllii[{1:o|2:o|3:oo}]", "[s]livii", "ii", 10094},
    Operation{61, "COPY_NOTIFY", kPurpose, "S{1:o|2:o|3:oo}", "lis[{1:o|2:o|3:oo}]"},
    Operation{62, "DEALLOCATE", kPurpose, "SOl", ""},
    Operation{63, "IO_ADVISE", kPurpose, "SOlb", "b"},
    Operation{64, "LAYOUTERROR", kPurpose, "OlS[xii]", ""},
    Operation{65, "LAYOUTSTATS", kPurpose, "OlSllllxio", ""},
    Operation{66, "OFFLOAD_CANCEL", kPurpose, "S", ""},
    Operation{67, "OFFLOAD_STATUS", kPurpose, "S", "l[i]"},
    Operation{68, "READ_PLUS", kPurpose, "SOC", "i[{0:ld|1:ll}]"},
    Operation{69, "SEEK", kPurpose, "SOi", "il"},
    Operation{70, "WRITE_SAME", kPurpose, "!", "!"},
    Operation{71, "CLONE", kPurpose, "SsOll", ""},
    Operation{72, "GETXATTR", kPurpose, "N", "o"},
    Operation{73, "SETXATTR", kPurpose, "iNo", "c"},
    Operation{74, "LISTXATTRS", kPurpose, "lC", "l[o]i"},
    Operation{75, "REMOVEXATTR", kPurpose, "N", "c"},
    Operation{10044, "ILLEGAL", kPurpose, "", ""},
};

inline constexpr std::array kCallbackOperations{
    Operation{3, "CB_GETATTR", kPurpose, "Fb", "a"},
    Operation{4, "CB_RECALL", kPurpose, "SiF", ""},
    Operation{5, "CB_LAYOUTRECALL", kPurpose, "iii{1:FOlS|2:ll|3:}", ""},
    Operation{6, "CB_NOTIFY", kPurpose, "!", ""},
    Operation{7, "CB_PUSH_DELEG", kPurpose, "!", ""},
    Operation{8, "CB_RECALL_ANY", kPurpose, "ib", ""},
    Operation{9, "CB_RECALLABLE_OBJ_AVAIL", kPurpose, "ib", ""},
    Operation{10, "CB_RECALL_SLOT", kPurpose, "i", ""},
    Operation{11, "CB_SEQUENCE", kFrame, "XQTii[x[ii]]", "XQTii"},
    Operation{12, "CB_WANTS_CANCELLED", kPurpose, "ii", ""},
    Operation{13, "CB_NOTIFY_LOCK", kPurpose, "Flo", ""},
    Operation{14, "CB_NOTIFY_DEVICEID", kPurpose, "!", ""},
    Operation{15, "CB_OFFLOAD", kPurpose, "FS{0:[s]liv|*:l}", ""},
    Operation{10044, "CB_ILLEGAL", kPurpose, "", ""},
};

inline constexpr std::array kProcedures3{
    Procedure{0, "NULL", ""},       Procedure{1, "GETATTR", "F"},   Procedure{2, "SETATTR", "F"},
    Procedure{3, "LOOKUP", "FN"},   Procedure{4, "ACCESS", "F"},    Procedure{5, "READLINK", "F"},
    Procedure{6, "READ", "FOC"},    Procedure{7, "WRITE", "FOC"},   Procedure{8, "CREATE", "FN"},
    Procedure{9, "MKDIR", "FN"},    Procedure{10, "SYMLINK", "FN"}, Procedure{11, "MKNOD", "FN"},
    Procedure{12, "REMOVE", "FN"},  Procedure{13, "RMDIR", "FN"},   Procedure{14, "RENAME", "FN"},
    Procedure{15, "LINK", "FoN"},   Procedure{16, "READDIR", "F"},  Procedure{17, "READDIRPLUS", "F"},
    Procedure{18, "FSSTAT", "F"},   Procedure{19, "FSINFO", "F"},   Procedure{20, "PATHCONF", "F"},
    Procedure{21, "COMMIT", "FOC"},
};

inline constexpr std::array kStatus{
    Status{0, "OK", "success"},
    Status{1, "PERM", "not the owner"},
    Status{2, "NOENT", "no such file or directory"},
    Status{5, "IO", "I/O error"},
    Status{6, "NXIO", "no such device or address"},
    Status{13, "ACCESS", "permission denied"},
    Status{17, "EXIST", "the file exists"},
    Status{18, "XDEV", "link across file systems"},
    Status{19, "NODEV", "no such device"},
    Status{20, "NOTDIR", "not a directory"},
    Status{21, "ISDIR", "a directory"},
    Status{22, "INVAL", "invalid argument"},
    Status{27, "FBIG", "the file would be too large"},
    Status{28, "NOSPC", "no space left"},
    Status{30, "ROFS", "read-only file system"},
    Status{31, "MLINK", "too many links"},
    Status{63, "NAMETOOLONG", "the name is too long"},
    Status{66, "NOTEMPTY", "the directory is not empty"},
    Status{69, "DQUOT", "quota exceeded"},
    Status{70, "STALE", "stale file handle"},
    Status{71, "REMOTE", "too many levels of remote in path"},
    Status{10001, "BADHANDLE", "illegal file handle"},
    Status{10002, "NOT_SYNC", "update synchronization mismatch"},
    Status{10003, "BAD_COOKIE", "stale cookie of a directory"},
    Status{10004, "NOTSUPP", "not supported"},
    Status{10005, "TOOSMALL", "buffer or request too small"},
    Status{10006, "SERVERFAULT", "the server failed"},
    Status{10007, "BADTYPE", "type of object not supported"},
    Status{10008, "DELAY", "try again later"},
    Status{10009, "SAME", "attributes are the same"},
    Status{10010, "DENIED", "lock denied"},
    Status{10011, "EXPIRED", "the lease expired"},
    Status{10012, "LOCKED", "locked by another owner"},
    Status{10013, "GRACE", "the server is in its grace period"},
    Status{10014, "FHEXPIRED", "the file handle expired"},
    Status{10015, "SHARE_DENIED", "share reservation denied"},
    Status{10016, "WRONGSEC", "wrong security flavor"},
    Status{10017, "CLID_INUSE", "client id in use"},
    Status{10018, "RESOURCE", "the server lacks resources"},
    Status{10019, "MOVED", "the file system was moved"},
    Status{10020, "NOFILEHANDLE", "no current file handle"},
    Status{10021, "MINOR_VERS_MISMATCH", "minor version not supported"},
    Status{10022, "STALE_CLIENTID", "the server does not know the client"},
    Status{10023, "STALE_STATEID", "state of before the server restarted"},
    Status{10024, "OLD_STATEID", "state that was replaced"},
    Status{10025, "BAD_STATEID", "state that the server does not know"},
    Status{10026, "BAD_SEQID", "sequence number out of order"},
    Status{10027, "NOT_SAME", "attributes differ"},
    Status{10028, "LOCK_RANGE", "lock range not supported"},
    Status{10029, "SYMLINK", "a symbolic link"},
    Status{10030, "RESTOREFH", "no saved file handle"},
    Status{10031, "LEASE_MOVED", "the lease was moved"},
    Status{10032, "ATTRNOTSUPP", "attribute not supported"},
    Status{10033, "NO_GRACE", "reclaim outside of the grace period"},
    Status{10034, "RECLAIM_BAD", "reclaim refused"},
    Status{10035, "RECLAIM_CONFLICT", "reclaim conflicts with others"},
    Status{10036, "BADXDR", "the server cannot decode the request"},
    Status{10037, "LOCKS_HELD", "locks are held"},
    Status{10038, "OPENMODE", "the file was not opened for that"},
    Status{10039, "BADOWNER", "no such owner"},
    Status{10040, "BADCHAR", "a character that names cannot have"},
    Status{10041, "BADNAME", "invalid name"},
    Status{10042, "BAD_RANGE", "invalid range"},
    Status{10043, "LOCK_NOTSUPP", "lock not supported"},
    Status{10044, "OP_ILLEGAL", "no such operation"},
    Status{10045, "DEADLOCK", "lock would deadlock"},
    Status{10046, "FILE_OPEN", "the file is open"},
    Status{10047, "ADMIN_REVOKED", "state revoked by the administrator"},
    Status{10048, "CB_PATH_DOWN", "the callback path is down"},
    Status{10049, "BADIOMODE", "invalid mode of a layout"},
    Status{10050, "BADLAYOUT", "invalid layout"},
    Status{10051, "BAD_SESSION_DIGEST", "invalid digest of the session"},
    Status{10052, "BADSESSION", "the server does not know the session"},
    Status{10053, "BADSLOT", "invalid slot"},
    Status{10054, "COMPLETE_ALREADY", "reclaim was completed before"},
    Status{10055, "CONN_NOT_BOUND_TO_SESSION", "the connection is not bound to the session"},
    Status{10056, "DELEG_ALREADY_WANTED", "delegation already requested"},
    Status{10057, "BACK_CHAN_BUSY", "the back channel is busy"},
    Status{10058, "LAYOUTTRYLATER", "try to get the layout later"},
    Status{10059, "LAYOUTUNAVAILABLE", "no layout for this file"},
    Status{10060, "NOMATCHING_LAYOUT", "the client has no such layout"},
    Status{10061, "RECALLCONFLICT", "conflicts with a recall"},
    Status{10062, "UNKNOWN_LAYOUTTYPE", "unknown type of layout"},
    Status{10063, "SEQ_MISORDERED", "sequence number of the slot out of order"},
    Status{10064, "SEQUENCE_POS", "SEQUENCE is not the first operation"},
    Status{10065, "REQ_TOO_BIG", "the request is larger than the session allows"},
    Status{10066, "REP_TOO_BIG", "the answer would be larger than the session allows"},
    Status{10067, "REP_TOO_BIG_TO_CACHE", "the answer would be too large to be cached"},
    Status{10068, "RETRY_UNCACHED_REP", "repeated, but the answer was not cached"},
    Status{10069, "UNSAFE_COMPOUND", "unsafe compound"},
    Status{10070, "TOO_MANY_OPS", "more operations than the session allows"},
    Status{10071, "OP_NOT_IN_SESSION", "needs a session"},
    Status{10072, "HASH_ALG_UNSUPP", "hash not supported"},
    Status{10074, "CLIENTID_BUSY", "the client id is in use"},
    Status{10075, "PNFS_IO_HOLE", "I/O to a hole of a layout"},
    Status{10076, "SEQ_FALSE_RETRY", "another request under the number of an old one"},
    Status{10077, "BAD_HIGH_SLOT", "invalid highest slot"},
    Status{10078, "DEADSESSION", "the session ends"},
    Status{10079, "ENCR_ALG_UNSUPP", "encryption not supported"},
    Status{10080, "PNFS_NO_LAYOUT", "no layout for this I/O"},
    Status{10081, "NOT_ONLY_OP", "must be the only operation"},
    Status{10082, "WRONG_CRED", "wrong credentials"},
    Status{10083, "WRONG_TYPE", "wrong type of object"},
    Status{10084, "DIRDELEG_UNAVAIL", "no delegation of directories"},
    Status{10085, "REJECT_DELEG", "delegation rejected"},
    Status{10086, "RETURNCONFLICT", "conflicts with a return of a layout"},
    Status{10087, "DELEG_REVOKED", "the delegation was revoked"},
    Status{10088, "PARTNER_NOTSUPP", "the other server does not support it"},
    Status{10089, "PARTNER_NO_AUTH", "the other server refuses"},
    Status{10090, "UNION_NOTSUPP", "arm of a union not supported"},
    Status{10091, "OFFLOAD_DENIED", "copy offload denied"},
    Status{10092, "WRONG_LFS", "wrong security label"},
    Status{10093, "BADLABEL", "invalid security label"},
    Status{10094, "OFFLOAD_NO_REQS", "copy offload requirements not met"},
    Status{10095, "NOXATTR", "no such extended attribute"},
    Status{10096, "XATTR2BIG", "the extended attribute is too large"},
};

// The names of a table, as fields want them.
template <class Row, std::size_t N>
[[nodiscard]] consteval std::array<ValueName, N> names_of(const std::array<Row, N>& rows) {
    std::array<ValueName, N> names{};
    for (std::size_t i = 0; i < N; ++i) names[i] = {rows[i].number, rows[i].name};
    return names;
}
inline constexpr auto kOperationNames = names_of(kOperations);
inline constexpr auto kCallbackOperationNames = names_of(kCallbackOperations);
inline constexpr auto kProcedure3Names = names_of(kProcedures3);
inline constexpr auto kStatusNames = names_of(kStatus);

}  // namespace qps::dissect::nfs
