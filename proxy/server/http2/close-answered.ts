import { constants, type ServerHttp2Stream } from 'node:http2';

/** Turns of the event loop in which a response leaves, unless its connection is congested. */
const TURNS = 16;

/**
 * Tells the client of a whole response that the rest of its body is not needed (RFC 9113, section 8.1), once the
 * end of the response has left: a reset before that would take its place. Does nothing if the connection is
 * congested for long.
 */
export function closeAnswered(stream: ServerHttp2Stream, turns: number = TURNS): void {
  if (stream.destroyed || stream.closed || turns === 0) return;
  if (stream.state.localClose === 1) stream.close(constants.NGHTTP2_NO_ERROR);
  else setImmediate(() => closeAnswered(stream, turns - 1));
}
