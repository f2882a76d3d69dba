import CaromNearby
import CaromTransport

/// Takes the files that are offered, asks for each, and reports its transfer.
final class FileReceiver: Sendable {
  private struct State: Sendable {
    var received = 0
    /// The files that were accepted and whose transfers were interrupted. They are not asked for
    /// again.
    var interrupted: [IncomingOffer] = []
  }

  /// The maximum number of interrupted files that are remembered.
  private static let interruptedLimit = 64
  /// How long to wait for senders to learn that their last file has arrived.
  private static let closingLimit = Duration.seconds(2)

  private let folder: String
  private let asks: Bool
  private let existing: ExistingFile
  private let limit: Int
  private let rows: TransferRows
  private let questions: Questions
  private let state = Locked(State())
  /// Ends once `limit` files have arrived.
  private let countdown = AsyncStream.makeStream(of: Void.self)

  init(folder: String, asks: Bool, existing: ExistingFile, limit: Int?, _ output: Output) {
    self.folder = folder
    self.asks = asks
    self.existing = existing
    self.limit = limit ?? .max
    rows = TransferRows(output)
    questions = Questions(output)
  }

  /// Receives files until `limit` files have arrived, or the task is cancelled.
  func run(_ session: Session, _ files: SessionFiles) async {
    await withTaskGroup(of: Void.self) { group in
      group.addTask { for await _ in self.countdown.stream {} }
      group.addTask {
        await withTaskGroup(of: Void.self) { transfers in
          for await offer in files.offers { transfers.addTask { await self.receive(offer) } }
        }
      }
      await group.next()
      group.cancelAll()
    }
    await untilSendersLeave(session)
  }

  /// Returns when no sender is connected any longer, at the latest after `closingLimit`.
  private func untilSendersLeave(_ session: Session) async {
    if await session.peers.isEmpty { return }
    await withTaskGroup(of: Void.self) { group in
      group.addTask { for await _ in session.events where await session.peers.isEmpty { return } }
      // The time limit for senders that do not disconnect.
      group.addTask { try? await Task.sleep(for: Self.closingLimit) }
      await group.next()
      group.cancelAll()
    }
  }

  private func receive(_ offer: IncomingOffer) async {
    guard await isWanted(offer) else { return offer.decline() }
    let transfer = offer.accept(into: folder, existing: existing)
    do throws(TransferFailure) {
      _ = try await rows.follow(transfer, .received)
      let isLast = state.withLock { state in
        state.received += 1
        return state.received >= limit
      }
      if isLast { countdown.continuation.finish() }
    } catch {
      guard error == .disconnected else { return }
      state.withLock { state in
        state.interrupted.append(offer)
        if state.interrupted.count > Self.interruptedLimit { state.interrupted.removeFirst() }
      }
    }
  }

  private func isWanted(_ offer: IncomingOffer) async -> Bool {
    guard asks else { return true }
    let wasWanted = state.withLock { state in
      let index = state.interrupted.firstIndex { $0.hasSameContent(as: offer) }
      if let index { state.interrupted.remove(at: index) }
      return index != nil
    }
    if wasWanted { return true }
    let size = TransferRows.size(offer.size)
    return await questions.ask(
      "\(offer.peer.name) offers \(offer.name) (\(size)). Store it in \(folder)?")
  }
}
