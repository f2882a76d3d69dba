#!/usr/bin/env bash
# avahi-wide.sh ADDR - inside a lab host: an avahi-daemon that asks the name server at ADDR about names
# outside the link. The host has a mount namespace of its own, so the machine's files stay as they are.
set -e
here=$(cd "$(dirname "$0")/.." && pwd)
echo "nameserver $1" >/run/resolv.conf
mount --bind /run/resolv.conf /etc/resolv.conf
sed 's/^enable-wide-area=no/enable-wide-area=yes/' "$here/avahi.conf" >/run/avahi-wide.conf
exec "$here/avahi-host.sh" /run/avahi-wide.conf
