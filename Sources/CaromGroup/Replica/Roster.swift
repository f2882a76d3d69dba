import CaromCore

/// A member of a group.
public struct RosterMember: Hashable, Sendable {
  /// The member's id.
  public let id: PeerID
  /// The member's display name, at most 63 bytes of UTF-8.
  public let name: String
  /// A number that the member's process has chosen at its start.
  package let incarnation: UInt64

  package init(id: PeerID, name: String, incarnation: UInt64) {
    self.id = id
    self.name = name
    self.incarnation = incarnation
  }

  var source: EventSource { EventSource(peer: id, incarnation: incarnation) }
}

/// The members of a group, as its leader has listed them. All members receive the same rosters.
public struct Roster: Hashable, Sendable {
  /// The maximum number of members of a roster that is read from the network.
  static let memberLimit = 8192

  /// The version, which increases with every change that a member receives.
  public let version: UInt64
  /// The group's leader, which has written this roster.
  public let leader: PeerID
  /// The members including the leader, in the order of their ids.
  public let members: [RosterMember]

  package init(version: UInt64, leader: PeerID, members: [RosterMember]) {
    self.version = version
    self.leader = leader
    self.members = members
  }

  /// Returns whether a peer is a member.
  public func contains(_ peer: PeerID) -> Bool { self[peer] != nil }

  /// Returns the member with an id, or nil if there is none.
  public subscript(peer: PeerID) -> RosterMember? {
    var range = 0..<members.count
    while let middle = range.isEmpty ? nil : range.lowerBound + range.count / 2 {
      if members[middle].id == peer { return members[middle] }
      let isBefore = members[middle].id < peer
      range = isBefore ? middle + 1..<range.upperBound : range.lowerBound..<middle
    }
    return nil
  }
}

extension Roster: PacketCodable {
  /// Appends the version (`VarInt`), the leader's id (16 bytes), the number of members (`VarInt`)
  /// and each member: id (16 bytes), incarnation (8 bytes) and name (text).
  public func encode(into writer: inout PacketWriter) {
    writer.writeVarInt(version)
    writer.write(leader)
    writer.writeVarInt(UInt64(members.count))
    for member in members {
      writer.write(member.id)
      writer.write(member.incarnation)
      writer.writeText(member.name)
    }
  }

  /// Reads a roster. Throws if its members are too many, not in order, or without the leader.
  public init(decoding reader: inout PacketReader) throws(DecodeError) {
    version = try reader.readIndex()
    leader = try reader.readPeerID()
    let count = try reader.readVarInt()
    guard count <= UInt64(Self.memberLimit) else {
      throw .tooLarge(length: count, limit: UInt64(Self.memberLimit))
    }
    var members: [RosterMember] = []
    members.reserveCapacity(min(Int(count), reader.remaining / 25))
    for _ in 0..<count {
      let id = try reader.readPeerID()
      if let last = members.last, id <= last.id { throw .invalid(what: "order of members") }
      let incarnation: UInt64 = try reader.read()
      let name = try reader.readText(limit: PeerID.maximumNameLength)
      members.append(RosterMember(id: id, name: name, incarnation: incarnation))
    }
    self.members = members
    guard contains(leader) else { throw .invalid(what: "roster without its leader") }
  }
}
