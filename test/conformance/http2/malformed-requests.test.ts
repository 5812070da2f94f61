import { describe, expect, test } from '@jest/globals';

import {
  DATA,
  END_STREAM,
  FrameClient,
  GET_FIELDS,
  POST_FIELDS,
  PROTOCOL_ERROR,
} from '../../support/http2/frame-client.ts';
import type { Fields } from '../../support/http2/field-block.ts';
import { startHttp2Front } from '../../support/http2/http2-front.ts';
import { answerOk } from '../../support/forwarder-wire.ts';
import { startUpstream } from '../../support/upstream.ts';

/** The fields of a GET with another value of one of them; without it if that is undefined. */
function changed(name: string, value?: string): Fields {
  return GET_FIELDS.flatMap(([other, before]) => {
    if (other !== name) return [[other, before]];
    return value === undefined ? [] : [[name, value]];
  });
}

function manyFields(): Fields {
  return Array.from({ length: 300 }, () => ['x', 'y']);
}

/** Returns how a request is answered or reset, and how many reached the upstream. */
async function outcomeOf(
  send: (client: FrameClient) => void,
): Promise<{ status?: number; reset?: number; forwarded: number }> {
  await using upstream = await startUpstream(answerOk);
  await using front = await startHttp2Front({ upstream: upstream.origin });
  await using client = await FrameClient.connect(front.port);
  send(client);
  const outcome = await client.outcome(1);
  // The connection serves other streams.
  client.headers(3, GET_FIELDS);
  expect(await client.outcome(3)).toStrictEqual({ status: 200 });
  return { ...outcome, forwarded: upstream.requests.length - 1 };
}

describe('A malformed request is a stream error (RFC 9113, section 8.1.1)', () => {
  test.each<[string, Fields]>([
    ['a name in upper case', [...GET_FIELDS, ['X-Upper', 'a']]],
    ['Connection', [...GET_FIELDS, ['connection', 'close']]],
    ['Keep-Alive', [...GET_FIELDS, ['keep-alive', 'timeout=1']]],
    ['Proxy-Connection', [...GET_FIELDS, ['proxy-connection', 'close']]],
    ['Transfer-Encoding', [...GET_FIELDS, ['transfer-encoding', 'chunked']]],
    ['Upgrade', [...GET_FIELDS, ['upgrade', 'websocket']]],
    ['TE with a coding', [...GET_FIELDS, ['te', 'gzip']]],
    ['a length that is not a number', [...GET_FIELDS, ['content-length', '+1']]],
    ['a length without a body', [...GET_FIELDS, ['content-length', '5']]],
    ['no method', changed(':method')],
    ['no scheme', changed(':scheme')],
    ['no path', changed(':path')],
    ['an empty path', changed(':path', '')],
    ['a path that does not begin with a slash', changed(':path', 'x')],
    ['a path that is a URL', changed(':path', 'http://app.test/x')],
    ['a space in the path', changed(':path', '/a b')],
    ['a line break in the path', changed(':path', '/a\r\nX: y')],
    ['a method with a space', changed(':method', 'GET /y')],
    ['two paths', [...GET_FIELDS.slice(0, 3), [':path', '/x'], [':path', '/y']]],
    ['a pseudo field after others', [['x', 'y'], ...GET_FIELDS]],
    ['an unknown pseudo field', [...GET_FIELDS, [':other', 'x']]],
    ['the pseudo field of responses', [...GET_FIELDS, [':status', '200']]],
    ['a second Host', [...GET_FIELDS, ['host', 'app.test'], ['host', 'app.test']]],
    ['no host at all', changed(':authority')],
    ['a user in the authority', changed(':authority', 'app.test@evil.test')],
    [
      'a tunnel for another protocol (RFC 8441)',
      [[':method', 'CONNECT'], [':protocol', 'websocket'], ...GET_FIELDS.slice(1)],
    ],
  ])('%s', async (_what, fields) => {
    const outcome = await outcomeOf((client) => client.headers(1, fields));
    expect(outcome).toStrictEqual({ reset: PROTOCOL_ERROR, forwarded: 0 });
  });

  test('a body that is shorter than its length', async () => {
    const outcome = await outcomeOf((client) => {
      client.headers(1, [...POST_FIELDS, ['content-length', '8']], 0);
      client.send(DATA, END_STREAM, 1, 'body');
    });
    expect(outcome).toStrictEqual({ reset: PROTOCOL_ERROR, forwarded: 0 });
  });

  test('trailers with a pseudo field', async () => {
    const outcome = await outcomeOf((client) => {
      client.headers(1, POST_FIELDS, 0);
      client.send(DATA, 0, 1, 'body');
      client.headers(1, [[':path', '/y']]);
    });
    expect(outcome).toStrictEqual({ reset: PROTOCOL_ERROR, forwarded: 0 });
  });

  test('fields in the middle of a body', async () => {
    const outcome = await outcomeOf((client) => {
      client.headers(1, POST_FIELDS, 0);
      client.send(DATA, 0, 1, 'body');
      client.headers(1, [['x', 'y']], 0);
    });
    expect(outcome).toStrictEqual({ reset: PROTOCOL_ERROR, forwarded: 0 });
  });
});

