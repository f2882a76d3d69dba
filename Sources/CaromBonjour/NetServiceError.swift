import CaromDiscovery
import Foundation

extension NetService {
  /// The key of the error's code in the dictionaries that delegates get.
  public static let errorCode = "NSNetServicesErrorCode"
  /// The key of the error's domain in the dictionaries that delegates get.
  public static let errorDomain = "NSNetServicesErrorDomain"

  /// The codes of errors, which are those of Apple's framework.
  public enum ErrorCode: Int, Sendable {
    /// An error of another kind.
    case unknownError = -72000
    /// The name is taken.
    case collisionError = -72001
    /// The service was not found.
    case notFoundError = -72002
    /// The request cannot be processed at this time.
    case activityInProgress = -72003
    /// An argument is not valid, for example the type.
    case badArgumentError = -72004
    /// The operation was stopped.
    case cancelledError = -72005
    /// The service cannot be used in this way.
    case invalidError = -72006
    /// No answer has arrived in time.
    case timeoutError = -72007
  }

  static func dictionary(_ error: any Error) -> [String: NSNumber] {
    let code = (error as? DiscoveryError)?.netServiceCode ?? ErrorCode.badArgumentError.rawValue
    return [errorCode: NSNumber(value: code), errorDomain: NSNumber(value: 10)]
  }
}
