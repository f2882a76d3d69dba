import CaromCore
import CaromProtocol
import CaromTransport

/// A session as its owner holds it: who is connected, what they say, and what to tell them.
///
/// It lives as long as the closure that `host` or `join` runs; when that returns or throws, every
/// peer is told goodbye and the sockets are closed.
public struct Session: Sendable {
  /// The node below, for code that runs on the loop itself.
  public let node: SessionNode
  private let hub: SessionHub

  /// Who joined and who left, from the beginning on; for one reader.
  public let events: AsyncStream<PeerEvent>

  /// The loop that the session runs on.
  public var loop: EventLoop { node.loop }

  private init(node: SessionNode, admit: (@Sendable (PeerInfo) -> Admission)?) async {
    self.node = node
    let (events, continuation) = AsyncStream.makeStream(of: PeerEvent.self)
    self.events = events
    let hub = SessionHub(node: node, admit: admit, events: continuation)
    self.hub = hub
    await hub.begin()
  }

  /// Listens on `port`, seats peers as `admit` says, and runs `body`.
  ///
  /// `seats` peers may be connected at a time; one more is told `full`. `admit` is asked once for
  /// each that asks for a seat.
  public static func host<Result>(
    as local: PeerInfo, port: UInt16 = 0, on addresses: [IPAddress] = [.any4, .any6],
    seats: Int = 1, loop: EventLoop,
    admit: @escaping @Sendable (PeerInfo) -> Admission = { _ in .accept },
    _ body: (Session, UInt16) async throws -> Result
  ) async throws -> Result {
    let node = SessionNode(local, seats: seats, on: loop)
    let session = await Session(node: node, admit: admit)
    let port = try await node.listen(on: addresses, port: port)
    return try await session.run { try await body(session, port) }
  }

  /// Connects to a host, asks for a seat and, once it is granted, runs `body`.
  public static func join<Result>(
    _ endpoints: [Endpoint], as local: PeerInfo, within limit: Duration = .seconds(10),
    loop: EventLoop, _ body: (Session, Peer) async throws -> Result
  ) async throws -> Result {
    let node = SessionNode(local, seats: 0, on: loop)
    let session = await Session(node: node, admit: nil)
    return try await session.run {
      let link = try await node.connect(to: endpoints, within: limit)
      guard let host = await session.hub.peer(link) else {
        throw SessionError.refused(.connectionLost)
      }
      return try await body(session, host)
    }
  }

  private func run<Result>(_ body: () async throws -> Result) async throws -> Result {
    do {
      let result = try await body()
      await node.shutdown(Goodbye(.finished))
      await hub.end()
      return result
    } catch {
      await node.shutdown()
      await hub.end()
      throw error
    }
  }

  /// Everybody who is connected, in the order of joining.
  public var peers: [Peer] {
    get async { await hub.allPeers }
  }

  /// The messages of one channel, from everybody; each channel for one reader. What came before
  /// the first reader is kept, up to 4,096 messages.
  public func messages<Message>(
    on channel: Channel<Message>
  ) async -> AsyncStream<Received<Message>> {
    await hub.messages(on: channel)
  }

  /// Sends a message to everybody; says who could not be sent it, and why.
  @discardableResult
  public func broadcast<Message>(
    _ message: Message, on channel: Channel<Message>
  ) async -> [Peer: SendError] {
    var failures: [Peer: SendError] = [:]
    for peer in await peers {
      do throws(SendError) {
        try await peer.send(message, on: channel)
      } catch { failures[peer] = error }
    }
    return failures
  }
}
