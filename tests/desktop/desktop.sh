# The files that tell desktops of us: they are installed where desktops look, sound as far as a tool for that is here, agree
# with each other, and name every kind of file that we read.
name=org.qpscope.qpscope
rm -rf ./place
"$CMAKE" -DCMAKE_INSTALL_PREFIX="$PWD/place" -P "$RULES" >install.log
entry=place/share/applications/$name.desktop
kinds=place/share/mime/packages/$name.xml
component=place/share/metainfo/$name.metainfo.xml
icon=place/share/icons/hicolor/scalable/apps/$name.svg
fail() { echo "$*"; exit 1; }
for file in "$entry" "$kinds" "$component" "$icon"; do [[ -s $file ]] || fail "not installed: $file"; done

# Runs a tool that may be missing.
with() { if command -v "$1" >/dev/null; then "$@"; else echo "not checked, there is no $1"; fi; }
with desktop-file-validate "$entry"
with appstreamcli validate --no-net "$component"
with xmllint --noout "$kinds" "$component" "$icon" "$SOURCE/gui/icons.qrc"
with update-mime-database -V place/share/mime 2>mime.txt >&2
if grep -iE 'error|warning|fail' mime.txt; then fail "update-mime-database complains"; fi

value() { sed -n "s/^$1=//p" "$entry"; }
[[ $(value Icon) == "$name" ]]
[[ $(value Exec) == 'qpscope-gui %F' ]]
[[ $(value Categories) == 'Network;Monitor;Qt;' ]]
grep -q "<id>$name</id>" "$component"
grep -q ">$name.desktop</launchable>" "$component"

# The same kinds of files everywhere.
opened=$(value MimeType | tr ';' '\n' | sed '/^$/d' | sort)
[[ -n $opened ]]
[[ $opened == "$(sed -n 's|.*<mediatype>\(.*\)</mediatype>.*|\1|p' "$component" | sort)" ]] || fail "the component names other kinds"
[[ $opened == "$(sed -n 's|.*<mime-type type="\(.*\)">.*|\1|p' "$kinds" | sort)" ]] || fail "the MIME file names other kinds"

# Every magic number that the reader knows, either way round; and compressed files by name.
magics=$(sed -nE 's/^inline constexpr std::uint32_t k(Pcap[A-Za-z]*Magic|ByteOrderMagic|SectionHeaderBlock) = (0x[0-9a-f]+);.*/\2/p' \
             "$SOURCE"/dissect/capture/{pcap,pcapng}.hpp)
[[ $(wc -l <<<"$magics") == 5 ]] || fail "the reader has other magic numbers: $magics"
for magic in $magics; do
    grep -q "type=\"big32\".*value=\"$magic\"" "$kinds" || fail "not in $kinds: $magic"
    [[ $magic == 0x0a0d0d0a ]] && continue  # the same both ways
    grep -q "type=\"little32\".*value=\"$magic\"" "$kinds" || fail "not in $kinds, turned round: $magic"
done
for ending in pcap pcapng; do
    for packed in '' .gz .zst; do grep -qF "<glob pattern=\"*.$ending$packed\"/>" "$kinds" || fail "not in $kinds: .$ending$packed"; done
done
