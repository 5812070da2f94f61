import { describe, expect, test } from '@jest/globals';

import { startFront } from '../support/front.ts';
import { RawClient } from '../support/raw-http.ts';
import { startUpstream } from '../support/upstream.ts';

describe('An identity that a client claims', () => {
  test.each([
    'X-Gateway-Assertion',
    'x-gateway-assertion',
    'X_Gateway_Assertion',
    'X-Gateway_Assertion',
    'X.Gateway.Assertion',
    'X_GATEWAY_ANYTHING',
    'X-Forwarded-User',
    'X_Forwarded_For',
  ])('the field %s does not reach the upstream', async (name) => {
    await using upstream = await startUpstream((_message, response) => response.end('ok'));
    await using front = await startFront({ upstream: upstream.origin });
    await using client = await RawClient.connect(front.port);
    client.send(`GET / HTTP/1.1\r\nHost: app.test\r\n${name}: forged\r\n\r\n`);
    expect((await client.response()).status).toBe(200);
    expect(upstream.requests[0]?.message.rawHeaders).not.toContain('forged');
  });
});
