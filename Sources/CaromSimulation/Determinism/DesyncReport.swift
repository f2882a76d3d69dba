/// The first confirmed tick at which two peers' states differ, and the fields that differ.
public struct DesyncReport: Hashable, Sendable {
  /// A field with different values on the two sides.
  public struct Difference: Hashable, Sendable {
    /// The name of the entity.
    public var entity: String
    /// The entity's number among the entities with the same name.
    public var number: UInt64
    /// The name of the field, or "presence" if the other side has no matching entity or a different
    /// number of fields.
    public var field: String
    /// The field's value in the local state.
    public var mine: Int64
    /// The field's value in the other side's state.
    public var theirs: Int64
  }

  /// The maximum number of differences in a report.
  public static let limit = 32

  /// The player whose state differs, or nil for the server.
  public var player: Int?
  /// The first tick whose states differ.
  public var tick: Tick
  /// The first differing fields, at most `limit`, in the order in which the game describes them.
  /// Empty if the state of that tick is no longer stored.
  public var differences: [Difference]
}

extension DesyncReport: CustomStringConvertible {
  /// The report as one line, with the player, the tick and the first differing field.
  public var description: String {
    let other = player.map { "player \($0)" } ?? "the server"
    guard let first = differences.first else { return "desync with \(other) at tick \(tick)" }
    return "desync with \(other) at tick \(tick): \(first.entity) \(first.number), "
      + "\(first.field) is \(first.mine) here and \(first.theirs) there"
      + (differences.count > 1 ? ", and \(differences.count - 1) more" : "")
  }
}
