import CaromFleet
import CaromPlacement
import CaromTransport

extension FleetAddress {
  /// Parses the address of a fleet, and reads the files that the options of a program name: the
  /// password of the Redis server, the authorities to trust, and a certificate with its key. Files
  /// that are nil or missing from `certificate` are not read.
  package init(
    _ text: String, passwordFile: String?, authorities: String?, certificate: [String]
  ) throws(CommandFailure) {
    do throws(FleetAddressError) { try self.init(text) } catch {
      throw CommandFailure(.usage, error.description)
    }
    if let passwordFile {
      do throws(PasswordFileError) { try readPassword(from: passwordFile) } catch {
        throw CommandFailure(.ioFailed, error.description)
      }
    }
    do throws(TLSCertificateError) {
      if let authorities { try readAuthorities(from: authorities) }
      if certificate.count == 2 {
        try readCertificate(from: certificate[0], keyFile: certificate[1])
      }
    } catch {
      throw CommandFailure(.ioFailed, error.description)
    }
  }

  /// Returns why the options for TLS cannot be used; nil if they can.
  package static func objection(
    toTLSOf text: String, authorities: String?, certificate: [String]
  ) -> String? {
    if !certificate.isEmpty, certificate.count != 2 {
      return "--redis-certificate needs two files, the certificate and its key."
    }
    guard authorities != nil || !certificate.isEmpty, !text.hasPrefix("rediss://") else {
      return nil
    }
    return "--redis-ca and --redis-certificate need an address that begins with rediss://."
  }
}
