import CaromCore
import CaromPhysics

/// The target position of a player's mallet for one tick, in units of 0.1 mm from the table's
/// center.
///
/// The simulation moves the mallet towards the target, within the speed limit and the player's half
/// of the table. Targets are whole numbers of units, so that the value simulated is exactly the
/// value sent.
public struct MalletInput: Hashable, Sendable {
  /// The maximum magnitude of `x`, in units of 0.1 mm.
  public static let maximumX = Int16(9_740)
  /// The maximum magnitude of `y`, in units of 0.1 mm.
  public static let maximumY = Int16(5_190)
  /// The number of units, each 0.1 mm, in a meter.
  public static let unitsPerMeter = 10_000.0

  /// The target's coordinate along the table, in units of 0.1 mm.
  public let x: Int16
  /// The target's coordinate across the table, in units of 0.1 mm.
  public let y: Int16

  /// Creates a target from coordinates in units of 0.1 mm, clamped to the table.
  public init(x: Int16, y: Int16) {
    self.x = min(max(x, -Self.maximumX), Self.maximumX)
    self.y = min(max(y, -Self.maximumY), Self.maximumY)
  }

  /// Creates the target on the table nearest to `point`, which is in meters. NaN is treated as 0.
  public init(_ point: Vector) {
    self.init(x: Self.units(point.x), y: Self.units(point.y))
  }

  /// The target position in meters.
  public var vector: Vector { Vector(Double(x) / 10_000, Double(y) / 10_000) }

  /// This target rotated by half a turn around the center of the table.
  public var mirrored: MalletInput { MalletInput(x: -x, y: -y) }

  private static func units(_ meters: Double) -> Int16 {
    guard meters == meters else { return 0 }
    let tenths = min(max(meters, -1), 1) * unitsPerMeter
    return Int16(tenths < 0 ? tenths - 0.5 : tenths + 0.5)
  }
}

extension MalletInput {
  /// The length of an encoded target in bytes.
  public static let encodedLength = 4

  /// Appends the target: x and y, each as a little-endian 16-bit integer.
  public func encode(into writer: inout PacketWriter) {
    writer.write(UInt16(bitPattern: x))
    writer.write(UInt16(bitPattern: y))
  }

  /// Creates a target by decoding it. Throws `invalid` if the target is outside the table.
  public init(decoding reader: inout PacketReader) throws(DecodeError) {
    let x = Int16(bitPattern: try reader.read(UInt16.self))
    let y = Int16(bitPattern: try reader.read(UInt16.self))
    guard x >= -Self.maximumX, x <= Self.maximumX else { throw .invalid(what: "mallet x") }
    guard y >= -Self.maximumY, y <= Self.maximumY else { throw .invalid(what: "mallet y") }
    self.init(x: x, y: y)
  }
}
