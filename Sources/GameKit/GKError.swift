import Foundation

// swift-format-ignore: AlwaysUseLowerCamelCase
/// The domain of the errors of matches.
public let GKErrorDomain = "GKErrorDomain"

/// An error of a match or of a matchmaker.
public struct GKError: CustomNSError, LocalizedError, Hashable, Sendable {
  /// The codes of the errors of matches, which are those of Apple's framework.
  public enum Code: Int, Hashable, Sendable, CaseIterable {
    /// An error of another kind.
    case unknown = 1
    /// The search was cancelled.
    case cancelled = 2
    /// The network cannot be used.
    case communicationsFailure = 3
    /// A player is not one of the match.
    case invalidPlayer = 8
    /// The request is not valid, or another search is under way.
    case matchRequestInvalid = 13
    /// An argument is not valid.
    case invalidParameter = 17
    /// A player is not connected.
    case matchNotConnected = 28
    /// A player who was invited again has not come back in time.
    case connectionTimeout = 33
  }

  /// The domain of the errors.
  public static var errorDomain: String { GKErrorDomain }
  /// What kind of error this is.
  public let code: Code
  /// A sentence for developers.
  public let reason: String

  /// Creates an error. If `reason` is empty, it is the name of the code.
  public init(_ code: Code, reason: String = "") {
    self.code = code
    self.reason = reason.isEmpty ? "\(code)" : reason
  }

  /// The code as a number.
  public var errorCode: Int { code.rawValue }
  /// The user info dictionary, which contains the description.
  public var errorUserInfo: [String: Any] { [NSLocalizedDescriptionKey: reason] }
  /// The description.
  public var errorDescription: String? { reason }

  /// Returns whether two errors have the same code.
  public static func == (a: GKError, b: GKError) -> Bool { a.code == b.code }
  /// Hashes the code.
  public func hash(into hasher: inout Hasher) { hasher.combine(code) }
}

extension GKError.Code {
  /// Returns whether an error has this code.
  public static func ~= (code: GKError.Code, error: any Error) -> Bool {
    (error as? GKError)?.code == code
  }
}
