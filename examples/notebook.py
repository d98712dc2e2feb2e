# %% [markdown]
# Loss over time for each pair of hosts, from a database that `qpscope export --sqlite out.db` wrote.
#
#     python3 notebook.py out.db [loss.png]
#
# A file with cells (`# %%`) that Jupyter, VS Code and Spyder open as a notebook, and that runs by itself too. It needs what Python
# ships; with pandas and matplotlib it draws a picture as well.

# %%
import sqlite3
import sys

DATABASE = sys.argv[1] if len(sys.argv) > 1 else "out.db"
PICTURE = sys.argv[2] if len(sys.argv) > 2 else "loss.png"

LOSS = """
SELECT c.a_address || ' - ' || c.b_address AS hosts,
       m.first_ns / 10000000 * 10000000 AS start_ns,
       sum(m.retransmissions) AS retransmitted,
       sum(m.packets) AS packets
FROM messages m JOIN connections c ON c.uid = m.connection
GROUP BY hosts, start_ns
ORDER BY hosts, start_ns
"""


def read(path):
    """Rows of (hosts, start_ns, retransmitted, packets), in intervals of 10 ms."""
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as database:
        return database.execute(LOSS).fetchall()


rows = read(DATABASE)

# %%
for hosts in sorted({row[0] for row in rows}):
    retransmitted = sum(row[2] for row in rows if row[0] == hosts)
    packets = sum(row[3] for row in rows if row[0] == hosts)
    share = 100 * retransmitted / packets if packets else 0
    print(f"{hosts}: {retransmitted} of {packets} packets retransmitted ({share:.2f} %)")

# %%
try:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    import pandas as pd
except ImportError:
    print("no picture: pandas and matplotlib are not installed")
else:
    table = pd.DataFrame(rows, columns=["hosts", "start_ns", "retransmitted", "packets"])
    table["time"] = pd.to_datetime(table["start_ns"])
    wide = table.pivot_table(index="time", columns="hosts", values="retransmitted", aggfunc="sum").fillna(0)
    axes = wide.plot(drawstyle="steps-post", figsize=(10, 5))
    axes.set_ylabel("retransmitted packets in 10 ms")
    axes.set_xlabel("time")
    plt.tight_layout()
    plt.savefig(PICTURE)
    print(f"picture in {PICTURE}")
