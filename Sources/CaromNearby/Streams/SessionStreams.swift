import CaromCore
import CaromGroup
import CaromProtocol
import CaromSession
import CaromTransport

/// Opens byte streams to the peers of a session, and takes the streams that they open.
///
/// ```swift
/// try await session.withStreams { streams in
///   let voice = try await streams.open("voice", to: peer)
///   for await samples in microphone { try await voice.write(samples) }
///   await voice.finish()
/// }
/// ```
///
/// Streams travel beside the session's messages on channels 62 and 63. Both sides must be in
/// `withStreams`.
public struct SessionStreams: Sendable {
  private let hubs: [StreamHub]
  /// The streams that peers open, for one reader.
  public let incoming: AsyncStream<PeerStream>

  init(_ hubs: [StreamHub], incoming: AsyncStream<PeerStream>) {
    self.hubs = hubs
    self.incoming = incoming
  }

  /// Opens a stream to a peer, without waiting for the peer. 256 streams that this side has opened
  /// can be open to each peer at a time.
  public func open(_ name: String = "", to peer: Peer) async throws(StreamFailure) -> PeerStream {
    guard let hub = hubs.first(where: { $0.loop === peer.loop }) else { throw .disconnected }
    return try await hub.open(name, to: peer)
  }
}

extension Session {
  /// Runs `body` with the ability to open byte streams to this session's peers and to take those
  /// that they open. One such scope can be open at a time. When `body` returns or throws, all
  /// streams are reset, as are those that peers open afterwards.
  public func withStreams<Result>(
    _ body: (SessionStreams) async throws -> Result
  ) async throws -> Result {
    let (streams, input) = AsyncStream.makeStream(of: PeerStream.self)
    let hubs = loops.map { StreamHub(on: $0, incoming: input) }
    await attach(hubs)
    do {
      let result = try await body(SessionStreams(hubs, incoming: streams))
      for hub in hubs { await hub.close() }
      return result
    } catch {
      for hub in hubs { await hub.close() }
      throw error
    }
  }

  /// Connects the hubs with the session, until it ends.
  private func attach(_ hubs: [StreamHub]) async {
    await addObserver { event in
      guard let loop = event.peer?.loop else { return }
      hubs.first { $0.loop === loop }?.assumeIsolated { $0.handle(event) }
    }
    for channel in [GroupChannel.streams, .streamBytes] {
      await setReceiver(of: channel.rawValue) { peer, bytes in
        let bytes = Array(copying: bytes)
        guard let hub = hubs.first(where: { $0.loop === peer.loop }) else { return false }
        return hub.assumeIsolated {
          $0.receive(bytes, of: peer, isData: channel == .streamBytes)
        }
      }
    }
  }
}
