import CaromCore
import CaromCrypto
import Testing

@testable import CaromProtocol

/// What somebody can do who has recorded the streams of an encrypted connection, or who answers
/// hellos in a host's place: send bytes again, send them back, and change hints.
@Suite struct RecordedStreamTests {
  private let key = ConnectionKey(prefix: 1, rest: 2)

  /// How the client of a recorded connection joins.
  enum Way: CaseIterable { case anyone, knownHost, code }

  private func requests(of events: [HostEvent]) -> Int {
    events.count { if case .requested = $0 { true } else { false } }
  }

  /// A pair connected by a stream, and everything that was written to the stream on each side.
  private func makeRecordedPair(
    _ way: Way
  ) throws -> (pair: DatagramPair, stream: ConnectionID, up: [UInt8], down: [UInt8]) {
    let code = LinkAccess.code(try JoinCode("K7QM-2XRT"), isForOneUse: false)
    var pair = DatagramPair(isEncrypted: true, access: way == .code ? code : .anyone)
    let (id, stream) = (pair.client.makeConnectionID(), pair.host.makeConnectionID())
    var (up, down): ([UInt8], [UInt8]) = ([], [])
    let isAccepted = pair.host.accept(stream, at: pair.now)
    #expect(isAccepted)
    pair.client.handleStreamConnected(
      id, key: key, hostKey: way == .knownHost ? pair.hostKey : nil, at: pair.now)
    for _ in 0..<6 {
      while let bytes = pair.client.pollTransmit(on: id, queued: 0, at: pair.now) {
        up += bytes
        pair.host.receive(bytes.span, on: stream, at: pair.now)
      }
      while let bytes = pair.host.pollTransmit(on: stream, queued: 0, at: pair.now) {
        down += bytes
        pair.client.receive(bytes.span, on: id, at: pair.now)
      }
      pair.drain()
    }
    #expect(pair.client.isOpen(id) && requests(of: pair.hostEvents) == 1)
    return (pair, stream, up, down)
  }

  /// Opens a stream to the host, writes `bytes` to it, and reads the answers.
  private func write(_ bytes: [UInt8], to pair: inout DatagramPair) -> ConnectionID {
    let id = pair.host.makeConnectionID()
    _ = pair.host.accept(id, at: pair.now)
    pair.host.receive(bytes.span, on: id, at: pair.now)
    pair.drain()
    while pair.host.pollTransmit(on: id, queued: 0, at: pair.now) != nil {}
    _ = pair.host.pollLinkAction(on: id)
    pair.drain()
    return id
  }

  @Test(arguments: Way.allCases)
  func `a recorded stream begins and joins nothing, whenever it is written again`(way: Way) throws {
    var (pair, stream, up, down) = try makeRecordedPair(way)
    for bytes in [up, down] {
      _ = write(bytes, to: &pair)
      #expect(requests(of: pair.hostEvents) == 1)
      #expect(pair.host.isOpen(stream))
      #expect(pair.hostEvents.endings.allSatisfy { $0 != .replaced })
    }
    pair.host.close(stream, Goodbye(.finished), at: pair.now)
    pair.run(for: .seconds(12))
    for bytes in [up, down] {
      _ = write(bytes, to: &pair)
      #expect(requests(of: pair.hostEvents) == 1)
    }
    // After a restart with the same identity, the ephemeral keys are others.
    let identity = try #require(pair.host.side.security?.identity)
    let access = try #require(pair.host.side.security?.access)
    pair.host = DatagramPair.makeHost(1, seats: 4, identity, access: access, seed: 50)
    _ = write(up, to: &pair)
    #expect(requests(of: pair.hostEvents) == 1)
  }

  @Test(arguments: Way.allCases)
  func `a stream whose bytes are sent back to their sender ends, and nothing else does`(
    way: Way
  ) throws {
    var (pair, stream, up, down) = try makeRecordedPair(way)
    let id = try #require(pair.client.connectionIDs.first)
    pair.host.receive(down.span, on: stream, at: pair.now)
    pair.client.receive(up.span, on: id, at: pair.now)
    pair.drain()
    // The stream is cut; the connection waits to be resumed.
    #expect(pair.host.connection(stream)?.isOpen == true)
    #expect(pair.client.connection(id)?.isOpen == true)
    #expect(pair.hostMessages.isEmpty && requests(of: pair.hostEvents) == 1)
  }

  // MARK: Hints

  @Test func `a retry with any changed byte delays the client at most`() throws {
    var pair = DatagramPair(isEncrypted: true)
    pair.connect(key)
    pair.deliverInFlight()
    let retry = try #require(pair.takeToClient().last)
    for index in retry.indices {
      var (copy, changed) = (pair, retry)
      changed[index] ^= 0x10
      copy.deliverToClient(changed)
      copy.run(for: .seconds(2))
      #expect(copy.client.isOpen(pair.id), "byte \(index)")
    }
  }

  @Test func `a refusal with any changed byte does not end an open connection`() throws {
    let pair = DatagramPair.opened(isEncrypted: true)
    let tag = try #require(pair.client.connection(pair.id)?.secrets?.refusalTag)
    var writer = FrameWriter(limit: Refusal.maximumLength)
    Refusal(
      keyPrefix: pair.key.prefix, reason: Goodbye.Code.forgotten.rawValue, tag: tag
    ).write(to: &writer)
    let refusal = writer.takeBytes()
    for index in refusal.indices {
      var (copy, changed) = (pair, refusal)
      changed[index] ^= 0x01
      copy.deliverToClient(changed)
      // The reason is not authenticated: the host could end the connection for any.
      let isReason = index == 9
      #expect(copy.clientEvents.endings.isEmpty != isReason, "byte \(index)")
    }
    var whole = pair
    whole.deliverToClient(refusal)
    #expect(whole.clientEvents.endings == [.connectionReset])
  }
}
