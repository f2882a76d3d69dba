import CaromCore
import CaromProtocol
import CaromTransport
import Synchronization
import Testing

@testable import CaromSession

/// Session.host: seats, decisions about peers, ports, loops and the end (page Sessions, Host and
/// join).
@Suite(.timeLimit(.minutes(1))) struct HostingTests {
  private struct Failure: Error {}

  @Test(arguments: [LinkKinds.datagram, .stream, .all])
  func `admit is called once for each peer that requests a seat`(kinds: LinkKinds) async throws {
    let asked = Mutex<[String]>([])
    try await withNetworkLoop { loop in
      try await Session.host(
        as: makePeer("host"), on: [.loopback4], over: kinds, seats: 2, loop: loop,
        admit: { info in
          asked.withLock { $0.append(info.name) }
          return .accept
        }
      ) { _, port in
        for name in ["first", "second"] {
          try await Session.join(
            [Endpoint(.loopback4, port: port)], as: makePeer(name), over: kinds, loop: loop
          ) { _, host in
            if kinds == .all { try await host.waitForBothLinks() }
          }
        }
      }
    }
    #expect(asked.withLock { $0 } == ["first", "second"])
  }

  @Test(arguments: [false, true])
  func `a session ends with finished, or with left if its closure throws`(fails: Bool)
    async throws
  {
    try await withNetworkLoop { loop in
      let (ports, announce) = AsyncStream.makeStream(of: UInt16.self)
      let (joins, join) = AsyncStream.makeStream(of: Void.self)
      let hosting = Task {
        try await Session.host(as: makePeer("host"), on: [.loopback4], loop: loop) {
          _, port -> String in
          announce.yield(port)
          for await _ in joins { break }
          if fails { throw Failure() }
          return "result"
        }
      }
      for await port in ports {
        try await Session.join(
          [Endpoint(.loopback4, port: port)], as: makePeer("client"), loop: loop
        ) { session, _ in
          join.yield()
          #expect(await session.ending() == (fails ? .left : .finished))
        }
        break
      }
      if fails {
        await #expect(throws: Failure.self) { try await hosting.value }
      } else {
        #expect(try await hosting.value == "result")
      }
    }
  }

  @Test(arguments: [false, true])
  func `a client's session ends with finished, or with left if its closure throws`(fails: Bool)
    async throws
  {
    try await withNetworkLoop { loop in
      try await Session.host(as: makePeer("host"), on: [.loopback4], loop: loop) {
        hosting, port in
        do {
          let result = try await Session.join(
            [Endpoint(.loopback4, port: port)], as: makePeer("client"), loop: loop
          ) { _, _ in
            if fails { throw Failure() }
            return 7
          }
          #expect(result == 7)
        } catch is Failure {}
        #expect(await hosting.ending() == (fails ? .left : .finished))
      }
    }
  }

  @Test(arguments: [false, true])
  func `a session shuts down the loops that it has created, in the end`(fails: Bool) async throws {
    let loops = Mutex<[NetworkLoop]>([])
    do {
      try await Session.host(as: makePeer("host"), on: [.loopback4], loops: 3) { session, _ in
        loops.withLock { $0 = session.loops }
        #expect(session.loop === session.loops[0] && session.node.loop === session.loop)
        if fails { throw Failure() }
      }
    } catch is Failure {}
    let created = loops.withLock { $0 }
    #expect(Set(created.map(ObjectIdentifier.init)).count == 3)
    for loop in created { #expect(await !loop.isRunning()) }
  }

  @Test func `a session runs on the loops that it is given, and does not shut them down`()
    async throws
  {
    try await withNetworkLoop { first in
      try await withNetworkLoop { second in
        let loops = [first, second]
        try await Session.host(as: makePeer("host"), on: [.loopback4], loops: loops) {
          session, _ in
          #expect(session.loops.map(ObjectIdentifier.init) == loops.map(ObjectIdentifier.init))
          #expect(await session.statistics.count == 2)
        }
        for loop in loops { #expect(await loop.isRunning()) }
      }
    }
  }

  /// The addresses and kinds of links with which a host that listens on both can be joined.
  @Test(arguments: [1, 2])
  func `one port serves both kinds of links on every address`(loopCount: Int) async throws {
    try await withNetworkLoop { loop in
      try await Session.host(
        as: makePeer("host"), on: [.loopback4, .loopback6], loops: loopCount
      ) { hosting, port in
        #expect(port > 0)
        for address in [IPAddress.loopback4, .loopback6] {
          for (kinds, kind) in [(LinkKinds.stream, LinkKind.stream), (.datagram, .datagram)] {
            try await Session.join(
              [Endpoint(address, port: port)], as: makePeer("client"), over: kinds, loop: loop
            ) { _, host in
              #expect(await host.linkKind == kind)
              #expect(await host.statistics?.link == kind)
            }
            #expect(await hosting.ending() == .finished)
          }
        }
      }
    }
  }

  @Test func `peers of two sessions differ, although their connections have the same id`()
    async throws
  {
    try await withNetworkLoop { loop in
      try await Session.host(as: makePeer("host"), on: [.loopback4], seats: 2, loop: loop) {
        _, port in
        let endpoints = [Endpoint(.loopback4, port: port)]
        try await Session.join(endpoints, as: makePeer("one"), loop: loop) { _, first in
          try await Session.join(endpoints, as: makePeer("two"), loop: loop) { _, second in
            #expect(first.connectionID == second.connectionID)
            #expect(first != second)
            #expect(Set([first, second]).count == 2)
          }
        }
      }
    }
  }

  @Test func `a host listens on the port that it is given`() async throws {
    try await withNetworkLoop { loop in
      let port = try await Session.host(as: makePeer("host"), on: [.loopback4], loop: loop) {
        _, port in port
      }
      try await Session.host(as: makePeer("host"), port: port, on: [.loopback4], loop: loop) {
        #expect($1 == port)
      }
    }
  }

  @Test func `a host of one kind of link does not listen for the other`() async throws {
    try await withNetworkLoop { loop in
      // No other test listens at this address.
      let address = IPAddress("127.77.0.3")!
      try await Session.host(
        as: makePeer("host"), on: [address], over: .datagram, loop: loop
      ) { _, port in
        _ = await #expect(throws: SessionError.transport(.connectionRefused)) {
          try await Session.join(
            [Endpoint(address, port: port)], as: makePeer("client"), over: .stream, loop: loop
          ) { _, _ in }
        }
      }
    }
  }

  /// SessionNode.freeSeats: the seats that are neither taken nor requested.
  @Test func `a seat is not free while it is requested, and free again when it is refused`()
    async throws
  {
    try await withNetworkLoop { loop in
      let host = SessionNode(makePeer("host"), seats: 3, spectatorSeats: 2, on: loop)
      let events = Collector(on: loop)
      await events.watch(host)
      let port = try await host.listen(on: [.loopback4])
      #expect(await host.freeSeats == 3)
      #expect(await host.freeSpectatorSeats == 2)
      let client = SessionNode(makePeer("client"), seats: 0, over: .stream, on: loop)
      let seated = Task { try await client.connect(to: [Endpoint(.loopback4, port: port)]) }
      guard case .requested(let request, let info, nil) = try await events.first(\.isRequest) else {
        Issue.record("the request replaces a connection")
        return
      }
      #expect(info == client.local)
      #expect(await host.freeSeats == 2)
      #expect(await host.freeSpectatorSeats == 2)
      #expect(await host.peers.isEmpty)
      #expect(await host.peer(of: request) == nil)
      await host.close(request, Goodbye(.declined, text: "no"), as: .declined("no"))
      #expect(await host.freeSeats == 3)
      await #expect(throws: SessionError.refused(.declined("no"))) {
        try await seated.value
      }
      await client.shutdown()
      await host.shutdown()
    }
  }

  @Test func `a node knows its peers in order, and which side opened a connection`() async throws {
    try await withNetworkLoop { loop in
      let host = SessionNode(makePeer("host"), seats: 3, on: loop)
      let events = Collector(on: loop)
      await events.watch(host, admitsAll: true)
      let port = try await host.listen(on: [.loopback4])
      var clients: [SessionNode] = []
      for name in ["first", "second", "third"] {
        let client = SessionNode(makePeer(name), seats: 0, on: loop)
        let connection = try await client.connect(to: [Endpoint(.loopback4, port: port)])
        #expect(await !client.isIncoming(connection))
        #expect(await client.peer(of: connection) == host.local)
        clients.append(client)
      }
      let peers = await host.peers
      #expect(peers.map(\.info) == clients.map(\.local))
      for peer in peers {
        #expect(await host.isIncoming(peer.connection))
        #expect(await host.peer(of: peer.connection) == peer.info)
      }
      for node in clients + [host] { await node.shutdown() }
    }
  }

  @Test func `the values of a connection are nil once it has ended`() async throws {
    try await withPair(over: .stream) { pair in
      #expect(await pair.host.linkKind == .stream)
      #expect(await pair.host.roundTrip != nil)
      #expect(await pair.host.statistics != nil)
      await pair.client.kick()
      _ = await pair.visiting.ending()
      while await pair.host.statistics != nil { try await nextFrame() }
      #expect(await pair.host.linkKind == nil)
      #expect(await pair.host.roundTrip == nil)
      #expect(await pair.host.clockOffset == nil)
      #expect(await pair.visiting.peers.isEmpty)
    }
  }

  @Test func `the end of a session is awaited, and is known at once afterwards`() async throws {
    try await withNetworkLoop { loop in
      let (session, waiting) = try await Session.host(
        as: makePeer("host"), on: [.loopback4], loop: loop
      ) { session, _ in
        let cancelled = Task { await session.waitForEnd() }
        cancelled.cancel()
        await cancelled.value
        return (session, Task { await session.waitForEnd() })
      }
      await waiting.value
      await session.waitForEnd()
      #expect(session.poll() == nil)
      for await event in session.events { Issue.record("\(event)") }
    }
  }
}

extension SessionEvent {
  var isRequest: Bool { if case .requested = self { true } else { false } }
}
