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
  public static let all = [
    LinkProfile("lan", .lan), LinkProfile("wifi", .wifi), LinkProfile("good", .good),
    LinkProfile("average", .average), LinkProfile("mobile", .mobile), LinkProfile("poor", .poor),
    LinkProfile("terrible", .terrible), LinkProfile("reorder-storm", .reorderStorm),
    LinkProfile("soak", .soak), LinkProfile("satellite", .satellite),
    LinkProfile("burst-loss", .burstLoss), LinkProfile("bufferbloat", .bufferbloat),
    LinkProfile("outages", .outages),
    LinkProfile("rebinding", outbound: .rebinding, inbound: .good),
    LinkProfile("shrinking-mtu", .shrinkingMTU),
    LinkProfile("lossy-acknowledgements", outbound: .good, inbound: .lossyAcknowledgements),
  ]

  /// Returns the profile with the given name, or all profiles if the name is nil.
  public static func all(named name: String?) -> [LinkProfile] {
    guard let name else { return all }
    let profiles = all.filter { $0.name == name }
    precondition(!profiles.isEmpty, "there is no profile named \(name); see LinkProfile.all")
    return profiles
  }
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
