# lxml's iterparse on the documents of the bench: rows are taken at their end tags and cleared.
# usage: lxml_iterparse.py T FILE | P LINEITEM | J LINEITEM ORDERS
import json
import sys
import time
from collections import defaultdict
from datetime import date

from lxml import etree

INTEGERS = ("L_ORDERKEY", "L_PARTKEY", "L_SUPPKEY", "L_LINENUMBER", "L_QUANTITY")
DECIMALS = ("L_EXTENDEDPRICE", "L_DISCOUNT", "L_TAX")
DATES = ("L_SHIPDATE", "L_COMMITDATE", "L_RECEIPTDATE")
WORDS = ("L_RETURNFLAG", "L_LINESTATUS", "L_SHIPINSTRUCT", "L_SHIPMODE", "L_COMMENT")
EPOCH = date(1970, 1, 1).toordinal()


def cents(text):
    return int(text.replace(".", ""))


def days(text):
    return date.fromisoformat(text).toordinal() - EPOCH


DECODE = {}
DECODE.update(dict.fromkeys(INTEGERS, int))
DECODE.update(dict.fromkeys(DECIMALS, cents))
DECODE.update(dict.fromkeys(DATES, days))
DECODE.update(dict.fromkeys(WORDS, lambda text: len(text.encode())))


def rows(path):
    """The rows of a document; each is cleared when the next is asked for."""
    for _, row in etree.iterparse(path, events=("end",), tag="T"):
        yield row
        row.clear()
        while row.getprevious() is not None:
            del row.getparent()[0]


def peak():
    with open("/proc/self/status") as f:
        return next(int(line.split()[1]) * 1024 for line in f if line.startswith("VmHWM"))


def size(path):
    with open(path, "rb") as f:
        return f.seek(0, 2)


class Join:
    def __init__(self):
        self.begun = time.monotonic()
        self.lines = defaultdict(list)
        self.orders = defaultdict(list)
        self.first = None
        self.pairs = 0
        self.sum = 0

    def pair(self, l, o):
        if self.first is None:
            self.first = time.monotonic() - self.begun
        self.pairs += 1
        self.sum += l[0] + 3 * l[1] + 5 * l[2] + 7 * l[3] + 11 * l[4] + 13 * len(l[5]) + 17 * o[1] + 19 * o[2] + 23 * o[3] + 29 * len(o[4])

    def line(self, row):
        t = {c.tag: c.text or "" for c in row}
        l = (int(t["L_ORDERKEY"]), int(t["L_LINENUMBER"]), int(t["L_QUANTITY"]), cents(t["L_EXTENDEDPRICE"]), days(t["L_SHIPDATE"]), t["L_SHIPMODE"])
        for o in self.orders.get(l[0], ()):
            self.pair(l, o)
        self.lines[l[0]].append(l)

    def order(self, row):
        t = {c.tag: c.text or "" for c in row}
        o = (int(t["O_ORDERKEY"]), int(t["O_CUSTKEY"]), cents(t["O_TOTALPRICE"]), days(t["O_ORDERDATE"]), t["O_ORDERPRIORITY"])
        for l in self.lines.get(o[0], ()):
            self.pair(l, o)
        self.orders[o[0]].append(o)


mode, files = (sys.argv[1], sys.argv[2:]) if len(sys.argv) > 2 else ("", [])
if len(files) != {"T": 1, "P": 1, "J": 2}.get(mode):
    sys.exit("usage: lxml_iterparse.py T FILE | P LINEITEM | J LINEITEM ORDERS")
begun = time.monotonic()
count, total, first = 0, "", None
if mode == "T":
    for _, element in etree.iterparse(files[0], events=("start", "end")):
        count += 1
        if element.tag == "T" and element.getprevious() is not None:
            del element.getparent()[0]
elif mode == "P":
    plain = 0
    for row in rows(files[0]):
        count += 1
        for column in row:
            plain += DECODE[column.tag](column.text or "")
    total = str(plain)
else:
    # Rows take turns by their share: an order has four lines.
    join = Join()
    turns = [(rows(files[0]), join.line, 120), (rows(files[1]), join.order, 180)]
    while turns:
        for turn in list(turns):
            document, take, share = turn
            for _ in range(share):
                row = next(document, None)
                if row is None:
                    turns.remove(turn)
                    break
                take(row)
    count, total, first = join.pairs, str(join.sum), join.first
seconds = time.monotonic() - begun
print(json.dumps({"mode": mode, "s": seconds, "bytes": sum(map(size, files)), "count": count, "sum": total, "first_s": first, "peak": peak()}))
