import CaromGroup
import CaromProtocol
import CaromSession
import CaromTransport

/// Sends files to the peers of a session, and receives files from them.
///
/// ```swift
/// try await session.withFiles { files in
///   let transfers = try await files.send("holiday.jpg", to: session.peers)
///   for transfer in transfers { try await transfer.waitUntilComplete() }
/// }
/// ```
///
/// Files travel beside the session's messages on channels 60 and 61, and only when nothing else is
/// to be sent. Both sides must be in `withFiles`.
public struct SessionFiles: Sendable {
  private let hubs: [TransferHub]
  private let fileLoop: NetworkLoop
  /// The files that peers offer, for one reader.
  public let offers: AsyncStream<IncomingOffer>

  init(
    _ hubs: [TransferHub], files fileLoop: NetworkLoop, offers: AsyncStream<IncomingOffer>
  ) {
    self.hubs = hubs
    self.fileLoop = fileLoop
    self.offers = offers
  }

  /// Offers a file to several peers at once. Returns the transfers, in the order of the peers, as
  /// soon as the file has been read once to compute its hash. Each transfer then waits for its
  /// peer's answer.
  ///
  /// - Parameters:
  ///   - path: The path of a regular file of at most 1 TiB.
  ///   - name: The name that the peers are offered; nil for the last component of `path`.
  ///   - peers: The peers of the session to send the file to.
  /// - Throws: `unreadable`, `invalidName`, `tooLarge`, or `changed` if the file changes while it
  ///   is being read. Everything that concerns one peer is reported by its transfer.
  public func send(
    _ path: String, as name: FileName? = nil, to peers: [Peer]
  ) async throws(TransferFailure) -> [FileTransfer] {
    let last = path.split(separator: "/").last.map(String.init) ?? ""
    guard let name = name ?? FileName(last) else { throw .invalidName }
    let source = FileSource(path, on: fileLoop)
    let offer = try await source.makeOffer(name)
    var transfers: [FileTransfer] = []
    for peer in peers {
      let transfer = FileTransfer(offer, with: peer)
      transfers.append(transfer)
      let hub = hubs.first { $0.loop === peer.loop }
      guard let hub else {
        transfer.end(.failure(.disconnected))
        continue
      }
      await hub.send(source, offer, transfer)
    }
    return transfers
  }
}

extension Session {
  /// Runs `body` with the ability to send files to this session's peers and to receive files from
  /// them. One such scope can be open at a time.
  ///
  /// When `body` returns or throws, all transfers that are not complete are interrupted. The
  /// parts that were received are kept, so that a later transfer continues them. Offers that
  /// arrive afterwards are declined.
  ///
  /// Files are read and written on a thread of their own, never on the session's loops.
  public func withFiles<Result>(
    _ body: (SessionFiles) async throws -> Result
  ) async throws -> Result {
    let fileLoop = try NetworkLoop(name: "carom-files")
    let (offers, input) = AsyncStream.makeStream(of: IncomingOffer.self)
    let tasks = TaskRegistry()
    let interrupted = InterruptedTransfers()
    let hubs = loops.map {
      TransferHub(on: $0, files: fileLoop, tasks: tasks, interrupted, offers: input)
    }
    await attach(hubs)
    defer { input.finish() }
    do {
      let result = try await body(SessionFiles(hubs, files: fileLoop, offers: offers))
      await detach(hubs, tasks, fileLoop)
      return result
    } catch {
      await detach(hubs, tasks, fileLoop)
      throw error
    }
  }

  /// Connects the hubs with the session, until it ends. They refuse offers after they were closed.
  private func attach(_ hubs: [TransferHub]) async {
    await addObserver { event in
      guard let loop = event.peer?.loop else { return }
      hubs.first { $0.loop === loop }?.assumeIsolated { $0.handle(event) }
    }
    for channel in [GroupChannel.transfers, .pieces] {
      await setReceiver(of: channel.rawValue) { peer, bytes in
        guard let hub = hubs.first(where: { $0.loop === peer.loop }) else { return false }
        return hub.assumeIsolated {
          $0.receive(bytes, of: peer, isData: channel == .pieces)
        }
      }
    }
  }

  private func detach(
    _ hubs: [TransferHub], _ tasks: TaskRegistry, _ fileLoop: NetworkLoop
  ) async {
    for hub in hubs { await hub.close() }
    await tasks.waitForAll()
    await fileLoop.shutdown()
  }
}

extension PeerEvent {
  /// The peer that has joined or left, or whose connection is interrupted or resumed; nil for other
  /// events.
  var peer: Peer? {
    switch self {
    case .joined(let peer), .left(let peer, _), .interrupted(let peer), .resumed(let peer): peer
    default: nil
    }
  }
}

extension Peer {
  /// Sends a message on a reserved channel. Must be called on the peer's loop.
  func sendNow(
    _ bytes: [UInt8], on channel: GroupChannel, delivered: (@Sendable () -> Void)? = nil
  ) throws(SendError) {
    try sendNow(
      bytes, on: channel.rawValue, channel.delivery, priority: channel.priority,
      delivered: delivered)
  }
}
