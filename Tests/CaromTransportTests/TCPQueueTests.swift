import CaromCore
import Testing

@testable import CaromTransport

@Suite(.timeLimit(.minutes(1))) struct TCPQueueTests {
  @Test func `the queue fills while the peer does not read and drains when it does`()
    async throws
  {
    try await onLoop { loop in
      let pair = try await makePair(on: loop)
      let client = pair.client.watch()
      let chunk = [UInt8](repeating: 5, count: 60_000)
      var written = 0
      do throws(TransportError) {
        while true {
          try pair.client.write(chunk)
          written += chunk.count
        }
      } catch { #expect(error == .queueFull) }
      #expect(pair.client.queuedBytes <= pair.client.queueLimit)
      #expect(pair.client.queuedBytes > pair.client.queueLimit - chunk.count)
      let server = pair.server.watch()
      #expect(await client.next() == .writable)
      #expect(pair.client.queuedBytes <= pair.client.queueLimit / 2)
      #expect(await server.bytes(written).count == written)
      #expect(client.count == 0)
    }
  }

  @Test func `close sends the queued bytes first`() async throws {
    try await onLoop { loop in
      let pair = try await makePair(on: loop)
      let client = pair.client.watch()
      pair.client.queueLimit = 8 << 20
      let bytes = (0..<6_000_000).map { UInt8(truncatingIfNeeded: $0 ^ $0 >> 8) }
      try pair.client.write(bytes)
      #expect(pair.client.queuedBytes > 0)
      pair.client.close()
      let server = pair.server.watch()
      #expect(await server.bytes(bytes.count) == bytes)
      #expect(await server.next() == .end)
      pair.server.close()
      #expect(await client.next() == .closed(nil))
      #expect(await server.next() == .closed(nil))
    }
  }

  @Test func `closing with unread bytes does not lose the last written bytes`() async throws {
    try await onLoop { loop in
      let pair = try await makePair(on: loop)
      try pair.client.write([UInt8](repeating: 1, count: 1000))
      try pair.server.write([1, 2, 3])
      let seen = pair.server.watch()
      pair.server.close()
      let client = pair.client.watch()
      #expect(await client.next() == .bytes([1, 2, 3]))
      #expect(await client.next() == .end)
      pair.client.close()
      #expect(await seen.next() == .closed(nil))
    }
  }

  @Test func `writes of sixteen concurrent tasks do not interleave`() async throws {
    try await withNetworkLoop { loop in
      let (frames, size) = (50, 700)
      let writer = Writer(on: loop)
      try await Task(executorPreference: loop) { try await writer.open() }.value
      await withTaskGroup { group in
        for task in UInt8(0)..<16 {
          group.addTask {
            for frame in 0..<frames {
              await writer.write([task, UInt8(frame)] + [UInt8](repeating: task, count: size - 2))
            }
          }
        }
      }
      let all = try await Task(executorPreference: loop) {
        try await writer.received(16 * frames * size)
      }.value
      var next = [UInt8](repeating: 0, count: 16)
      for start in stride(from: 0, to: all.count, by: size) {
        let task = all[start]
        #expect(all[start + 1] == next[Int(task)])
        next[Int(task)] += 1
        #expect(all[start + 2..<start + size].allSatisfy { $0 == task })
      }
    }
  }
}

/// Owns a pair of streams for tasks on other threads.
private actor Writer: LoopActor {
  nonisolated let loop: NetworkLoop
  private var pair: Pair?

  init(on loop: NetworkLoop) { self.loop = loop }

  func open() async throws { pair = try await makePair(on: loop) }

  func write(_ bytes: [UInt8]) {
    #expect(throws: Never.self) { try pair?.client.write(bytes) }
  }

  func received(_ count: Int) async throws -> [UInt8] {
    let pair = try #require(pair)
    return await pair.server.watch().bytes(count)
  }
}
