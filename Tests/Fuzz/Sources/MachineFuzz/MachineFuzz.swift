import CaromCore
import CaromDNS
import FuzzSupport

/// Runs the input as a script for a whole DNS node; see `MachineScript`.
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
