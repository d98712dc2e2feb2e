# What the program refuses before it touches an interface, in one sentence and with exit code 2; needs no rights.
refused() {  # WORD ARGUMENT...: standard error says WORD
    local word=$1 code=0
    shift
    "$RECORDER" "$@" >out.txt 2>err.txt || code=$?
    [[ $code == 2 && ! -s out.txt && $(wc -l <err.txt) == 1 ]] || { echo "code $code for: $*"; cat out.txt err.txt; exit 1; }
    grep -qe "$word" err.txt || { echo "not said: $word"; cat err.txt; exit 1; }
}
refused 'no interface'
refused 'no interface' -f 'udp'
refused 'invalid interface name' -i ''
refused 'invalid interface name' -i ../../etc/passwd
refused 'invalid interface name' -i $'a\nb'
refused 'invalid interface name' -i "$(printf 'x%.0s' {1..256})"
refused 'expected 1 to 65535' -i lo -s 0
refused 'expected 1 to 65535' -i lo -s 65536
refused 'expected 1 to' -i lo -c -1
refused 'expected 1 to' -i lo -c 1x
refused 'expected 1 to' -i lo -c 99999999999999999999999
refused 'expected 1 to' -i lo -a ''
refused 'at most 65536 bytes' -i lo -f "$(printf 'x%.0s' {1..65537})"
refused 'requires a value' -i
refused 'requires a value' -i lo -w
refused 'invalid file name' -i lo -w ''
refused 'invalid file name' -i lo -w folder/
refused 'invalid file name' -i lo -w "$(printf 'x%.0s' {1..4001})"
refused 'go with -w' -i lo -C 1
refused 'go with -w' -i lo -G 1
refused 'go with -w' -i lo -W 1
refused 'goes with -C or -G' -i lo -w file -W 2
refused 'expected 1 to 1000000' -i lo -w file -C 0
refused 'expected 1 to 100000' -i lo -w file -C 1 -W 100001
refused 'expected 1 to' -i lo -w file -G x
refused 'unknown option' --write=file
refused 'options only' -i lo udp

"$RECORDER" --help | grep -q 'setcap cap_net_raw+ep'
"$RECORDER" --version | grep -q '^qpscope-capture [0-9]'

# A list is JSON, a line an object; the loopback is on every machine. (A full disk is told.)
"$RECORDER" --list >list.ndjson
head -n 1 list.ndjson | grep -q '^{"type":"rights","may_capture":\(true\|false,"remedy":"sudo setcap cap_net_raw+ep .*qpscope-capture.*"\)}$'
grep -q '^{"type":"interface","name":"lo",.*"loopback":true,.*"link":1}$' list.ndjson
code=0; "$RECORDER" --list >/dev/full 2>err.txt || code=$?
[[ $code == 5 ]]
grep -q 'cannot write' err.txt
