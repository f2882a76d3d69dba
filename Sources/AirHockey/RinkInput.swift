import CaromCore
import CaromPhysics
import CaromSimulation

/// The input of one player for one tick: the target of the mallet and an optional request. The
/// target is in units of 0.5 mm, so that the sent value is exactly the one simulated.
public struct RinkInput: Hashable, Sendable {
  /// A request that is carried out once.
  public enum Request: UInt8, Hashable, Sendable {
    /// Pause the match.
    case pause = 1
    /// End this player's pause.
    case resume = 2
    /// Start the next match, if the match has ended.
    case startMatch = 3
    /// Restart at 0-0 in any phase. Only the home player may request this, when a new client has
    /// joined.
    case restart = 4
  }

  /// The number of units of `MalletInput` (0.1 mm) in a unit of this type (0.5 mm).
  static let step = Int32(5)
  /// The maximum magnitudes of the target's coordinates, in units of 0.5 mm.
  static let limits = (x: MalletInput.maximumX / 5, y: MalletInput.maximumY / 5)

  private let x: Int16
  private let y: Int16
  private let isPresent: Bool
  /// The player's request, or nil if there is none.
  public let request: Request?

  /// Creates the input of an absent player, whose mallet does not move.
  public init() { self.init(nil) }

  /// Creates an input with an optional request. `mallet` is the target, which is rounded to the
  /// nearest 0.5 mm, or nil if the player is absent.
  public init(_ mallet: MalletInput?, request: Request? = nil) {
    x = Self.rounded(mallet?.x ?? 0)
    y = Self.rounded(mallet?.y ?? 0)
    isPresent = mallet != nil
    self.request = request
  }

  /// The target of the mallet, or nil if the player is absent.
  public var mallet: MalletInput? {
    isPresent ? MalletInput(x: x * Int16(Self.step), y: y * Int16(Self.step)) : nil
  }

  private init(_ input: RinkInput, request: Request?) {
    (x, y, isPresent) = (input.x, input.y, input.isPresent)
    self.request = request
  }

  private static func rounded(_ tenths: Int16) -> Int16 {
    let wide = Int32(tenths)
    return Int16((wide + (wide < 0 ? -2 : 2)) / step)
  }
}

extension RinkInput: SimulationInput {
  /// The number of fields in an input: x, y, and one that combines the player's presence with the
  /// request.
  public static var fieldCount: Int { 3 }

  /// Returns the field at `index`: 0 is x and 1 is y, in units of 0.5 mm; 2 is twice the request's
  /// raw value, plus 1 if the player is present.
  public func field(_ index: Int) -> Int32 {
    switch index {
    case 0: Int32(x)
    case 1: Int32(y)
    default: Int32(request?.rawValue ?? 0) << 1 | (isPresent ? 1 : 0)
    }
  }

  /// Creates an input from its fields. Throws `invalid` if the target is off the table or the
  /// request is unknown.
  public init(fields: Span<Int32>) throws(DecodeError) {
    let rest = fields[2]
    guard fields[0].magnitude <= UInt32(Self.limits.x), fields[1].magnitude <= UInt32(Self.limits.y)
    else { throw .invalid(what: "mallet target") }
    guard (0...9).contains(rest) else { throw .invalid(what: "rink request") }
    x = Int16(fields[0])
    y = Int16(fields[1])
    isPresent = rest & 1 == 1
    request = Request(rawValue: UInt8(rest >> 1))
    guard isPresent || x == 0 && y == 0 else { throw .invalid(what: "target of an absent player") }
  }

  /// This input without its request, as it is predicted for later ticks.
  public var held: RinkInput { request == nil ? self : RinkInput(self, request: nil) }

  /// Combines two inputs into one for a single tick: the later target, and the later request or, if
  /// there is none, this input's request.
  public func merged(with later: RinkInput) -> RinkInput {
    later.request == nil ? RinkInput(later, request: request) : later
  }
}
