import CaromCore
import Testing

@testable import CaromProtocol

@Suite struct AddressValidationTests {
  private let secret = HostSecret(low: 1, high: 2)
  private let endpoint = Endpoint(.loopback4, port: 7777)

  private func makeCookie(seconds: Int64) -> Cookie {
    Cookie(for: endpoint, secret: secret, at: .zero + .seconds(seconds))
  }

  @Test func `a cookie is valid in its time slot and the next`() {
    let cookie = makeCookie(seconds: 33)
    #expect(cookie == makeCookie(seconds: 47))
    for (second, isValid) in [(33, true), (47, true), (48, true), (63, true), (64, false)] {
      #expect(
        cookie.isValid(for: endpoint, secret: secret, at: .zero + .seconds(second)) == isValid)
    }
    #expect(!cookie.isValid(for: endpoint, secret: secret, at: .zero + .seconds(31)))
  }

  /// WireFormat, "Starting and moving a path", step 2.
  @Test func `a cookie is valid for 16 s even if it was made at the end of its slot`() {
    let made = Instant(nanoseconds: 47_999_999_999)
    let cookie = Cookie(for: endpoint, secret: secret, at: made)
    let last = made + .seconds(16)
    #expect(cookie.isValid(for: endpoint, secret: secret, at: last))
    #expect(
      !cookie.isValid(for: endpoint, secret: secret, at: last.advanced(byNanoseconds: 1)))
  }

  @Test func `each endpoint and each secret has its own cookie`() {
    let endpoints = [
      endpoint, Endpoint(.loopback4, port: 7778), Endpoint(.any4, port: 7777),
      Endpoint(.loopback6, port: 7777), Endpoint(.any6, port: 7777),
      Endpoint(.v6(high: 0, low: 1, scope: 1), port: 7777),
      Endpoint(.v6(high: 1, low: 0, scope: 0), port: 7777),
    ]
    var cookies = endpoints.map { Cookie(for: $0, secret: secret, at: .zero) }
    cookies.append(Cookie(for: endpoint, secret: HostSecret(low: 1, high: 3), at: .zero))
    #expect(Set(cookies).count == endpoints.count + 1)
    #expect(!cookies[1].isValid(for: endpoint, secret: secret, at: .zero))
  }

  @Test func `zero bits are no cookie`() {
    #expect(Cookie(bits: 0) == nil)
    #expect(Cookie(bits: 7)?.bits == 7)
  }
}
