import CaromCore
import CaromGroup
import CaromProtocol
import CaromSession
import CaromTransport

/// Carries out the file transfers of all peers of one loop: it passes messages between the sessions
/// and the machines, and the bytes of files between the machines and the tasks that read and write
/// files on a thread of their own.
actor TransferHub: LoopActor {
  /// How long to wait before trying again to send, if the application has filled the session's
  /// queue.
  private static let retryInterval = Duration.milliseconds(5)

  /// A call to a machine from another thread.
  enum Call: Sendable {
    case refuse(TransferID, TransferFailure)
    case cancel(TransferID, TransferFailure)
  }

  /// Bytes that have arrived.
  struct Piece: Sendable {
    let offset: UInt64
    let bytes: [UInt8]
  }

  /// A part of a file that has to be read.
  struct ReadRequest: Sendable {
    let offset: UInt64
    let count: Int
  }

  /// A transfer that is under way, and the task that reads or writes its file.
  fileprivate enum Work {
    case sending(FileTransfer, AsyncStream<ReadRequest>.Continuation)
    case receiving(FileTransfer, AsyncStream<Piece>.Continuation)
  }

  private struct Link {
    let peer: Peer
    var machine = Transfers()
    var works: [TransferID: Work] = [:]
    /// The message that the session had no room for.
    var waiting: Transfers.Transmit?
  }

  nonisolated let loop: NetworkLoop
  /// The loop on whose thread files are read and written.
  nonisolated let fileLoop: NetworkLoop
  /// Nil once the hub is closed: offers that nobody has read refer to the hub.
  private var offers: AsyncStream<IncomingOffer>.Continuation?
  private let tasks: TaskRegistry
  private var links: [ConnectionID: Link] = [:]
  private var retryTimer: LoopTimer?

  init(
    on loop: NetworkLoop, files fileLoop: NetworkLoop, tasks: TaskRegistry,
    offers: AsyncStream<IncomingOffer>.Continuation
  ) {
    self.loop = loop
    self.fileLoop = fileLoop
    self.tasks = tasks
    self.offers = offers
  }

  /// Handles an event of the session.
  func handle(_ event: PeerEvent) {
    switch event {
    case .joined(let peer):
      if links[peer.connectionID] == nil { links[peer.connectionID] = Link(peer: peer) }
    case .left(let peer, _):
      links[peer.connectionID]?.machine.disconnect()
      links[peer.connectionID]?.waiting = nil
      drain(peer.connectionID)
      links[peer.connectionID] = nil
    default: break
    }
  }

  /// Handles a message of a peer. Returns false if it violates the protocol.
  func receive(_ bytes: [UInt8], of peer: Peer, isData: Bool) -> Bool {
    let connection = peer.connectionID
    if links[connection] == nil { links[connection] = Link(peer: peer) }
    do throws(DecodeError) {
      if isData {
        try links[connection]?.machine.handleData(bytes.span)
      } else {
        try links[connection]?.machine.handleControl(bytes.span)
      }
    } catch { return false }
    drain(connection)
    return true
  }

  /// Interrupts all transfers, and refuses all offers from now on.
  func close() {
    offers?.finish()
    offers = nil
    for connection in links.keys.sorted() {
      for id in links[connection].map({ Array($0.works.keys) }) ?? [] {
        handle(.cancel(id, .disconnected), connection)
      }
    }
  }

  /// Makes a call from any thread.
  nonisolated func post(_ call: Call, _ peer: Peer) {
    loop.post { self.assumeIsolated { $0.handle(call, peer.connectionID) } }
  }

  private func handle(_ call: Call, _ connection: ConnectionID) {
    switch call {
    case .refuse(let id, let failure): links[connection]?.machine.refuse(id, failure)
    case .cancel(let id, let failure):
      links[connection]?.machine.cancel(id, failure)
      end(id, failure, connection)
    }
    drain(connection)
  }
}

// MARK: - The machines
extension TransferHub {
  private func drain(_ connection: ConnectionID) {
    while let event = links[connection]?.machine.pollEvent() { carryOut(event, connection) }
    transmit(connection)
  }

  private func transmit(_ connection: ConnectionID) {
    while let message = links[connection]?.waiting ?? links[connection]?.machine.pollTransmit() {
      links[connection]?.waiting = message
      guard send(message, connection) else { return }
      links[connection]?.waiting = nil
    }
  }

  /// Gives a message to the session. Returns false if it has to wait.
  private func send(_ message: Transfers.Transmit, _ connection: ConnectionID) -> Bool {
    guard let peer = links[connection]?.peer else { return false }
    do throws(SendError) {
      switch message {
      case .control(let bytes): try peer.sendNow(bytes, on: .transfers)
      case .data(let bytes):
        let length = bytes.count
        try peer.sendNow(bytes, on: .pieces) { [weak self] in
          self?.assumeIsolated { $0.didDeliver(length, connection) }
        }
      }
      return true
    } catch {
      // Without a connection, the event that the peer has left follows.
      if case .queueFull = error { retryLater() }
      return false
    }
  }

  private func didDeliver(_ length: Int, _ connection: ConnectionID) {
    links[connection]?.machine.didDeliver(length)
    drain(connection)
  }

  private func retryLater() {
    if retryTimer == nil {
      retryTimer = LoopTimer(on: loop, owner: self) { hub in
        for connection in hub.links.keys.sorted() { hub.drain(connection) }
      }
    }
    retryTimer?.arm(at: loop.now + Self.retryInterval)
  }

