import CaromCrypto
import CaromFleet
import CaromPlacement
import Foundation
import Testing

@Suite struct PasswordFileTests {
  private static func read(_ content: String, mode: Int = 0o600) throws -> FleetAddress {
    let path = FileManager.default.temporaryDirectory
      .appending(path: "carom-password-\(UInt32.random(in: 0 ... .max))").path
    defer { try? FileManager.default.removeItem(atPath: path) }
    try content.write(toFile: path, atomically: false, encoding: .utf8)
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
    var address = try FleetAddress("redis://maya:other@h/a")
    try address.readPassword(from: path)
    return address
  }

  @Test func `the first line of a file is the password`() throws {
    for content in ["secret", "secret\n", "secret\r\n", "secret\nmore\n"] {
      let address = try Self.read(content)
      #expect(address.password == SecretBytes(copying: Array("secret".utf8).span))
      #expect(address.user == "maya")
    }
  }

  @Test func `a file that others can read, or without a password, is refused`() throws {
    for (content, mode) in [("secret", 0o640), ("", 0o600), ("\nsecret", 0o600)] {
      #expect(throws: PasswordFileError.self) { try Self.read(content, mode: mode) }
    }
    let long = String(repeating: "s", count: FleetAddress.credentialLimit + 3)
    do {
      _ = try Self.read(long)
      Issue.record("a password without end was read")
    } catch let error as PasswordFileError {
      #expect(!error.description.contains("sss"))
    }
  }
}
