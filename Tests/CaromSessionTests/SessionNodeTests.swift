import CaromCore
@testable import CaromProtocol
import CaromSession
import CaromTransport
import Testing

/// A host and a guest on real loopback sockets.
private struct Table {
  let loop: NetworkLoop
  let host: SessionNode
  let hostEvents: Collector
  let guest: SessionNode
  let guestEvents: Collector
  let port: UInt16

  init(on loop: NetworkLoop, seats: Int = 1) async throws {
    self.loop = loop
    host = SessionNode(makePeer("host"), seats: seats, on: loop)
    hostEvents = Collector(on: loop)
    await hostEvents.watch(host, admitsAll: true)
    guest = SessionNode(makePeer("guest"), seats: 0, on: loop)
    guestEvents = Collector(on: loop)
    await guestEvents.watch(guest)
    port = try await host.listen(on: [.loopback4], port: 0)
  }

  var endpoints: [Endpoint] { [Endpoint(.loopback4, port: port)] }
}

@Suite struct SessionNodeTests {
  @Test func `a guest sits down, and the round trip is measured on both sides`() async throws {
    try await withNetworkLoop { loop in
      let table = try await Table(on: loop)
      let connection = try await table.guest.connect(to: table.endpoints)
      _ = await table.hostEvents.first(\.isMeasured)
      _ = await table.guestEvents.first(\.isMeasured)
      #expect(await table.hostEvents.opened().1.name == "guest")
      #expect(await table.guest.roundTrip(to: connection)?.smoothed != nil)
      await table.guest.shutdown()
      await table.host.shutdown()
    }
  }

  @Test func `messages arrive once and in order, both ways`() async throws {
    try await withNetworkLoop { loop in
      let table = try await Table(on: loop)
      let connection = try await table.guest.connect(to: table.endpoints)
      let back = await table.hostEvents.opened().0
      for number in 0..<200 {
        try await table.guest.send(Note([UInt8(number)]), on: .notes, to: connection)
        try await table.host.send(Note([UInt8(number), 1]), on: .notes, to: back)
      }
      await table.guest.shutdown(Goodbye(.finished))
      #expect(await table.hostEvents.ending() == .finished)
      #expect(await table.hostEvents.messages == (0..<200).map { [UInt8($0)] })
      await table.host.shutdown()
    }
  }

  @Test func `a large message crosses a full socket whole`() async throws {
    try await withNetworkLoop { loop in
      let table = try await Table(on: loop)
      let connection = try await table.guest.connect(to: table.endpoints)
      let large = [UInt8](repeating: 9, count: 900_000)
      try await table.guest.send(Note(large), on: .notes, to: connection)
      let event = await table.hostEvents.first { if case .message = $0 { true } else { false } }
      guard case .message(_, 0, let bytes) = event else { return }
      #expect(bytes == large)
      await table.guest.shutdown()
      await table.host.shutdown()
    }
  }

  @Test func `a third device is told that the table is full`() async throws {
    try await withNetworkLoop { loop in
      let table = try await Table(on: loop)
      _ = try await table.guest.connect(to: table.endpoints)
      let third = SessionNode(makePeer("third"), seats: 0, on: loop)
      await #expect(throws: SessionError.refused(.full)) {
        try await third.connect(to: table.endpoints)
      }
      #expect(await table.host.peers.count == 1)
      await third.shutdown()
      await table.guest.shutdown()
      await table.host.shutdown()
    }
  }

  @Test func `whoever keeps a seat warm is replaced`() async throws {
    try await withNetworkLoop { loop in
      let table = try await Table(on: loop)
      let computer = SessionNode(makePeer("computer", yields: true), seats: 0, on: loop)
      let watcher = Collector(on: loop)
      await watcher.watch(computer)
      _ = try await computer.connect(to: table.endpoints)
      _ = try await table.guest.connect(to: table.endpoints)
      #expect(await watcher.ending() == .replaced)
      #expect(await table.host.peers.map(\.info.name) == ["guest"])
      for node in [computer, table.guest, table.host] { await node.shutdown() }
    }
  }

  @Test func `a reset is told once, as such`() async throws {
    try await withNetworkLoop { loop in
      let table = try await Table(on: loop)
      let stream = try await RawPeer.sitDown(at: table.endpoints, on: loop)
      _ = await table.hostEvents.opened()
      await stream.reset()
      #expect(await table.hostEvents.ending() == .connectionReset)
      await table.host.shutdown()
      let endings = await table.hostEvents.events.count(where: \.isLoss)
      #expect(endings == 1)
    }
  }

  @Test func `an end without a goodbye is told once, as such`() async throws {
    try await withNetworkLoop { loop in
      let table = try await Table(on: loop)
      let stream = try await RawPeer.sitDown(at: table.endpoints, on: loop)
      _ = await table.hostEvents.opened()
      await stream.finish()
      #expect(await table.hostEvents.ending() == .connectionLost)
      await table.host.shutdown()
    }
  }

  @Test func `nobody there is a typed error`() async throws {
    try await withNetworkLoop { loop in
      let table = try await Table(on: loop)
      // A port that is free again may be somebody's a moment later; nobody listens at this address.
      let elsewhere = Endpoint(IPAddress("127.77.0.1")!, port: table.endpoints[0].port)
      await #expect(throws: SessionError.transport(.connectionRefused)) {
        try await table.guest.connect(to: [elsewhere])
      }
      await table.host.shutdown()
    }
  }

  @Test func `a taken port is a typed error`() async throws {
    try await withNetworkLoop { loop in
      let table = try await Table(on: loop)
      let other = SessionNode(makePeer("other"), seats: 1, on: loop)
      await #expect(throws: TransportError.addressInUse(port: table.port)) {
        try await other.listen(on: [.loopback4], port: table.port)
      }
      await table.host.shutdown()
    }
  }
}

