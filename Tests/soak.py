#!/usr/bin/env python3
"""soak.py SECONDS [ROUNDS] - long runs of the game's executable, GAME or the release build.

Two computer players meet and play SECONDS on loopback and, as root, between two hosts that have
only link-local addresses; swarms of eight and three fill tables ROUNDS times; a player that was
stopped for a minute ends; a host that never answers is given up. Eight that look for peers are all
connected with each other within 3 s, ten times. As root, a fleet of eight hosts keeps its 100
matches while hosts are taken away, ten times, and discovery too: a host with two interfaces on one
network keeps its name for SECONDS, a host with twenty makes no storm, and 'bench discovery --full'
sees every event that it waits for: 250 hosts, 300 services of one, loss, conflicts, cables,
crashes, floods. A file of 1 GiB arrives whole though its transfer is
broken off ten times, twice by killing a process. One line for each; the exit status is 1 where
something is not as it has to be. BENCH and CAROM name other programs than the release build's."""
import filecmp, json, os, random, signal, socket, struct, subprocess, sys, tempfile, threading, time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
GAME = os.path.abspath(os.environ.get("GAME", os.path.join(ROOT, ".build/release/air-hockey")))
BENCH = os.path.abspath(os.environ.get("BENCH", os.path.join(ROOT, ".build/release/bench")))
CAROM = os.path.abspath(os.environ.get("CAROM", os.path.join(ROOT, ".build/release/carom")))
LAN = os.path.join(ROOT, "Tests/Lab/lan.sh")
PLAYER = [GAME, "auto", "--bot", "--headless", "--json"]
failures = []


def check(ok, line):
    print(("ok      " if ok else "FAILED  ") + line, flush=True)
    if not ok:
        failures.append(line)


class Lab:
    """Hosts in namespaces of their own, taken down at the end."""

    count = 0

    def __init__(self, hosts, link_local=False):
        Lab.count += 1
        self.environment = dict(os.environ, LAN=f"soak{os.getpid()}x{Lab.count}")
        if link_local:
            self.environment.update(LAN_NET4="169.254", LAN_NET6="none")
        self.hosts = hosts

    def __enter__(self):
        self.script("up", str(self.hosts))
        return self

    def __exit__(self, *_):
        self.script("down")

    def script(self, *arguments):
        subprocess.run([LAN, *arguments], env=self.environment, check=True)

    def start(self, host, command):
        return subprocess.Popen(
            [LAN, "exec", host, *command], env=self.environment, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def start(command):
    return subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True)


def report(player, limit):
    """A player's summary; None where it did not end in time or told none."""
    try:
        output, _ = player.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        player.kill()
        player.communicate()
        return None
    lines = output.strip().splitlines()
    return json.loads(lines[-1]) if lines else None


def meet(what, players, seconds):
    reports = [report(player, seconds + 30) for player in players]
    if None in reports:
        return check(False, f"{what}: a player told nothing")
    wanted = 60 * seconds
    ok = sorted(each["role"] for each in reports) == ["client", "host"]
    ok = ok and reports[0]["score"] == reports[1]["score"]
    # Whoever makes its last tick first ends both.
    ok = ok and max(each["ticks"] for each in reports) == wanted
    ok = ok and all(wanted - each["ticks"] <= 5 for each in reports)
    ok = ok and all(each["desyncs"] == 0 and each["stalls"] == 0 for each in reports)
    ok = ok and all(each["endReason"] == "finished" for each in reports)
    text = "; ".join(
        "{role} {ticks} ticks {score} jitter {tickJitterP50}/{tickJitterP99} ms "
        "age {stateAgeP50}/{stateAgeP99} ms, foretold {gapMean} ticks (most {gapMost}), "
        "{rollbacks} rollbacks, {games} games {endReason}".format(**each)
        for each in reports)
    check(ok, f"{what}: {text}")


