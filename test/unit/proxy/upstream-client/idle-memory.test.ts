import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

import { expect, test } from '@jest/globals';

import { ResponseParser } from '../../../../proxy/upstream-client/response-parser.ts';

const KIBIBYTE = 1_024;
const CONNECTIONS = 300;

/** As many fields as a head or trailers can have. */
const FIELDS = 'a:\r\n'.repeat(4_900);

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void; // the flag defines it

/** Returns how many bytes the parser of a connection keeps after it has read a response. */
function keptAfter(response: string): number {
  const ignore = (): void => undefined;
  const listener = { onInformation: ignore, onHead: ignore, onBody: ignore, onEnd: ignore };
  collectGarbage();
  const before = process.memoryUsage().heapUsed;
  const parsers = Array.from({ length: CONNECTIONS }, () => {
    const parser = new ResponseParser(listener);
    parser.expectResponse('GET');
    parser.feed(Buffer.from(response));
    return parser;
  });
  collectGarbage();
  const kept = process.memoryUsage().heapUsed - before;
  expect(parsers.every(({ isReusable }) => isReusable)).toBe(true);
  return kept / CONNECTIONS;
}

// Attack: an upstream has thousands of idle connections kept for ten minutes (`Keep-Alive`).
test.each([
  ['in its head', `HTTP/1.1 204 No Content\r\n${FIELDS}\r\n`],
  ['in an informational head', `HTTP/1.1 103 X\r\n${FIELDS}\r\nHTTP/1.1 204 No Content\r\n\r\n`],
  ['in its trailers', `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n${FIELDS}\r\n`],
])('an idle connection keeps nothing of a response with many fields %s', (_where, response) => {
  expect(keptAfter(response)).toBeLessThan(16 * KIBIBYTE);
});