test('a body that is longer than its length ends the connection, and is not forwarded', async () => {
  await using upstream = await startUpstream(answerOk);
  await using front = await startHttp2Front({ upstream: upstream.origin });
  await using client = await FrameClient.connect(front.port);
  client.headers(1, [...POST_FIELDS, ['content-length', '2']], 0);
  client.send(DATA, END_STREAM, 1, 'body');
  await client.closed;
  expect(upstream.requests).toHaveLength(0);
});

describe('A request that HTTP/1.1 refuses is refused with the same status', () => {
  test.each<[string, Fields, number]>([
    ['two hosts', [...GET_FIELDS, ['host', 'evil.test']], 400],
    ['another scheme', changed(':scheme', 'ftp'), 400],
    ['a dot segment', changed(':path', '/a/../b'), 400],
    ['a fragment', changed(':path', '/a#b'), 400],
    ['an encoded NUL', changed(':path', '/a%00'), 400],
    ['TRACE', changed(':method', 'TRACE'), 400],
    ['an unknown method', changed(':method', 'FOO'), 400],
    [
      'CONNECT',
      [
        [':method', 'CONNECT'],
        [':authority', 'evil.test:443'],
      ],
      400,
    ],
    ['the target *', [[':method', 'OPTIONS'], ...changed(':path', '*').slice(1)], 400],
    ['a long path', changed(':path', `/${'a'.repeat(8_000)}`), 414],
    ['too many fields', [...GET_FIELDS, ...manyFields()], 400],
    ['a head of 17 KB', [...GET_FIELDS, ['x', 'y'.repeat(8_500)], ['z', 'y'.repeat(8_500)]], 431],
    ['an unknown expectation', [...GET_FIELDS, ['expect', 'a-miracle']], 417],
  ])('%s', async (_what, fields, status) => {
    const outcome = await outcomeOf((client) => client.headers(1, fields));
    expect(outcome).toStrictEqual({ status, forwarded: 0 });
  });
});

describe('A request is forwarded as HTTP/1.1 would be', () => {
  async function receivedWith(
    fields: Fields,
  ): Promise<readonly (readonly [name: string, value: string])[]> {
    await using upstream = await startUpstream(answerOk);
    await using front = await startHttp2Front({ upstream: upstream.origin });
    await using client = await FrameClient.connect(front.port);
    client.headers(1, fields);
    expect(await client.outcome(1)).toStrictEqual({ status: 200 });
    return upstream.requests[0]?.headers ?? [];
  }

  test('the parts of a Cookie field become one', async () => {
    const crumbs: Fields = [...GET_FIELDS, ['cookie', 'a=1'], ['x', 'y'], ['cookie', 'b=2; c=3']];
    const cookies = (await receivedWith(crumbs)).filter(([name]) => name === 'cookie');
    expect(cookies).toStrictEqual([['cookie', 'a=1; b=2; c=3']]);
  });

  test('TE: trailers is accepted, and not forwarded', async () => {
    const received = await receivedWith([...GET_FIELDS, ['te', 'trailers']]);
    expect(received.map(([name]) => name)).not.toContain('te');
  });

  test('the authority and Host may differ in case', async () => {
    const received = await receivedWith([...GET_FIELDS, ['host', 'APP.test']]);
    expect(Object.fromEntries(received)).toMatchObject({ 'X-Forwarded-Host': 'app.test' });
  });

  test('Host alone names the host', async () => {
    const received = await receivedWith([...changed(':authority'), ['host', 'app.test']]);
    expect(Object.fromEntries(received)).toMatchObject({ 'X-Forwarded-Host': 'app.test' });
  });

  // Attack: it would become a line of its own in HTTP/1.1.
  test.each([
    ['x', 'a\r\nadmin: yes'],
    ['x', 'a\x00b'],
    ['x', ' a'],
    ['x y', 'a'],
    ['x:', 'a'],
  ])('a field with characters that no field may have does not exist: %j: %j', async (...field) => {
    const plain = (await receivedWith(GET_FIELDS)).map(([name]) => name);
    expect((await receivedWith([...GET_FIELDS, field])).map(([name]) => name)).toEqual(plain);
  });
});
