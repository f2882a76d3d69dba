import CaromProtocol

/// A received message that has not been copied. Its bytes are valid only while the handler runs.
public struct SessionMessage: ~Escapable {
  /// The connection on which the message arrived.
  public let connectionID: ConnectionID
  /// The number of the message's channel.
  public let channel: UInt8
  /// The encoded message.
  public let bytes: Span<UInt8>

  @_lifetime(copy bytes)
  init(connectionID: ConnectionID, channel: UInt8, bytes: Span<UInt8>) {
    self.connectionID = connectionID
    self.channel = channel
    self.bytes = bytes
  }
}
