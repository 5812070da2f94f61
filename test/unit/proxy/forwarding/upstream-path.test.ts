import { describe, expect, test } from '@jest/globals';

import { upstreamOrigin, upstreamPath } from '../../../../proxy/forwarding/upstream-path.ts';
import type { PathMatch } from '../../../../shared/snapshot/snapshot.ts';

const ANY: PathMatch = { kind: 'prefix', value: '' };
const PREFIX: PathMatch = { kind: 'prefix', value: '/a' };
const EXACT: PathMatch = { kind: 'exact', value: '/a/b' };
const REGEX: PathMatch = { kind: 'regex', value: '/[ab]/.*' };

describe('the upstream path', () => {
  test.each<[PathMatch, to: string, endpoint: string | undefined, request: string, sent: string]>([
    // Every path
    [ANY, 'http://u', undefined, '/', '/'],
    [ANY, 'http://u', undefined, '/x', '/x'],
    [ANY, 'http://u', undefined, '/x/', '/x/'],
    [ANY, 'http://u/base', undefined, '/', '/base'],
    [ANY, 'http://u/base', undefined, '/x', '/base/x'],
    [ANY, 'http://u', '/mcp', '/', '/mcp'],
    [ANY, 'http://u/base', '/mcp', '/', '/base/mcp'],
    [ANY, 'http://u', '/mcp', '/x', '/mcp/x'],
    // A path that is there already is not put there twice: whole segments count
    [ANY, 'http://u', '/mcp', '/mcp', '/mcp'],
    [ANY, 'http://u', '/mcp', '/mcp/', '/mcp/'],
    [ANY, 'http://u', '/mcp', '/mcp/x', '/mcp/x'],
    [ANY, 'http://u', '/mcp', '/mcpx', '/mcp/mcpx'],
    [ANY, 'http://u/base', '/v1/mcp', '/v1/mcp', '/base/v1/mcp'],
    [ANY, 'http://u', '/v1/mcp', '/v1', '/v1/mcp/v1'],
    // A prefix
    [PREFIX, 'http://u', undefined, '/a', '/'],
    [PREFIX, 'http://u', undefined, '/a/', '/'],
    [PREFIX, 'http://u', undefined, '/a/x', '/x'],
    [PREFIX, 'http://u/base', undefined, '/a', '/base'],
    [PREFIX, 'http://u/base', undefined, '/a/', '/base/'],
    [PREFIX, 'http://u/base', '/mcp', '/a', '/base/mcp'],
    [PREFIX, 'http://u/base', '/mcp', '/a/mcp', '/base/mcp'],
    [PREFIX, 'http://u/base', '/mcp', '/a/x', '/base/mcp/x'],
    // An exact path, a regular expression
    [EXACT, 'http://u/base', undefined, '/a/b', '/base'],
    [EXACT, 'http://u', undefined, '/a/b', '/'],
    [EXACT, 'http://u', '/mcp', '/a/b', '/mcp'],
    [REGEX, 'http://u/base', undefined, '/a/x', '/base/a/x'],
    [REGEX, 'http://u', '/mcp', '/a/x', '/mcp/a/x'],
    // Byte for byte
    [ANY, 'http://u', undefined, '//x//y', '//x//y'],
    [ANY, 'http://u', undefined, '/%7ex/%2F;a=b', '/%7ex/%2F;a=b'],
    [PREFIX, 'http://u', undefined, '/a//x', '//x'],
    [ANY, 'http://u:8080', undefined, '/x', '/x'],
  ])('%j to %s with %s sends %s as %s', (...row) => {
    const [path, upstream, endpoint, request, sent] = row;
    const mcpServer =
      endpoint === undefined ? {} : { mcpServer: { path: endpoint, maxRequestBytes: 1 } };
    const route = { path, upstream, ...mcpServer };
    expect(upstreamPath(route, { path: request, query: '' })).toBe(sent);
    expect(upstreamPath(route, { path: request, query: '?q=//a/../%2e' })).toBe(
      `${sent}?q=//a/../%2e`,
    );
  });

  test.each([
    ['http://u', 'http://u'],
    ['http://u:8080/base/x', 'http://u:8080'],
    ['https://[::1]:8443/base', 'https://[::1]:8443'],
  ])('the origin of %s is %s', (upstream, origin) => {
    expect(upstreamOrigin({ upstream })).toBe(origin);
  });
});
