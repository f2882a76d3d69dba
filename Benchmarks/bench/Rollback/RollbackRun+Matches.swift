import AirHockey
import BenchProbe
import CaromCore
import CaromSimulation
import CaromTesting

extension RollbackRun {
  // MARK: Between peers

  mutating func measureMatch() {
    progress("\(minutes) minutes at 25 % loss, 200 ± 30 ms one way")
    let line = LinkConditions(
      oneWay: .milliseconds(200), jitter: .uniform(.milliseconds(30)), loss: 0.25)
    var pair = RollbackPair(line, seed: 1)
    var computers = [
      ComputerPlayer(.home, strength: .hard, seed: 1), ComputerPlayer(.away, seed: 2),
    ]
    pair.play(until: .zero + .seconds(60 * minutes)) { player, rink in
      var request: RinkInput.Request?
      if case .matchEnd = rink.state.phase { request = .startMatch }
      return RinkInput(computers[player].input(for: rink.state), request: request)
    }
    let statistics = pair.sessions.map(\.rollback.statistics)
    let stalls = statistics.reduce(0) { $0 + $1.stalls }
    let rollbacks = statistics.map(\.rollbacks).min() ?? 0
    let common = pair.hashes.map(\.count).min() ?? 0
    let differing = (0..<common).count { pair.hashes[0][$0] != pair.hashes[1][$0] }
    goal(26, "stalls in \(minutes) min at 25 % loss, 200 ± 30 ms", Double(stalls), "", 0)
    goal(26, "desyncs in that match", Double(pair.desyncs.count + differing), "", 0)
    goal(
      26, "ticks that both ends confirmed", Double(common), "", .atLeast,
      Double(60 * (60 * minutes - 2)))
    goal(26, "rollbacks in that match", Double(rollbacks), "", .atLeast, Double(60 * minutes))
    let goals = pair.events.count { if case .goal = $0 { true } else { false } }
    goal(26, "goals in that match", Double(goals), "", .atLeast, 1)
    add("stalls", Double(stalls))
    add("desyncs", Double(pair.desyncs.count + differing))
    add("peerPacketBytes", Double(pair.packetBytes) / Double(pair.packets))
    compare(&pair)
  }

  /// Plays the replay of the match and compares the state of every tick.
  private mutating func compare(_ pair: inout RollbackPair) {
    let (file, ticks, _) = pair.finishReplay()
    var equal = 0
    if var reader = try? ReplayReader<RollbackFaultyRink>(file) {
      repeat {
        let tick = Int(reader.tick.rawValue)
        if pair.hashes.allSatisfy({ tick >= $0.count || $0[tick] == reader.game.hash }) {
          equal += 1
        }
      } while (try? reader.step()) == true
    }
    goal(26, "ticks at which the replay differs", Double(ticks + 1 - equal), "", 0)
  }

  mutating func measureDesync() {
    progress("false alarms and a diverging state")
    let line = LinkConditions(
      oneWay: .milliseconds(150), jitter: .uniform(.milliseconds(20)), loss: 0.2)
    var pair = RollbackPair(line, seed: 3)
    let inputs = RollbackRecording(ticks: 3_600, people: true).inputs
    let hand = { (player: Int, rink: Rink) in
      inputs[Int(rink.state.tick.rawValue) % inputs.count][player]
    }
    pair.play(until: .zero + .seconds(60 * minutes), hand)
    goal(
      13, "false alarms in \(minutes) min at 300 ms and 20 % loss", Double(pair.desyncs.count), "",
      0)
    let found = Self.findDesync(hand)
    goal(
      13, "time from confirmation to the report of a desync", found.milliseconds, "ms", found.limit)
    goal(13, "error of the reported tick", found.ticksOff, "", 0)
    goal(13, "the differing field is reported first", found.isNamed ? 1 : 0, "", .atLeast, 1)
  }

  /// Plays two peers, one of which simulates one tick wrongly, and measures how the desync is
  /// reported.
  private static func findDesync(
    _ hand: (Int, Rink) -> RinkInput
  ) -> (milliseconds: Double, limit: Double, ticksOff: Double, isNamed: Bool) {
    let oneWay = Duration.milliseconds(50)
    let fault = Tick(150)
    var pair = RollbackPair(LinkConditions(oneWay: oneWay), seed: 4, fault: fault)
    var confirmedAt: Instant?
    while pair.desyncs.count < 2, pair.network.now < .zero + .seconds(6) {
      let end = pair.network.now + .milliseconds(1)
      pair.play(until: end, hand)
      pair.network.advance(to: end)
      if confirmedAt == nil, pair.hashes.allSatisfy({ $0.count > Int(fault.rawValue) + 1 }) {
        confirmedAt = pair.network.now
      }
    }
    let limit = (oneWay * 2 + .nanoseconds(16_666_667)).inMilliseconds
    guard let confirmedAt, let named = pair.desyncTimes.max(), pair.desyncs.count == 2 else {
      return (.nan, limit, .nan, false)
    }
    let off = pair.desyncs.map { abs($0.tick.distance(to: fault.next)) }.max() ?? 0
    let isNamed = pair.desyncs.allSatisfy {
      $0.differences.first?.entity == "puck" && $0.differences.first?.field == "y"
    }
    return ((named - confirmedAt).inMilliseconds, limit, Double(off), isNamed)
  }

