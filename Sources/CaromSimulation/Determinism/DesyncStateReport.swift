import CaromCore

/// What a peer sends when hashes differ: the hashes of the last ticks, to find the first that
/// differs, and every field of one tick's state.
///
/// Layout: u8, 1 where the sender has the receiver's report of this tick, else 0; tick u64; the
/// count of hashes u8, 1 to 64, and the low 32 bits of each, of the tick and those before it,
/// newest first; the count of entities as a `VarInt`; for each entity its number and its count of
/// fields as `VarInt`s, then the fields, u64 each. Names are not sent: both sides know them.
public struct DesyncStateReport: Hashable, Sendable, PacketCodable {
  /// What is sent of an entity.
  public struct Entity: Hashable, Sendable {
    /// Its number among those of its name.
    public var number: UInt64
    /// Its fields' values.
    public var values: [Int64]
  }

  /// The most hashes.
  public static let hashLimit = 64
  /// The most fields that are sent, which makes 64 KB; the others are left out.
  public static let fieldLimit = 7_168
  /// The most entities.
  public static let entityLimit = 4_096

  /// Whether the sender has the receiver's report of this tick.
  public var isAnswer: Bool
  /// The tick whose state this is.
  public var tick: Tick
  /// The low halves of the states' hashes: of `tick`, and of each tick before it.
  public var hashes: [UInt32]
  /// The state's parts, in the order of the description.
  public var entities: [Entity]

  /// A report of a state.
  public init(
    tick: Tick, hashes: [UInt32], description: SimulationDescription?, isAnswer: Bool
  ) {
    self.isAnswer = isAnswer
    self.tick = tick
    self.hashes = Array(hashes.prefix(Self.hashLimit))
    entities = []
    var room = Self.fieldLimit
    for entity in description?.entities.prefix(Self.entityLimit) ?? [] {
      guard room >= entity.fields.count else { break }
      room -= entity.fields.count
      entities.append(Entity(number: entity.number, values: entity.fields.map(\.value)))
    }
  }

  /// Appends the layout above.
  public func encode(into writer: inout PacketWriter) {
    writer.append(isAnswer ? 1 : 0)
    writer.write(tick.rawValue)
    writer.append(UInt8(hashes.count))
    for hash in hashes { writer.write(hash) }
    writer.writeVarInt(UInt64(entities.count))
    for entity in entities {
      writer.writeVarInt(entity.number)
      writer.writeVarInt(UInt64(entity.values.count))
      for value in entity.values { writer.write(UInt64(bitPattern: value)) }
    }
  }

  /// Reads the layout above; nothing is kept for more than the bytes can hold.
  public init(decoding reader: inout PacketReader) throws(DecodeError) {
    let answer: UInt8 = try reader.read()
    guard answer <= 1 else { throw .invalid(what: "answer flag") }
    isAnswer = answer == 1
    tick = Tick(try reader.read(UInt64.self))
    let count: UInt8 = try reader.read()
    guard (1...Self.hashLimit).contains(Int(count)), UInt64(count) <= tick.rawValue &+ 1 else {
      throw .invalid(what: "count of hashes")
    }
    hashes = []
    for _ in 0..<count { hashes.append(try reader.read()) }
    entities = []
    let entityCount = try reader.readVarInt()
    guard entityCount <= UInt64(Self.entityLimit) else {
      throw .tooLarge(length: entityCount, limit: UInt64(Self.entityLimit))
    }
    var room = UInt64(Self.fieldLimit)
    for _ in 0..<entityCount {
      let number = try reader.readVarInt()
      let fields = try reader.readVarInt()
      guard fields <= room else { throw .tooLarge(length: fields, limit: room) }
      room -= fields
      var entity = Entity(number: number, values: [])
      for _ in 0..<fields {
        entity.values.append(Int64(bitPattern: try reader.read(UInt64.self)))
      }
      entities.append(entity)
    }
  }

  /// What differs from the state here.
  func differences(from mine: SimulationDescription) -> [DesyncReport.Difference] {
    var found: [DesyncReport.Difference] = []
    for (index, entity) in mine.entities.enumerated() where found.count < DesyncReport.limit {
      guard index < entities.count, entities[index].number == entity.number,
        entities[index].values.count == entity.fields.count
      else {
        let theirs = index < entities.count ? Int64(bitPattern: entities[index].number) : -1
        found.append(
          .init(
            entity: entity.name, number: entity.number, field: "presence",
            mine: Int64(bitPattern: entity.number), theirs: theirs))
        return found  // from here on the lists are not each other's
      }
      for (field, value) in zip(entity.fields, entities[index].values)
      where field.value != value && found.count < DesyncReport.limit {
        found.append(
          .init(
            entity: entity.name, number: entity.number, field: field.name, mine: field.value,
            theirs: value))
      }
    }
    return found
  }
}
