import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';

import { describe, expect, test } from '@jest/globals';

import { BadRequestError, PathTooLongError } from '../../../../proxy/errors/request-errors.ts';
import { clientAddressBehind } from '../../../../proxy/http/client-address.ts';
import { isDistrusted } from '../../../../proxy/http/distrust.ts';
import type { GatewayRequest } from '../../../../proxy/http/gateway-request.ts';
import { ambiguousPath, parseRequest } from '../../../../proxy/http/parse-request.ts';

const HOST = ['Host', 'app.example.com'];

function aMessage({
  url = '/',
  method = 'GET',
  rawHeaders = HOST,
  httpVersion = '1.1',
}: Partial<
  Pick<IncomingMessage, 'url' | 'method' | 'rawHeaders' | 'httpVersion'>
>): IncomingMessage {
  const message = new IncomingMessage(new Socket());
  return Object.assign(message, { url, method, rawHeaders, httpVersion });
}

function parse(parts: Parameters<typeof aMessage>[0]): GatewayRequest {
  return parseRequest(aMessage(parts), 'id-1', clientAddressBehind([]));
}

function reasonOf(parts: Parameters<typeof aMessage>[0]): string {
  const message = aMessage(parts);
  try {
    parseRequest(message, 'id-1', clientAddressBehind([]));
  } catch (error) {
    expect(isDistrusted(message)).toBe(true);
    if (error instanceof BadRequestError) return error.reason;
    throw error;
  }
  return 'none';
}

describe('parsing a request', () => {
  test.each([
    ['/', '/', ''],
    ['/a/b', '/a/b', ''],
    ['/a?', '/a', '?'],
    ['/a?b=c?d', '/a', '?b=c?d'],
    ['//x//y', '//x//y', ''],
    ['/.well-known/oauth-protected-resource', '/.well-known/oauth-protected-resource', ''],
    ['/.gateway/', '/.gateway/', ''],
    ['/...', '/...', ''],
    ['/a/..b/.c/d.', '/a/..b/.c/d.', ''],
    ['/%7Euser/%2F%C3%a9', '/%7Euser/%2F%C3%a9', ''],
    ["/-._~!$&'()*+,;=:@", "/-._~!$&'()*+,;=:@", ''],
    ['/a|b"<>^`{}[]', '/a|b"<>^`{}[]', ''],
    ['/a?x=/../%2e%zz\\%', '/a', '?x=/../%2e%zz\\%'],
    ['/%252e%252e/', '/%252e%252e/', ''],
  ])('keeps %s byte for byte', (url, path, query) => {
    expect(parse({ url })).toMatchObject({ id: 'id-1', method: 'GET', path, query });
  });

  test.each([
    ['http://app.example.com/a?b', '/a', '?b'],
    ['https://APP.example.com/a', '/a', ''],
    ['http://app.example.com', '/', ''],
    ['http://app.example.com?b', '/', '?b'],
  ])('reads the path of %s, which has the host of Host', (url, path, query) => {
    expect(parse({ url })).toMatchObject({ path, query });
  });

  test.each([
    'http://evil.example/a',
    'http://app.example.com:80/',
    'http://user@app.example.com/',
    'http://app.example.com.evil.example/',
    'http:///a',
  ])('refuses the target %s, which has a different host', (url) => {
    expect(reasonOf({ url })).toBe('authority-mismatch');
  });

  test.each([
    '*',
    '',
    'app.example.com:443',
    'a/b',
    'ftp://app.example.com/',
    '/a\\b',
    '/a#b',
    '/a?b#c',
    '/a b',
    '/a\x01',
    '/a\x7f',
    '/a?b\x00',
    '/caf\xc3\xa9',
    'http://app.example.com/#a',
  ])('refuses the malformed target %j', (url) => {
    expect(reasonOf({ url })).toBe('malformed-target');
  });

  test.each(['/%', '/%1', '/%zz', '/a%00', '/%2', '/100%'])(
    'refuses the percent-encoding of %s',
    (url) => {
      expect(reasonOf({ url })).toBe('malformed-percent-encoding');
    },
  );

  test.each([
    ...['/.', '/..', '/./', '/../', '/a/.', '/a/..', '/a/../b', '/a/./b', '//..//'],
    ...['/%2e', '/%2E%2e/', '/.%2e', '/%2e./a', '/a/%2E', '/a/%2e%2E/b'],
    ...['/..;/a', '/..;x=y', '/.;/a', '/%2e%2e;/a', '/..%3bx/a'],
    ...['/..%2fa', '/a%2f..%2fb', '/a%2F..', '/..%5ca', '/a%5c..'],
  ])('refuses the dot segment in %s', (url) => {
    expect(reasonOf({ url })).toBe('dot-segment');
  });

  test.each<[string, string[]]>([
    ['no-host', []],
    ['no-host', ['X', 'y']],
    ['several-host-headers', ['Host', 'a', 'hOST', 'a']],
    ['malformed-host', ['Host', '']],
    ['malformed-host', ['Host', 'a b']],
    ['malformed-host', ['Host', 'a,b']],
    ['malformed-host', ['Host', 'a/b']],
    ['malformed-host', ['Host', 'user@a']],
    ['malformed-host', ['Host', 'a:']],
    ['malformed-host', ['Host', 'a:x']],
    ['malformed-host', ['Host', '[::1']],
    ['malformed-host', ['Host', 'a.'.repeat(8_000)]],
    ['malformed-host', ['Host', `a.${'b'.repeat(64)}.example`]],
    ['malformed-host', ['Host', `${'b.'.repeat(126)}de:80`]],
    ['malformed-host', ['Host', `${'b.'.repeat(124)}cdef.a:80808`]],
    ['malformed-host', ['Host', 'a..b']],
    ['malformed-host', ['Host', '.a']],
    ['malformed-host', ['Host', `[${':'.repeat(46)}]`]],
    ['ambiguous-framing', [...HOST, 'Content-Length', '5', 'content-length', '5']],
    ['ambiguous-framing', [...HOST, 'Content-Length', '5', 'Transfer-Encoding', 'chunked']],
    [
      'ambiguous-framing',
      [...HOST, 'Transfer-Encoding', 'chunked', 'TRANSFER-ENCODING', 'chunked'],
    ],
    ['transfer-encoding', [...HOST, 'Transfer-Encoding', 'identity, chunked']],
    ['transfer-encoding', [...HOST, 'Transfer-Encoding', 'gzip, chunked']],
    ['transfer-encoding', [...HOST, 'Transfer-Encoding', 'identity']],
    ['transfer-encoding', [...HOST, 'Transfer-Encoding', 'xchunked']],
    ['transfer-encoding', [...HOST, 'Transfer-Encoding', '']],
  ])('refuses with %s: %j', (reason, rawHeaders) => {
    expect(reasonOf({ rawHeaders })).toBe(reason);
  });

  test('refuses chunks in HTTP/1.0', () => {
    const rawHeaders = [...HOST, 'Transfer-Encoding', 'chunked'];
    expect(reasonOf({ rawHeaders, httpVersion: '1.0' })).toBe('transfer-encoding');
  });

  test('refuses more than 256 header fields', () => {
    const many = Array.from({ length: 300 }, () => ['X', 'y']).flat();
    expect(reasonOf({ rawHeaders: [...HOST, ...many] })).toBe('too-many-headers');
  });

  test('refuses a path of more than 8,000 characters, and no query for its length', () => {
    const longest = `/${'a'.repeat(7_999)}`;
    expect(parse({ url: `${longest}?${'b'.repeat(8_000)}` }).path).toBe(longest);
    expect(() => parse({ url: `${longest}a` })).toThrow('longer than 8000 characters');
    expect(() => parse({ url: `http://app.example.com${longest}a` })).toThrow(PathTooLongError);
  });

  test("refuses TRACE, because its answer would show the upstream's credentials", () => {
    expect(reasonOf({ method: 'TRACE' })).toBe('trace-refused');
  });

  test.each([
    ['APP.Example.com:8443', 'app.example.com:8443'],
    ['127.0.0.1', '127.0.0.1'],
    ['[::1]:80', '[::1]:80'],
    ['under_score', 'under_score'],
    ['app.example.com.', 'app.example.com.'],
    [`${'b.'.repeat(126)}d:65535`, `${'b.'.repeat(126)}d:65535`],
    [`${'b'.repeat(63)}.example`, `${'b'.repeat(63)}.example`],
  ])('reads Host: %s as %s', (host, authority) => {
    expect(parse({ rawHeaders: ['hOst', host] }).authority).toBe(authority);
  });
});

