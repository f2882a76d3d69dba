import CaromCore

extension LedgerMessage: PacketCodable {
  private enum Kind: UInt8 {
    case join = 1
    case welcome = 2
    case refuse = 3
    case append = 4
    case acknowledge = 5
    case submit = 6
    case snapshot = 7
    case part = 8
    case received = 9
    case leave = 10
    case remove = 11
    case withhold = 12
  }

  /// Appends the kind (1 byte) and the message's fields.
  package func encode(into writer: inout PacketWriter) {
    switch self {
    case .join(let request):
      writer.write(Kind.join.rawValue)
      writer.write(request.number)
      writer.write(request.incarnation)
      writer.writeVarInt(request.rosterVersion)
      request.position.encode(into: &writer)
    case .welcome(let welcome):
      writer.write(Kind.welcome, welcome.membership)
      writer.write(welcome.request)
      writer.write(welcome.start.rawValue)
      writer.writeVarInt(welcome.lastSequence)
    case .refuse(let leader):
      writer.write(Kind.refuse.rawValue)
      writer.write(leader)
    case .append(let membership, let first, let committed, let entries):
      writer.write(Kind.append, membership)
      writer.writeVarInt(first)
      writer.writeVarInt(committed)
      writer.writeVarInt(UInt64(entries.count))
      for entry in entries { entry.encode(into: &writer) }
    case .acknowledge(let membership, let index):
      writer.write(Kind.acknowledge, membership)
      writer.writeVarInt(index)
    case .submit(let membership, let isComplete, let events):
      writer.write(Kind.submit, membership)
      writer.write(isComplete)
      writer.writeArray(events)
    case .snapshot(let membership, let position, let length):
      writer.write(Kind.snapshot, membership)
      position.encode(into: &writer)
      writer.writeVarInt(length)
    case .part(let membership, let bytes):
      writer.write(Kind.part, membership)
      writer.writeVarInt(UInt64(bytes.count))
      writer.write(bytes)
    case .received(let membership, let length):
      writer.write(Kind.received, membership)
      writer.writeVarInt(length)
    case .leave(let membership): writer.write(Kind.leave, membership)
    case .remove(let membership): writer.write(Kind.remove, membership)
    case .withhold(let membership): writer.write(Kind.withhold, membership)
    }
  }

  /// Reads a message. Throws if its kind is unknown or a field is out of bounds.
  package init(decoding reader: inout PacketReader) throws(DecodeError) {
    guard let kind = Kind(rawValue: try reader.read()) else {
      throw .invalid(what: "ledger message")
    }
    switch kind {
    case .join:
      self = .join(
        JoinRequest(
          number: try reader.read(), incarnation: try reader.read(),
          rosterVersion: try reader.readIndex(),
          position: try LedgerPosition(decoding: &reader)))
    case .welcome: self = .welcome(try Self.readWelcome(&reader))
    case .refuse: self = .refuse(leader: try reader.readPeerID())
    case .append: self = try Self.readAppend(&reader)
    case .acknowledge:
      self = .acknowledge(membership: try reader.read(), index: try reader.readIndex())
    case .submit:
      self = .submit(
        membership: try reader.read(), isComplete: try reader.read(),
        try reader.readArray(limit: Self.batchLimit))
    case .snapshot:
      self = .snapshot(
        membership: try reader.read(), try LedgerPosition(decoding: &reader),
        length: try reader.readIndex())
    case .part:
      self = .part(membership: try reader.read(), try reader.readBytes(limit: Self.partLimit))
    case .received:
      self = .received(membership: try reader.read(), length: try reader.readIndex())
    case .leave: self = .leave(membership: try reader.read())
    case .remove: self = .remove(membership: try reader.read())
    case .withhold: self = .withhold(membership: try reader.read())
    }
  }

  private static func readWelcome(_ reader: inout PacketReader) throws(DecodeError) -> Welcome {
    let (membership, request): (UInt32, UInt32) = (try reader.read(), try reader.read())
    guard let start = Welcome.Start(rawValue: try reader.read()) else {
      throw .invalid(what: "start of a log")
    }
    return Welcome(
      membership: membership, request: request, start: start,
      lastSequence: try reader.readIndex())
  }

  private static func readAppend(
    _ reader: inout PacketReader
  ) throws(DecodeError) -> LedgerMessage {
    let membership: UInt32 = try reader.read()
    let (first, committed) = (try reader.readIndex(), try reader.readIndex())
    guard first > 0 else { throw .invalid(what: "index of an entry") }
    let count = try reader.readVarInt()
    guard count <= UInt64(batchLimit) else {
      throw .tooLarge(length: count, limit: UInt64(batchLimit))
    }
    var entries: [LedgerEntry] = []
    entries.reserveCapacity(min(Int(count), reader.remaining / 50))
    for offset in 0..<count {
      entries.append(try LedgerEntry(decoding: &reader, index: first + offset))
    }
    return .append(membership: membership, first: first, committed: committed, entries)
  }
}

extension PacketWriter {
  fileprivate mutating func write(_ kind: some RawRepresentable<UInt8>, _ membership: UInt32) {
    write(kind.rawValue)
    write(membership)
  }
}
