# examples/notebook.py reads the database that `export` writes, with what Python ships.
command -v python3 >/dev/null || { echo "SKIPPED: no python3"; exit 77; }
rm -f out.db
"$QPSCOPE" export -q --sqlite out.db "$SOURCE/captures/loss_write/capture.pcap"
python3 "$SOURCE/examples/notebook.py" out.db loss.png >said
cat said
grep -qE '^10\.77\.0\.11 - 10\.77\.0\.12: [1-9][0-9]* of [0-9]+ packets retransmitted' said
grep -qE '^(no picture|picture in loss\.png)' said
