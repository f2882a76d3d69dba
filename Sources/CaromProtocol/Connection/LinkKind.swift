/// A kind of link that carries a connection's messages.
public enum LinkKind: Hashable, Sendable, CaseIterable {
  /// UDP, with Carom's own loss detection and congestion control.
  case datagram
  /// TCP, used where UDP is blocked or was not requested.
  case stream
  /// A WebSocket (RFC 6455), whose binary messages carry the bytes of a stream; used by browsers.
  case webSocket
  /// A WebRTC data channel, which carries datagrams between a page and its host; used by browsers
  /// beside a WebSocket.
  case dataChannel
}

extension LinkKind: CustomStringConvertible {
  /// The name of the transport: "udp", "tcp", "websocket" or "webrtc".
  public var description: String {
    switch self {
    case .datagram: "udp"
    case .stream: "tcp"
    case .webSocket: "websocket"
    case .dataChannel: "webrtc"
    }
  }
}
