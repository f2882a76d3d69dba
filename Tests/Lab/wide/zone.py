#!/usr/bin/env python3
"""zone.py ADDR PORT KEYFILE: transfers the zone play.example and prints its records except the SOA
record, one on a line: name, type, time to live and data. Names are relative to the zone."""
import re
import sys

import dns.query
import dns.rdatatype
import dns.tsigkeyring
import dns.zone

address, port, key = sys.argv[1], int(sys.argv[2]), open(sys.argv[3]).read()
secret = ("hmac-sha256", re.search(r'secret "([^"]+)"', key)[1])
keyring = dns.tsigkeyring.from_text({re.search(r'key "([^"]+)"', key)[1]: secret})
transfer = dns.query.xfr(address, "play.example.", port=port, keyring=keyring, lifetime=10)
for name, ttl, data in dns.zone.from_xfr(transfer).iterate_rdatas():
    if data.rdtype == dns.rdatatype.SOA:
        continue  # its serial number changes with each update
    print(name, dns.rdatatype.to_text(data.rdtype), ttl, data.to_text())
