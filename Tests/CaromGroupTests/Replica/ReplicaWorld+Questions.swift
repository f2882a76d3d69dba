import CaromCore

@testable import CaromGroup

// MARK: - What the tests ask
extension ReplicaWorld {
  var alive: [Int] { sides.indices.filter { sides[$0].isAlive } }

  /// The side that all living sides follow, or nil if they do not agree.
  var leader: Int? {
    let leaders = Set(alive.map { sides[$0].leader })
    guard leaders.count == 1, let leader = leaders.first ?? nil, let side = indexes[leader],
      sides[side].isAlive
    else { return nil }
    return side
  }

  /// Whether all living sides have the same leader, and a roster of all of them.
  var isUnited: Bool {
    guard leader != nil else { return false }
    let members = alive.map { sides[$0].replica.local.id }.sorted()
    return Set(alive.map { sides[$0].roster }).count == 1
      && sides[alive[0]].roster?.members.map(\.id) == members
  }

  /// Submits an event at a side that is alive. The event tells the side and its own number.
  func submit(_ side: Int) {
    guard sides[side].isAlive else { return }
    let state = sides[side]
    let number = record.submitted[state.replica.local.source, default: 0] + 1
    guard let sequence = state.replica.submit([UInt8(truncatingIfNeeded: side), 7], at: now) else {
      return
    }
    precondition(sequence == number, "events are numbered from 1")
    record.submitted[state.replica.local.source] = number
    drain(side)
  }

  /// Lets a side hand its group over to another one. Returns whether it could.
  func handOver(_ side: Int, to member: PeerID) -> Bool {
    defer { drain(side) }
    return sides[side].replica.handOver(to: member, at: now)
  }

  /// Lets a side leave the group. Its connections stay.
  func leave(_ side: Int) {
    sides[side].replica.leave(at: now)
    drain(side)
    sides[side].isAlive = false
  }

  /// Lets a side that has left enter the group again.
  func enter(_ side: Int) {
    let old = sides[side].replica.local
    sides[side].restart(
      Replica(as: old.id, name: old.name, options, generator: SeededGenerator(seed: 77), at: now),
      record)
    for other in sides[side].hasPeers.sorted() {
      let peer = sides[other].replica.local
      sides[side].replica.handleJoined(peer.id, name: peer.name, at: now)
    }
    drain(side)
  }

  /// What is wrong with the histories of the living sides, which have had the time to agree.
  var faults: [String] {
    var faults = violations + sides.flatMap(\.checker.faults)
    let histories = Set(alive.map { sides[$0].checker.history })
    if histories.count > 1 { faults.append("\(histories.count) different histories") }
    guard let history = histories.first else { return faults }
    let sources = Set(alive.map { sides[$0].replica.local.source })
    faults += record.losses(in: history, alive: sources)
    return faults
  }
}

extension Replica {
  /// The sides that have what this one applies, as far as it knows.
  var holders: Set<PeerID> {
    Set([local.id] + members.ids.filter { members[$0]?.isVoting == true })
  }
}

extension ReplicaWorld {
  /// Creates a world in which `count` sides are a group with a longer history than they keep, so
  /// that a side that comes later needs a snapshot.
  convenience init(seed: UInt64, sidesWithHistory count: Int) {
    self.init(seed: seed)
    options.keptEntries = 8
    for _ in 0..<count { add() }
    for side in 0..<count { connect(side) }
    run(for: .seconds(3))
    for _ in 0..<20 { for side in 0..<count { submit(side) } }
    run(for: .seconds(2))
  }
}
