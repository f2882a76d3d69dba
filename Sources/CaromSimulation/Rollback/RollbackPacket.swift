import CaromCore

/// A rollback message with its kind, to be sent on a channel that carries all kinds. Layout: the
/// kind u8, then the message to the end. Inputs can use an unreliable channel; the other kinds are
/// rare, can be long, and should use a reliable one.
public struct RollbackPacket: Hashable, Sendable, PacketCodable {
  /// The kind of the message in `bytes`.
  public var message: RollbackMessage
  /// The message as `pollTransmit` wrote it.
  public var bytes: [UInt8]

  /// Creates a packet from a message's kind and bytes.
  public init(_ message: RollbackMessage, _ bytes: [UInt8]) {
    self.message = message
    self.bytes = bytes
  }

  /// Appends the kind and the message.
  public func encode(into writer: inout PacketWriter) {
    writer.append(message.rawValue)
    writer.write(bytes)
  }

  /// Creates a packet by decoding the kind. All remaining bytes are the message, which its receiver
  /// decodes.
  public init(decoding reader: inout PacketReader) throws(DecodeError) {
    guard let message = RollbackMessage(rawValue: try reader.read()) else {
      throw .invalid(what: "rollback message")
    }
    self.message = message
    bytes = reader.readRest()
  }
}

extension RollbackSession {
  /// Removes and returns the next message to send and the player to send it to. Returns nil if
  /// nothing is due; see `pollTransmit(into:)`.
  public mutating func pollPacket() -> (player: Int, packet: RollbackPacket)? {
    var writer = PacketWriter()
    guard let transmit = pollTransmit(into: &writer) else { return nil }
    return (transmit.player, RollbackPacket(transmit.message, writer.bytes))
  }

  /// Processes a message from a player.
  public mutating func receive(
    _ packet: RollbackPacket, from player: Int, at now: Instant
  ) throws(DecodeError) {
    try receive(packet.message, packet.bytes.span, from: player, at: now)
  }
}

extension RollbackServer {
  /// Removes and returns the next message to send and the number of the client to send it to.
  /// Returns nil if nothing is due before the next tick.
  public mutating func pollPacket() -> (client: Int, packet: RollbackPacket)? {
    var writer = PacketWriter()
    guard let (client, message) = pollTransmit(into: &writer) else { return nil }
    return (client, RollbackPacket(message, writer.bytes))
  }

  /// Processes a message from the client with this number.
  public mutating func receive(
    _ packet: RollbackPacket, from client: Int, at now: Instant
  ) throws(DecodeError) {
    try receive(packet.message, packet.bytes.span, from: client, at: now)
  }
}

extension RollbackBroadcaster {
  /// Removes and returns the next message to send and the number of the client to send it to.
  /// Returns nil if nothing is due before the next tick.
  public mutating func pollPacket() -> (client: Int, packet: RollbackPacket)? {
    var writer = PacketWriter()
    guard let (client, message) = pollTransmit(into: &writer) else { return nil }
    return (client, RollbackPacket(message, writer.bytes))
  }

  /// Processes a message from the client with this number.
  public mutating func receive(
    _ packet: RollbackPacket, from client: Int
  ) throws(DecodeError) {
    try receive(packet.message, packet.bytes.span, from: client)
  }
}

extension RollbackClient {
  /// Removes and returns the next message for the server, or nil if nothing is due.
  public mutating func pollPacket() -> RollbackPacket? {
    var writer = PacketWriter()
    guard let message = pollTransmit(into: &writer) else { return nil }
    return RollbackPacket(message, writer.bytes)
  }

  /// Processes a message from the server.
  public mutating func receive(
    _ packet: RollbackPacket, at now: Instant
  ) throws(DecodeError) {
    try receive(packet.message, packet.bytes.span, at: now)
  }
}
