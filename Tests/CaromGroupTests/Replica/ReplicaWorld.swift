import CaromCore

@testable import CaromGroup

/// Several replicas on a simulated network, connected with each other. What one sends arrives at
/// the other after a random delay, in order on each channel. The seed determines the run.
final class ReplicaWorld {
  /// What the network does.
  struct Conditions {
    var delay: ClosedRange<Duration> = .milliseconds(1)...Duration.milliseconds(20)
    /// The probability that a message is lost and sent again after `resendDelay`.
    var loss = 0.0
    var resendDelay: ClosedRange<Duration> = .milliseconds(40)...Duration.milliseconds(120)
    /// The time after which both sides of a dead link notice it, and after which they give it up.
    var interruption = Duration.seconds(4)
    var giveUp = Duration.seconds(14)
  }

  /// One side: its replica, and the application on it.
  final class Side {
    var replica: Replica
    var checker: HistoryChecker
    var isAlive = true
    var leader: PeerID?
    var roster: Roster?
    var rosterTimes: [UInt64: Instant] = [:]
    var hasPeers: Set<Int> = []
    var early: [Int: [(channel: GroupChannel, bytes: [UInt8])]] = [:]
    var timer: Instant?
    /// The peers whose connection was closed because of what they sent.
    var violators: Set<Int> = []
    /// The number of snapshots that the replica has asked for.
    var snapshotCount = 0
    /// The leader that could not send its state.
    var withholder: PeerID?

    init(_ replica: Replica, _ record: HistoryRecord) {
      self.replica = replica
      checker = HistoryChecker(replica.local.id, record)
    }

    /// Begins again, with the same connections.
    func restart(_ replica: Replica, _ record: HistoryRecord) {
      self.replica = replica
      checker = HistoryChecker(replica.local.id, record)
      (leader, roster, rosterTimes, timer, isAlive) = (nil, nil, [:], nil, true)
    }
  }

  struct Link {
    var generation = 0
    var isOpen = false
    var cutSince: Instant?
    /// The time of the last message in each direction and channel, which later ones do not
    /// overtake.
    var last: [Int: Instant] = [:]
    /// What was sent while no message arrives, in order.
    var held: [(to: Int, channel: GroupChannel, bytes: [UInt8])] = []
  }

  struct Pair: Hashable {
    let low: Int
    let high: Int
    init(_ a: Int, _ b: Int) { (low, high) = (min(a, b), max(a, b)) }
    func other(_ side: Int) -> Int { side == low ? high : low }
  }

  enum Event {
    case message(Pair, generation: Int, to: Int, channel: GroupChannel, [UInt8])
    case joined(Pair, generation: Int, at: Int)
    case interrupted(Pair, generation: Int, since: Instant)
    case givenUp(Pair, generation: Int, since: Instant)
    case closed(Pair, generation: Int, at: Int)
    case snapshot(Int, number: UInt32, [UInt8])
    case timer(Int)
    case action((ReplicaWorld) -> Void)
  }

  private struct Scheduled: HeapElement {
    let at: Instant
    let number: Int
    let event: Event
    func precedes(_ other: Scheduled) -> Bool { (at, number) < (other.at, other.number) }
  }

  private(set) var now = Instant.zero
  /// The number of events so far.
  private(set) var step = 0
  private(set) var sides: [Side] = []
  private(set) var messageCount = 0
  /// The messages that violated the protocol.
  private(set) var violations: [String] = []
  let record = HistoryRecord()
  var conditions = Conditions()
  var options = Replica.Options()
  private var links: [Pair: Link] = [:]
  private var queue = Heap<Scheduled>()
  private var number = 0
  var indexes: [PeerID: Int] = [:]
  private var generator: SeededGenerator
  /// Whether a side keeps a message to itself that its replica wants to send.
  var isWithheld: (ReplicaMessage, _ sender: Int) -> Bool = { _, _ in false }
  /// Whether the states of all sides are too large for a snapshot.
  var isStateTooLarge = false
  /// What happens at a certain step.
  var interference: (step: Int, action: (ReplicaWorld) -> Void)?

  init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

  /// Adds a side without connections.
  @discardableResult func add(id: PeerID? = nil, group: String = "") -> Int {
    let id = id ?? PeerID.random(using: &generator)
    let replica = Replica(
      as: id, name: "side \(sides.count)", group: group, options, generator: generator.split(),
      at: now)
    sides.append(Side(replica, record))
    indexes[id] = sides.count - 1
    drain(sides.count - 1)
    return sides.count - 1
  }

  /// Connects a side with all others that are alive.
  func connect(_ side: Int, within spread: Duration = .milliseconds(50)) {
    for other in sides.indices where other != side && sides[other].isAlive {
      open(Pair(side, other), after: random(.zero...spread))
    }
  }

  func schedule(_ event: Event, after delay: Duration) { schedule(event, at: now + delay) }

