/// Where two peers' states part: the first confirmed tick whose states differ, and what differs.
public struct DesyncReport: Hashable, Sendable {
  /// A number that is not the same here and there.
  public struct Difference: Hashable, Sendable {
    /// The entity's name.
    public var entity: String
    /// The entity's number among those of its name.
    public var number: UInt64
    /// The field's name; "presence" where the other side has no such entity or field there.
    public var field: String
    /// The value here.
    public var mine: Int64
    /// The value there.
    public var theirs: Int64
  }

  /// The most differences that are told.
  public static let limit = 32

  /// Who has the other state; `nil` is the server.
  public var player: Int?
  /// The first tick whose states differ.
  public var tick: Tick
  /// What differs, in the order of the description; empty where that tick is too long ago.
  public var differences: [Difference]
}

extension DesyncReport: CustomStringConvertible {
  /// One line: tick, then the first field that differs.
  public var description: String {
    let other = player.map { "player \($0)" } ?? "the server"
    guard let first = differences.first else { return "desync with \(other) at tick \(tick)" }
    return "desync with \(other) at tick \(tick): \(first.entity) \(first.number), "
      + "\(first.field) is \(first.mine) here and \(first.theirs) there"
      + (differences.count > 1 ? ", and \(differences.count - 1) more" : "")
  }
}
