import {
  LONGEST_PROXY_LINE_BYTES,
  type RejectedEntry,
} from '../../../shared/snapshot/push-frames.ts';

const LONGEST_MESSAGE = 300;
/** Leaves room for the rest of the frame. */
const LONGEST_ERRORS_BYTES = LONGEST_PROXY_LINE_BYTES - 1024;

/**
 * As many errors as one frame has room for, thousands. What does not fit is told when the controller
 * sends the snapshot again without what is named here.
 */
export function fitErrors(errors: readonly RejectedEntry[]): readonly RejectedEntry[] {
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