def swarm(what, count, one_host, limit=30):
    """`count` players at once; each plays 3 s, and who is left over is ended afterwards."""
    with Lab(1 if one_host else count) as lab:
        begin = time.monotonic()
        players = {}
        for number in range(1, count + 1):
            host = "h1" if one_host else f"h{number}"
            more = ["--interface", "lo"] if one_host else []
            name = f"p{number}"
            players[name] = lab.start(
                host, ["timeout", "-s", "TERM", "12", *PLAYER, "--seconds", "3", "--name", name]
                + more)
        reports = {name: report(player, limit) for name, player in players.items()}
        took = time.monotonic() - begin
    told = {name: each for name, each in reports.items() if each}
    seated = [name for name, each in told.items() if each["peer"] in told
              and told[each["peer"]]["peer"] == name and each["endReason"] == "finished"]
    alone = [name for name, each in told.items() if each["peer"] is None]
    short = min((told[name]["ticks"] for name in seated), default=0)
    ok = len(seated) == count // 2 * 2 and len(alone) == count % 2
    odd = {name: each and (each["peer"], each["endReason"], each["ticks"])
           for name, each in reports.items() if name not in seated + alone}
    check(ok, f"{what}: {len(seated)} play, {len(alone)} alone, {took:.1f} s, "
              f"at least {short} of 180 ticks {odd or ''}")


def mesh(rounds):
    """Eight programs that start within a second are all connected with each other within 3 s."""
    times = []
    for _ in range(rounds):
        with Lab(8) as lab:
            done = {}

            def watch(name, process):
                names = set()
                for line in process.stdout:
                    told = json.loads(line)
                    if told["event"] == "added":
                        names.add(told["name"])
                    if told["event"] == "removed" or len(names) == 7:
                        break
                done[name] = time.monotonic() if len(names) == 7 else None

            begin = time.monotonic()
            processes, threads = [], []
            for number in range(1, 9):
                command = [CAROM, "peers", f"p{number}", "--json", "--for", "15"]
                processes.append(lab.start(f"h{number}", command))
                threads.append(threading.Thread(target=watch, args=(number, processes[-1])))
                threads[-1].start()
                time.sleep(max(0, begin + number * 0.1 - time.monotonic()))
            for thread in threads:
                thread.join()
            for process in processes:
                process.kill()
                process.wait()
            whole = None not in done.values()
            times.append(max(done.values()) - begin if whole else float("inf"))
    check(max(times) <= 3, f"eight programs on a network, {rounds} runs: all connected after "
          f"{min(times):.2f} to {max(times):.2f} s")


def fleet(rounds):
    """200 players in 100 matches of eight hosts, which are drained, killed and cut off."""
    for turn in range(1, rounds + 1):
        print(f"a fleet, round {turn}", flush=True)
        run = subprocess.run(
            [os.path.join(ROOT, "Tests/Lab/fleet.py"), "--pause", "1000", "--gap", "6000"])
        if run.returncode != 0:
            failures.append(f"fleet, round {turn}")


def stop_for(seconds):
    with Lab(2) as lab:
        host = lab.start("h1", [GAME, "host", "--bot", "--json", "--port", "7777"])
        told = iter(host.stderr.readline, "")
        next(line for line in told if "visible" in line)
        guest = lab.start(
            "h2", [GAME, "join", "10.77.0.1:7777", "--bot", "--headless", "--json"])
        next(line for line in told if "sits down" in line)
        inner = int(open(f"/proc/{guest.pid}/task/{guest.pid}/children").read().split()[0])
        os.kill(inner, signal.SIGSTOP)
        begin = time.monotonic()
        line = next(line for line in told if "match ended" in line).strip()
        check(line == "match ended: timedOut" and time.monotonic() - begin <= 5,
              f"stopped guest: host says '{line}' after {time.monotonic() - begin:.1f} s")
        time.sleep(max(0, begin + seconds - time.monotonic()))
        for process in (inner, guest.pid):
            os.kill(process, signal.SIGCONT)
        begin = time.monotonic()
        resumed = report(guest, 10)
        check(resumed is not None and resumed["ticks"] < 120,
              f"stopped for {seconds} s: ends {time.monotonic() - begin:.2f} s after it goes on, "
              f"{resumed and resumed['ticks']} ticks, {resumed and resumed['endReason']}")
        host.kill()
        host.communicate()


