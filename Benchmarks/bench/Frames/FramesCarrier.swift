/// The transport that carries the messages between the server and its clients.
enum FramesCarrier: String, Sendable {
  /// Carom sessions (`SessionNode`), with their handshake, frames, channels and pings.
  case session
  /// The same bytes on plain `TCPStream`s: the lower bound of the cost.
  case bare
}