  // MARK: With a server

  mutating func measureServed() {
    progress("a server with a hundred clients")
    let recording = RollbackRecording(ticks: 6_000, people: true)
    // The link has a round trip of 50 ms: one and a half ticks in each direction.
    var served = RollbackServed(matches: 50, quarters: 6, recording: recording)
    served.run(ticks: 240)
    served.resetCounts()
    let ticks = 240
    served.run(ticks: ticks)
    let up = Double(served.upBytes) / Double(served.upPackets)
    goal(16, "input packet to the server, round trip 50 ms", up, "bytes", 10)
    let down = Double(served.downBytes) / Double(served.downPackets)
    addRemark("a packet to a client, with inputs and a hash, has \(Report.text(down)) bytes")
    let allocations = Double(served.allocations) / Double(ticks)
    goal(30, "heap allocations of a tick, 100 clients", allocations, "", 0)
    var heap = RollbackHeap(recording)
    let peers = heap.measure(ticks: 2_000)
    goal(30, "heap allocations of a tick, two peers", peers, "", 0)
    add("peerAllocations", peers)
    goal(25, "local inputs overridden by the server, no loss", Double(served.overruled), "", 0)
    goal(25, "lead of a client over the server", served.lead, "ticks", 4)
    add("inputPacketBytes", up)
    add("serverAllocations", allocations)
  }

  // MARK: Drawing

  mutating func measureInterpolation() {
    progress("interpolation delays")
    for (rate, jitter, limit) in [
      (60, 2.0, .nan), (60, 1.0, .nan), (60, 0.25, 50.0), (120, 2.0, .nan), (120, 1.0, .nan),
      (120, 0.25, 28.0),
    ] {
      let line = RollbackInterpolation(
        rate: rate, jitterFrames: jitter, loss: 0.05, seconds: 1_200, seed: 7)
      let adaptive = line.adaptive(underruns: 0.001)
      let oracle = line.oracle(underruns: adaptive.underruns)
      let name = "\(rate) Hz, jitter ± \(jitter) frames"
      goal(
        24, "\(name): delay by the best fixed one, \(Report.text(oracle * 1_000)) ms",
        adaptive.delay / oracle, "", 1.1)
      goal(24, "\(name): starved frames", adaptive.underruns * 100, "%", 0.15)
      if !limit.isNaN { goal(24, "\(name): delay", adaptive.delay * 1_000, "ms", limit) }
    }
  }

  mutating func measureReconciliation() {
    progress("reconciliation")
    let play = RollbackReconciliation(ticks: 36_000, delay: 3)
    goal(25, "largest correction of the local mallet, no loss", play.localMallet, "mm", 0)
    goal(25, "visible time of a correction", play.longestBlend, "ms", 100)
    goal(25, "drawn frames with the puck inside a rail", Double(play.insideRail), "", 0)
    addRemark(
      "puck corrected \(play.corrections) times, by \(Report.text(play.puckMean)) mm on average")
  }

  // MARK: Replay

  mutating func measureReplay() {
    progress("replays")
    for (name, people) in [("computers", false), ("people", true)] {
      let recording = RollbackRecording(ticks: 36_000, people: people).inputs
      var rink = Rink()
      var writer = ReplayWriter(rink, players: 2, title: "air hockey")
      var events: [RinkEvent] = []
      for inputs in recording {
        rink.step(inputs.span, events: &events)
        events.removeAll(keepingCapacity: true)
        writer.append({ inputs[$0] }, leadingTo: rink)
      }
      writer.finish(rink)
      let file = writer.takeBytes()
      let rate = Double(8 * (file.count - writer.keyframeBytes)) / 600
      goal(28, "replay of ten minutes without keyframes, \(name)", rate / 1_000, "kbit/s", 1.5)
      addRemark("\(name): the file has \(file.count) bytes, \(writer.keyframeBytes) of keyframes")
      if people { add("replayBitsPerSecond", rate) }
      seek(file, people ? nil : rink.hash)
    }
  }

  private mutating func seek(_ file: [UInt8], _ last: UInt64?) {
    guard let last, var reader = try? ReplayReader<Rink>(file) else { return }
    var generator = SeededGenerator(seed: 3)
    var worst = 0.0
    for _ in 0..<100 {
      let tick = Tick(UInt64.random(in: 0...36_000, using: &generator))
      let start = bench_thread_cpu_nanoseconds()
      try? reader.seek(to: tick)
      worst = max(worst, Double(bench_thread_cpu_nanoseconds() - start) / 1e6)
    }
    goal(28, "longest of 100 seeks in that replay", worst, "ms", 50)
    try? reader.seek(to: reader.end)
    goal(28, "final states of that replay that differ", reader.game.hash == last ? 0 : 1, "", 0)
  }

  mutating func measureLoop() async {
    progress("the fixed step against the clock, \(loopSeconds) s")
    goal(29, "drift over 24 h of ticks", Double(abs(RollbackLoop.drift())), "ticks", 0)
    goal(29, "time made up for after a stall", RollbackLoop.clamp(), "ms", 250)
    let lateness = await RollbackLateness.measure(seconds: loopSeconds)
    goal(29, "lateness of ticks at 60 Hz, p99", lateness, "ms", 1)
  }
}
