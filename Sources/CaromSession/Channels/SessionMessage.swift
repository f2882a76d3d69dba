import CaromProtocol

/// A message where it lies: who sent it, on which channel, and its bytes, which are there while
/// the handler runs.
public struct SessionMessage: ~Escapable {
  /// The link that it came on.
  public let link: ConnectionID
  /// The channel's number.
  public let channel: UInt8
  /// The message.
  public let bytes: Span<UInt8>

  @_lifetime(copy bytes)
  init(link: ConnectionID, channel: UInt8, bytes: Span<UInt8>) {
    self.link = link
    self.channel = channel
    self.bytes = bytes
  }
}
