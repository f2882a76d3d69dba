import CaromCore
import CaromTransport
import Synchronization
import Testing

@testable import CaromProtocol
@testable import CaromSession

/// Sessions that are hosted on several loops behind one port, over loopback.
@Suite(.timeLimit(.minutes(1))) struct SessionLoopsTests {
  #if DEBUG
    private static let clients = 40
  #else
    private static let clients = 200
  #endif
  private static let notes = 10

  @Test(arguments: [false, true])
  func `both links of each client end up on one loop, and every message arrives once`(
    isEncrypted: Bool
  ) async throws {
    func makeSecurity() -> SessionSecurity { isEncrypted ? .anyone : .none }
    try await withNetworkLoop(name: "clients") { loop in
      let statistics = try await Session.host(
        as: makePeer("host"), on: [.loopback4], seats: Self.clients, security: makeSecurity(),
        loops: 4
      ) { hosting, port in
        async let heard = Self.echo(hosting)
        try await withThrowingTaskGroup { tasks in
          for _ in 0..<Self.clients {
            let security = makeSecurity()
            tasks.addTask {
              try await Self.visit(Endpoint(.loopback4, port: port), security, on: loop)
            }
          }
          try await tasks.waitForAll()
        }
        let notes = await heard
        #expect(notes.count == Self.clients)
        #expect(notes.values.allSatisfy { $0 == (0..<Self.notes).map { [UInt8($0)] } })
        return await hosting.statistics
      }
      #expect(statistics.allSatisfy { $0.bytesReceived > 0 })
      // With four loops, three of four streams arrive on another loop than their datagrams.
      #expect(statistics.reduce(0) { $0 + $1.streamsForwarded } > Self.clients / 4)
    }
  }

  /// Echoes every note until all clients have sent all of theirs. Returns the notes of each client.
  private static func echo(_ hosting: Session) async -> [Peer: [[UInt8]]] {
    var heard: [Peer: [[UInt8]]] = [:]
    var count = 0
    for await received in hosting.messages(on: .notes) {
      heard[received.peer, default: []].append(received.message.text)
      _ = received.peer.post(received.message, on: .notes)
      count += 1
      if count == clients * notes { break }
    }
    return heard
  }

  private static func visit(
    _ endpoint: Endpoint, _ security: SessionSecurity = .none, on loop: NetworkLoop
  ) async throws {
    try await Session.join(
      [endpoint], as: makePeer("client"), security: security, loop: loop
    ) { session, host in
      for number in 0..<notes { try await host.send(Note([UInt8(number)]), on: .notes) }
      let echoes = await session.messages(on: .notes).first(notes)
      #expect(echoes.map(\.text) == (0..<notes).map { [UInt8($0)] })
      try await host.waitForBothLinks()
    }
  }

  @Test
  func
    `clients on several loops never take more than all seats, and a freed seat can be taken again`()
    async throws
  {
    try await withNetworkLoop(name: "clients") { loop in
      let seats = 5
      let taken = Mutex((now: 0, most: 0))
      try await Session.host(
        as: makePeer("host"), on: [.loopback4], seats: seats, loops: 3
      ) { hosting, port in
        await hosting.observe { event in
          taken.withLock { taken in
            if case .joined = event { taken.now += 1 }
            if case .left = event { taken.now -= 1 }
            taken.most = max(taken.most, taken.now)
          }
        }
        let endpoint = Endpoint(.loopback4, port: port)
        for _ in 0..<2 {
          let seated = try await Self.crowd(20, at: endpoint, hosting, on: loop)
          #expect(seated == seats)
          #expect(await hosting.peers.isEmpty)
          #expect(await hosting.freeSeats == seats)
        }
      }
      #expect(taken.withLock { $0.most } == seats)
    }
  }

  /// Starts `count` clients at once, and kicks those that got a seat when all have an answer.
  /// Returns the number of clients that got a seat.
  private static func crowd(
    _ count: Int, at endpoint: Endpoint, _ hosting: Session, on loop: NetworkLoop
  ) async throws -> Int {
    let (answers, answer) = AsyncStream.makeStream(of: Void.self)
    return try await withThrowingTaskGroup { tasks in
      for _ in 0..<count {
        tasks.addTask { () async throws -> Bool in
          do {
            return try await Session.join([endpoint], as: makePeer("client"), loop: loop) {
              session, _ in
              answer.yield()
              for await event in session.events { if case .left = event { break } }
              return true
            }
          } catch SessionError.refused(.full) {
            answer.yield()
            return false
          }
        }
      }
      var iterator = answers.makeAsyncIterator()
      for _ in 0..<count { await iterator.next() }
      for peer in await hosting.peers { await peer.kick("enough") }
      return try await tasks.reduce(0) { $0 + ($1 ? 1 : 0) }
    }
  }

  @Test func `a client with a new address stays on the loop of its old one`() async throws {
    try await withNetworkLoop(name: "client") { loop in
      let passedOn = try await Session.host(
        as: makePeer("host"), on: [.loopback4], over: .datagram, seats: 1, loops: 4
      ) { hosting, port in
        let gateway = Gateway(to: Endpoint(.loopback4, port: port), on: loop)
        let front = try await gateway.open()
        try await Session.join(
          [front], as: makePeer("client"), over: .datagram, loop: loop
        ) { session, host in
          var atHost = hosting.messages(on: .notes).makeAsyncIterator()
          var atClient = session.messages(on: .notes).makeAsyncIterator()
          for round in 0..<16 {
            if round > 0 { try await gateway.rebind() }
            for number in 0..<3 {
              let note = Note([UInt8(round), UInt8(number)])
              try await host.send(note, on: .notes)
              let heard = await atHost.next()
              #expect(heard?.message == note)
              try await heard?.peer.send(note, on: .notes)
              #expect(await atClient.next()?.message == note)
            }
          }
        }
        await gateway.close()
        return await hosting.statistics.reduce(0) { $0 + $1.datagramsForwarded }
      }
      #expect(passedOn > 0)
    }
  }

  @Test func `a client that joins again replaces its older connection, whatever loop either is on`()
    async throws
  {
    try await withNetworkLoop(name: "clients") { loop in
      let client = Identity.random()
      try await Session.host(
        as: makePeer("host"), on: [.loopback4], seats: 2, loops: 4
      ) { hosting, port in
        let endpoint = Endpoint(.loopback4, port: port)
        var events = hosting.events.makeAsyncIterator()
        let (seats, isSeated) = AsyncStream.makeStream(of: Void.self)
        var seated = seats.makeAsyncIterator()
        try await withThrowingTaskGroup { tasks in
          var old: Peer?
          for _ in 0..<8 {
            tasks.addTask { try await Self.stay(as: client, at: endpoint, isSeated, on: loop) }
            if let old { #expect(await events.nextEnd() == .left(old, .replaced)) }
            guard case .joined(let new) = await events.nextJoin() else { return }
            #expect(await hosting.peers == [new])
            #expect(await hosting.freeSeats == 1)
            await seated.next()
            old = new
          }
          await old?.kick("enough")
          let endings = try await tasks.reduce(into: []) { $0.append($1) }
          #expect(endings.count { $0 == .replaced } == 7)
        }
      }
    }
  }

  /// Joins and stays until the connection ends. Returns the reason.
  private static func stay(
    as identity: Identity, at endpoint: Endpoint, _ isSeated: AsyncStream<Void>.Continuation,
    on loop: NetworkLoop
  ) async throws -> DisconnectReason? {
    try await Session.join(
      [endpoint], as: makePeer("client"), security: .anyone(as: identity), loop: loop
    ) { session, _ in
      isSeated.yield()
      return await session.ending()
    }
  }

  @Test func `broadcasts, requests and statistics cover all loops`() async throws {
    // On a busy machine, twelve handshakes on one loop can take longer than the usual limits.
    var timing = SessionTiming()
    timing.handshakeLimit = .seconds(60)
    try await withNetworkLoop(name: "clients") { [timing] loop in
      try await Session.host(
        as: makePeer("host"), on: [.loopback4], seats: 12, timing: timing, loops: 3
      ) { hosting, port in
        let endpoints = [Endpoint(.loopback4, port: port)]
        let (ready, isReady) = AsyncStream.makeStream(of: Void.self)
        try await withThrowingTaskGroup { tasks in
          for _ in 0..<12 {
            tasks.addTask {
              try await Session.join(
                endpoints, as: makePeer("client"), timing: timing, within: .seconds(60),
                loop: loop
              ) { session, _ in
                isReady.yield()
                async let _: Void = session.respond(to: .orders) { _, _ in Applied() }
                let notes = await session.messages(on: .notes).first(2)
                #expect(notes.map(\.text) == [[1], [2]])
                _ = await session.ending()
              }
            }
          }
          var iterator = ready.makeAsyncIterator()
          for _ in 0..<12 { await iterator.next() }
          #expect(await hosting.peers.count == 12)
          #expect(await hosting.statistics.reduce(0) { $0 + $1.peers } == 12)
          let late = await hosting.send(Note([9]), on: .orders, within: .seconds(10))
          #expect(late.isEmpty)
          let failures = await hosting.tryBroadcast(Note([1]), on: .notes)
          #expect(failures.isEmpty)
          #expect(hosting.post(Note([2]), on: .notes))
          let gone = try #require(await hosting.peers.first)
          await gone.kick()
          #expect(
            await hosting.tryBroadcast(Note([3]), on: .latest, to: [gone]) == [gone: .notConnected])
          await hosting.endAll()
          try await tasks.waitForAll()
        }
      }
    }
  }

  @Test func `a port in use is an error, even if it is shared`() async throws {
    try await Session.host(as: makePeer("host"), on: [.loopback4], loops: 2) { hosting, port in
      _ = await #expect(throws: TransportError.addressInUse(port: port)) {
        try await Session.host(
          as: makePeer("other"), port: port, on: [.loopback4], loops: hosting.loops
        ) { _, _ in }
      }
    }
  }
}

extension PeerEvents.AsyncIterator {
  fileprivate mutating func nextJoin() async -> PeerEvent? {
    while let event = await next() { if case .joined = event { return event } }
    return nil
  }

  fileprivate mutating func nextEnd() async -> PeerEvent? {
    while let event = await next() {
      switch event {
      case .left, .joined: return event
      default: continue
      }
    }
    return nil
  }
}

extension Session {
  /// Closes all connections, after the queued messages.
  fileprivate func endAll() async {
    for peer in await peers { await peer.close() }
  }
}

extension Exchange<Note, Applied> {
  fileprivate static var orders: Self { .init(9) }
}

extension Peer {
  /// Waits until both links of the connection work. There is no event for the second link, because
  /// it makes no difference to the application.
  func waitForBothLinks() async throws {
    while await !node.hasBothLinks(connectionID) {
      try await node.loop.sleep(until: node.loop.now + .milliseconds(1))
    }
  }
}

extension SessionNode {
  fileprivate func hasBothLinks(_ connection: ConnectionID) -> Bool {
    guard let connection = lobby.host.connection(connection) else { return false }
    return connection.stream?.isJoined == true && connection.datagram?.isResponsive == true
  }
}
