#!/usr/bin/env python3
"""A DNS server on loopback that bears a number of queries a second, and fails or drops the others.

    slow_resolver.py ADDRESS RATE [--log FILE]

Every name has the address 127.1.A.B that follows from its number (`h123.…`), `dead…` does not exist, `broken…` always gets
SERVFAIL, `silent…` gets no response, and there are no IPv6 addresses. `half123.…` is `h123.…`, without a response to queries for IPv6. Of the queries beyond the rate, every second one gets SERVFAIL, the others are dropped. When it ends, it
writes the numbers of its responses to the log.
"""
import re, signal, socket, struct, sys, time


def question_end(query):
    """Returns where the question ends, and its name."""
    place, labels = 12, []
    while query[place]:
        labels.append(query[place + 1 : place + 1 + query[place]])
        place += 1 + query[place]
    return place + 5, b".".join(labels).lower()


def response(query, overloaded):
    """Returns the response to a query; None for a name whose servers are silent."""
    end, name = question_end(query)
    kind = struct.unpack_from("!H", query, end - 4)[0]
    if name.startswith(b"silent") or name.startswith(b"half") and kind == 28:
        return None
    number = re.match(rb"h(?:alf)?(\d+)\.", name)
    code = 2 if overloaded or name.startswith(b"broken") else 0 if number else 3
    has_address = code == 0 and kind == 1
    head = query[:2] + struct.pack("!HHHHH", 0x8180 | code, 1, int(has_address), 0, 0)
    body = query[12:end]
    if has_address:
        index = int(number[1])
        address = bytes([127, 1, index // 250 % 250, index % 250 + 1])
        body += b"\xc0\x0c" + struct.pack("!HHIH", 1, 1, 60, 4) + address
    return head + body


def main():
    address, rate = sys.argv[1], float(sys.argv[2])
    log = sys.argv[sys.argv.index("--log") + 1] if "--log" in sys.argv else None
    server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    server.bind((address, 53))
    counts = {"resolved": 0, "failed": 0, "dropped": 0}

    def end(*_):
        if log:
            with open(log, "w") as file:
                file.write("".join(f"{name} {count}\n" for name, count in counts.items()))
        sys.exit(0)

    signal.signal(signal.SIGTERM, end)
    print("ready", flush=True)
    # A bucket of a tenth of a second.
    tokens, last, drops = rate / 10, time.monotonic(), False
    while True:
        query, client = server.recvfrom(4096)
        now = time.monotonic()
        tokens, last = min(rate / 10, tokens + (now - last) * rate), now
        overloaded = tokens < 1
        if overloaded:
            drops = not drops
        else:
            tokens -= 1
        counts["resolved" if not overloaded else "dropped" if drops else "failed"] += 1
        if not (overloaded and drops):
            try:
                reply = response(query, overloaded)
            except (IndexError, struct.error):
                continue
            if reply:
                server.sendto(reply, client)


main()
