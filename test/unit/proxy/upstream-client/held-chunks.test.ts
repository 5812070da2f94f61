import { expect, test } from '@jest/globals';

import { MEBIBYTE } from '../../../support/forwarder-wire.ts';
import { sendThrough, TestPool } from '../../../support/pool-request.ts';
import { startUpstream } from '../../../support/upstream.ts';
import type { ResponseControl } from '../../../../proxy/upstream-client/response-handler.ts';

const LENGTH = 4 * MEBIBYTE;
const OTHER = 'b'.charCodeAt(0);

test('what a paused response has delivered stays as it is, also while the next response is read', async () => {
  await using upstream = await startUpstream(({ url = '' }, response) => {
    response.writeHead(200, { 'content-length': LENGTH }).end(url.slice(1).repeat(LENGTH));
  });
  using pool = new TestPool(upstream.port);
  const held: Buffer[] = [];
  let length = 0;
  await new Promise<void>((resolve, reject) => {
    let control: ResponseControl | undefined;
    const request = {
      ...{ method: 'GET', path: '/a', host: 'server.test', headers: [], body: undefined },
      responseTimeoutMs: 0,
    };
    const resumeBeforeEnd = (): void => {
      if (length < LENGTH) control?.resume();
    };
    pool.send(request, {
      onRequestStart(given) {
        control = given;
        return true;
      },
      onInformation: () => undefined,
      onResponseStart: () => undefined,
      onResponseData(chunk) {
        length += chunk.length;
        if (control?.paused === false) held.splice(0);
        held.push(chunk);
        control?.pause();
        // It is paused at the end of the response.
        if (length < LENGTH - MEBIBYTE / 2) setImmediate(() => control?.resume());
        else if (length < LENGTH) setTimeout(resumeBeforeEnd, 5);
      },
      onResponseEnd: () => resolve(),
      onResponseError: reject,
    });
  });
  const { body } = await sendThrough(pool, { path: '/b' }).response;
  expect(upstream.connections).toHaveLength(1);
  expect(body.every((byte) => byte === OTHER)).toBe(true);
  expect(held.length).toBeGreaterThan(0);
  for (const chunk of held) expect(chunk).not.toContain(OTHER);
});
