import CaromCore
import CaromProtocol

@testable import CaromGroup

/// Several peer groups on a simulated network: what one of them sends arrives at the other after a
/// random delay, in order on each connection. The seed determines the run.
struct GroupWorld {
  /// What can go wrong on the network.
  struct Conditions {
    var delay: ClosedRange<Duration> = .milliseconds(1)...Duration.milliseconds(50)
    /// The probability that an attempt to connect fails, and that an open connection breaks within
    /// a second.
    var dialLoss = 0.0
    /// Why an attempt fails, and after how long.
    var dialFailure = (reason: DisconnectReason.handshakeTimeout, after: Duration.seconds(10))
    var breakage = 0.0
    /// The peers that cannot see a certain other peer.
    var blind: Set<Pair> = []
  }

  struct Pair: Hashable {
    let from: Int
    let to: Int
  }

  /// The two ends of a connection: the peer that opened it, and the other one.
  struct Link: Hashable {
    let dialer: Int
    let host: Int
    var isOpenAtHost = false
    var isOpenAtDialer = false
    var isBroken = false
    /// The time of the last message in each direction, which later ones do not overtake.
    var lastToHost = Instant.zero
    var lastToDialer = Instant.zero
  }

  enum Event: Hashable {
    case start(Int)
    case found(Int, by: Int)
    case request(ConnectionID)
    case accepted(ConnectionID)
    case dialFailed(Int, by: Int)
    case message([UInt8], ConnectionID, to: Int)
    case closed(ConnectionID, at: Int, DisconnectReason)
    case breaks(ConnectionID)
  }

  private(set) var now = Instant.zero
  private(set) var ids: [PeerID] = []
  var groups: [PeerGroup] = []
  private(set) var hasStarted: [Bool] = []
  /// The application's view: for each side, the connection of each peer that has joined.
  private(set) var joined: [[PeerID: ConnectionID]] = []
  private(set) var events: [[PeerGroup.Output]] = []
  private(set) var links: [ConnectionID: Link] = [:]
  var conditions = Conditions()
  /// How often a side has joined a peer, and how often one has begun to connect.
  var joinCount = 0
  private(set) var dialCount = 0

  private var queue: [(at: Instant, number: Int, event: Event)] = []
  private var number = 0
  private var lastConnection: UInt64 = 0
  /// The dials under way: the connection by dialer and target.
  private var dials: [Pair: ConnectionID] = [:]
  private var generator: SeededGenerator

  init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

  /// Adds a side that starts within `spread`.
  mutating func add(
    _ options: Mesh.Options = Mesh.Options(), startingWithin spread: Duration = .zero
  ) -> Int {
    let id = PeerID.random(using: &generator)
    ids.append(id)
    groups.append(PeerGroup(as: id, options, generator: generator.split()))
    hasStarted.append(false)
    joined.append([:])
    events.append([])
    let delay = spread == .zero ? .zero : generator.duration(in: .zero...spread)
    schedule(.start(ids.count - 1), after: delay)
    return ids.count - 1
  }

  private mutating func schedule(_ event: Event, after delay: Duration) {
    schedule(event, at: now + delay)
  }

  private mutating func schedule(_ event: Event, at time: Instant) {
    number += 1
    queue.append((time, number, event))
  }

  private mutating func makeDelay() -> Duration { generator.duration(in: conditions.delay) }

  /// Runs until `limit` or until `isDone` returns true. Returns whether it did.
  mutating func run(for limit: Duration, until isDone: (GroupWorld) -> Bool = { _ in false })
    -> Bool
  {
    let end = now + limit
    while !isDone(self) {
      let next = queue.min { ($0.at, $0.number) < ($1.at, $1.number) }
      let timeouts = groups.indices.compactMap { hasStarted[$0] ? groups[$0].nextTimeout : nil }
      let due = earliest(next?.at, timeouts.min())
      guard let due, due <= end else {
        now = end
        return false
      }
      now = max(now, due)
      if let next, next.at <= now {
        queue.removeAll { $0.number == next.number }
        handle(next.event)
      } else {
        for side in groups.indices where hasStarted[side] {
          groups[side].handleTimeout(at: now)
          drain(side)
        }
      }
    }
    return true
  }
}

