import { describe, expect, test } from '@jest/globals';

import { matchRoute } from '../../../../proxy/pipeline/match-route.ts';
import { RoutingTable } from '../../../../proxy/configuration/routing-table.ts';
import { atOnce } from '../../../support/build-configuration.ts';
import { changesBetween } from '../../../../proxy/configuration/snapshot-changes.ts';
import { hashResource, snapshotOf } from '../../../../shared/snapshot/hash-resource.ts';
import type { CompiledRoute, PathMatch } from '../../../../shared/snapshot/snapshot.ts';

function aCompiledRoute(name: string, path: PathMatch): CompiledRoute {
  return {
    kind: 'route',
    name,
    scheme: 'https',
    host: 'app.example.com',
    port: 443,
    path,
    upstream: 'http://app.internal',
    access: { kind: 'public' },
    allowWebsockets: false,
    responseTimeoutMs: 0,
  };
}

/** Name of the route that owns a path, or the reason why none does. */
function match(paths: readonly PathMatch[], path: string): string {
  const routes = paths.map((each) => aCompiledRoute(`${each.kind} ${each.value}`, each));
  const snapshot = snapshotOf(routes.map((route) => hashResource(`route/${route.name}`, route)));
  const table = atOnce(RoutingTable.EMPTY.with(changesBetween(undefined, snapshot)));
  const found = table.findHost('app.example.com');
  try {
    return matchRoute({ path }, { routes: found }).compiled.name;
  } catch (error) {
    return error instanceof Error && 'reason' in error ? String(error.reason) : 'bug';
  }
}

const prefix = (value: string): PathMatch => ({ kind: 'prefix', value });
const exact = (value: string): PathMatch => ({ kind: 'exact', value });
const regex = (value: string): PathMatch => ({ kind: 'regex', value });

describe('the route of a path', () => {
  const all = [prefix(''), prefix('/a'), prefix('/a/b'), exact('/a/b'), regex('/files/\\d+')];

  test.each([
    ['/', 'prefix '],
    ['/ab', 'prefix '],
    ['/a', 'prefix /a'],
    ['/a/', 'prefix /a'],
    ['/a/c', 'prefix /a'],
    ['/a/b', 'exact /a/b'],
    ['/a/b/c', 'prefix /a/b'],
    ['/files/12', 'regex /files/\\d+'],
    ['/files/x', 'prefix '],
  ])('%s is owned by %s', (path, owner) => {
    expect(match(all, path)).toBe(owner);
  });

  test('is refused with 404 if no route has the path', () => {
    expect(match([prefix('/a')], '/b')).toBe('route-not-found');
  });
});

describe('a path that a lenient upstream reads as that of a different route', () => {
  test.each([
    ['capitals', [prefix(''), prefix('/mcp')], '/MCP'],
    ['capitals in the route', [prefix(''), prefix('/Admin')], '/admin/x'],
    ['a slash at the end', [prefix(''), exact('/mcp')], '/mcp/'],
    ['an encoded at sign', [prefix(''), prefix('/@me')], '/%40me/secrets'],
    ['an encoded colon', [prefix(''), exact('/jobs:purge')], '/jobs%3Apurge'],
    ['a path parameter', [prefix(''), prefix('/admin')], '/admin;x/users'],
    ['an encoded path parameter', [prefix(''), prefix('/admin')], '/admin%3Bx'],
    ['an empty parameter segment', [prefix(''), prefix('/admin')], '/;x/admin'],
    ['capitals of an expression', [prefix(''), regex('/files/[a-z]+')], '/FILES/a'],
  ])('is refused: %s', (_what, paths, path) => {
    expect(match(paths, path)).toBe('ambiguous-path');
  });

  test.each([
    ['capitals', [prefix(''), prefix('/mcp')], '/Readme'],
    ['an encoded at sign', [prefix(''), prefix('/mcp')], '/users/alice%40example.com'],
    ['a slash at the end', [prefix(''), prefix('/mcp')], '/mcp/'],
    ['an only route', [prefix('')], '/ADMIN;x'],
  ])('is not refused if there is no other route: %s', (_what, paths, path) => {
    expect(match(paths, path)).toMatch(/^prefix/);
  });

  test('is refused if it is too long to be read by all regular expressions of the host', () => {
    const expressions = (count: number): readonly PathMatch[] =>
      Array.from({ length: count }, (_, index) => regex(`/${String(index)}/.*`));
    expect(match(expressions(8), `/7/${'a'.repeat(7_990)}`)).toBe('regex /7/.*');
    expect(match(expressions(9), `/7/${'a'.repeat(7_990)}`)).toBe('path-too-long');
    expect(match(expressions(1_000), `/31/${'a'.repeat(50)}`)).toBe('regex /31/.*');
    expect(match(expressions(1_000), `/31/${'a'.repeat(100)}`)).toBe('path-too-long');
  });

  // Attack: V8 takes more than 20 seconds for these 111 characters, because the loose reading ignores case.
  test('is compared by a regular expression in one step for each character', () => {
    const camelCase = regex('/[a-z]+[A-Z]+[a-z]+[A-Z]+[a-z]+[A-Z]+!');
    expect(match([camelCase], `/${'a'.repeat(110)}`)).toBe('route-not-found');
    expect(match([camelCase], '/aAaAaA!')).toBe('regex /[a-z]+[A-Z]+[a-z]+[A-Z]+[a-z]+[A-Z]+!');
    expect(match([prefix(''), camelCase], `/${'aB'.repeat(55)}!`)).toBe('ambiguous-path');
  });
});
