import CaromGroup
import CaromSession
import CaromTransport

/// The files that are being received over connections that are interrupted at the moment, of all
/// loops of a session.
final class InterruptedTransfers: Sendable {
  private struct Entry: Sendable {
    let offer: FileOffer
    let peer: Peer
    let end: @Sendable () async -> Void
  }

  private let entries = Locked<[Entry]>([])

  /// Adds a file of `peer`. `end` ends its transfer and closes the file.
  func add(_ offer: FileOffer, of peer: Peer, end: @escaping @Sendable () async -> Void) {
    entries.withLock { $0.append(Entry(offer: offer, peer: peer, end: end)) }
  }

  /// Removes the files of a peer whose connection has been resumed or has ended.
  func remove(of peer: Peer) {
    entries.withLock { entries in entries.removeAll { $0.peer == peer } }
  }

  /// Ends the transfers of the same content, so that their incomplete file is free.
  func end(sameContentAs offer: FileOffer) async {
    let same = entries.withLock { entries in
      let same = entries.filter { $0.offer.hasSameContent(as: offer) }
      entries.removeAll { $0.offer.hasSameContent(as: offer) }
      return same
    }
    for entry in same { await entry.end() }
  }
}
