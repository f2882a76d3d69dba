/// What one loop of a `SessionGroup` does, counted from its beginning.
public struct LoopStatistics: Hashable, Sendable {
  /// Peers that live on it now.
  public var peers = 0
  /// Bytes that it handed to the system.
  public var bytesSent: UInt64 = 0
  /// Bytes that it took from the system, those that it passed on included.
  public var bytesReceived: UInt64 = 0
  /// Datagrams that came here and belong to a peer of another loop.
  public var datagramsPassedOn: UInt64 = 0
  /// Streams that came here and belong to a peer of another loop.
  public var streamsPassedOn: UInt64 = 0
}