// MARK: - Events
extension GroupWorld {
  private mutating func handle(_ event: Event) {
    switch event {
    case .start(let side): start(side)
    case .found(let peer, let side): act(side) { $0.handleFound($2[peer], at: $1) }
    case .request(let connection):
      guard let link = links[connection] else { return }
      act(link.host) { $0.handleRequest(connection, from: $2[link.dialer], at: $1) }
    case .accepted(let connection): accepted(connection)
    case .dialFailed(let peer, let side):
      guard dials.removeValue(forKey: Pair(from: side, to: peer)) != nil else { return }
      let reason = conditions.dialFailure.reason
      act(side) { $0.handleDialFailed($2[peer], reason, at: $1) }
    case .message(let bytes, let connection, let side):
      guard let link = links[connection], !link.isBroken,
        side == link.host ? link.isOpenAtHost : link.isOpenAtDialer
      else { return }
      act(side) { group, now, _ in group.receive(bytes.span, on: connection, at: now) }
    case .closed(let connection, let side, let reason): closed(connection, at: side, reason)
    case .breaks(let connection): breaks(connection)
    }
  }

  /// Calls a side's machine and carries out what it asks for.
  mutating func act(
    _ side: Int, _ body: (inout PeerGroup, Instant, [PeerID]) -> Void
  ) {
    body(&groups[side], now, ids)
    drain(side)
  }

  private mutating func start(_ side: Int) {
    hasStarted[side] = true
    for other in groups.indices where other != side && hasStarted[other] {
      find(other, by: side)
      find(side, by: other)
    }
  }

  private mutating func find(_ peer: Int, by side: Int) {
    guard !conditions.blind.contains(Pair(from: side, to: peer)) else { return }
    schedule(.found(peer, by: side), after: makeDelay())
  }

  private mutating func accepted(_ connection: ConnectionID) {
    guard var link = links[connection] else { return }
    let pair = Pair(from: link.dialer, to: link.host)
    guard dials[pair] == connection else { return }
    dials[pair] = nil
    link.isOpenAtDialer = true
    links[connection] = link
    // What the dialer does not hear any more, it notices after a while.
    if link.isBroken {
      schedule(.closed(connection, at: link.dialer, .timedOut), after: .seconds(14))
    }
    act(link.dialer) {
      $0.handleOpened(connection, $2[link.host], isIncoming: false, at: $1)
    }
  }

  private mutating func closed(
    _ connection: ConnectionID, at side: Int, _ reason: DisconnectReason
  ) {
    guard let link = links[connection] else { return }
    if side == link.dialer, !link.isOpenAtDialer {
      let pair = Pair(from: side, to: link.host)
      guard dials[pair] == connection else { return }
      dials[pair] = nil
      return act(side) { $0.handleDialFailed($2[link.host], reason, at: $1) }
    }
    guard side == link.host ? link.isOpenAtHost : link.isOpenAtDialer else { return }
    if side == link.host {
      links[connection]?.isOpenAtHost = false
    } else {
      links[connection]?.isOpenAtDialer = false
    }
    act(side) { group, now, _ in group.handleClosed(connection, reason, at: now) }
  }

  private mutating func breaks(_ connection: ConnectionID) {
    guard let link = links[connection] else { return }
    links[connection]?.isBroken = true
    for side in [link.host, link.dialer] {
      let notice = generator.duration(in: .milliseconds(100)...Duration.seconds(14))
      schedule(.closed(connection, at: side, .timedOut), after: notice)
    }
  }
}

// MARK: - Outputs
extension GroupWorld {
  private mutating func drain(_ side: Int) {
    while let output = groups[side].pollOutput() { carryOut(output, of: side) }
  }

