import CaromCrypto
import CaromDNS
import CaromDiscovery
import CaromTransport

extension UpdateKey {
  /// Reads a key from a file that `tsig-keygen -a hmac-sha256` has written. The file should be
  /// readable by this account alone.
  public init(contentsOf path: String) throws(KeyFileError) {
    guard let text = SystemFile.content(of: path, limit: KeyFile.limit + 1) else {
      throw .unreadable
    }
    try self.init(parsing: text, authenticator: HMACSHA256.authenticator)
  }
}