def never_answered():
    with socket.create_server(("127.0.0.1", 0)) as server:
        begin = time.monotonic()
        game = start([GAME, "join", f"127.0.0.1:{server.getsockname()[1]}", "--bot", "--headless"])
        _, errors = game.communicate(timeout=30)
        took = time.monotonic() - begin
        check(game.returncode == 75 and len(errors.splitlines()) == 1,
              f"never answered: status {game.returncode} after {took:.1f} s, {errors.strip()}")


class Side:
    """Our side of discovery in a host: told what to do by lines, tells what happens by lines."""

    def __init__(self, lab, host):
        self.process = subprocess.Popen(
            [LAN, "exec", host, BENCH, "discovery-peer"], env=lab.environment,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.wait("ready")

    def say(self, *words):
        self.process.stdin.write("\t".join(words) + "\n")
        self.process.stdin.flush()

    def wait(self, event):
        return next(line for line in self.process.stdout if event in line)

    def end(self):
        """Its remaining lines."""
        return self.process.communicate()[0].splitlines()


def capture(lab, seconds):
    """Frames that pass the first bridge within so many seconds."""
    told = subprocess.run(
        [LAN, "exec", "sw", "timeout", str(seconds), "tcpdump", "-n", "-i", "br0", "udp port 5353"],
        env=lab.environment, capture_output=True, text=True)
    return len(told.stdout.splitlines())


def many_interfaces(count, seconds):
    """A host with `count` interfaces on one network publishes and browses."""
    with Lab(2) as lab:
        for number in range(1, count):
            lab.script("attach", "h1", str(number))
            lab.script("join", "0", str(number))
        ours, other = Side(lab, "h1"), Side(lab, "h2")
        other.say("browse", "_game._udp")
        ours.say("publish", "Table", "_game._udp", "4242")
        ours.wait("established Table")
        ours.say("browse", "_game._udp")
        other.wait("resolved Table")
        time.sleep(5)
        frames = capture(lab, min(seconds, 60))
        time.sleep(max(0, seconds - min(seconds, 60)))
        lines = ours.end()
        told = [line for line in lines if "renamed" in line or "removed" in line]
        gone = [line for line in other.end() if "removed Table" in line]
        # Its queries at 7, 15, 31 and 63 s, one on each interface and over both families.
        limit = 2 * 2 * count * 4
        check(not told and len(gone) <= 1 and frames <= limit,
              f"{count} interfaces on one network, {seconds} s: {len(told)} renames, "
              f"{frames} frames in {min(seconds, 60)} s (at most {limit}) {told[:3]}")


def measured_discovery():
    """Every scenario of the benchmark: what it waits for happens; its times are reported."""
    begin = time.monotonic()
    bench = subprocess.run(
        [BENCH, "discovery", "--full", "--json"], stdout=subprocess.PIPE, text=True)
    told = json.loads(bench.stdout) if bench.returncode == 0 else {"goals": []}
    goals = told["goals"]
    check(bool(goals), f"bench discovery: {len(goals)} figures in {time.monotonic() - begin:.0f} s")
    for goal in goals:
        check(isinstance(goal["figure"], (int, float)),
              "{number} {what}: {figure} {unit}, goal {limit}: ".format(**goal)
              + ("met" if goal["isMet"] else "not met on this machine"))


class Relay:
    """Carries connections to a port; calls `broken` after every `limit` bytes, `times` times."""

    def __init__(self, port, limit, times, broken):
        self.port, self.limit, self.times, self.broken = port, limit, times, broken
        self.breaks = 0
        self.server = socket.create_server(("127.0.0.1", 0))
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            client = self.server.accept()[0]
            try:
                ends = (client, socket.create_connection(("127.0.0.1", self.port)))
            except OSError:
                client.close()
                continue
            for source, sink in (ends, ends[::-1]):
                threading.Thread(
                    target=self.carry, args=(source, sink, source is client), daemon=True).start()

    def carry(self, source, sink, is_counted):
        carried = 0
        try:
            while data := source.recv(1 << 16):
                carried += len(data)
                if is_counted and carried > self.limit and self.breaks < self.times:
                    self.breaks += 1
                    self.broken(self.breaks)
                    break
                sink.sendall(data)
        except OSError:
            pass
        for end in (source, sink):
            # The peer gets a reset, as from a connection that has broken.
            try:
                end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                end.shutdown(socket.SHUT_RD)
            except OSError:
                pass
            end.close()


def broken_transfer(mebibytes, times=10):
    """A file whose connection breaks; once the sender is killed, and once the receiver."""
    with tempfile.TemporaryDirectory() as folder:
        sent, into = os.path.join(folder, "sent"), os.path.join(folder, "into")
        os.mkdir(into)
        with open(sent, "wb") as file:
            block = random.randbytes(1 << 20)
            for number in range(mebibytes):
                file.write(number.to_bytes(4, "big") + block[4:])

        def receive(port):
            receiver = start([CAROM, "receive", "--yes", "--count", "1", "--into", into, "--json",
                              "--interface", "lo", "--port", str(port)])
            line = next(line for line in receiver.stdout if '"published"' in line)
            threading.Thread(target=receiver.stdout.read, daemon=True).start()
            return receiver, json.loads(line)["port"]

        def send():
            port = relay.server.getsockname()[1]
            return start([CAROM, "send", sent, "--to", f"127.0.0.1:{port}"])

        def broken(number):
            if number in (3, 6):
                (sender if number == 3 else receiver).kill()

        begin = time.monotonic()
        receiver, port = receive(0)
        relay = Relay(port, (mebibytes << 20) // (times + 1), times, broken)
        sender = send()
        while time.monotonic() - begin < 600:
            if receiver.poll() not in (None, 0):
                receiver, _ = receive(port)
            if sender.poll() == -signal.SIGKILL:
                sender = send()
            elif sender.poll() is not None:
                break
            time.sleep(0.02)
        for process in (sender, receiver):
            try:
                process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                process.kill()
        stored = os.path.join(into, "sent")
        is_equal = os.path.exists(stored) and filecmp.cmp(sent, stored, shallow=False)
        names = sorted(os.listdir(into))
        ok = is_equal and relay.breaks == times and names == ["sent"]
        check(ok and sender.returncode == receiver.returncode == 0,
              f"a file of {mebibytes} MiB, broken off {relay.breaks} times: "
              f"{'equal' if is_equal else 'missing or different'}, {' '.join(names)}, "
              f"{time.monotonic() - begin:.1f} s, statuses {sender.returncode} and "
              f"{receiver.returncode} {'' if sender.returncode == 0 else sender.stderr.read()}")


def main():
    seconds = int(sys.argv[1])
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    never_answered()
    broken_transfer(1024)
    on_loopback = [
        PLAYER + ["--seconds", str(seconds), "--interface", "lo", "--name", f"soak {each}"]
        for each in ("one", "two")]
    what = f"loopback, {seconds} s"
    if os.geteuid() != 0:
        # Whoever else plays on this machine may sit down here.
        meet(what, [start(player) for player in on_loopback], seconds)
        print("skipped the lab: it needs root")
    else:
        two = threading.Thread(target=many_interfaces, args=(2, seconds))
        two.start()
        with Lab(1) as lab:
            meet(what, [lab.start("h1", player) for player in on_loopback], seconds)
        two.join()
        many_interfaces(20, 30)
        measured_discovery()
        with Lab(2, link_local=True) as lab:
            players = [
                lab.start(host, PLAYER + ["--seconds", str(min(seconds, 60)), "--name", host])
                for host in ("h1", "h2")]
            meet("link-local", players, min(seconds, 60))
        stop_for(10)
        stop_for(60)
        mesh(10)
        fleet(10)
        for turn in range(1, rounds + 1):
            swarm(f"eight hosts, round {turn}", 8, one_host=False)
            swarm(f"eight on one host, round {turn}", 8, one_host=True)
        swarm("three hosts", 3, one_host=False)
        swarm("three on one host", 3, one_host=True)
    sys.exit(1 if failures else 0)


main()
