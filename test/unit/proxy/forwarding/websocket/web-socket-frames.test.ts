import { describe, expect, test } from '@jest/globals';

import { WebSocketFrames } from '../../../../../proxy/forwarding/websocket/web-socket-frames.ts';

/** A frame with a payload of this length (RFC 6455, section 5.2). */
function frame(length: number, isMasked = false): Buffer {
  const mask = isMasked ? 0x80 : 0;
  const long = Buffer.alloc(8);
  long.writeBigUInt64BE(BigInt(length));
  const [second, extended] =
    length < 126
      ? [length, Buffer.alloc(0)]
      : length < 65_536
        ? [126, long.subarray(6)]
        : [127, long];
  const key = Buffer.alloc(isMasked ? 4 : 0, 7);
  return Buffer.concat([Buffer.from([0x82, mask | second]), extended, key, Buffer.alloc(length)]);
}

const FRAMES = [
  frame(0),
  frame(5),
  frame(125, true),
  frame(126),
  frame(300, true),
  frame(65_535),
  frame(70_000),
];

describe('the parser of WebSocket frames', () => {
  test.each([1, 2, 7, 1_000, 1_000_000])(
    'finds the ends of frames in chunks of %i bytes',
    (size) => {
      const bytes = Buffer.concat(FRAMES);
      const ends = new Set(FRAMES.map((_frame, at) => lengthOf(FRAMES.slice(0, at + 1))));
      const frames = new WebSocketFrames();
      for (let at = 0; at < bytes.length; at += size) {
        frames.parse(bytes.subarray(at, at + size));
        const position = Math.min(at + size, bytes.length);
        if (frames.isBetweenFrames !== ends.has(position)) {
          throw new Error(
            `at ${String(position)} a frame ${ends.has(position) ? 'ends' : 'goes on'}`,
          );
        }
      }
      expect(frames.isBetweenFrames).toBe(true);
    },
  );

  test('separates the rest of a frame from the bytes after it', () => {
    const frames = new WebSocketFrames();
    const bytes = Buffer.concat([frame(300), frame(10)]);
    frames.parse(bytes.subarray(0, 3));
    expect(frames.parseFrame(bytes.subarray(3, 100))).toBe(97);
    expect(frames.isBetweenFrames).toBe(false);
    expect(frames.parseFrame(bytes.subarray(100))).toBe(frame(300).length - 100);
    expect(frames.isBetweenFrames).toBe(true);
  });
});

function lengthOf(frames: readonly Buffer[]): number {
  return frames.reduce((sum, { length }) => sum + length, 0);
}
