import CaromCore
import CaromDNS
import FuzzSupport

/// Decoder, cache, querier and responder as one: what bytes say is done, and no rule is broken.
@c(LLVMFuzzerTestOneInput)
public func fuzzOneInput(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  var script = MachineScript(fuzzInput(data, count))
  do {
    try script.run()
  } catch {
    preconditionFailure("\(error)")
  }
  return 0
}
