import CaromCore

/// Named conditions for both directions between two hosts. Test a game with all profiles in `all`.
public struct LinkProfile: Hashable, Sendable, CustomStringConvertible {
  /// The name of the profile, such as "wifi".
  public let name: String
  /// The conditions from the first host to the second, by convention from client to server.
  public let outbound: LinkConditions
  /// The conditions from the second host to the first.
  public let inbound: LinkConditions

  /// Creates a profile with the same conditions in both directions.
  public init(_ name: String, _ conditions: LinkConditions) {
    self.init(name, outbound: conditions, inbound: conditions)
  }

  /// Creates a profile with different conditions in each direction.
  public init(_ name: String, outbound: LinkConditions, inbound: LinkConditions) {
    self.name = name
    self.outbound = outbound
    self.inbound = inbound
  }

  /// The name of the profile.
  public var description: String { name }

  /// All profiles: the networks that players typically have, then one profile for each impairment.
  ///
  /// Each profile has the `LinkConditions` preset of the same name in both directions, with two
  /// exceptions: "rebinding" has a NAT in the outbound direction only, and "lossy-acknowledgements"
  /// has high loss in the inbound direction only.
  public static let all: [LinkProfile] = [
    .lan, .wifi, .good, .average, .mobile, .poor, .terrible, .reorderStorm, .soak, .satellite,
    .burstLoss, .bufferbloat, .outages, .rebinding, .shrinkingMTU, .lossyAcknowledgements,
  ]

  /// Returns the profile with the given name, or all profiles if the name is nil.
  public static func all(named name: String?) -> [LinkProfile] {
    guard let name else { return all }
    let profiles = all.filter { $0.name == name }
    precondition(!profiles.isEmpty, "there is no profile named \(name); see LinkProfile.all")
    return profiles
  }
}

// The profiles by their names, in the order of `all`.
extension LinkProfile {
  /// The profile "lan"; the page Testing has a table of all profiles.
  public static let lan = LinkProfile("lan", .lan)
  /// The profile "wifi"; the page Testing has a table of all profiles.
  public static let wifi = LinkProfile("wifi", .wifi)
  /// The profile "good"; the page Testing has a table of all profiles.
  public static let good = LinkProfile("good", .good)
  /// The profile "average"; the page Testing has a table of all profiles.
  public static let average = LinkProfile("average", .average)
  /// The profile "mobile"; the page Testing has a table of all profiles.
  public static let mobile = LinkProfile("mobile", .mobile)
  /// The profile "poor"; the page Testing has a table of all profiles.
  public static let poor = LinkProfile("poor", .poor)
  /// The profile "terrible"; the page Testing has a table of all profiles.
  public static let terrible = LinkProfile("terrible", .terrible)
  /// The profile "reorder-storm"; the page Testing has a table of all profiles.
  public static let reorderStorm = LinkProfile("reorder-storm", .reorderStorm)
  /// The profile "soak"; the page Testing has a table of all profiles.
  public static let soak = LinkProfile("soak", .soak)
  /// The profile "satellite"; the page Testing has a table of all profiles.
  public static let satellite = LinkProfile("satellite", .satellite)
  /// The profile "burst-loss"; the page Testing has a table of all profiles.
  public static let burstLoss = LinkProfile("burst-loss", .burstLoss)
  /// The profile "bufferbloat"; the page Testing has a table of all profiles.
  public static let bufferbloat = LinkProfile("bufferbloat", .bufferbloat)
  /// The profile "outages"; the page Testing has a table of all profiles.
  public static let outages = LinkProfile("outages", .outages)
  /// The profile "rebinding"; the page Testing has a table of all profiles.
  public static let rebinding = LinkProfile("rebinding", outbound: .rebinding, inbound: .good)
  /// The profile "shrinking-mtu"; the page Testing has a table of all profiles.
  public static let shrinkingMTU = LinkProfile("shrinking-mtu", .shrinkingMTU)
  /// The profile "lossy-acknowledgements"; the page Testing has a table of all profiles.
  public static let lossyAcknowledgements = LinkProfile(
    "lossy-acknowledgements", outbound: .good, inbound: .lossyAcknowledgements)
}

extension Seeds {
  /// Runs `body` for each seed with each profile. Throws at the first failure.
  public func check(
    _ profiles: [LinkProfile], _ body: (LinkProfile, UInt64) throws -> Void
  ) throws(SeedFailure) {
    for profile in profiles {
      for seed in self {
        do {
          try body(profile, seed)
        } catch {
          throw SeedFailure(seed: seed, reason: "profile \(profile): \(error)")
        }
      }
    }
  }

  /// Runs the async `body` for each seed with each profile, one after another. Throws at the first
  /// failure.
  public func check(
    _ profiles: [LinkProfile], _ body: (LinkProfile, UInt64) async throws -> Void
  ) async throws(SeedFailure) {
    for profile in profiles {
      for seed in self {
        do {
          try await body(profile, seed)
        } catch {
          throw SeedFailure(seed: seed, reason: "profile \(profile): \(error)")
        }
      }
    }
  }
}
