import CaromGroup
import CaromSession
import CaromTransport

/// A file that a peer offers. The peer waits for the answer: `accept` or `decline`. An offer that
/// is released without an answer is declined.
public final class IncomingOffer: Sendable {
  /// The peer that offers the file.
  public let peer: Peer
  /// The name that the peer suggests for the file.
  public let name: FileName
  /// The size of the file, in bytes.
  public let size: UInt64
  private let offer: FileOffer
  private let id: TransferID
  private let hub: TransferHub
  private let isAnswered = Locked(false)

  init(_ offer: FileOffer, _ id: TransferID, of peer: Peer, in hub: TransferHub) {
    self.offer = offer
    self.id = id
    self.peer = peer
    self.hub = hub
    name = offer.name
    size = offer.size
  }

  deinit {
    if !isAnswered.withLock({ $0 }) { hub.post(.refuse(id, .declined), peer) }
  }

  /// Whether the file has the same content as that of another offer, whatever its name is.
  public func hasSameContent(as other: IncomingOffer) -> Bool {
    offer.hasSameContent(as: other.offer)
  }

  /// Receives the file into a folder. May be called once.
  ///
  /// Until the file is complete and verified, the folder contains it under a hidden name. If the
  /// connection ends before, that part stays there, and the next transfer of the same content into
  /// the same folder continues it, also if another process receives it.
  ///
  /// - Parameters:
  ///   - folder: The path of an existing folder.
  ///   - name: The name of the file; nil for the one that the peer suggests.
  ///   - existing: What happens to a file that has this name already.
  /// - Returns: The transfer, which reports all errors.
  public func accept(
    into folder: String, as name: FileName? = nil, existing: ExistingFile = .keepBoth
  ) -> FileTransfer {
    answer()
    let transfer = FileTransfer(offer, with: peer)
    let destination = FileDestination(
      offer, in: folder, as: name ?? self.name, existing, on: hub.fileLoop)
    hub.receive(id, transfer, into: destination)
    return transfer
  }

  /// Refuses the file. May be called once.
  public func decline() {
    answer()
    hub.post(.refuse(id, .declined), peer)
  }

  private func answer() {
    let wasAnswered = isAnswered.withLock { isAnswered in
      defer { isAnswered = true }
      return isAnswered
    }
    precondition(!wasAnswered, "an offer has one answer")
  }
}