  private mutating func carryOut(_ output: PeerGroup.Output, of side: Int) {
    switch output {
    case .dial(let peer): dial(peer, from: side)
    case .cancelDial(let peer):
      guard let target = ids.firstIndex(of: peer) else { return }
      let pair = Pair(from: side, to: target)
      guard let connection = dials.removeValue(forKey: pair) else { return }
      schedule(.closed(connection, at: target, .left), after: makeDelay())
    case .admit(let connection): admit(connection)
    case .close(let connection, let goodbye, _): close(connection, goodbye, by: side)
    case .send(let message, let connection): send(message, on: connection, from: side)
    case .joined(let peer, let connection):
      joined[side][peer] = connection
      joinCount += 1
      events[side].append(output)
    case .left(let peer, _):
      joined[side][peer] = nil
      events[side].append(output)
    case .invited, .withdrawn, .ended: events[side].append(output)
    }
  }

  private mutating func dial(_ peer: PeerID, from side: Int) {
    guard let target = ids.firstIndex(of: peer) else { return }
    lastConnection += 1
    let connection = ConnectionID(lastConnection)
    links[connection] = Link(dialer: side, host: target)
    dials[Pair(from: side, to: target)] = connection
    dialCount += 1
    if generator.chance(conditions.dialLoss) {
      return schedule(.dialFailed(target, by: side), after: conditions.dialFailure.after)
    }
    schedule(.request(connection), after: makeDelay())
  }

  private mutating func admit(_ connection: ConnectionID) {
    guard let link = links[connection] else { return }
    guard !link.isBroken else { return }
    links[connection]?.isOpenAtHost = true
    let answer = now + makeDelay()
    links[connection]?.lastToDialer = answer
    schedule(.accepted(connection), at: answer)
    if generator.chance(conditions.breakage) {
      schedule(.breaks(connection), after: generator.duration(in: .zero...Duration.seconds(1)))
    }
    act(link.host) { $0.handleOpened(connection, $2[link.dialer], isIncoming: true, at: $1) }
  }

  private mutating func close(_ connection: ConnectionID, _ goodbye: Goodbye, by side: Int) {
    guard let link = links[connection] else { return }
    let other = side == link.host ? link.dialer : link.host
    if side == link.host {
      links[connection]?.isOpenAtHost = false
    } else {
      links[connection]?.isOpenAtDialer = false
    }
    guard !link.isBroken else { return }
    schedule(.closed(connection, at: other, goodbye.reason), at: arrival(on: connection, to: other))
  }

  private mutating func send(
    _ message: MeshMessage, on connection: ConnectionID, from side: Int
  ) {
    guard let link = links[connection], !link.isBroken else { return }
    let other = side == link.host ? link.dialer : link.host
    schedule(
      .message(message.encoded, connection, to: other), at: arrival(on: connection, to: other))
  }

  /// When what is sent now on a connection arrives: not before what was sent earlier.
  private mutating func arrival(on connection: ConnectionID, to side: Int) -> Instant {
    guard let link = links[connection] else { return now }
    let last = side == link.host ? link.lastToHost : link.lastToDialer
    let time = max(now + makeDelay(), last)
    if side == link.host {
      links[connection]?.lastToHost = time
    } else {
      links[connection]?.lastToDialer = time
    }
    return time
  }
}

// MARK: - What the tests ask
extension GroupWorld {
  /// Whether all sides have joined all others, each pair on one and the same connection.
  var isMeshed: Bool {
    groups.indices.allSatisfy { side in
      groups.indices.allSatisfy { other in
        guard side != other else { return joined[side][ids[other]] == nil }
        guard let connection = joined[side][ids[other]] else { return false }
        return joined[other][ids[side]] == connection
      }
    }
  }

  /// The number of connections that are open at both ends, for each pair.
  func openLinks(_ a: Int, _ b: Int) -> Int {
    links.values.count { link in
      (link.dialer, link.host) == (a, b) || (link.dialer, link.host) == (b, a)
        ? link.isOpenAtHost && link.isOpenAtDialer : false
    }
  }

  /// How many open connections the pairs have.
  var linkCounts: Set<Int> {
    Set(groups.indices.flatMap { side in (0..<side).map { openLinks($0, side) } })
  }
}
