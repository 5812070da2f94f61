import { ProtocolError } from '../connection/protocol-error.ts';
import { checkFrame } from './generated/check-frame.js';
import type { ReceivedFrame } from './received-frame.ts';

/** Parses a line. Throws a `ProtocolError` if it is not a frame of this version of the protocol. */
export function parseControllerFrame(line: string): ReceivedFrame {
  const frame = parseJson(line);
  if (!checkFrame(frame)) {
    throw new ProtocolError('the controller sent a line that is not a frame');
  }
  // The schema describes this type.
  return frame as ReceivedFrame;
}

/** Leaves out the parser's message, which would quote the line. */
function parseJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    throw new ProtocolError('the controller sent a line that is not JSON');
  }
}
