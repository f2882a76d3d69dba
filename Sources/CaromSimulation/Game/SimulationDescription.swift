/// The parts of a state with their names and values, as a `Simulation` tells them.
public struct SimulationDescription: Hashable, Sendable {
  /// A thing in the state: the puck, a player's ship.
  public struct Entity: Hashable, Sendable {
    /// What it is called.
    public var name: String
    /// Its number among those of its name.
    public var number: UInt64
    /// Its fields in their order.
    public var fields: [Field] = []
  }

  /// A number that belongs to an entity.
  public struct Field: Hashable, Sendable {
    /// What it is called.
    public var name: String
    /// Its bits.
    public var value: Int64
  }

  /// Everything that was told, in order.
  public private(set) var entities: [Entity] = []

  /// Nothing yet.
  public init() {}

  /// Begins an entity: the fields that follow are its own.
  public mutating func entity(_ name: String, _ number: UInt64 = 0) {
    entities.append(Entity(name: name, number: number))
  }

  /// A field of the entity that was begun last.
  public mutating func field(_ name: String, _ value: Int64) {
    precondition(!entities.isEmpty, "a field belongs to an entity")
    entities[entities.count - 1].fields.append(Field(name: name, value: value))
  }

  /// A fractional field: its exact bits.
  public mutating func field(_ name: String, _ value: Double) {
    field(name, Int64(bitPattern: value.bitPattern))
  }
}
