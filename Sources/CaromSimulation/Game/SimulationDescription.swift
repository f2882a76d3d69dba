/// The named parts of a simulation's state and their values, as `Simulation.describe(into:)` lists
/// them.
public struct SimulationDescription: Hashable, Sendable {
  /// A part of the state, such as the puck or a player's ship.
  public struct Entity: Hashable, Sendable {
    /// The kind of entity, such as "puck".
    public var name: String
    /// The entity's number among the entities with the same name.
    public var number: UInt64
    /// The entity's fields, in the order in which they were described.
    public var fields: [Field] = []
  }

  /// A named value of an entity.
  public struct Field: Hashable, Sendable {
    /// The field's name, such as "velocity x".
    public var name: String
    /// The field's value: an integer, or the bit pattern of a `Double`.
    public var value: Int64
  }

  /// The described entities, in order.
  public private(set) var entities: [Entity] = []

  /// Creates an empty description.
  public init() {}

  /// Adds an entity without fields. Fields that are added next belong to it.
  public mutating func entity(_ name: String, _ number: UInt64 = 0) {
    entities.append(Entity(name: name, number: number))
  }

  /// Adds an integer field to the entity that was added last.
  public mutating func field(_ name: String, _ value: Int64) {
    precondition(!entities.isEmpty, "call entity(_:_:) before the first field")
    entities[entities.count - 1].fields.append(Field(name: name, value: value))
  }

  /// Adds a floating-point field, as its exact bit pattern, to the last added entity.
  public mutating func field(_ name: String, _ value: Double) {
    field(name, Int64(bitPattern: value.bitPattern))
  }
}
