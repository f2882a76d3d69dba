/// A link of one host, numbered in the order of opening; a number is never used again.
package struct LinkID: Hashable, Comparable, Sendable {
  package let number: UInt64

  package init(_ number: UInt64) { self.number = number }

  package static func < (a: LinkID, b: LinkID) -> Bool { a.number < b.number }
}
