import { UpstreamUnreachableError } from '../../errors/upstream-errors.ts';

/** Status of a response that begins another protocol. */
export const SWITCHING_PROTOCOLS = 101;

const FIRST_STATUS = 100;
const FIRST_FINAL_STATUS = 200;
const LAST_STATUS = 599;

/**
 * Returns whether a status ends an exchange; informational ones do not. Throws if it does neither: a status
 * outside of 100 to 599 is invalid (RFC 9110, section 15), and 101 is only for those who ask for it.
 *
 * Attack: parsers accept `000`, which a client or a log could take for success.
 */
export function isFinalStatus(status: number): boolean {
  if (status < FIRST_STATUS || status > LAST_STATUS || status === SWITCHING_PROTOCOLS) {
    throw new UpstreamUnreachableError(`the status ${String(status)} cannot be passed on`);
  }
  return status >= FIRST_FINAL_STATUS;
}
