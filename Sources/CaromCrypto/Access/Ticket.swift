import CaromCore

/// The part of a connect token that the client sends to the host. A backend makes it, and only the
/// owners of the backend key can read all of it or change any part of it unnoticed.
///
/// The page WireFormat describes the ticket's bytes.
struct Ticket: Sendable {
  /// What a ticket is good for.
  enum Purpose: Hashable, Sendable {
    /// The player can join a host.
    case joining
    /// The player can ask a door where its match is.
    case asking

    /// The first bytes of a ticket, which name its purpose and this version of its format.
    var magic: [UInt8] { Array((self == .joining ? "CRT1" : "CRD1").utf8) }
  }

  /// The length in bytes of the shortest ticket.
  static let minimumLength = 4 + 8 + 8 + 1 + sealedOverhead
  /// The length in bytes of the longest ticket.
  static let maximumLength =
    minimumLength + ConnectToken.hostLimit * 19 + ConnectToken.maximumData
  /// The number of bytes from the nonce to the end of the ticket, not counting the backend's data.
  private static let sealedOverhead =
    XChaChaPoly.nonceLength + ConnectToken.keyLength + 16 + XChaChaPoly.tagLength

  let purpose: Purpose
  /// When the ticket was made.
  let made: UnixTime
  /// When the ticket stops being valid.
  let expiry: UnixTime
  /// The hosts for which the ticket is meant.
  let hosts: [Endpoint]
  /// All bytes of the ticket.
  let bytes: [UInt8]
  /// The length of the head in bytes: the part before the nonce, which is not encrypted.
  private let headLength: Int

  /// Makes a ticket. The arguments must be within the limits that `ConnectToken` states.
  init(
    made: UnixTime, expiry: UnixTime, hosts: [Endpoint], player: PeerID, data: [UInt8],
    key: SecretBytes, nonce: [UInt8], backendKey: BackendKey, for purpose: Purpose = .joining
  ) {
    self.purpose = purpose
    var head = PacketWriter(capacity: Self.maximumLength)
    head.write(purpose.magic)
    head.write(UInt64(made.milliseconds))
    head.write(UInt64(expiry.milliseconds))
    head.append(UInt8(hosts.count))
    for host in hosts {
      head.append(host.address.isV6 ? 6 : 4)
      head.write(host.address.bytes)
      head.write(host.port)
    }
    var rest = PacketWriter(capacity: 16 + data.count)
    rest.writeBigEndian(player.high)
    rest.writeBigEndian(player.low)
    rest.write(data)
    let plain = SecretBytes(key, SecretBytes(copying: rest.bytes.span))
    let sealed = XChaChaPoly.seal(plain, head: head.bytes, nonce: nonce, key: backendKey.secret)
    self.made = made
    self.expiry = expiry
    self.hosts = hosts
    bytes = head.bytes + nonce + sealed
    headLength = head.count
  }

  /// Reads the head of a ticket. Does not check whether the ticket is authentic; `open` does.
  init(decoding bytes: Span<UInt8>) throws(DecodeError) {
    guard bytes.count <= Self.maximumLength else {
      throw .tooLarge(length: UInt64(bytes.count), limit: UInt64(Self.maximumLength))
    }
    var reader = PacketReader(bytes)
    switch try reader.readBytes(4) {
    case Purpose.joining.magic: purpose = .joining
    case Purpose.asking.magic: purpose = .asking
    default: throw .invalid(what: "version of a connect token")
    }
    made = try Self.readTime(&reader)
    expiry = try Self.readTime(&reader)
    let count: UInt8 = try reader.read()
    guard count <= ConnectToken.hostLimit else {
      throw .tooLarge(length: UInt64(count), limit: UInt64(ConnectToken.hostLimit))
    }
    var hosts: [Endpoint] = []
    for _ in 0..<count { hosts.append(try Self.readHost(&reader)) }
    self.hosts = hosts
    headLength = reader.offset
    let dataLength = reader.remaining - Self.sealedOverhead
    guard dataLength >= 0 else {
      throw .truncated(wanted: Self.sealedOverhead, remaining: reader.remaining)
    }
    guard dataLength <= ConnectToken.maximumData else {
      throw .tooLarge(length: UInt64(dataLength), limit: UInt64(ConnectToken.maximumData))
    }
    self.bytes = Array(copying: bytes)
  }

  /// Returns the player, the key and the data of the ticket. Returns nil if none of the backend
  /// keys made it, or if it was changed.
  func open(
    with keys: [BackendKey]
  ) -> (player: PeerID, key: SecretBytes, data: [UInt8])? {
    let head = Array(bytes.prefix(headLength))
    let nonce = Array(bytes[headLength..<headLength + XChaChaPoly.nonceLength])
    let sealed = bytes.span.extracting((headLength + nonce.count)...)
    for key in keys {
      let plain = XChaChaPoly.open(sealed, head: head, nonce: nonce, key: key.secret)
      guard let plain else { continue }
      let rest = plain.reveal(from: ConnectToken.keyLength)
      let player = PeerID(
        high: rest.prefix(8).reduce(0) { $0 << 8 | UInt64($1) },
        low: rest[8..<16].reduce(0) { $0 << 8 | UInt64($1) })
      return (player, plain.prefix(ConnectToken.keyLength), Array(rest.dropFirst(16)))
    }
    return nil
  }

  private static func readTime(_ reader: inout PacketReader) throws(DecodeError) -> UnixTime {
    let milliseconds: UInt64 = try reader.read()
    guard let value = Int64(exactly: milliseconds) else { throw .invalid(what: "time") }
    return UnixTime(milliseconds: value)
  }

  private static func readHost(_ reader: inout PacketReader) throws(DecodeError) -> Endpoint {
    let version: UInt8 = try reader.read()
    guard version == 4 || version == 6 else { throw .invalid(what: "version of an address") }
    let bytes = try reader.readBytes(version == 4 ? 4 : 16)
    let port: UInt16 = try reader.read()
    guard let address = IPAddress(bytes: bytes), port != 0 else { throw .invalid(what: "host") }
    return Endpoint(address, port: port)
  }
}
