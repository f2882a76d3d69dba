import CaromProtocol
import CaromSession
import CaromTransport
import ServiceLifecycle
import Testing

@testable import CaromServer

@Suite(.timeLimit(.minutes(1))) struct SessionServiceTests {
  private struct Failure: Error {}

  @Test func `a service runs its closure with the loop or the loops that it was given`()
    async throws
  {
    try await withNetworkLoop { first in
      try await withNetworkLoop { second in
        try await SessionService(on: second) { loop in #expect(loop === second) }.run()
        try await SessionService(on: [first, second]) { loops in
          #expect(loops.count == 2 && loops[0] === first && loops[1] === second)
        }
        .run()
      }
    }
  }

  @Test func `a service without loops creates one for its session, and shuts it down`()
    async throws
  {
    let (used, use) = AsyncStream.makeStream(of: NetworkLoop.self)
    try await SessionService { loops in
      let names = try await Session.host(
        as: makePeer("host"), on: [.loopback4], loops: loops
      ) { session, _ in session.loops.map(ObjectIdentifier.init) }
      #expect(names == loops.map(ObjectIdentifier.init))
      for loop in loops { use.yield(loop) }
      use.finish()
    }
    .run()
    var count = 0
    for await loop in used {
      count += 1
      // On a loop that was shut down, even a sleep of no time throws.
      await #expect(throws: TransportError.closed) { try await loop.sleep(until: .zero) }
    }
    #expect(count == 1)
  }

  @Test func `a service ends with its closure, and throws the closure's error`() async {
    await withNetworkLoop { loop in
      await #expect(throws: Failure.self) {
        try await SessionService(on: loop) { _ in throw Failure() }.run()
      }
      await #expect(throws: Failure.self) {
        try await SessionService { _ in throw Failure() }.run()
      }
    }
  }
}