@Suite struct SessionNodeLifeTests {
  #if DEBUG
    static let rounds = 50
  #else
    static let rounds = 1_000
  #endif

  @Test func `sixty-four tables in one process know nothing of each other`() async throws {
    try await withNetworkLoop { loop in
      var tables: [Table] = []
      for number in 0..<64 {
        let table = try await Table(on: loop)
        let connection = try await table.guest.connect(to: table.endpoints)
        try await table.guest.send(Note([UInt8(number)]), on: .notes, to: connection)
        tables.append(table)
      }
      for (number, table) in tables.enumerated() {
        _ = await table.hostEvents.first { if case .message = $0 { true } else { false } }
        #expect(await table.hostEvents.messages == [[UInt8(number)]])
        await table.guest.shutdown()
        await table.host.shutdown()
      }
    }
  }

  @Test func `opening and closing leaves nothing behind, and closing twice is harmless`()
    async throws
  {
    try await withNetworkLoop { loop in
      for _ in 0..<Self.rounds {
        let table = try await Table(on: loop)
        _ = try await table.guest.connect(to: table.endpoints)
        await table.guest.shutdown()
        await table.guest.shutdown()
        await table.host.shutdown()
        #expect(await table.guest.peers.isEmpty)
        await #expect(throws: SendError.notConnected) {
          try await table.guest.send(Note([1]), on: .notes, to: ConnectionID.none)
        }
      }
    }
  }

  @Test func `answers to questions that nobody asked change nothing`() async throws {
    try await withNetworkLoop { loop in
      let table = try await Table(on: loop)
      await table.host.admit(.none)
      await table.host.close(.none, Goodbye(.left))
      await table.host.failConnect(.none)
      _ = try await table.guest.connect(to: table.endpoints)
      #expect(await table.host.peers.count == 1)
      await table.guest.shutdown()
      await table.host.shutdown()
    }
  }

  @Test func `a new handler goes on where the old one stopped`() async throws {
    try await withNetworkLoop { loop in
      let table = try await Table(on: loop)
      let connection = try await table.guest.connect(to: table.endpoints)
      _ = await table.hostEvents.opened()
      var collectors: [Collector] = []
      for number in 0..<100 {
        try await table.guest.send(Note([UInt8(number)]), on: .notes, to: connection)
        if number % 10 == 0 {
          let next = Collector(on: loop)
          await next.watch(table.host)
          collectors.append(next)
        }
      }
      await table.guest.shutdown(Goodbye(.finished))
      _ = await collectors.last?.ending()
      var heard = await table.hostEvents.messages
      for collector in collectors { heard += await collector.messages }
      #expect(heard == (0..<100).map { [UInt8($0)] })
      await table.host.shutdown()
    }
  }

  @Test func `a node that went opens nothing any more`() async throws {
    try await withNetworkLoop { loop in
      let table = try await Table(on: loop)
      await table.guest.shutdown()
      await #expect(throws: SessionError.transport(.cancelled)) {
        try await table.guest.connect(to: table.endpoints)
      }
      await table.host.shutdown()
    }
  }

  @Test func `a cancelled connect ends as such, and leaves no link`() async throws {
    try await withNetworkLoop { loop in
      let table = try await Table(on: loop)
      let silent = SessionNode(makePeer("silent"), seats: 1, on: loop)  // admits nobody
      let port = try await silent.listen(on: [.loopback4])
      let attempt = Task(executorPreference: loop) {
        try await table.guest.connect(to: [Endpoint(.loopback4, port: port)])
      }
      let watcher = Collector(on: loop)
      await watcher.watch(silent)
      _ = await watcher.first { if case .requested = $0 { true } else { false } }
      attempt.cancel()
      await #expect(throws: SessionError.refused(.closedLocally)) { try await attempt.value }
      await silent.shutdown()
      await table.host.shutdown()
    }
  }
}

extension ConnectionID {
  /// A link that was never opened.
  fileprivate static var none: ConnectionID { ConnectionID(999_999) }
}
