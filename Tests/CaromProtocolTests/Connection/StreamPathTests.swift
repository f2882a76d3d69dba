import CaromCodec
import CaromCore
import Testing

@testable import CaromProtocol

/// A stream whose seat was granted, without a peer.
private struct StreamBench {
  let now = Instant(nanoseconds: 1_000_000_000)
  var path = StreamPath(limit: Connection.handshakeFrameLimit)
  var channels = ChannelSet()
  var scratch = Scratch()

  init() { path.join() }

  mutating func send(_ bytes: [UInt8], _ delivery: Delivery = .reliableOrdered) throws {
    _ = try channels.send(bytes.span, on: 0, SendOptions(delivery), at: now)
  }

  /// The frames of the carriers that the path sends now, one list for each carrier.
  mutating func poll(
    queued: Int = 0, carriesMessages: Bool = true
  ) throws -> [[FrameValue]] {
    let hasBytes = path.pollTransmit(
      queued: queued, &channels, carriesMessages: carriesMessages, &scratch, at: now)
    #expect(hasBytes == (scratch.writer.count > 0))
    var decoder = FrameDecoder()
    decoder.receive(scratch.writer.span, at: now)
    var carriers: [[FrameValue]] = []
    while let body = try decoder.next() {
      let packet = try Packet(decoding: body.span)
      #expect(packet.type == 3 && packet.action == 0)
      #expect(packet.payload.count <= 16_384)
      carriers.append(try decodeFrames(packet.payload))
    }
    return carriers
  }

  mutating func receive(_ count: Int, bytes: Int, isAckEliciting: Bool = true) {
    for _ in 0..<count {
      path.didReceive(bytes: bytes, isAckEliciting: isAckEliciting, at: now)
    }
  }
}

/// Carriers, their acknowledgements, and the limits of a stream (WireFormat, "Streams").
@Suite struct StreamPathTests {
  private let now = StreamBench().now

  private func acknowledgement(_ range: ClosedRange<UInt64>) -> FrameValue {
    .acknowledgement([range], AckDelay(byte: 0))
  }

  @Test func `32 carriers are acknowledged at once, fewer after 50 ms`() throws {
    var bench = StreamBench()
    bench.receive(31, bytes: 10)
    #expect(try bench.poll() == [])
    #expect(bench.path.nextTimeout == now + .milliseconds(50))
    bench.receive(1, bytes: 10)
    #expect(bench.path.nextTimeout == nil)
    #expect(try bench.poll() == [[acknowledgement(0...31)]])
    #expect(try bench.poll() == [])
    bench.receive(2, bytes: 10)
    #expect(bench.path.nextTimeout == now + .milliseconds(50))
    try bench.path.handleTimeout(at: now + .milliseconds(50) + .nanoseconds(-1))
    #expect(try bench.poll() == [])
    try bench.path.handleTimeout(at: now + .milliseconds(50))
    #expect(try bench.poll() == [[acknowledgement(32...33)]])
    #expect(bench.path.nextTimeout == nil)
  }

  @Test func `65,536 bytes of carriers are acknowledged at once`() throws {
    var bench = StreamBench()
    bench.receive(1, bytes: 65_535)
    #expect(try bench.poll() == [])
    bench.receive(1, bytes: 1)
    #expect(try bench.poll() == [[acknowledgement(0...1)]])
    bench.receive(1, bytes: 65_535)
    #expect(try bench.poll() == [], "the bytes before the acknowledgement no longer count")
  }

  @Test func `carriers that require no acknowledgement are acknowledged with the others`()
    throws
  {
    var bench = StreamBench()
    bench.receive(40, bytes: 65_536, isAckEliciting: false)
    #expect(try bench.poll() == [])
    #expect(bench.path.nextTimeout == nil)
    bench.receive(1, bytes: 10)
    #expect(try bench.poll() == [[acknowledgement(0...40)]])
  }

