#!/usr/bin/env python3
"""fleet.py - a fleet in a LAN of namespaces, whose hosts are taken away while players play.

A Redis server, hosts and players run in hosts of their own of a LAN (see lan.sh; needs root and
redis-server). While all matches are played, one host is drained, one is killed, one is cut off and
comes back, and the server is started again and has forgotten everything. Then this must hold:

- every match goes on until it is over, and every player is told that it is;
- every player gets every goal once, in order, and the score never falls;
- every shot of a player counts once;
- no result is recorded twice;
- with --pause, no player of the drained host hears nothing for more milliseconds than that; with
  --gap, nobody does at any time.

A line for each; the exit status is 1 where one does not hold. PEER and CAROM name the programs."""
import argparse, collections, json, os, signal, subprocess, sys, tempfile, threading, time

HERE = os.path.dirname(os.path.abspath(__file__))
LAN = os.path.join(HERE, "lan.sh")
BUILD = os.path.join(os.path.dirname(os.path.dirname(HERE)), ".build/release")
PEER = os.path.abspath(os.environ.get("PEER", os.path.join(BUILD, "fleet-peer")))
CAROM = os.path.abspath(os.environ.get("CAROM", os.path.join(BUILD, "carom")))
PORT = 6379
PLAYER_PROCESSES = 4


class Peer:
    """A process in the LAN, and the events that it has told."""

    def __init__(self, fleet, host, *arguments):
        self.events = []
        self.told = threading.Condition()
        self.process = fleet.start(host, PEER, *arguments)
        self.has_ended = False
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        for line in self.process.stdout:
            event = json.loads(line)
            with self.told:
                self.events.append(event)
                self.told.notify_all()
        with self.told:
            self.has_ended = True
            self.told.notify_all()

    def named(self, name):
        with self.told:
            return [event for event in self.events if event["event"] == name]

    def wait(self, name, count=1, limit=30):
        """Waits until the process has told so many events with a name, and returns the last."""
        end = time.monotonic() + limit
        with self.told:
            while True:
                found = [event for event in self.events if event["event"] == name]
                if len(found) >= count:
                    return found[count - 1]
                left = end - time.monotonic()
                if left <= 0 or self.has_ended:
                    raise AssertionError(
                        f"'{name}' was told {len(found)} of {count} times: {self.events[-3:]}")
                self.told.wait(left)

    @property
    def inner(self):
        """The id of the process itself, below those of the script that has started it."""
        pid = self.process.pid
        while True:
            with open(f"/proc/{pid}/task/{pid}/children") as file:
                children = file.read().split()
            if not children:
                return pid
            pid = int(children[0])


