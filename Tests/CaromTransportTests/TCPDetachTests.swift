import CaromCore
import Foundation
import Testing

@testable import CaromTransport

/// Tests of streams that are moved from one loop to another.
@Suite(.timeLimit(.minutes(1))) struct TCPDetachTests {
  @Test func `a moved stream continues with the first byte that was not delivered`() async throws {
    try await withNetworkLoop(name: "other") { second in
      let other = StreamOwner(on: second)
      try await onLoop { loop in
        let pair = try await makePair(on: loop)
        let (client, server) = (pair.client.watch(), pair.server.watch())
        try pair.client.write([1, 2])
        #expect(await server.next() == .bytes([1, 2]))
        try pair.client.write([3])
        let detached = try pair.server.detach()
        #expect(!pair.server.isOpen && detached.peer == pair.client.localEndpoint)
        try pair.client.write([4])
        try await other.attach(detached)
        var received: [UInt8] = []
        while received.count < 2, case .bytes(let bytes) = await other.next() { received += bytes }
        #expect(received == [3, 4])
        try await other.write([5])
        #expect(await client.next() == .bytes([5]))
        pair.client.shutdownWrite()
        #expect(await other.next() == .end)
        await other.close()
        #expect(await client.next() == .end)
        #expect(server.count == 0)
        #expect(throws: TransportError.closed) { _ = try pair.server.detach() }
        await #expect(throws: TransportError.closed) { try await other.attach(detached) }
      }
    }
  }

  @Test func `a detached stream that is released is closed`() async throws {
    try await onLoop { loop in
      let pair = try await makePair(on: loop)
      let client = pair.client.watch()
      _ = try pair.server.detach()
      #expect(await client.next() == .end)
    }
  }

  @Test func `a stream with queued bytes cannot be detached`() async throws {
    try await onLoop { loop in
      let pair = try await makePair(on: loop)
      pair.server.queueLimit = 64 << 20
      var written = 0
      while pair.server.queuedBytes == 0 {
        try pair.server.write([UInt8](repeating: 1, count: 1 << 20))
        written += 1 << 20
      }
      #expect(throws: TransportError.self) { _ = try pair.server.detach() }
      let client = pair.client.watch()
      var count = 0
      while count < written, case .bytes(let bytes) = await client.next() { count += bytes.count }
      #expect(count == written && pair.server.queuedBytes == 0)
    }
  }

  @Test func `ENOSYS when listening is reported as portSharingUnsupported`() {
    let endpoint = Endpoint(.loopback4, port: 7)
    let error = TransportError(status: -ENOSYS, "listen", at: endpoint)
    #expect(error == .portSharingUnsupported)
  }
}
