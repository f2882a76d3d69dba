import Foundation

// swift-format-ignore: AlwaysUseLowerCamelCase
/// The domain of this framework's errors.
public let MCErrorDomain = "MCErrorDomain"

/// The minimum number of peers of a session, including this side.
public let kMCSessionMinimumNumberOfPeers = 2

/// The maximum number of peers that Apple's framework supports in a session, including this side.
/// This module has no such limit; the constant is here because code refers to it.
public let kMCSessionMaximumNumberOfPeers = 8

/// An error of this framework.
public struct MCError: CustomNSError, LocalizedError, Hashable, Sendable {
  /// The codes of the errors, which are those of Apple's framework.
  public enum Code: Int, Hashable, Sendable {
    /// An error of another kind.
    case unknown = 0
    /// The peer is not connected to this session.
    case notConnected = 1
    /// An argument is not valid, for example an empty list of peers.
    case invalidParameter = 2
    /// The operation is not supported, for example a resource that is neither a file nor HTTP.
    case unsupported = 3
    /// The peer did not answer in time.
    case timedOut = 4
    /// One side has cancelled the operation.
    case cancelled = 5
    /// The operation is not possible now, for example because a queue is full.
    case unavailable = 6
  }

  /// The domain of the errors: `MCErrorDomain`.
  public static var errorDomain: String { MCErrorDomain }

  /// What kind of error this is.
  public let code: Code
  /// A sentence for developers that says what happened and what to do.
  public let reason: String

  /// Creates an error. If `reason` is empty, it is a general sentence for the code.
  public init(_ code: Code, reason: String = "") {
    self.code = code
    self.reason = reason.isEmpty ? code.sentence : reason
  }

  /// Creates an error with a user info dictionary, of which only the description is kept.
  public init(_ code: Code, userInfo: [String: Any]) {
    self.init(code, reason: userInfo[NSLocalizedDescriptionKey] as? String ?? "")
  }

  /// The code as a number.
  public var errorCode: Int { code.rawValue }
  /// The user info dictionary, which contains the description.
  public var errorUserInfo: [String: Any] { [NSLocalizedDescriptionKey: reason] }
  /// The description.
  public var errorDescription: String? { reason }

  /// Returns whether two errors have the same code.
  public static func == (a: MCError, b: MCError) -> Bool { a.code == b.code }
  /// Hashes the code.
  public func hash(into hasher: inout Hasher) { hasher.combine(code) }
}

extension MCError {
  /// An error of another kind.
  public static var unknown: Code { .unknown }
  /// The peer is not connected to this session.
  public static var notConnected: Code { .notConnected }
  /// An argument is not valid.
  public static var invalidParameter: Code { .invalidParameter }
  /// The operation is not supported.
  public static var unsupported: Code { .unsupported }
  /// The peer did not answer in time.
  public static var timedOut: Code { .timedOut }
  /// One side has cancelled the operation.
  public static var cancelled: Code { .cancelled }
  /// The operation is not possible now.
  public static var unavailable: Code { .unavailable }
}

extension MCError.Code {
  /// Returns whether an error has this code, so that `catch MCError.notConnected` works.
  public static func ~= (code: MCError.Code, error: any Error) -> Bool {
    (error as? MCError)?.code == code
  }

  fileprivate var sentence: String {
    switch self {
    case .unknown: "an unknown error occurred"
    case .notConnected: "the peer is not connected to this session"
    case .invalidParameter: "an argument is not valid"
    case .unsupported: "the operation is not supported"
    case .timedOut: "the peer did not answer in time"
    case .cancelled: "the operation was cancelled"
    case .unavailable: "the operation is not possible now"
    }
  }
}
