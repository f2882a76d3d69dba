import CaromCrypto
import CaromDNS
import CaromDiscovery

extension UpdateKey {
  /// Reads a key from a file that `tsig-keygen -a hmac-sha256` has written. The file should be
  /// readable by this account alone.
  public init(contentsOf path: String) throws(KeyFileError) {
    try self.init(contentsOf: path, authenticator: HMACSHA256.authenticator)
  }
}
