import CaromCore
import Testing

@testable import CaromPlacement

/// One rule of a directory as a test. Every directory passes the same cases.
struct DirectoryCase: Sendable, CustomTestStringConvertible {
  let name: String
  let body: @Sendable (TestFleet) async throws -> Void

  init(_ name: String, _ body: @escaping @Sendable (TestFleet) async throws -> Void) {
    self.name = name
    self.body = body
  }

  var testDescription: String { name }

  static let all = placing + seats + leases + returns + claims + connections + keys
}

@Suite struct DirectoryTests {
  @Test(arguments: DirectoryCase.all)
  func `the directory in memory keeps the rule`(_ rule: DirectoryCase) async throws {
    try await rule.body(TestFleet(MemoryDirectoryUnderTest()))
  }
}
