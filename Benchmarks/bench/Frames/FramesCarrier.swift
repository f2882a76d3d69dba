/// What carries the messages between server and clients.
enum FramesCarrier: String, Sendable {
  /// `SessionNode`s: handshake, frames, channels, pings.
  case session
  /// The same bytes on `TCPStream`s alone, which is the least that it can cost.
  case bare
}
