import CaromTransport
import Foundation

/// Certificates for tests, which `openssl req` makes.
package enum TestCertificate {
  /// The path of OpenSSL's program, or nil if it is not installed.
  package static let program = ProcessInfo.processInfo.environment["PATH", default: ""]
    .split(separator: ":").map { URL(filePath: String($0)).appending(path: "openssl") }
    .first { FileManager.default.isExecutableFile(atPath: $0.path) }

  /// The certificate and the key of "localhost", as the contents of their files.
  package static let files = Result {
    try make(
      "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-addext",
      "subjectAltName=DNS:localhost,DNS:game.example,IP:127.0.0.1,DNS:*.table.example")
  }

  /// The certificate of "localhost".
  package static func load() throws -> TLSCertificate {
    let files = try files.get()
    return try TLSCertificate(
      certificate: files.certificate, named: "certificate", key: files.key, named: "key")
  }

  /// Makes a self-signed certificate and its key.
  package static func make(_ options: String...) throws -> (certificate: [UInt8], key: [UInt8]) {
    let folder = FileManager.default.temporaryDirectory.appending(
      path: "carom-certificate-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let (certificate, key) = (folder.appending(path: "cert"), folder.appending(path: "key"))
    try run(
      [
        "req", "-x509", "-subj", "/CN=localhost", "-days", "2", "-keyout", key.path, "-out",
        certificate.path,
      ] + options + (options.contains("-passout") ? [] : ["-nodes"]))
    return (
      Array(try Data(contentsOf: certificate)), Array(try Data(contentsOf: key))
    )
  }

  /// Makes a certificate for "localhost" and its key, which an issuer has signed, or itself.
  package static func sign(
    names: String = "DNS:localhost", by issuer: (certificate: [UInt8], key: [UInt8])? = nil,
    days: Int = 2
  ) throws -> (certificate: [UInt8], key: [UInt8]) {
    let folder = FileManager.default.temporaryDirectory.appending(
      path: "carom-certificate-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    func path(_ name: String) -> String { folder.appending(path: name).path }
    try run([
      "req", "-new", "-subj", "/CN=localhost", "-newkey", "ec", "-pkeyopt",
      "ec_paramgen_curve:P-256", "-nodes", "-addext", "subjectAltName=\(names)", "-keyout",
      path("key"), "-out", path("request"),
    ])
    var signer = ["-signkey", path("key")]
    if let issuer {
      try Data(issuer.certificate).write(to: folder.appending(path: "issuer"))
      try Data(issuer.key).write(to: folder.appending(path: "issuer-key"))
      signer = ["-CA", path("issuer"), "-CAkey", path("issuer-key"), "-CAcreateserial"]
    }
    try run(
      [
        "x509", "-req", "-in", path("request"), "-days", "\(days)", "-copy_extensions", "copy",
        "-out", path("cert"),
      ] + signer)
    return (
      Array(try Data(contentsOf: folder.appending(path: "cert"))),
      Array(try Data(contentsOf: folder.appending(path: "key")))
    )
  }

  /// Runs OpenSSL's program.
  private static func run(_ arguments: [String]) throws {
    let process = Process()
    process.executableURL = program
    process.arguments = arguments
    process.standardError = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { throw CocoaError(.executableLoad) }
  }
}
