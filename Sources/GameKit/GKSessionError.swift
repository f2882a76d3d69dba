import Foundation

// swift-format-ignore: AlwaysUseLowerCamelCase
/// The domain of the errors of sessions.
public let GKSessionErrorDomain = "com.apple.gamekit.GKSessionErrorDomain"

/// An error of a `GKSession`.
public struct GKSessionError: CustomNSError, LocalizedError, Hashable, Sendable {
  /// The codes of the errors, which are those of Apple's framework.
  public enum Code: Int, Hashable, Sendable, CaseIterable {
    /// An argument is not valid.
    case invalidParameter = 30500
    /// No such peer is known.
    case peerNotFound = 30501
    /// The peer has declined.
    case declined = 30502
    /// The peer did not answer in time.
    case timedOut = 30503
    /// This side has cancelled the attempt.
    case cancelled = 30504
    /// The connection could not be established.
    case connectionFailed = 30505
    /// The connection was closed.
    case connectionClosed = 30506
    /// The data is too long.
    case dataTooBig = 30507
    /// The peer is not connected.
    case notConnected = 30508
    /// The session cannot become available.
    case cannotEnable = 30509
    /// An attempt to connect to this peer is under way already.
    case inProgress = 30510
    /// The network cannot be used.
    case connectivity = 30201
    /// An error of the transport.
    case transport = 30202
    /// An error of this module.
    case `internal` = 30203
    /// An error of another kind.
    case unknown = 30204
    /// An error of the system.
    case system = 30205
  }

  /// The domain of the errors.
  public static var errorDomain: String { GKSessionErrorDomain }
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
  public static func == (a: GKSessionError, b: GKSessionError) -> Bool { a.code == b.code }
  /// Hashes the code.
  public func hash(into hasher: inout Hasher) { hasher.combine(code) }
}

extension GKSessionError.Code {
  /// Returns whether an error has this code.
  public static func ~= (code: GKSessionError.Code, error: any Error) -> Bool {
    (error as? GKSessionError)?.code == code
  }
}
