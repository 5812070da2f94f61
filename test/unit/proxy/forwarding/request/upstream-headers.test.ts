import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';

import { describe, expect, test } from '@jest/globals';

import {
  upstreamHeaders,
  upstreamTrailers,
  type UpstreamCredentials,
} from '../../../../../proxy/forwarding/request/upstream-headers.ts';

const GATEWAY_FIELDS = [
  ['X-Forwarded-For', '192.0.2.1'],
  ['X-Forwarded-Host', 'app.example.com'],
  ['X-Forwarded-Proto', 'https'],
  ['X-Request-Id', 'id-1'],
];

/** What the upstream gets of these fields. */
function sent(
  fields: readonly string[][],
  credentials: Partial<UpstreamCredentials> = {},
): string[][] {
  const message = new IncomingMessage(new Socket());
  message.rawHeaders = fields.flat();
  const connection = fields.find(([name]) => name?.toLowerCase() === 'connection')?.[1];
  if (connection !== undefined) message.headers.connection = connection;
  const request = {
    id: 'id-1',
    method: 'GET',
    path: '/',
    query: '',
    authority: 'app.example.com',
    remoteAddress: '192.0.2.1',
    message,
  };
  const flat = upstreamHeaders(
    request,
    { scheme: 'https' },
    {
      ofClient: 'forward',
      added: [],
      ...credentials,
    },
  );
  return flat.flatMap((name, index) => (index % 2 === 0 ? [[name, flat[index + 1] ?? '']] : []));
}