  func schedule(_ event: Event, at time: Instant) {
    number += 1
    queue.insert(Scheduled(at: time, number: number, event: event))
  }

  func at(_ time: Duration, _ action: @escaping (ReplicaWorld) -> Void) {
    schedule(.action(action), at: .zero + time)
  }

  func random(_ range: ClosedRange<Duration>) -> Duration { generator.duration(in: range) }

  /// Runs until `end`, or until `isDone` returns true, which is called every 5 ms because it takes
  /// long in a large world. Returns whether it did.
  @discardableResult
  func run(until end: Instant, isDone: (ReplicaWorld) -> Bool = { _ in false }) -> Bool {
    var nextCheck = now
    while true {
      if now >= nextCheck {
        if isDone(self) { return true }
        nextCheck = now + .milliseconds(5)
      }
      if let interference, interference.step <= step {
        self.interference = nil
        interference.action(self)
      }
      guard let next = queue.first, next.at <= end else {
        now = max(now, end)
        return isDone(self)
      }
      queue.popFirst()
      now = max(now, next.at)
      step += 1
      handle(next.event)
    }
  }

  @discardableResult
  func run(for limit: Duration, isDone: (ReplicaWorld) -> Bool = { _ in false }) -> Bool {
    run(until: now + limit, isDone: isDone)
  }
}

// MARK: - Events
extension ReplicaWorld {
  private func handle(_ event: Event) {
    switch event {
    case .message(let pair, let generation, let side, let channel, let bytes):
      guard var link = links[pair], link.generation == generation, link.isOpen else { return }
      if link.cutSince != nil {
        link.held.append((side, channel, bytes))
        links[pair] = link
      } else {
        deliver(bytes, channel, from: pair.other(side), to: side)
      }
    case .joined(let pair, let generation, let side):
      guard links[pair]?.generation == generation else { return }
      joined(pair.other(side), at: side)
    case .interrupted(let pair, let generation, let since):
      guard links[pair]?.generation == generation, links[pair]?.cutSince == since else { return }
      for (side, other) in [(pair.low, pair.high), (pair.high, pair.low)] {
        act(side, about: other) { $0.handleInterrupted($1, at: $2) }
      }
    case .givenUp(let pair, let generation, let since):
      guard links[pair]?.generation == generation, links[pair]?.cutSince == since else { return }
      close(pair)
    case .closed(let pair, let generation, let side):
      guard links[pair]?.generation == generation else { return }
      left(pair.other(side), at: side)
    case .snapshot(let side, let number, let bytes):
      guard sides[side].isAlive else { return }
      if isStateTooLarge {
        sides[side].replica.refuseSnapshot(number, at: now)
      } else {
        sides[side].replica.provideSnapshot(number, bytes, at: now)
      }
      drain(side)
    case .timer(let side):
      guard sides[side].isAlive, sides[side].timer == now else { return }
      sides[side].timer = nil
      if let due = sides[side].replica.nextTimeout, due <= now {
        sides[side].replica.handleTimeout(at: now)
      }
      drain(side)
    case .action(let action): action(self)
    }
  }

  private func act(
    _ side: Int, about other: Int, _ body: (inout Replica, PeerID, Instant) -> Void
  ) {
    guard sides[side].isAlive, sides[side].hasPeers.contains(other) else { return }
    body(&sides[side].replica, sides[other].replica.local.id, now)
    drain(side)
  }

  private func joined(_ other: Int, at side: Int) {
    guard sides[side].isAlive, sides[side].hasPeers.insert(other).inserted else { return }
    let member = sides[other].replica.local
    sides[side].replica.handleJoined(member.id, name: member.name, at: now)
    drain(side)
    for (channel, bytes) in sides[side].early.removeValue(forKey: other) ?? [] {
      deliver(bytes, channel, from: other, to: side)
    }
  }

  private func left(_ other: Int, at side: Int) {
    sides[side].early[other] = nil
    guard sides[side].isAlive, sides[side].hasPeers.remove(other) != nil else { return }
    sides[side].replica.handleLeft(sides[other].replica.local.id, at: now)
    drain(side)
  }

  private func deliver(_ bytes: [UInt8], _ channel: GroupChannel, from sender: Int, to side: Int) {
    guard sides[side].isAlive, !sides[side].violators.contains(sender) else { return }
    guard sides[side].hasPeers.contains(sender) else {
      sides[side].early[sender, default: []].append((channel, bytes))
      return
    }
    messageCount += 1
    let id = sides[sender].replica.local.id
    let message = ReplicaMessage(decoding: bytes.span, on: channel)
    guard let message, sides[side].replica.receive(message, from: id, at: now) else {
      violations.append("\(side) does not expect from \(sender): \(message.map { "\($0)" } ?? "?")")
      sides[side].violators.insert(sender)
      return close(Pair(side, sender))
    }
    drain(side)
  }

