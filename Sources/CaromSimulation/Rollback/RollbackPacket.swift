import CaromCore

/// A message of rollback play as one value, for a channel that carries values: its kind u8, then
/// the message itself to the end. Inputs go well on a channel that may lose; the other kinds are
/// rare, can be long, and want one that does not.
public struct RollbackPacket: Hashable, Sendable, PacketCodable {
  /// What it is.
  public var message: RollbackMessage
  /// The message as `pollTransmit` wrote it.
  public var bytes: [UInt8]

  /// A message.
  public init(_ message: RollbackMessage, _ bytes: [UInt8]) {
    self.message = message
    self.bytes = bytes
  }

  /// Appends the kind and the message.
  public func encode(into writer: inout PacketWriter) {
    writer.append(message.rawValue)
    writer.write(bytes)
  }

  /// Reads everything that is left; what the message holds is checked by who receives it.
  public init(decoding reader: inout PacketReader) throws(DecodeError) {
    guard let message = RollbackMessage(rawValue: try reader.read()) else {
      throw .invalid(what: "rollback message")
    }
    self.message = message
    bytes = reader.readRest()
  }
}

extension RollbackSession {
  /// The next message as a value, and for which player it is; see `pollTransmit(into:)`.
  public mutating func pollPacket() -> (player: Int, packet: RollbackPacket)? {
    var writer = PacketWriter()
    guard let transmit = pollTransmit(into: &writer) else { return nil }
    return (transmit.player, RollbackPacket(transmit.message, writer.bytes))
  }

  /// Takes a message that came as a value.
  public mutating func receive(
    _ packet: RollbackPacket, from player: Int, at now: Instant
  ) throws(DecodeError) {
    try receive(packet.message, packet.bytes.span, from: player, at: now)
  }
}

extension RollbackServer {
  /// The next message as a value, and for which client it is.
  public mutating func pollPacket() -> (client: Int, packet: RollbackPacket)? {
    var writer = PacketWriter()
    guard let (client, message) = pollTransmit(into: &writer) else { return nil }
    return (client, RollbackPacket(message, writer.bytes))
  }

  /// Takes a message that came as a value.
  public mutating func receive(
    _ packet: RollbackPacket, from client: Int, at now: Instant
  ) throws(DecodeError) {
    try receive(packet.message, packet.bytes.span, from: client, at: now)
  }
}

extension RollbackBroadcaster {
  /// The next message as a value, and for which client it is.
  public mutating func pollPacket() -> (client: Int, packet: RollbackPacket)? {
    var writer = PacketWriter()
    guard let (client, message) = pollTransmit(into: &writer) else { return nil }
    return (client, RollbackPacket(message, writer.bytes))
  }

  /// Takes a message that came as a value.
  public mutating func receive(
    _ packet: RollbackPacket, from client: Int
  ) throws(DecodeError) {
    try receive(packet.message, packet.bytes.span, from: client)
  }
}

extension RollbackClient {
  /// The next message for the server as a value.
  public mutating func pollPacket() -> RollbackPacket? {
    var writer = PacketWriter()
    guard let message = pollTransmit(into: &writer) else { return nil }
    return RollbackPacket(message, writer.bytes)
  }

  /// Takes a message that came as a value.
  public mutating func receive(
    _ packet: RollbackPacket, at now: Instant
  ) throws(DecodeError) {
    try receive(packet.message, packet.bytes.span, at: now)
  }
}