  private func carryOut(_ event: TransferEvent, _ connection: ConnectionID) {
    guard let link = links[connection] else { return }
    switch event {
    case .offered(let id, let offer):
      if let offers {
        offers.yield(IncomingOffer(offer, id, of: link.peer, in: self))
      } else {
        links[connection]?.machine.refuse(id)
      }
    case .accepted(let id, let offset): link.works[id]?.transfer.update(offset)
    case .stored(let id, let offset): link.works[id]?.transfer.update(offset)
    case .read(let id, let offset, let count):
      guard case .sending(_, let requests)? = link.works[id] else { return }
      requests.yield(ReadRequest(offset: offset, count: count))
    case .received(let id, let offset, let bytes):
      guard case .receiving(_, let pieces)? = link.works[id] else { return }
      pieces.yield(Piece(offset: offset, bytes: bytes))
    case .completed(let id):
      guard let work = links[connection]?.works.removeValue(forKey: id) else { return }
      work.end(.success(work.transfer.name))
    case .failed(let id, let failure): end(id, failure, connection)
    }
  }

  private func end(_ id: TransferID, _ failure: TransferFailure, _ connection: ConnectionID) {
    links[connection]?.works.removeValue(forKey: id)?.end(.failure(failure))
  }
}

extension TransferHub.Work {
  var transfer: FileTransfer {
    switch self {
    case .sending(let transfer, _), .receiving(let transfer, _): transfer
    }
  }

  /// Ends the transfer and the loop of its task.
  func end(_ result: Result<FileName, TransferFailure>) {
    transfer.end(result)
    switch self {
    case .sending(_, let requests): requests.finish()
    case .receiving(_, let pieces): pieces.finish()
    }
  }
}

// MARK: - Sending
extension TransferHub {
  /// Offers a file to a peer, and begins a task that reads it.
  func send(_ source: FileSource, _ offer: FileOffer, _ transfer: FileTransfer) {
    let connection = transfer.peer.connectionID
    guard offers != nil, links[connection] != nil else {
      return transfer.end(.failure(.disconnected))
    }
    do throws(TransferFailure) {
      guard let id = try links[connection]?.machine.offer(offer) else { return }
      let (requests, input) = AsyncStream.makeStream(of: ReadRequest.self)
      links[connection]?.works[id] = .sending(transfer, input)
      transfer.setCancel { [weak self, peer = transfer.peer] in
        self?.post(.cancel(id, .cancelled), peer)
      }
      tasks.add(on: loop) { await self.read(source, requests, id, connection) }
      drain(connection)
    } catch { transfer.end(.failure(error)) }
  }

  private func read(
    _ source: FileSource, _ requests: AsyncStream<ReadRequest>, _ id: TransferID,
    _ connection: ConnectionID
  ) async {
    for await request in requests {
      do throws(TransferFailure) {
        let bytes = try await source.read(request.count, at: request.offset)
        links[connection]?.machine.provide(bytes, for: id)
        drain(connection)
      } catch { handle(.cancel(id, error), connection) }
    }
  }
}

// MARK: - Receiving
extension TransferHub {
  /// Begins a task that receives an offered file.
  nonisolated func receive(
    _ id: TransferID, _ transfer: FileTransfer, into destination: FileDestination
  ) {
    let (pieces, input) = AsyncStream.makeStream(of: Piece.self)
    tasks.add(on: loop) {
      await self.begin(id, transfer, input)
      do throws(TransferFailure) {
        try await self.write(pieces, id, transfer, destination)
      } catch {
        await self.handle(.cancel(id, error), transfer.peer.connectionID)
      }
      // What the peer or the application has caused to fail has its result already.
      transfer.end(.failure(.disconnected))
      if let failure = transfer.failure, failure != .disconnected { await destination.remove() }
    }
  }

  private func begin(
    _ id: TransferID, _ transfer: FileTransfer, _ input: AsyncStream<Piece>.Continuation
  ) {
    let connection = transfer.peer.connectionID
    guard offers != nil, links[connection]?.machine.isOffered(id) == true else {
      input.finish()
      return transfer.end(.failure(links[connection] == nil ? .disconnected : .cancelled))
    }
    links[connection]?.works[id] = .receiving(transfer, input)
    transfer.setCancel { [weak self, peer = transfer.peer] in
      self?.post(.cancel(id, .cancelled), peer)
    }
  }

  private func write(
    _ pieces: AsyncStream<Piece>, _ id: TransferID, _ transfer: FileTransfer,
    _ destination: FileDestination
  ) async throws(TransferFailure) {
    let connection = transfer.peer.connectionID
    var offset = try await destination.open()
    guard links[connection]?.works[id] != nil else { return }
    links[connection]?.machine.accept(id, from: offset)
    transfer.update(offset)
    drain(connection)
    if offset < transfer.size {
      for await piece in pieces {
        offset = try await destination.write(piece.bytes)
        didStore(offset, id, connection)
        transfer.update(offset)
        if offset == transfer.size { break }
      }
    }
    // From here on, the end of the connection does not keep the file from being complete.
    guard offset == transfer.size,
      let work = links[connection]?.works.removeValue(forKey: id)
    else { return }
    do throws(TransferFailure) {
      work.end(.success(try await destination.finish()))
      links[connection]?.machine.complete(id)
      drain(connection)
    } catch {
      work.end(.failure(error))
      throw error
    }
  }

  private func didStore(_ offset: UInt64, _ id: TransferID, _ connection: ConnectionID) {
    links[connection]?.machine.didStore(id, upTo: offset)
    drain(connection)
  }
}