describe('ambiguous paths', () => {
  test.each([
    '//',
    '/a//b',
    '/a//',
    '/%61',
    '/%41x',
    '/%7A',
    '/%30',
    '/%2D',
    '/%5F',
    '/%7E',
    '/%2E1',
  ])('%s may be read as a different path', (path) => {
    expect(ambiguousPath(path)).toBe(true);
  });

  test.each(['/a%2Fsecret', '/a%5Csecret', '/a%2fsecret', '/a%5csecret'])(
    '%s may be split into segments by an upstream',
    (path) => {
      expect(ambiguousPath(path)).toBe(true);
    },
  );

  test.each(['/caf%c3%a9', '/%C3%a9', '/%e2'])('%s also has an upper-case spelling', (path) => {
    expect(ambiguousPath(path)).toBe(true);
  });

  test.each(['/', '/a/b/', '/%20', '/%25', '/%C3%A9', '/%40', '/%5B', '/%60', '/%7B', '/a:b'])(
    '%s has only one reading',
    (path) => {
      expect(ambiguousPath(path)).toBe(false);
    },
  );

  test('are all encoded unreserved characters and separators, and no other upper-case encoding', () => {
    for (let code = 1; code < 256; code += 1) {
      const character = String.fromCharCode(code);
      const path = `/%${code.toString(16).padStart(2, '0').toUpperCase()}`;
      const isAmbiguous = /[A-Za-z\d\-._~/\\]/.test(character);
      expect([path, ambiguousPath(path)]).toStrictEqual([path, isAmbiguous]);
    }
  });
});
