import CaromCore

/// A message that a peer sends when two hashes differ. It contains the hashes of recent ticks,
/// which locate the first difference, and every field of the state at one tick.
///
/// Layout: u8, 1 if the sender has the receiver's report of this tick, otherwise 0; tick u64; the
/// number of hashes u8, 1 to 64, followed by the low 32 bits of the hash of that tick and of the
/// ticks before it, newest first; the number of entities as a `VarInt`; for each entity its number
/// and its number of fields as `VarInt`s, then each field as u64. Names are not sent, because both
/// sides know them.
public struct DesyncStateReport: Hashable, Sendable, PacketCodable {
  /// An entity as it is sent: without its name and its field names.
  public struct Entity: Hashable, Sendable {
    /// The entity's number among the entities with the same name.
    public var number: UInt64
    /// The values of the entity's fields.
    public var values: [Int64]
  }

  /// The maximum number of hashes.
  public static let hashLimit = 64
  /// The maximum number of fields sent, which take up about 64 KB. Entities beyond this limit are
  /// omitted.
  public static let fieldLimit = 7_168
  /// The maximum number of entities sent.
  public static let entityLimit = 4_096

  /// Whether this message acknowledges the receiver's report of the same tick.
  public var isAnswer: Bool
  /// The tick whose state is reported.
  public var tick: Tick
  /// The low 32 bits of the state hashes of `tick` and the ticks before it, newest first.
  public var hashes: [UInt32]
  /// The entities of the state, in the order in which the game describes them.
  public var entities: [Entity]

  /// Creates a report of a state, truncated to the limits.
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
      entities.append(Entity(number: entity.number, values: entity.fields.map { $0.value }))
    }
  }

  /// Appends the message in the layout documented at `DesyncStateReport`.
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

  /// Creates a report by decoding the layout documented at `DesyncStateReport`. Allocates no more
  /// memory than the received bytes can fill.
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

  /// Returns the fields in which the reported state differs from the local state `mine`, at most
  /// `DesyncReport.limit`.
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
        return found  // The remaining entities do not correspond to each other.
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
