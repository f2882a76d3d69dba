import CaromCrypto
import CaromPlacement
import CaromTransport

extension FleetAddress {
  /// Reads the password from the first line of a file, which must belong to this user and give no
  /// permissions to others. It replaces the password of the address. Blocks while it reads.
  public mutating func readPassword(from path: String) throws(PasswordFileError) {
    var content: [UInt8]
    do throws(PrivateFile.Failure) {
      // The line may end in a carriage return and a line feed.
      content = try PrivateFile.content(
        of: path, limit: Self.credentialLimit + 2, isSecret: true)
    } catch {
      throw .cannotRead(path: path, error)
    }
    defer { _ = SecretBytes(moving: &content) }
    var line = Array(content.prefix { $0 != 10 && $0 != 13 })
    guard !line.isEmpty else { throw .empty(path: path) }
    password = SecretBytes(moving: &line)
  }
}

/// The reasons why a password is not read from a file.
public enum PasswordFileError: Error, Sendable {
  /// The file is missing or cannot be read, or other users can read it.
  case cannotRead(path: String, _ reason: any Error)
  /// The first line of the file has no characters.
  case empty(path: String)
}

extension PasswordFileError: CustomStringConvertible {
  /// A line for users that says what happened and what to do.
  public var description: String {
    switch self {
    case .cannotRead(let path, let reason): "the password file \(path) cannot be used: \(reason)"
    case .empty(let path): "the password file \(path) has no password in its first line"
    }
  }
}
