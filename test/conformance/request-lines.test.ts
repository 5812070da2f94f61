import { describe, expect, test } from '@jest/globals';

import { startFront } from '../support/front.ts';
import { headerOf, RawClient } from '../support/raw-http.ts';
import { startUpstream } from '../support/upstream.ts';

const SMUGGLED = 'GET /smuggled HTTP/1.1\r\nHost: app.test\r\n\r\n';
const UPGRADE = 'Connection: Upgrade\r\nUpgrade: websocket\r\n';

const MALFORMED = [
  ...['GET /x', 'GET /x ', 'GET  /x', 'POST /x', 'OPTIONS *', 'GET http://app.test/x'],
  ...['GET', 'GET HTTP/1.1', '/x HTTP/1.1', 'GET/x HTTP/1.1', 'get /x HTTP/1.1', 'GET /x\r'],
  ...['0.9', '1.2', '2.0', '1', '2', '3', '1.', '.1', '01.1', '1.10', '1,1', '1.1x', '11'].map(
    (version) => `GET /x HTTP/${version}`,
  ),
  ...['http/1.1', 'Http/1.1', 'HTTPS/1.1', 'HTTP / 1.1', 'HTTP /1.1', 'ICE/1.0', '1.1'].map(
    (protocol) => `GET /x ${protocol}`,
  ),
  ...['GET /x HTTP/1.1 ', 'GET /x HTTP/1.1\t', ' GET /x HTTP/1.1', '\tGET /x HTTP/1.1'],
  ...['GET\t/x HTTP/1.1', 'GET /x\tHTTP/1.1', 'GET /x \x0bHTTP/1.1', 'GET /x y HTTP/1.1'],
];

describe('A request line', () => {
  test.each(MALFORMED)(
    'of %j is refused with 400, and nothing after it is served',
    async (line) => {
      for (const fields of ['', 'Expect: 100-continue\r\n', UPGRADE]) {
        await using upstream = await startUpstream((_message, response) => response.end('ok'));
        await using front = await startFront({ upstream: upstream.origin });
        await using client = await RawClient.connect(front.port);
        client.send(`${line}\r\nHost: app.test\r\n${fields}\r\n${SMUGGLED}`);
        expect(await client.closed).toBe('ended');
        const response = await client.response();
        expect(response.status).toBe(400);
        expect(headerOf(response, 'connection')).toBe('close');
        expect(client.received).toBe('');
        expect(upstream.requests).toHaveLength(0);
      }
    },
  );

  test('without a version, behind a request in progress, is answered after it', async () => {
    await using upstream = await startUpstream(() => undefined);
    await using front = await startFront({ upstream: upstream.origin });
    await using client = await RawClient.connect(front.port);
    client.send('GET /slow HTTP/1.1\r\nHost: app.test\r\n\r\nGET /x\r\nHost: app.test\r\n\r\n');
    const { response } = await upstream.request(0);
    response.end('slow');
    expect(await client.response()).toMatchObject({ status: 200, body: 'slow' });
    expect((await client.response()).status).toBe(400);
    expect(await client.closed).toBe('ended');
  });

  test('with several spaces between its parts reaches the upstream with one', async () => {
    await using upstream = await startUpstream((_message, response) => response.end('ok'));
    await using front = await startFront({ upstream: upstream.origin });
    for (const line of ['GET  /x HTTP/1.1', 'GET /x  HTTP/1.1', '\r\nGET /x HTTP/1.1']) {
      await using client = await RawClient.connect(front.port);
      client.send(`${line}\r\nHost: app.test\r\n\r\n`);
      expect((await client.response()).status).toBe(200);
    }
    expect(upstream.requests.map(({ message }) => message.url)).toEqual(['/x', '/x', '/x']);
  });

  test('of HTTP/1.0 is served, and its connection is closed', async () => {
    await using upstream = await startUpstream((_message, response) => response.end('ok'));
    await using front = await startFront({ upstream: upstream.origin });
    await using client = await RawClient.connect(front.port);
    client.send('GET /x HTTP/1.0\r\nHost: app.test\r\n\r\n');
    expect(await client.response()).toMatchObject({ status: 200, body: 'ok' });
    expect(await client.closed).toBe('ended');
  });
});