  @Test func `a carrier with messages begins with the acknowledgement`() throws {
    var bench = StreamBench()
    bench.receive(1, bytes: 10)
    try bench.send([7])
    #expect(
      try bench.poll() == [[acknowledgement(0...0), .message(.reliableOrdered, 0, 0, [7])]])
    #expect(bench.path.nextTimeout == nil)
  }

  @Test func `a stream beside the datagrams carries no messages`() throws {
    var bench = StreamBench()
    try bench.send([7])
    #expect(try bench.poll(carriesMessages: false) == [])
    #expect(try bench.poll() == [[.message(.reliableOrdered, 0, 0, [7])]])
  }

  @Test func `only carriers that were sent can be acknowledged`() throws {
    var bench = StreamBench()
    var records: [FrameRecord] = []
    var isValid = bench.path.handleAcknowledgement(0, acknowledged: &records)
    #expect(!isValid)
    for number in 0..<3 as Range<UInt8> {
      try bench.send([number])
      #expect(try bench.poll().count == 1)
    }
    isValid = bench.path.handleAcknowledgement(3, acknowledged: &records)
    #expect(!isValid && records.isEmpty)
    isValid = bench.path.handleAcknowledgement(1, acknowledged: &records)
    #expect(isValid && records.map(\.number) == [0, 1])
    isValid = bench.path.handleAcknowledgement(0, acknowledged: &records)
    #expect(isValid && records.count == 2, "a carrier is acknowledged once")
    var lost: [FrameRecord] = []
    bench.path.abandonAll(lost: &lost)
    #expect(lost.map(\.number) == [2])
  }

  @Test(arguments: [(4_095, true), (4_096, false)])
  func `states wait while 4 KiB are queued, so that newer ones replace them`(
    queued: Int, isSent: Bool
  ) throws {
    var bench = StreamBench()
    try bench.send([7], .unreliableSequenced)
    #expect(try bench.poll(queued: queued).isEmpty != isSent)
  }

  @Test(arguments: [(65_535, true), (65_536, false)])
  func `nothing is written to a stream that holds 64 KiB`(
    queued: Int, isWritten: Bool
  ) throws {
    var bench = StreamBench()
    bench.path.append(.ping(sent: 1))
    let hasBytes = bench.path.pollTransmit(
      queued: queued, &bench.channels, carriesMessages: true, &bench.scratch, at: now)
    let bytes = bench.scratch.writer.bytes
    #expect(hasBytes == isWritten && bench.path.hasControl != isWritten)
    #expect(bytes == (isWritten ? ControlPacket.ping(sent: 1).packet.framed() : []))
  }

  @Test func `a long message fills carriers of 16 KiB, up to 64 KiB at a time`() throws {
    var bench = StreamBench()
    let message = [UInt8](repeating: 7, count: 200_000)
    try bench.send(message)
    var (count, received) = (0, 0)
    var carriers = try bench.poll()
    while !carriers.isEmpty {
      #expect(carriers.count <= 5)
      count += carriers.count
      for frame in carriers.flatMap({ $0 }) {
        guard case .fragment(_, _, _, _, let offset, let bytes) = frame else { continue }
        #expect(offset == received)
        received += bytes.count
      }
      carriers = try bench.poll()
    }
    #expect(count == 13 && received == 200_000)
  }

  @Test(arguments: [
    (4_096, false, true), (4_097, false, false), (81_920, true, true),
    (81_921, true, false),
  ])
  func `a body has at most 81,920 bytes, and 4,096 before the grant`(
    length: UInt64, isJoined: Bool, isAccepted: Bool
  ) {
    var path = StreamPath(limit: Connection.handshakeFrameLimit)
    if isJoined { path.join() }
    let header = (0..<8).map { UInt8(truncatingIfNeeded: length >> (8 * $0)) }
    var offset = 0
    _ = try? path.next(in: header.span, from: &offset, at: now)
    let isValid = (try? path.handleTimeout(at: now)) != nil
    #expect(isValid == isAccepted)
  }
}
