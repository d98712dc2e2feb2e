-- qpscope annotations as fields of Wireshark: the names and values that `qpscope annotate` writes into the comments of packets
-- become rdma.*, for filters, columns and coloring rules. Needs Wireshark or tshark 4.0 or newer.
--
--   wireshark -X lua_script:qpscope.lua annotated.pcapng       or copy it into the folder of personal Lua plugins
--   tshark -X lua_script:qpscope.lua -r annotated.pcapng -Y 'rdma.retransmission && rdma.connection == 3'
--
-- A comment ends with a line {name=value name=value ...}. Everything else in it is for people. Comments come from a file that
-- anybody may have written: a name or a value that is not one of ours is passed over.

local rdma = Proto("rdma", "RDMA as qpscope saw it")

local severities = { "note", "warning", "error" }
local is_severity = {}
for _, word in ipairs(severities) do is_severity[word] = true end

-- The fields: how each reads its value, nil where it is none.
local function number(text) return tonumber(text:match("^%d+$")) end
local function real(text) return tonumber(text:match("^%d+%.?%d*$")) end
local function flag(text) if text == "1" then return true end end
local function word(text) return text:match("^[%w_%-]+$") end
local function severity(text) if is_severity[text] then return text end end

local rows = {
    { "connection", ProtoField.uint32, "Connection", number },
    { "from", ProtoField.string, "Sent by end", word },
    { "retransmission", ProtoField.bool, "Retransmission", flag },
    { "duplicated", ProtoField.bool, "Duplicated by the network", flag },
    { "mirror_copy", ProtoField.bool, "Copy of a mirror", flag },
    { "corrupt", ProtoField.bool, "Corrupt", flag },
    { "unmatched", ProtoField.bool, "Answer without a request", flag },
    { "psn_missing", ProtoField.uint32, "PSNs skipped before it", number },
    { "finding", ProtoField.string, "Finding", word },
    { "severity", ProtoField.string, "Severity", severity },
    { "episode", ProtoField.string, "Retransmission episode", word },
    { "episode.stall", ProtoField.double, "Time without progress (s)", real },
    { "nak", ProtoField.uint8, "Code of the fatal NAK", number },
    { "attempt", ProtoField.uint32, "Connection attempt", number },
    { "message.completed", ProtoField.uint32, "Messages ended", number },
    { "message.bytes", ProtoField.uint64, "Bytes of these messages", number },
    { "message.outcome", ProtoField.string, "Outcome of the last", word },
    { "message.latency", ProtoField.double, "Latency of the last (s)", real },
}

local by_name = {}
local fields = {}
for _, row in ipairs(rows) do
    local name = "rdma." .. row[1]
    local field = row[2](name, row[3])
    by_name[name] = { field = field, read = row[4], wide = row[2] == ProtoField.uint64 }
    fields[#fields + 1] = field
end
rdma.fields = fields

local comment = Field.new("frame.comment")

function rdma.dissector(buffer, pinfo, tree)
    local infos = { comment() }
    for _, info in ipairs(infos) do
        local list = tostring(info.value):match("{([^{}]*)}%s*$")
        if list then
            local subtree = tree:add(rdma, buffer(0, 0))
            for name, text in list:gmatch("([%w_%.]+)=(%S+)") do
                local row = by_name[name]
                local value = row and row.read(text)
                if value ~= nil then
                    if row.wide then value = UInt64.new(value % 4294967296, math.floor(value / 4294967296)) end
                    subtree:add(row.field, value):set_generated()
                end
            end
        end
    end
end

register_postdissector(rdma)