describe('header fields for the upstream', () => {
  // Attack: 8,000 options take milliseconds to be listed.
  test('are not made for a Connection field of more than 1,024 characters', () => {
    expect(() => sent([['Connection', 'a,'.repeat(513)]])).toThrow('too many options');
    expect(sent([['Connection', 'a,'.repeat(512)]])).toEqual(GATEWAY_FIELDS);
  });

  // Attack: beside a checked Mcp-Name, CGI and WSGI would read another tool from Mcp_Name.
  test('have no other spellings of fields that are checked on MCP routes', () => {
    const checked = ['Content-Encoding', 'Content-Type', 'Mcp-Method', 'Mcp-Name'];
    const plain = [...checked, 'Mcp-Protocol-Version'].map((name) => [name, 'checked']);
    const spelled = plain.flatMap(([name = '']) => [
      [name.replaceAll('-', '_'), 'other'],
      [name.replace('-', '.').toLowerCase(), 'other'],
    ]);
    expect(sent([...spelled, ...plain])).toEqual([...plain, ...GATEWAY_FIELDS]);
  });

  test('keep the order, the spelling and the repetitions of the client', () => {
    const fields = [
      ['B', '2'],
      ['accept', '*/*'],
      ['X-Thing', 'one'],
      ['x-thing', 'two'],
      ['COOKIE', 'a=1'],
    ];
    expect(sent(fields)).toStrictEqual([...fields, ...GATEWAY_FIELDS]);
  });

  test('end with the fields that the gateway adds', () => {
    expect(sent([], { added: ['X-Gateway-Assertion', 'jwt'] })).toStrictEqual([
      ...GATEWAY_FIELDS,
      ['X-Gateway-Assertion', 'jwt'],
    ]);
  });

  test.each([
    'Connection',
    'Keep-Alive',
    'Proxy-Connection',
    'Proxy-Authorization',
    'Proxy-Thing',
    'Proxy',
    'TE',
    'Trailer',
    'Transfer-Encoding',
    'Upgrade',
    'HTTP2-Settings',
    'Expect',
    'Host',
    'Content-Length',
  ])('do not include %s, which is about the connection', (name) => {
    expect(sent([[name, 'close']])).toStrictEqual(GATEWAY_FIELDS);
  });

  test.each([
    'X-Gateway-Assertion',
    'x-gateway-assertion',
    'X-GATEWAY-Anything',
    'X_Gateway_Assertion',
    'X-Gateway_Assertion',
    'x.gateway.assertion',
    'X-Gateway',
    'X-Forwarded-For',
    'X_Forwarded_For',
    'X-Forwarded-Host',
    'X-Forwarded-Proto',
    'X-Forwarded-Port',
    'X-Forwarded-Prefix',
    'X-Forwarded-User',
    'X-Forwarded-Email',
    'Forwarded',
    'X-Real-IP',
    'X_Real_Ip',
    'X-Request-Id',
    'X-Original-URL',
    'X-Rewrite-URL',
    // They would make the upstream serve another method than the one the policy allowed.
    'X-HTTP-Method-Override',
    'X_HTTP_Method_Override',
    'X-HTTP-Method',
    'X-Method-Override',
    'Transfer_Encoding',
    'Content_Length',
  ])('never include %s of a client', (name) => {
    expect(sent([[name, 'forged']])).toStrictEqual(GATEWAY_FIELDS);
  });

  test('exclude the fields that Connection lists, but not those that the gateway adds', () => {
    const fields = [
      ['Connection', 'keep-alive, X-Private ,x-gateway-assertion, X-Request-Id'],
      ['x-private', '1'],
      ['X-Public', '2'],
    ];
    expect(sent(fields, { added: ['X-Gateway-Assertion', 'jwt'] })).toStrictEqual([
      ['X-Public', '2'],
      ...GATEWAY_FIELDS,
      ['X-Gateway-Assertion', 'jwt'],
    ]);
  });

  test.each([
    ['a=1; __Host-gatehouse=secret; b=2', 'a=1; b=2'],
    ['__Host-gatehouse=secret; a=1;b="x y"', 'a=1;b="x y"'],
    ['a=1; gatehouse-8080=secret', 'a=1'],
    ['a=1; gatehouse=s; __Secure-gatehouse=s; gatehouse-pre=s', 'a=1'],
    ['gatehouses=1; xgatehouse=2; a=gatehouse', 'gatehouses=1; xgatehouse=2; a=gatehouse'],
    [' a=1 ;b=2;', ' a=1 ;b=2;'],
    ['__Host-gatehouse', undefined],
    ['a=1; =gatehouse-8080=secret', 'a=1'],
    ['__Host-gatehouse=secret; gatehouse-1=x', undefined],
  ])("exclude the gateway's cookies of %j", (value, expected) => {
    const cookies = expected === undefined ? [] : [['Cookie', expected]];
    expect(sent([['Cookie', value]])).toStrictEqual([...cookies, ...GATEWAY_FIELDS]);
  });

  test.each(['Bearer upstreams-own', 'Basic dXNlcjpwYXNz', 'Bearer x-gte_no'])(
    'include Authorization: %s unchanged',
    (value) => {
      expect(sent([['authorization', value]])[0]).toStrictEqual(['authorization', value]);
    },
  );

  test.each([
    'Bearer gte_token',
    'bearer   gtr_token',
    'BEARER gte_token',
    'Token gte_token',
    'Basic x, Bearer gte_token',
    'gte_token',
  ])('never include a token of the gateway: %s', (value) => {
    expect(sent([['Authorization', value]])).toStrictEqual(GATEWAY_FIELDS);
  });

  test('exclude Authorization if the credentials remove it', () => {
    const fields = [
      ['Authorization', 'Bearer anything'],
      ['AUTHORIZATION', 'Basic other'],
    ];
    const added = ['Authorization', 'Bearer internal'];
    expect(sent(fields, { ofClient: 'remove', added })).toStrictEqual([
      ...GATEWAY_FIELDS,
      ['Authorization', 'Bearer internal'],
    ]);
  });
});

describe('trailer fields for the upstream', () => {
  test('exclude fields that a client must not write in the header', () => {
    const raw = [
      ...['X-Checksum', 'abc', 'X-Gateway-Assertion', 'forged', 'x_gateway_assertion', 'forged'],
      ...['Authorization', 'Bearer x', 'Cookie', 'a=1', 'Content-Length', '5', 'Host', 'evil'],
      ...['Transfer-Encoding', 'chunked', 'X-Forwarded-For', '127.0.0.1', 'x-last', 'z'],
      ...['Traceparent', `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`, 'tracestate', 'a=1'],
    ];
    expect(upstreamTrailers(raw)).toStrictEqual([
      ['X-Checksum', 'abc'],
      ['x-last', 'z'],
    ]);
  });
});
