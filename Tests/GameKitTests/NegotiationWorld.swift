import CaromCore
import Testing

@testable import GameKit

/// Sides that look for a match. Their messages arrive in order, after delays that a seed decides.
struct NegotiationWorld {
  struct Match: Hashable {
    let players: [String]
    let name: String
  }

  private enum Event {
    case message(MatchMessage)
    case gone
  }

  private struct Pair: Hashable {
    let from: Int
    let to: Int
  }

  /// The keys of the sides, in order.
  let keys: [String]
  private(set) var begun: [Match?]
  private(set) var lost: Set<Int> = []
  /// The sides that receive nothing.
  var silent: Set<Int> = []
  private var sides: [MatchNegotiation]
  private var queues: [Pair: [Event]] = [:]
  private var connections: [(at: Duration, Int, Int)] = []
  private var generator: SeededGenerator
  private var now = Duration.zero

  init(
    _ count: Int, counts: ClosedRange<Int>, seed: UInt64,
    recipients: (String, [String]) -> Set<String>? = { _, _ in nil }
  ) {
    let keys = (0..<count).map { "\($0)" }
    self.keys = keys
    var generator = SeededGenerator(seed: seed)
    begun = Array(repeating: nil, count: count)
    sides = keys.map { key in
      let retryTime = Duration.milliseconds(Int64.random(in: 300...700, using: &generator))
      return MatchNegotiation(
        as: key, players: counts, recipients: recipients(key, keys), retryTime: retryTime)
    }
    self.generator = generator
  }

  /// Connects each pair at some moment within a time.
  mutating func connectAll(within limit: Duration = .zero) {
    for a in keys.indices {
      for b in keys.indices where a < b {
        let share = Double.random(in: 0..<1, using: &generator)
        connections.append((now + limit * share, a, b))
      }
    }
    makeConnections()
  }

  mutating func connect(_ a: Int, _ b: Int) {
    // Those who play have no connections to others.
    guard begun[a] == nil, begun[b] == nil, lost.isDisjoint(with: [a, b]) else { return }
    sides[a].connect(keys[b], at: now)
    drain(a)
    sides[b].connect(keys[a], at: now)
    drain(b)
  }

  /// The side ends without a word. Only some of what it has sent arrives.
  mutating func lose(_ side: Int) {
    lost.insert(side)
    for other in keys.indices where other != side {
      let pair = Pair(from: side, to: other)
      let count = queues[pair]?.count ?? 0
      let kept = Int.random(in: 0...count, using: &generator)
      queues[pair] = Array(queues[pair]?.prefix(kept) ?? []) + [.gone]
    }
  }

  mutating func run(for time: Duration) {
    let end = now + time
    while now < end {
      let isBusy = queues.values.contains { !$0.isEmpty }
      now = isBusy ? now + .milliseconds(1) : min(nextEvent ?? end, end)
      makeConnections()
      if isBusy { deliver() }
      for side in sides.indices where !lost.contains(side) {
        guard let next = sides[side].nextTimeout, next <= now else { continue }
        sides[side].handleTimeout(at: now)
        drain(side)
      }
    }
  }

  /// The time of the next event if no message is under way.
  private var nextEvent: Duration? {
    let timeouts = sides.indices.compactMap { lost.contains($0) ? nil : sides[$0].nextTimeout }
    return (timeouts + connections.map(\.at)).min()
  }

  /// Lets each message that is the next one of its pair arrive, or wait.
  private mutating func deliver() {
    for from in keys.indices {
      for to in keys.indices where Int.random(in: 0..<20, using: &generator) == 0 {
        guard let event = queues[Pair(from: from, to: to)]?.first else { continue }
        queues[Pair(from: from, to: to)]?.removeFirst()
        handle(event, from: from, to: to)
      }
    }
  }

  /// Checks that all players of a match who were not lost play in it, and in no other one.
  func expectAgreement() {
    for (side, match) in begun.enumerated() where !lost.contains(side) {
      guard let match else { continue }
      #expect(match.players.contains(keys[side]))
      for player in keys.indices where match.players.contains(keys[player]) {
        #expect(lost.contains(player) || begun[player] == match)
      }
    }
  }

  private mutating func makeConnections() {
    for connection in connections where connection.at <= now {
      connect(connection.1, connection.2)
    }
    connections.removeAll { $0.at <= now }
  }

  private mutating func handle(_ event: Event, from: Int, to: Int) {
    guard !lost.contains(to), !silent.contains(to), begun[to] == nil else { return }
    switch event {
    case .message(let message): sides[to].receive(message, from: keys[from], at: now)
    case .gone: sides[to].disconnect(keys[from], at: now)
    }
    drain(to)
  }

  private mutating func drain(_ side: Int) {
    for output in sides[side].takeOutputs() {
      switch output {
      case .send(let message, let key):
        guard let other = keys.firstIndex(of: key) else { continue }
        queues[Pair(from: side, to: other), default: []].append(.message(message))
      case .begin(let players, let name):
        #expect(begun[side] == nil)
        begun[side] = Match(players: players, name: name)
        for other in keys.indices where other != side && !players.contains(keys[other]) {
          queues[Pair(from: side, to: other), default: []].append(.gone)
        }
      }
    }
  }
}
