import Carom
import SessionPeers

/// The code that all roles of Carom's side share. A side is started as `bench session-peer carom
/// ROLE name=value…`.
enum SessionCarom {
  /// The kind of link that carries the session.
  enum Link: String, Sendable, CaseIterable {
    case stream, datagrams

    var protocolName: String { self == .stream ? "TCP" : "UDP" }
  }

  static func run(_ role: SessionSubject.Role) async throws {
    begin()
    // The echo client and the players poll their loop instead of sleeping, as those of the other
    // implementations do: to wake a thread would cost the side that sends. The option `spin=0`
    // tells the echo client to share its core.
    let spins = role == .play || role == .ask && number("spin", 1) == 1
    let loop = try NetworkLoop(name: role.rawValue, spinning: spins)
    switch role {
    case .receive: try await SessionCaromReceiver(on: loop).run()
    case .send, .burst: try await SessionCaromSender(on: loop).run(role)
    case .answer: try await SessionCaromEchoServer(on: loop).run()
    case .ask: try await SessionCaromEchoClient(on: loop).run()
    case .serve: try await SessionCaromServer(on: loop).run()
    case .stand: try await SessionCaromFloodTarget(on: loop).run()
    case .flood: try SessionCaromFlood.run()
    case .play:
      if text("link", Link.datagrams.rawValue) == Link.stream.rawValue {
        try await SessionCaromPlayers(on: loop).run()
      } else {
        var crowd = try SessionCaromCrowd()
        try crowd.run()
      }
    }
    _ = side_done()
  }

  /// Pins this process to the core of the option `core`, and makes it exit when its standard input
  /// ends.
  static func begin() {
    var options = unsafe options
    unsafe side_begin(&options)
  }

  // Options

  /// The arguments with which this process was started.
  private static var options: side_options {
    unsafe session_options(CommandLine.argc, CommandLine.unsafeArgv)
  }

  static func decimal(_ name: String, _ fallback: Double) -> Double {
    var options = unsafe options
    return unsafe side_number(&options, name, fallback)
  }

  static func number(_ name: String, _ fallback: Int) -> Int {
    Int(decimal(name, Double(fallback)))
  }

  static func text(_ name: String, _ fallback: String) -> String {
    CommandLine.arguments.first { $0.hasPrefix(name + "=") }
      .map { String($0.dropFirst(name.count + 1)) } ?? fallback
  }

  static func makeMeter() -> SessionMeter { unsafe SessionMeter(options) }
  static func makeSource() -> SessionSource { unsafe SessionSource(options) }

  // Nodes

  /// Returns the identity of one end of a session; each end and each player has its own number.
  static func peer(_ number: Int) -> PeerInfo {
    PeerInfo(
      id: PeerID(high: 2, low: UInt64(number)), name: "side \(number)", application: "bench")
  }

  /// Returns the encryption of one end of a session without sockets, with keys that everybody
  /// knows.
  static func security(
    _ number: Int, access: LinkAccess = .anyone, cipher: Cipher? = nil
  ) -> LinkSecurity {
    var generator = SeededGenerator(seed: UInt64(number))
    return LinkSecurity(
      Identity(using: &generator), access: access,
      seed: SecretBytes(random: SecretSource.length, using: &generator),
      ciphers: cipher.map { [$0] } ?? [.aesGCM, .chaChaPoly])
  }

  /// The cipher of the option `cipher`; nil in plaintext.
  static var cipher: Cipher? { Cipher.allCases.first { $0.name == text("cipher", "") } }

  /// Returns a node that uses one kind of link; by default, that of the option `link`.
  static func makeNode(
    _ number: Int, seats: Int, over link: Link? = nil, on loop: NetworkLoop
  ) -> SessionNode {
    let link = link ?? Link(rawValue: text("link", "")) ?? .datagrams
    return SessionNode(
      peer(number), seats: seats, over: link == .stream ? .stream : .datagram,
      security: cipher == nil ? .none : .anyone, on: loop)
  }

  /// Returns the endpoint at which the other side listens.
  static func server() throws -> Endpoint {
    let address = text("address", "127.0.0.1")
    guard let address = IPAddress(address) else {
      throw BenchmarkFailure("'\(address)' is not an IP address")
    }
    return Endpoint(address, port: UInt16(number("port", 0)))
  }
}

/// A message of `bench session`: bytes without fields.
struct SessionBytes: PacketCodable {
  var bytes: [UInt8]

  init(count: Int) { bytes = [UInt8](repeating: 0, count: count) }

  /// Creates a message that carries its kind, its number and the time.
  init(_ kind: side_kind, _ number: UInt32, count: Int) {
    self.init(count: count)
    unsafe bytes.withUnsafeMutableBufferPointer { bytes in
      unsafe side_stamp(bytes.baseAddress, kind, number)
    }
  }

  init(decoding reader: inout PacketReader) throws(DecodeError) {
    bytes = []
    while reader.remaining > 0 { bytes.append(try reader.read()) }
  }

  func encode(into writer: inout PacketWriter) { writer.write(bytes) }
}

extension MessageChannel where Message == SessionBytes {
  /// Reliable and ordered, with the highest priority.
  static var small: Self { .init(0, .reliableOrdered, priority: 0) }
  /// Reliable and ordered, with the lowest priority.
  static var bulk: Self { .init(1, .reliableOrdered, priority: 7) }
  /// Unreliable and sequenced: a newer message replaces an older one.
  static var states: Self { .init(2, .unreliableSequenced) }
  /// Unreliable: each message stands alone.
  static var inputs: Self { .init(3, .unreliable) }
}
