import CaromCore

/// One start of a peer's process. A peer numbers its events from 1 in every start.
package struct EventSource: Hashable, Sendable {
  package var peer: PeerID
  /// A random number that the process has chosen at its start.
  package var incarnation: UInt64

  package init(peer: PeerID, incarnation: UInt64) {
    self.peer = peer
    self.incarnation = incarnation
  }
}

extension EventSource: Comparable {
  package static func < (a: EventSource, b: EventSource) -> Bool {
    (a.peer, a.incarnation) < (b.peer, b.incarnation)
  }
}

extension EventSource: PacketCodable {
  /// Appends the peer's id and the incarnation, 24 bytes in all.
  package func encode(into writer: inout PacketWriter) {
    writer.write(peer)
    writer.write(incarnation)
  }

  package init(decoding reader: inout PacketReader) throws(DecodeError) {
    peer = try reader.readPeerID()
    incarnation = try reader.read()
  }
}

extension PacketWriter {
  /// Appends an id: 16 bytes, big-endian, as ids are written everywhere.
  mutating func write(_ id: PeerID) {
    writeBigEndian(id.high)
    writeBigEndian(id.low)
  }
}

extension PacketReader {
  mutating func readPeerID() throws(DecodeError) -> PeerID {
    PeerID(high: try readBigEndian(), low: try readBigEndian())
  }
}
