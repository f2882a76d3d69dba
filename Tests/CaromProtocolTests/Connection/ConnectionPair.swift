import CaromCodec
import CaromCore

@testable import CaromProtocol

func makePeer(_ number: UInt64, name: String = "", yields: Bool = false) -> PeerInfo {
  PeerInfo(
    id: PeerID(high: 0, low: number), name: name.isEmpty ? "peer \(number)" : name,
    application: "test", yieldsSeat: yields)
}

extension SessionTiming {
  /// A connection that has lost its links is closed at once.
  static var withoutResuming: SessionTiming {
    var timing = SessionTiming()
    timing.resumeLimit = .zero
    return timing
  }
}

/// Two connections joined by a stream without delay, which close at once when they have lost it,
/// and their clock.
struct ConnectionPair {
  var now = Instant(nanoseconds: 1_000_000_000)
  var host: Connection
  var client: Connection
  var hostEvents: [ConnectionEvent] = []
  var clientEvents: [ConnectionEvent] = []
  var hostMessages: [[UInt8]] = []
  var clientMessages: [[UInt8]] = []
  /// The number of bytes delivered at a time; `nil` delivers all at once.
  var chunk: Int?
  var isCut = false

  init(host: PeerInfo = makePeer(1), client: PeerInfo = makePeer(2), chunk: Int? = nil) {
    self.host = .respondingOnStream(as: LocalSide(host, timing: .withoutResuming), at: now)
    self.client = .initiatingOnStream(as: LocalSide(client, timing: .withoutResuming), at: now)
    self.chunk = chunk
  }

  /// A pair that has completed its handshake.
  static func opened(chunk: Int? = nil) -> ConnectionPair {
    var pair = ConnectionPair(chunk: chunk)
    pair.exchange()
    pair.host.admit(at: pair.now)
    pair.exchange()
    return pair
  }

  /// Carries bytes in both directions until neither side has any.
  mutating func exchange() {
    for _ in 0..<100 {
      let up = client.pollStream(queued: 0, at: now) ?? []
      let down = host.pollStream(queued: 0, at: now) ?? []
      if !isCut {
        for chunk in chunks(of: up) { host.receive(chunk.span, at: now) }
        for chunk in chunks(of: down) { client.receive(chunk.span, at: now) }
      }
      Self.collect(from: &host, &hostEvents, &hostMessages)
      Self.collect(from: &client, &clientEvents, &clientMessages)
      if up.isEmpty && down.isEmpty { return }
    }
  }

  private static func collect(
    from connection: inout Connection, _ events: inout [ConnectionEvent],
    _ messages: inout [[UInt8]]
  ) {
    while let event = connection.pollEvent() {
      guard event == .messages else {
        events.append(event)
        continue
      }
      while let message = connection.pollMessage() { messages.append(message.bytes) }
    }
  }

  /// Whether the host accepts another reliable message.
  mutating func hostAccepts(_ message: [UInt8]) -> Bool {
    do throws(SendError) { try host.send(message, on: 0, at: now) } catch { return false }
    return true
  }

  private func chunks(of bytes: [UInt8]) -> [[UInt8]] {
    guard let chunk else { return bytes.isEmpty ? [] : [bytes] }
    return stride(from: 0, to: bytes.count, by: chunk).map {
      Array(bytes[$0..<min($0 + chunk, bytes.count)])
    }
  }

  /// Advances the clock from deadline to deadline.
  mutating func run(for duration: Duration) {
    let end = now + duration
    while let due = earliest(host.nextTimeout, client.nextTimeout), due <= end {
      now = max(now, due)
      host.handleTimeout(at: now)
      client.handleTimeout(at: now)
      exchange()
    }
    now = end
  }
}

extension Connection {
  /// The next time at which `handleTimeout` must be called.
  var nextTimeout: Instant? {
    var copy = self
    return copy.findTimeout()
  }
}

extension [ConnectionEvent] {
  var withoutMeasurements: [ConnectionEvent] {
    filter { if case .measured = $0 { false } else { true } }
  }
  var endings: [DisconnectReason] {
    compactMap { if case .closed(let reason) = $0 { reason } else { nil } }
  }
}

extension Connection {
  /// A responder on a stream, whose connection is open.
  static func openResponder(
    timing: SessionTiming = SessionTiming(), key: ConnectionKey = .none, at now: Instant
  ) -> Connection {
    var host = respondingOnStream(as: LocalSide(makePeer(1), timing: timing), at: now)
    let request = ControlPacket.request(version: SessionWire.version, key, makePeer(2))
    host.receive(request.packet.framed().span, at: now)
    host.admit(at: now)
    return host
  }
}

extension Connection {
  /// A responder in plaintext whose initiator has proven its address.
  static func responding(
    to hello: Hello, from source: Route, as local: LocalSide, at now: Instant
  ) -> Connection {
    guard let connection = responding(to: hello, nil, from: source, as: local, nil, at: now) else {
      preconditionFailure("a connection in plaintext needs no handshake")
    }
    return connection
  }
}
