import CaromCore

/// What a `VirtualNetwork` tells a host.
public enum VirtualEvent: Hashable, Sendable {
  /// A datagram came.
  case datagram(Datagram, on: VirtualSocket)
  /// Somebody connected to the port that the host listens on.
  case accepted(VirtualStream, from: Endpoint, port: UInt16)
  /// The host's call was answered: it may write.
  case connected(VirtualStream)
  /// Nobody listens there.
  case refused(VirtualStream)
  /// Nobody answered, 127 s long.
  case timedOut(VirtualStream)
  /// The next bytes of a stream, at least one.
  case bytes([UInt8], VirtualStream)
  /// The other end finished: no more bytes come, writing goes on.
  case end(VirtualStream)
  /// The other end broke the stream off: no more events come from it.
  case reset(VirtualStream)
  /// Nothing of what was written waits at the sender, as `notifyWhenDrained` asked to be told.
  case drained(VirtualStream)

  /// Whom it is for.
  public var host: VirtualHost.ID {
    switch self {
    case .datagram(_, let socket): socket.host
    case .accepted(let stream, _, _), .connected(let stream), .refused(let stream),
      .timedOut(let stream), .bytes(_, let stream), .end(let stream), .reset(let stream),
      .drained(let stream):
      stream.host
    }
  }
}

extension VirtualEvent: CustomStringConvertible {
  /// One line for a trace.
  public var description: String {
    switch self {
    case .datagram(let datagram, let socket):
      "\(socket.host): datagram of \(datagram.payload.count) from \(datagram.source) to "
        + "\(datagram.destination)"
    case .accepted(let stream, let from, let port):
      "\(stream.host): accepted stream \(stream.number) from \(from) on port \(port)"
    case .connected(let stream): "\(stream.host): connected stream \(stream.number)"
    case .refused(let stream): "\(stream.host): refused stream \(stream.number)"
    case .timedOut(let stream): "\(stream.host): timed out stream \(stream.number)"
    case .bytes(let bytes, let stream):
      "\(stream.host): \(bytes.count) bytes on stream \(stream.number)"
    case .end(let stream): "\(stream.host): end of stream \(stream.number)"
    case .reset(let stream): "\(stream.host): reset of stream \(stream.number)"
    case .drained(let stream): "\(stream.host): drained stream \(stream.number)"
    }
  }
}
