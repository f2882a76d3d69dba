import CaromGroup
import CaromSession
import CaromTransport

/// A named stream of bytes to and from a peer.
///
/// Either side can write, read, finish its own direction, and reset both. A stream whose reader
/// stops makes its writer wait, and delays no other stream. One task at a time may write, and one
/// may read. A stream that is released is reset, unless this side has finished: then what was
/// written still arrives, and what the peer sends is ignored.
public final class PeerStream: Sendable {
  /// The peer at the other end.
  public let peer: Peer
  /// The name that the side which opened the stream has given it, at most 255 bytes of UTF-8.
  public let name: String
  let id: StreamID
  private let hub: StreamHub

  init(_ id: StreamID, _ name: String, to peer: Peer, in hub: StreamHub) {
    self.id = id
    self.name = name
    self.peer = peer
    self.hub = hub
  }

  deinit { hub.postRelease(id, peer.connectionID) }

  /// Writes bytes, after waiting for room: 64 KiB wait here, and up to 4 MiB at the peer. Returns
  /// once all bytes are queued; they may not have been sent.
  public func write(_ bytes: [UInt8]) async throws(StreamFailure) {
    try await hub.write(bytes, to: id, peer.connectionID)
  }

  /// Writes no more. The peer's reader sees the end after the bytes that were written, and can
  /// still write.
  public func finish() async { await hub.finish(id, peer.connectionID) }

  /// Waits for bytes, and returns at most `count` of them, or nil if the peer has finished and
  /// everything was read.
  public func read(atMost count: Int = 64 << 10) async throws(StreamFailure) -> [UInt8]? {
    precondition(count > 0, "at least one byte is read")
    return try await hub.read(count, from: id, peer.connectionID)
  }

  /// Ends the stream in both directions. Bytes that were not sent or not read are lost. Can be
  /// called at any time and from any thread.
  public func reset() { hub.postReset(id, peer.connectionID) }
}

extension PeerStream: AsyncSequence {
  /// The bytes in the parts in which they arrived.
  public typealias Element = [UInt8]

  /// An iterator over the bytes that arrive. It throws a `StreamFailure`.
  public struct AsyncIterator: AsyncIteratorProtocol {
    let stream: PeerStream

    /// Waits for bytes. Returns nil at the end of the stream.
    public mutating func next() async throws(StreamFailure) -> [UInt8]? { try await stream.read() }
  }

  /// Creates an iterator over the bytes that arrive.
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(stream: self) }
}
