import CaromCore

/// What a side says about the leader that it follows, on channel `GroupChannel.election`.
package struct Ballot: Hashable, Sendable {
  /// The number of followers or peers beyond which a claim counts no more.
  static let countLimit: UInt64 = 8192

  /// The leader in the ballot of a sender that takes no part any more.
  static let nobody = PeerID(high: 0, low: 0)

  /// The sender's group.
  package var group: GroupID
  /// The leader: the sender itself if it follows nobody, and `nobody` if it has left the group.
  package var leader: PeerID
  /// The number of members that follow the sender.
  package var followers: UInt64
  /// The number of peers that the sender is connected with.
  package var reach: UInt64
  /// The index of the last entry that the sender has.
  package var length: UInt64
  /// How good the sender's connections are; nil if it has not measured them.
  package var quality: HostQuality?

  package init(
    group: GroupID = GroupID(named: ""), leader: PeerID, followers: UInt64, reach: UInt64,
    length: UInt64, quality: HostQuality? = nil
  ) {
    self.group = group
    self.leader = leader
    self.followers = followers
    self.reach = reach
    self.length = length
    self.quality = quality
  }
}

extension Ballot: PacketCodable {
  /// Appends the group's id (8 bytes), the leader's id (16 bytes), the numbers of followers, of
  /// connected peers and of entries (each `VarInt`), and the quality if there is one.
  package func encode(into writer: inout PacketWriter) {
    writer.write(group.rawValue)
    writer.write(leader)
    writer.writeVarInt(followers)
    writer.writeVarInt(reach)
    writer.writeVarInt(length)
    writer.writeOptional(quality)
  }

  /// Reads a ballot. Counts over 8,192 are taken for 8,192.
  package init(decoding reader: inout PacketReader) throws(DecodeError) {
    group = GroupID(rawValue: try reader.read())
    leader = try reader.readPeerID()
    followers = min(try reader.readVarInt(), Self.countLimit)
    reach = min(try reader.readVarInt(), Self.countLimit)
    length = try reader.readIndex()
    quality = try reader.readOptional()
  }
}
