/** Thrown if the controller breaks the push protocol. The message does not quote the controller. */
export class ProtocolError extends Error {
  override readonly name = 'ProtocolError';
}