class Fleet:
    """Redis on h1, hosts from h2 on, and after them the players."""

    def __init__(self, options):
        self.options = options
        self.environment = dict(os.environ, LAN=f"fleet{os.getpid()}")
        self.folder = tempfile.TemporaryDirectory()
        self.key = os.path.join(self.folder.name, "key")
        self.address = f"redis://10.77.0.1:{PORT}/lab"
        self.processes = []
        self.failures = 0
        self.gone = {}

    def __enter__(self):
        subprocess.run([CAROM, "token", "key", self.key], check=True, stdout=subprocess.DEVNULL)
        self.lan("up", str(1 + self.options.hosts + PLAYER_PROCESSES))
        return self

    def __exit__(self, *_):
        self.lan("down")
        for process in self.processes:
            process.wait()
        self.folder.cleanup()

    def lan(self, *arguments):
        subprocess.run([LAN, *arguments], env=self.environment, check=True)

    def start(self, host, *command):
        process = subprocess.Popen(
            [LAN, "exec", host, *command], env=self.environment, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, text=True)
        self.processes.append(process)
        return process

    def watch(self):
        """Notes when the directory tells that a host is gone."""
        watch = self.start("h1", CAROM, "fleet", "watch", "--fleet", self.address, "--json",
                           "--every", "0.1")

        def read():
            for line in watch.stdout:
                row = json.loads(line)
                if row["event"] == "removed":
                    self.gone[row["id"]] = time.time() * 1000

        threading.Thread(target=read, daemon=True).start()

    def start_redis(self):
        self.redis = self.start(
            "h1", "redis-server", "--port", str(PORT), "--bind", "0.0.0.0", "--protected-mode",
            "no", "--save", "", "--appendonly", "no", "--dir", self.folder.name)
        for line in self.redis.stdout:
            if "Ready to accept connections" in line:
                break
        else:
            raise AssertionError("redis-server did not start")
        threading.Thread(target=self.redis.stdout.read, daemon=True).start()

    def restart_redis(self):
        self.redis.send_signal(signal.SIGTERM)
        self.redis.wait()
        time.sleep(1)  # the directory is away for so long
        self.start_redis()

    def check(self, ok, line):
        print(("ok      " if ok else "FAILED  ") + line, flush=True)
        self.failures += not ok

    def run(self):
        options = self.options
        self.start_redis()
        hosts = [
            Peer(self, f"h{2 + number}", "host", self.address, self.key, f"10.77.0.{2 + number}",
                 str(options.seats))
            for number in range(options.hosts)]
        for host in hosts:
            host.wait("registered")
        first, share = 0, -(-options.matches // PLAYER_PROCESSES)
        players = []
        while first < options.matches:
            count = min(share, options.matches - first)
            players.append(Peer(
                self, f"h{2 + options.hosts + len(players)}", "play", self.address, self.key,
                str(first), str(count), str(options.shots), str(options.interval)))
            players[-1].share = count
            first += count
        for process in players:
            process.wait("joined", 2 * process.share)
        self.watch()
        faults = self.disturb(hosts)
        for process in players:
            process.wait("played", 2 * process.share, limit=options.limit)
        for host in hosts[2:]:
            host.process.send_signal(signal.SIGTERM)
        for host in hosts[2:]:
            host.wait("ended")
        self.judge(hosts, players, faults)

    def disturb(self, hosts):
        """Takes hosts away, and the directory. Returns when each fault began, in milliseconds."""
        times = {}

        def begin(fault):
            time.sleep(self.options.pace)
            times[fault] = time.time() * 1000

        begin("drain")
        drained = hosts[0].named("host")[0]["id"]
        tool = self.start("h1", CAROM, "fleet", "drain", drained, "--fleet", self.address)
        tool.communicate()
        hosts[0].wait("ended")
        begin("kill")
        os.kill(hosts[1].inner, signal.SIGKILL)
        begin("cut")
        self.lan("cut", "h4", "silent")
        # Longer than a lease, so that others go on with the matches.
        time.sleep(6)
        times["heal"] = time.time() * 1000
        self.lan("heal", "h4")
        hosts[2].wait("back")
        begin("restart")
        self.restart_redis()
        for host in hosts[3:]:
            host.wait("back")
        return times

    def judge(self, hosts, players, times):
        options = self.options
        played = [event for process in players for event in process.named("played")]
        errors = [event for process in hosts + players for event in process.named("error")]
        goals = 2 * options.shots
        ended = sum(each["reason"] == "over" for each in played)
        self.check(
            ended == 2 * options.matches and not errors,
            f"{ended} of {2 * options.matches} players were told that their match is over "
            f"{[each for each in played if each['reason'] != 'over'][:2] + errors[:2] or ''}")
        whole = sum(each["goals"] == goals for each in played)
        odd = {
            name: sum(each[name] for each in played) for name in ["repeated", "missing", "falls"]}
        self.check(
            whole == len(played) and not any(odd.values()),
            f"{whole} of {len(played)} have all {goals} goals; "
            + ", ".join(f"{count} {name}" for name, count in odd.items()))
        fair = sum(each["scorers"] == [options.shots, options.shots] for each in played)
        self.check(fair == len(played), f"{fair} of {len(played)} saw each shot count once")
        results = collections.Counter(
            event["match"] for host in hosts for event in host.named("finished"))
        twice = [match for match, count in results.items() if count > 1]
        self.check(
            len(results) == options.matches and not twice,
            f"{len(results)} of {options.matches} results, {len(twice)} of them twice")
        moved = len(hosts[0].named("moved"))
        took = hosts[0].named("ended")[0]["at"] - times["drain"]
        noticed = self.gone[hosts[1].named("host")[0]["id"]] - times["kill"]
        print(f"{moved} matches of the drained host moved in {took:.0f} ms; the killed host was "
              f"noticed after {noticed:.0f} ms")
        gaps = collections.defaultdict(list)
        for process in players:
            for event in process.named("gap"):
                begun = event["at"] - event["gap"]
                # The player may have heard of the host just before the fault.
                fault = [name for name, at in times.items() if at - 250 <= begun] or ["before"]
                gaps[fault[-1]].append(event["gap"])
        for fault in ["before", *times]:
            found = gaps[fault]
            line = f"{len(found)} of {len(played)} pauses over 250 ms"
            if found:
                line += f", the longest {max(found)} ms"
            limit = options.pause if fault == "drain" else options.gap
            self.check(not limit or max(found, default=0) <= limit, f"{fault}: {line}")
        hops = collections.Counter(len(each["hosts"]) for each in played)
        print("hosts of a player: " + ", ".join(
            f"{count} had {number}" for number, count in sorted(hops.items())))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--hosts", type=int, default=8)
    parser.add_argument("--matches", type=int, default=100)
    parser.add_argument("--seats", type=int, default=64, help="of each host")
    parser.add_argument("--shots", type=int, default=250, help="of each player")
    parser.add_argument("--interval", type=int, default=200, help="milliseconds between shots")
    parser.add_argument("--pace", type=float, default=6, help="seconds before each fault")
    parser.add_argument("--pause", type=int, default=0, help="milliseconds; 0: any")
    parser.add_argument("--gap", type=int, default=0, help="milliseconds; 0: any")
    parser.add_argument("--limit", type=float, default=120, help="seconds for the end of all")
    options = parser.parse_args()
    # Whoever starts this script may have blocked signals, and its processes would inherit that.
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    with Fleet(options) as fleet:
        fleet.run()
    sys.exit(1 if fleet.failures else 0)


if __name__ == "__main__":
    main()
