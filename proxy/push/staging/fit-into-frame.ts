import {
  LONGEST_PROXY_LINE_BYTES,
  type RejectedEntry,
} from '../../../shared/snapshot/push-frames.ts';

const LONGEST_MESSAGE = 300;
/** Room for the resources in a line, beside the rest of the frame. */
const LONGEST_ERRORS_BYTES = LONGEST_PROXY_LINE_BYTES - 1024;

/**
 * Returns as many rejected resources as fit into one frame: thousands. The others follow when the
 * controller sends the snapshot again without these.
 */
export function fitIntoFrame(errors: readonly RejectedEntry[]): readonly RejectedEntry[] {
  let bytes = 0;
  const shortened = errors.map((error) => ({
    ...error,
    message: error.message.slice(0, LONGEST_MESSAGE),
  }));
  const end = shortened.findIndex((error) => {
    bytes += Buffer.byteLength(JSON.stringify(error)) + 1;
    return bytes > LONGEST_ERRORS_BYTES;
  });
  return end === -1 ? shortened : shortened.slice(0, end);
}
