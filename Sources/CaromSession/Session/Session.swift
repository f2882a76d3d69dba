import CaromCore
import CaromProtocol
import CaromTransport

/// A session as its owner holds it: who is connected, what they say, and what to tell them.
///
/// It lives as long as the closure that `host` or `join` runs; when that returns or throws, every
/// peer is told goodbye and the sockets are closed. Tasks wait for its events and messages; a loop
/// that lives in frames asks with `poll` and `received`, from any thread.
public struct Session: Sendable {
  let hub: SessionHub
  private let inbox: Inbox<PeerEvent>

  /// The node below, for code that runs on the loop itself.
  public var node: SessionNode { hub.node }

  /// The loop that the session runs on.
  public var loop: NetworkLoop { hub.loop }

  init(node: SessionNode, admit: (@Sendable (PeerInfo) -> Admission)?) async {
    inbox = Inbox(limit: PeerEvents.limit, overflow: .dropOldest)
    hub = SessionHub(node: node, events: inbox, shelf: InboxRegistry(), admit: admit)
    hub.shelf.setHubs([hub])
    await hub.begin()
  }

  func run<Result>(_ body: () async throws -> Result) async throws -> Result {
    do {
      let result = try await body()
      await end(Goodbye(.finished))
      return result
    } catch {
      await end(Goodbye(.left))
      throw error
    }
  }

  private func end(_ goodbye: Goodbye) async {
    await node.shutdown(goodbye)
    inbox.finish()
    hub.shelf.end()
    await hub.end()
  }
}

// MARK: - Who is here
extension Session {
  /// What happens to the peers, from the beginning on; for one reader at a time.
  public var events: PeerEvents { PeerEvents(inbox: inbox) }

  /// The next event, if there is one: for a loop that asks once a frame, from any thread.
  public func poll() -> PeerEvent? { inbox.take() }

  /// Calls `observer` on the loop with each event from now on, beside whoever reads `events`: for
  /// logs and counters. It must not wait.
  public func observe(_ observer: @escaping @Sendable (PeerEvent) -> Void) async {
    await hub.observe(observer)
  }

  /// Everybody who is connected, in the order of joining.
  public var peers: [Peer] {
    get async { await hub.allPeers }
  }

  /// What the host gave this guest for the next time: `join` takes one round trip with it instead
  /// of two. `nil` until it has come, and where nothing goes by datagrams.
  public var joinToken: JoinToken? {
    get async { await node.joinTokens.last }
  }

  /// Tells `inputStopped` once when a peer that has sent on `channel` has sent nothing there for
  /// `limit`, or is gone, and `inputResumed` when it goes on. `nil` ends that.
  public func watchInput<Message>(on channel: MessageChannel<Message>, limit: Duration?) async {
    await node.watchInput(channel: channel.id, limit: limit)
  }
}

// MARK: - Messages
extension Session {
  /// The messages of one channel, from everybody; each channel for one reader at a time. What came
  /// before the first reader is kept: all of a reliable channel, of others some.
  public func messages<Message>(on channel: MessageChannel<Message>) -> Messages<Message> {
    Messages(inbox: hub.shelf.inbox(for: channel))
  }

  /// The messages of one channel that have come since the last time, for a loop that asks once a
  /// frame. From any thread, and never waits.
  public func received<Message>(on channel: MessageChannel<Message>) -> [Received<Message>] {
    let inbox = hub.shelf.inbox(for: channel)
    var messages: [Received<Message>] = []
    while let message = inbox.take() { messages.append(message) }
    return messages
  }

  /// Sends a message to everybody, or to `peers`, without waiting for room; says to whom it could
  /// not be sent, and why.
  @discardableResult
  public func broadcast<Message>(
    _ message: Message, on channel: MessageChannel<Message>, to peers: [Peer]? = nil,
    lifetime: Duration? = nil
  ) async -> [Peer: SendError] {
    let targets = if let peers { peers } else { await self.peers }
    let failures = await node.broadcast(
      message, on: channel, to: targets.map(\.link), lifetime: lifetime)
    guard !failures.isEmpty else { return [:] }
    return targets.reduce(into: [:]) { $0[$1] = failures[$1.link] }
  }

  /// Hands a message for everybody over from any thread, without waiting and without a word of
  /// what becomes of it. `false` where it was not even taken.
  @discardableResult
  public func post<Message>(
    _ message: Message, on channel: MessageChannel<Message>, lifetime: Duration? = nil
  ) -> Bool {
    node.post(message, on: channel, to: .all, lifetime: lifetime)
  }
}

// MARK: - Questions
extension Session {
  /// Answers the questions of an exchange, one after the other, until the session ends or the
  /// task is cancelled. Whoever asked is told where `answer` throws.
  public func respond<Question, Answer>(
    to exchange: Exchange<Question, Answer>,
    _ answer: (Peer, Question) async throws -> Answer
  ) async {
    await hub.shelf.respond(to: exchange, answer)
  }

  /// Who has to apply a message.
  public enum Audience: Hashable, Sendable {
    /// Everybody who is connected.
    case all
    /// These.
    case peers([Peer])
  }

  /// Sends a message that counts only when everybody has applied it: returns when the `respond`
  /// closures of all of them have, and says by the deadline who has not, and why.
  public func send<Message>(
    _ message: Message, on exchange: Exchange<Message, Applied>,
    acknowledgedBy audience: Audience = .all, within limit: Duration
  ) async -> [Peer: RequestError] {
    let peers = if case .peers(let peers) = audience { peers } else { await self.peers }
    return await Self.send(message, on: exchange, acknowledgedBy: peers, within: limit)
  }

  static func send<Message>(
    _ message: Message, on exchange: Exchange<Message, Applied>, acknowledgedBy peers: [Peer],
    within limit: Duration
  ) async -> [Peer: RequestError] {
    await withTaskGroup { group in
      for peer in peers {
        group.addTask { () async -> (Peer, RequestError?) in
          do throws(RequestError) {
            _ = try await peer.request(message, over: exchange, within: limit)
            return (peer, nil)
          } catch { return (peer, error) }
        }
      }
      return await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
    }
  }
}
