import CaromCore
import CaromCrypto
import CaromDataChannel
import CaromProtocol
import CaromTransport

/// The data channels of a host, which share its UDP sockets with the session's own datagrams.
///
/// A page asks for an offer over HTTP, and then sends checks to the host's address, which contain
/// the name in the offer and are signed with its password (ICE, RFC 8445, of which the host does
/// the lite form). Until the first valid check, the host stores nothing about the page.
final class DataChannels {
  /// The time for which a page can use an offer to begin a channel.
  static let offerTime = Duration.seconds(60)
  /// The lengths of the random part of a name and of a password, in bytes.
  private static let (nameLength, passwordLength) = (8, 24)

  /// The maximum number of channels. One more takes the place of one that is not open yet.
  private let limit: Int
  private let identity: DTLSIdentity
  private let secret: SecretBytes
  private var generator: LoopGenerator
  private var responder = CheckResponder()
  private var byName: [String: DataChannel] = [:]
  private var byAddress: [Endpoint: DataChannel] = [:]
  /// Limits how often a handshake with public keys begins, so that players are not kept waiting.
  private var handshakes = TokenBucket(capacity: 32, tokens: 100, per: 1_000_000_000)
  private var buffer = [UInt8](repeating: 0, count: 16_384)
  /// The routes of the channels that have ended since the last call of `takeEnded`.
  private var ended: [Route] = []
  /// The channels that have no timer yet.
  private(set) var withoutTimer: [DataChannel] = []
  /// The number of channels that have been opened.
  private(set) var openedCount: UInt64 = 0

  init(
    on loop: NetworkLoop, limit: Int = Host.connectionLimit
  ) throws(TransportError) {
    self.limit = limit
    identity = try DTLSIdentity()
    generator = LoopGenerator(of: loop)
    secret = SecretBytes(random: 32, using: &generator)
  }

  /// Whether there are channels.
  var isEmpty: Bool { byName.isEmpty }

  // MARK: Offers

  /// What a page needs to open a channel.
  struct Offer: Hashable, Sendable {
    let address: IPAddress
    let port: UInt16
    let name: String
    let password: String
    let fingerprint: [UInt8]

    /// The offer in JSON, as `BrowserOptions.channelPath` serves it.
    var json: String {
      let hash = fingerprint.map { byte in
        let digits = String(byte, radix: 16, uppercase: true)
        return digits.count < 2 ? "0" + digits : digits
      }
      return #"{"address":"\#(address)","port":\#(port),"ufrag":"\#(name)","#
        + #""password":"\#(password)","fingerprint":"\#(hash.joined(separator: ":"))"}"# + "\n"
    }
  }

  /// Makes an offer to a page that has reached the host at `local`.
  func makeOffer(at local: Endpoint, _ now: Instant) -> Offer {
    var bytes = Self.bytes(of: UInt32(truncatingIfNeeded: now.nanoseconds / 1_000_000_000))
    for _ in 0..<Self.nameLength { bytes.append(.random(in: 0...255, using: &generator)) }
    let name = Base64.standard.text(of: bytes)
    return Offer(
      address: local.address, port: local.port, name: name, password: password(of: name),
      fingerprint: identity.fingerprint)
  }

  private func password(of name: String) -> String {
    let bytes = secret.authenticate(Array(name.utf8), length: Self.passwordLength)
    return Base64.standard.text(of: bytes.reveal())
  }

  /// Whether a page may begin a channel with this name now. That the host has made it shows in the
  /// password.
  private func isCurrent(_ name: String, at now: Instant) -> Bool {
    guard let bytes = Base64.standard.bytes(of: name.utf8), bytes.count == Self.nameLength + 4
    else { return false }
    let made = bytes.prefix(4).reduce(Int64(0)) { $0 << 8 | Int64($1) }
    let age = now.nanoseconds / 1_000_000_000 - made
    return (0...Self.offerTime.components.seconds).contains(age)
  }