  /// Carries out what a side's replica asks for.
  func drain(_ side: Int) {
    let state = sides[side]
    while let output = state.replica.pollOutput() {
      switch output {
      case .send(let message, let peer):
        if let other = indexes[peer] { send(message, from: side, to: other) }
      case .leader(let leader): state.leader = leader
      case .roster(let roster):
        state.roster = roster
        state.rosterTimes[roster.version] = now
      case .applied(let entry): state.checker.apply(entry, holders: state.replica.holders)
      case .restored(let snapshot, let index, _): state.checker.restore(snapshot, at: index)
      case .stateUnavailable(let leader): state.withholder = leader
      case .snapshotNeeded(let number):
        state.snapshotCount += 1
        schedule(
          .snapshot(side, number: number, state.checker.snapshot),
          after: random(.zero...Duration.milliseconds(30)))
      }
    }
    guard let due = state.replica.nextTimeout, state.timer.map({ due < $0 }) ?? true else { return }
    state.timer = max(due, now)
    schedule(.timer(side), at: max(due, now))
  }

  func send(_ message: ReplicaMessage, from side: Int, to other: Int) {
    let pair = Pair(side, other)
    guard var link = links[pair], link.isOpen, !isWithheld(message, side) else { return }
    let (channel, bytes) = (message.channel, message.encoded)
    if link.cutSince != nil {
      link.held.append((other, channel, bytes))
    } else {
      schedule(arrival(bytes, channel, on: &link, pair, to: other))
    }
    links[pair] = link
  }

  private func schedule(_ arrival: (at: Instant, event: Event)) {
    schedule(arrival.event, at: arrival.at)
  }

  private func arrival(
    _ bytes: [UInt8], _ channel: GroupChannel, on link: inout Link, _ pair: Pair, to side: Int
  ) -> (at: Instant, event: Event) {
    var time = now + random(conditions.delay)
    while generator.chance(conditions.loss) { time = time + random(conditions.resendDelay) }
    let key = (side == pair.low ? 0 : 64) + Int(channel.rawValue)
    time = max(time, link.last[key] ?? .zero)
    link.last[key] = time
    return (
      time, .message(pair, generation: link.generation, to: side, channel: channel, bytes)
    )
  }
}

// MARK: - The network
extension ReplicaWorld {
  /// Opens a connection, of which the two sides hear at different times.
  func open(_ pair: Pair, after delay: Duration = .zero) {
    var link = links[pair] ?? Link()
    guard !link.isOpen else { return }
    link = Link(generation: link.generation + 1, isOpen: true)
    links[pair] = link
    for side in [pair.low, pair.high] {
      let time = delay + random(conditions.delay)
      schedule(.joined(pair, generation: link.generation, at: side), after: time)
    }
  }

  /// Ends a connection, of which both sides hear soon.
  func close(_ pair: Pair) {
    guard links[pair]?.isOpen == true else { return }
    links[pair]?.isOpen = false
    links[pair]?.held = []
    let generation = links[pair]?.generation ?? 0
    for side in [pair.low, pair.high] {
      schedule(
        .closed(pair, generation: generation, at: side), after: random(conditions.delay))
    }
  }

  /// Lets nothing through between two sides until `heal`.
  func cut(_ pair: Pair) {
    guard var link = links[pair], link.isOpen, link.cutSince == nil else { return }
    link.cutSince = now
    links[pair] = link
    schedule(
      .interrupted(pair, generation: link.generation, since: now), after: conditions.interruption)
    schedule(.givenUp(pair, generation: link.generation, since: now), after: conditions.giveUp)
  }

  /// Cuts the network into the given sides and all others.
  func cut(_ group: Set<Int>) {
    for pair in links.keys.sorted(by: { ($0.low, $0.high) < ($1.low, $1.high) })
    where group.contains(pair.low) != group.contains(pair.high) { cut(pair) }
  }

  /// Ends all cuts: what was held arrives, and connections that were given up are opened again.
  func heal() {
    for pair in links.keys.sorted(by: { ($0.low, $0.high) < ($1.low, $1.high) }) {
      guard var link = links[pair], sides[pair.low].isAlive, sides[pair.high].isAlive else {
        continue
      }
      guard link.isOpen else {
        open(pair, after: random(.zero...Duration.milliseconds(500)))
        continue
      }
      guard link.cutSince != nil else { continue }
      link.cutSince = nil
      let held = link.held
      link.held = []
      for (side, channel, bytes) in held {
        schedule(arrival(bytes, channel, on: &link, pair, to: side))
      }
      links[pair] = link
      for (side, other) in [(pair.low, pair.high), (pair.high, pair.low)] {
        act(side, about: other) { $0.handleResumed($1, at: $2) }
      }
    }
  }

  /// Ends a side: with its machine, so that the others hear nothing, or with its process alone, so
  /// that they hear of it at once.
  func kill(_ side: Int, isSilent: Bool) {
    sides[side].isAlive = false
    for other in sides.indices where other != side {
      if isSilent { cut(Pair(side, other)) } else { close(Pair(side, other)) }
    }
  }
}
