/// A game object that a server replicates to its clients.
///
/// ```swift
/// struct Tank: ReplicatedEntity {
///   var x, y, heading: Double
///   var health: Int
///   var isFiring: Bool
///
///   static let schema = EntitySchema(
///     .position(0...500, step: 0.01), .position(0...500, step: 0.01), .angle(bits: 8),
///     .integer(0...100), .flag)
///
///   func encode(into fields: inout EntityFieldWriter) {
///     fields.write(x); fields.write(y); fields.write(heading)
///     fields.write(health); fields.write(isFiring)
///   }
///
///   init(decoding fields: inout EntityFieldReader) {
///     (x, y, heading) = (fields.read(), fields.read(), fields.read())
///     (health, isFiring) = (fields.read(), fields.read())
///   }
/// }
/// ```
public protocol ReplicatedEntity: Sendable {
  /// The entity's fields, in the order in which they are written and read.
  static var schema: EntitySchema { get }

  /// Writes one value for each field.
  func encode(into fields: inout EntityFieldWriter)

  /// Creates an entity from the values that `encode(into:)` wrote, which have since been rounded
  /// and clamped.
  init(decoding fields: inout EntityFieldReader)
}