  private static func bytes(of number: UInt32) -> [UInt8] {
    [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> UInt32($0)) }
  }

  // MARK: Datagrams

  /// Sends a datagram to an endpoint through the UDP socket with an index.
  typealias Transmit = (Span<UInt8>, Endpoint, Int) -> Void

  /// Handles a datagram if it belongs to a data channel, and passes each of the session's datagrams
  /// in it to `deliver`. Returns false if the datagram is the session's own.
  func receive(
    _ datagram: Span<UInt8>, from source: Endpoint, on socket: Int, at now: Instant,
    _ transmit: Transmit, deliver: (Span<UInt8>, Route) -> Void
  ) -> Bool {
    if STUN.isMessage(datagram) {
      receiveCheck(datagram, from: source, on: socket, at: now, transmit)
      return true
    }
    guard !byAddress.isEmpty, let channel = byAddress[source] else { return false }
    guard DataChannel.isRecord(datagram) else {
      // Once the page has encrypted something here, what is not encrypted may be forged. Before,
      // anybody may have sent its check in the name of a player.
      return channel.owned.contains(source)
    }
    guard begin(channel, with: datagram, at: now) else { return true }
    let wasOpen = channel.isOpen
    channel.receive(datagram, from: source, using: &buffer, at: now) {
      deliver($0, Route(throughChannel: source, socket: socket))
    }
    if channel.isOpen, !wasOpen { openedCount += 1 }
    flush(channel, at: now, transmit)
    return true
  }

  /// Begins DTLS if it has not begun. Returns false if it cannot begin now: the page tries again.
  private func begin(
    _ channel: DataChannel, with record: Span<UInt8>, at now: Instant
  ) -> Bool {
    guard !channel.hasBegun else { return true }
    guard DataChannel.isClientHello(record), handshakes.consume(1, at: now.nanoseconds) else {
      return false
    }
    do throws(TransportError) {
      try channel.begin(identity)
    } catch { return false }
    return true
  }

  /// Answers a check that contains a name of the host's, signed with its password, and ignores any
  /// other.
  private func receiveCheck(
    _ datagram: Span<UInt8>, from source: Endpoint, on socket: Int, at now: Instant,
    _ transmit: Transmit
  ) {
    var name = ""
    let answer = responder.answer(datagram, from: source) { fragment in
      name = String(decoding: Array(copying: fragment), as: UTF8.self)
      guard byName[name] != nil || isCurrent(name, at: now) else { return nil }
      return Array(password(of: name).utf8)
    }
    guard answer != .dropped else { return }
    let channel = byName[name]
    guard channel == nil || channel?.socket == socket,
      clear(source, for: channel, at: now)
    else { return }
    transmit(responder.response, source, socket)
    guard answer != .refused else { return }
    guard let channel = channel ?? add(name, from: source, on: socket, at: now) else { return }
    if let old = channel.recordCheck(datagram.count, from: source, at: now),
      byAddress[old] === channel
    {
      byAddress[old] = nil
    }
    byAddress[source] = channel
  }

  /// Ends the channel that a page had at `source` and has closed without a word. Returns false if
  /// another page uses the address: a check with a false sender must not take it away.
  private func clear(
    _ source: Endpoint, for channel: DataChannel?, at now: Instant
  ) -> Bool {
    guard let other = byAddress[source], other !== channel else { return true }
    if other.holds(source, at: now) { return false }
    if other.owned.contains(source) { remove(other) }
    return true
  }

  private func add(
    _ name: String, from source: Endpoint, on socket: Int, at now: Instant
  ) -> DataChannel? {
    if byName.count >= limit {
      guard let unopened = byName.values.first(where: { !$0.isOpen }) else { return nil }
      remove(unopened)
    }
    let secrets = SCTPAssociation.Secrets(
      tag: .random(in: 1 ... .max, using: &generator),
      firstTSN: .random(in: 0 ... .max, using: &generator),
      cookie: .random(in: 0 ... .max, using: &generator))
    let channel = DataChannel(
      name, from: source, on: socket, SCTPAssociation(.responder, secrets), at: now)
    byName[name] = channel
    withoutTimer.append(channel)
    return channel
  }

  /// Sends one of the session's datagrams to the page at `route`. It goes there although records
  /// have come from elsewhere since: the session moves once the page has proven that it receives at
  /// its other address.
  func send(_ datagram: Span<UInt8>, to route: Route, at now: Instant, _ transmit: Transmit) {
    guard let channel = byAddress[route.endpoint] else { return }
    channel.send(datagram, at: now)
    flush(channel, to: route.endpoint, at: now, transmit)
  }

  private func flush(
    _ channel: DataChannel, to endpoint: Endpoint? = nil, at now: Instant, _ transmit: Transmit
  ) {
    channel.flush(at: now) { transmit($0, endpoint ?? channel.endpoint, channel.socket) }
    if channel.hasEnded { remove(channel) }
  }

  // MARK: The end

  /// Does what is due for the channel with this name.
  func handleTimeout(_ name: String, at now: Instant, _ transmit: Transmit) {
    guard let channel = byName[name] else { return }
    let isAlive = channel.handleTimeout(at: now)
    if !isAlive { channel.close(at: now) }
    flush(channel, at: now, transmit)
  }

  /// Ends all channels.
  func closeAll(at now: Instant, _ transmit: Transmit) {
    for channel in byName.values.sorted(by: { $0.name < $1.name }) {
      channel.close(at: now)
      flush(channel, at: now, transmit)
      remove(channel)
    }
  }

  private func remove(_ channel: DataChannel) {
    guard byName[channel.name] === channel else { return }
    byName[channel.name] = nil
    channel.timer = nil
    withoutTimer.removeAll { $0 === channel }
    for address in channel.addresses where byAddress[address] === channel {
      byAddress[address] = nil
      guard channel.owned.contains(address) else { continue }
      ended.append(Route(throughChannel: address, socket: channel.socket))
    }
  }

  /// Whether channels have ended since the last call of `takeEnded`.
  var hasEnded: Bool { !ended.isEmpty }

  /// Returns the routes of the channels that have ended since the last call.
  func takeEnded() -> [Route] {
    defer { ended = [] }
    return ended
  }

  /// Gives each channel that has no timer one.
  func giveTimers(at now: Instant, _ make: (_ name: String) -> LoopTimer) {
    for channel in withoutTimer {
      channel.timer = make(channel.name)
      channel.rearm(at: now)
    }
    withoutTimer.removeAll()
  }
}
