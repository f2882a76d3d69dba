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

  /// A transfer that is under way, and what its task has to read or to write.
  fileprivate enum Work {
    case sending(FileTransfer, BatchQueue<FilePart>)
    case receiving(FileTransfer, BatchQueue<[UInt8]>, FileDestination)
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
  private let interruptedTransfers: InterruptedTransfers
  private var links: [ConnectionID: Link] = [:]
  private var retryTimer: LoopTimer?

  init(
    on loop: NetworkLoop, files fileLoop: NetworkLoop, tasks: TaskRegistry,
    _ interruptedTransfers: InterruptedTransfers,
    offers: AsyncStream<IncomingOffer>.Continuation
  ) {
    self.loop = loop
    self.fileLoop = fileLoop
    self.tasks = tasks
    self.interruptedTransfers = interruptedTransfers
    self.offers = offers
  }

  /// Handles an event of the session.
  func handle(_ event: PeerEvent) {
    switch event {
    case .joined(let peer):
      if links[peer.connectionID] == nil { links[peer.connectionID] = Link(peer: peer) }
    case .interrupted(let peer): addInterruptedTransfers(of: peer)
    case .resumed(let peer): interruptedTransfers.remove(of: peer)
    case .left(let peer, _):
      interruptedTransfers.remove(of: peer)
      links[peer.connectionID]?.machine.disconnect()
      links[peer.connectionID]?.waiting = nil
      drain(peer.connectionID)
      links[peer.connectionID] = nil
    default: break
    }
  }

  /// Handles a message of a peer. Returns false if it violates the protocol.
  func receive(_ bytes: Span<UInt8>, of peer: Peer, isData: Bool) -> Bool {
    let connection = peer.connectionID
    if links[connection] == nil { links[connection] = Link(peer: peer) }
    do throws(DecodeError) {
      if isData {
        try links[connection]?.machine.handleData(bytes)
      } else {
        try links[connection]?.machine.handleControl(bytes)
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
      requests.append(FilePart(offset: offset, count: count))
    case .received(let id, _, let bytes):
      guard case .receiving(_, let pieces, _)? = link.works[id] else { return }
      pieces.append(bytes)
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
    case .sending(let transfer, _), .receiving(let transfer, _, _): transfer
    }
  }

  /// Ends the transfer and the loop of its task.
  func end(_ result: Result<FileName, TransferFailure>) {
    transfer.end(result)
    switch self {
    case .sending(_, let requests): requests.finish()
    case .receiving(_, let pieces, _): pieces.finish()
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
      let requests = BatchQueue<FilePart>()
      links[connection]?.works[id] = .sending(transfer, requests)
      transfer.setCancel { [weak self, peer = transfer.peer] in
        self?.post(.cancel(id, .cancelled), peer)
      }
      tasks.add(on: loop) { await self.read(source, requests, id, connection) }
      drain(connection)
    } catch { transfer.end(.failure(error)) }
  }

  private func read(
    _ source: FileSource, _ requests: BatchQueue<FilePart>, _ id: TransferID,
    _ connection: ConnectionID
  ) async {
    for await parts in requests {
      do throws(TransferFailure) {
        for bytes in try await source.read(parts) {
          links[connection]?.machine.provide(bytes, for: id)
        }
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
    let pieces = BatchQueue<[UInt8]>()
    tasks.add(on: loop) {
      await self.interruptedTransfers.end(sameContentAs: destination.offer)
      await self.begin(id, transfer, pieces, destination)
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
    _ id: TransferID, _ transfer: FileTransfer, _ pieces: BatchQueue<[UInt8]>,
    _ destination: FileDestination
  ) {
    let connection = transfer.peer.connectionID
    guard offers != nil, links[connection]?.machine.isOffered(id) == true else {
      pieces.finish()
      return transfer.end(.failure(links[connection] == nil ? .disconnected : .cancelled))
    }
    links[connection]?.works[id] = .receiving(transfer, pieces, destination)
    transfer.setCancel { [weak self, peer = transfer.peer] in
      self?.post(.cancel(id, .cancelled), peer)
    }
  }

  private func write(
    _ pieces: BatchQueue<[UInt8]>, _ id: TransferID, _ transfer: FileTransfer,
    _ destination: FileDestination
  ) async throws(TransferFailure) {
    let connection = transfer.peer.connectionID
    var offset = try await destination.open()
    guard links[connection]?.works[id] != nil else { return }
    links[connection]?.machine.accept(id, from: offset)
    transfer.update(offset)
    drain(connection)
    if offset < transfer.size {
      for await batch in pieces {
        offset = try await destination.write(batch)
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
    links[connection]?.machine.didStore(id, upTo: offset, at: loop.now)
    drain(connection)
  }
}

// MARK: - Interrupted connections
extension TransferHub {
  /// Remembers the files that are being received from a peer whose connection is interrupted. If
  /// one of them is offered again meanwhile, because the sender was started again, the new transfer
  /// continues it.
  private func addInterruptedTransfers(of peer: Peer) {
    for (id, work) in links[peer.connectionID]?.works ?? [:] {
      guard case .receiving(_, _, let destination) = work else { continue }
      interruptedTransfers.add(destination.offer, of: peer) {
        await self.handOver(id, peer.connectionID)
      }
    }
  }

  /// Ends a transfer and closes its file, so that another transfer can continue it.
  private func handOver(_ id: TransferID, _ connection: ConnectionID) async {
    guard case .receiving(_, _, let destination)? = links[connection]?.works[id] else { return }
    handle(.cancel(id, .disconnected), connection)
    await destination.close()
  }
}
