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
        try await side.nearby.session.withGroup(Lines(), named: "both") { group in
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
        try await side.nearby.session.withGroup(Numbers(), named: "both") { group in
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
        try await side.nearby.session.withGroup(Unencodable()) { _ in await meeting.arrive() }
        return
      }
      let failure = GroupError.stateNotEncodable("CancellationError()")
      await #expect(throws: failure) {
        try await side.nearby.session.withGroup(Unencodable()) { group in
          for _ in 0..<300 { try await group.submit(String(repeating: "x", count: 16_000)) }
          await meeting.arrive()
          for await _ in group.changes {}
          do throws(GroupError) {
            try await group.submit("more")
          } catch { #expect(error == failure) }
          await meeting.arrive()
        }
      }
    }
  }

  @Test func `a state that is too large is refused to the newcomer, and the group stays`()
    async throws
  {
    let meetings = (MeetingPoint(3), MeetingPoint(3))
    try await runMesh(3, seed: 6) { side in
      if side.number == 2 {
        await meetings.0.arrive()
        let error = await #expect(throws: GroupError.self) {
          try await side.nearby.session.withGroup(Padded()) { group in
            for await _ in group.changes {}
            throw CancellationError()
          }
        }
        guard case .stateTooLarge = error else {
          Issue.record("\(error as Any)")
          return
        }
        await meetings.1.arrive()
        return
      }
      try await side.nearby.session.withGroup(Padded()) { group in
        try await group.waitForMembers(2)
        for _ in 0..<150 { try await group.submit(String(repeating: "x", count: 16_000)) }
        try await group.wait { $0.lines.count == 300 }
        await meetings.0.arrive()
        await meetings.1.arrive()
        try await group.apply("stays")
        try await group.waitForMembers(2)
        try await group.wait { $0.lines.count == 302 }
      }
    }
  }

  /// A state that is encoded with more bytes than can be sent.
  private struct Padded: ReplicatedState {
    var lines: [String] = []

    init() {}
    init(from decoder: any Decoder) throws { self.init() }
    func encode(to encoder: any Encoder) throws {
      var container = encoder.singleValueContainer()
      try container.encode(String(repeating: "x", count: 17 << 20))
    }
    mutating func apply(_ line: String, _ entry: LedgerEntry) { lines.append(line) }
  }

  @Test func `groups of two types on the same peers do not merge, and follow each other`()
    async throws
  {
    let meetings = (MeetingPoint(4), MeetingPoint(4))
    try await runMesh(4, seed: 7) { side in
      let session = side.nearby.session
      if side.number < 2 {
        try await side.withLines { group in
          try await group.waitForMembers(2)
          try await group.apply("\(side.number)")
          try await group.wait { $0.lines.count == 2 }
          await meetings.0.arrive()
        }
      } else {
        try await session.withGroup(Numbers()) { group in
          try await group.waitForMembers(2)
          try await group.apply(side.number)
          try await group.wait { $0.numbers.count == 2 }
          await meetings.0.arrive()
        }
      }
      // The same session enters another group at once.
      try await session.withGroup(Lines(), named: "all") { group in
        try await group.waitForMembers(4)
        try await group.apply("\(side.number)")
        try await group.wait { Set($0.lines) == ["0", "1", "2", "3"] }
        await meetings.1.arrive()
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
