import CaromCore
import CaromGroup
import CaromNearby
import CaromSession
import CaromSessionTesting
import CaromTransport
import Testing

/// What goes wrong in groups, and what members of different programs see.
@Suite struct GroupErrorTests {
  /// The state of a program whose events are of another type.
  private struct Numbers: ReplicatedState {
    var numbers: [Int] = []

    mutating func apply(_ number: Int, _ entry: LedgerEntry) { numbers.append(number) }
  }

  /// A state that cannot be encoded.
  private struct Unencodable: ReplicatedState {
    var lines = 0

    init() {}
    init(from decoder: any Decoder) throws { self.init() }
    func encode(to encoder: any Encoder) throws { throw CancellationError() }
    mutating func apply(_ line: String, _ entry: LedgerEntry) { lines += 1 }
  }

  @Test func `an event that is too long is refused with its length`() async throws {
    try await runMesh(1, seed: 1) { side in
      try await side.withLines { group in
        let error = await #expect(throws: GroupError.self) {
          try await group.submit(String(repeating: "x", count: 20_000))
        }
        #expect(error == .eventTooLong(bytes: 20_003, limit: 16_384))
      }
    }
  }

  @Test func `after leaving, events are refused, and the changes end`() async throws {
    try await runMesh(1, seed: 1) { side in
      let group = try await side.nearby.session.withGroup(Lines()) { group in
        try await group.apply("last")
        return group
      }
      await #expect(throws: GroupError.left) { try await group.submit("too late") }
      #expect(await group.handOver(to: side.nearby.local.id) == false)
      var count = 0
      for await change in group.changes { if case .applied = change { count += 1 } }
      #expect(count == 1)
      #expect(await group.state.lines == ["last"])
    }
  }

  @Test func `an event of another program is reported and changes no state`() async throws {
    let meeting = MeetingPoint(2)
    try await runMesh(2, seed: 2) { side in
      if side.number == 0 {
        try await side.withLines { group in
          try await group.waitForMembers(2)
          for await change in group.changes {
            guard case .invalid(let entry) = change else { continue }
            #expect(entry.submitter != side.nearby.local.id)
            break
          }
          #expect(await group.state.lines.isEmpty)
          await meeting.arrive()
        }
      } else {
        try await side.nearby.session.withGroup(Numbers()) { group in
          try await group.waitForMembers(2)
          try await group.apply(7)
          #expect(await group.state.numbers == [7])
          await meeting.arrive()
        }
      }
    }
  }

  @Test func `a leader whose state cannot be encoded leaves the group and says why`() async throws {
    let meeting = MeetingPoint(2)
    try await runMesh(2, seed: 3) { side in
      if side.number == 1 {
        // More than is kept: a member that comes now needs the state.
        await meeting.arrive()
        try await side.nearby.session.withGroup(Unencodable()) { group in
          var hasFollowed = false
          for await change in group.changes {
            guard case .leader(let leader?) = change else { continue }
            if hasFollowed, leader == side.nearby.local.id { break }
            hasFollowed = leader != side.nearby.local.id
          }
        }
        return
      }
      try await side.nearby.session.withGroup(Unencodable()) { group in
        for _ in 0..<300 { try await group.submit(String(repeating: "x", count: 16_000)) }
        await meeting.arrive()
        for await _ in group.changes {}
        let error = await #expect(throws: GroupError.self) { try await group.submit("more") }
        #expect(error == .stateNotEncodable("CancellationError()"))
      }
    }
  }

  @Test func `a task that waits for room or for its event can be cancelled`() async throws {
    let meeting = MeetingPoint(2)
    try await runMesh(2, seed: 4) { side in
      try await side.withLines { group in
        try await group.waitForMembers(2)
        await meeting.arrive()
        guard await group.leader != side.nearby.local.id else {
          // The other side is cut off from its leader.
          side.world.withNetwork { $0.cut(side.hosts[side.number].host) }
          try await side.world.sleep(for: .seconds(2))
          return
        }
        try await side.world.sleep(for: .milliseconds(10))
        try await withThrowingTaskGroup { tasks in
          tasks.addTask {
            await #expect(throws: GroupError.cancelled) { try await group.apply("event") }
          }
          tasks.addTask {
            await #expect(throws: GroupError.cancelled) {
              for number in 0..<1000 { try await group.submit("\(number)") }
            }
          }
          try await side.world.sleep(for: .milliseconds(500))
          tasks.cancelAll()
          try await tasks.waitForAll()
        }
      }
    }
  }

  @Test func `a full queue to a peer delays the group's messages, and loses none`() async throws {
    let meeting = MeetingPoint(2)
    try await runMesh(2, seed: 5) { side in
      try await side.withLines { group in
        try await group.waitForMembers(2)
        let peer = try #require(await side.nearby.session.peers.first)
        var isFull = false
        while !isFull {
          do {
            try await peer.trySend(String(repeating: "x", count: 60_000), on: .lines)
          } catch { isFull = true }
        }
        for number in 0..<50 { try await group.submit("\(side.number).\(number)") }
        try await withThrowingTaskGroup { tasks in
          tasks.addTask { for await _ in side.nearby.session.messages(on: .lines) {} }
          try await group.wait { $0.lines.count == 100 }
          await meeting.arrive()
          tasks.cancelAll()
        }
      }
    }
  }
}
