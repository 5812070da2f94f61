import { describe, expect, test } from '@jest/globals';

import {
  publicSpec,
  settingsSpec,
  startedCluster,
  type CompilerCluster,
} from '../../../../support/compiler-cluster.ts';

const HOST = 'https://app.example.com';

/** The spec of an MCP route. */
function mcpSpec(from: string): unknown {
  return { from, to: 'http://up', prefix: '/mcp', mcp: { server: {} } };
}

/** Names of the routes with an exposed consent page. */
function exposed({ verdicts }: CompilerCluster): readonly string[] {
  return [...verdicts].flatMap(([name, verdict]) =>
    verdict.isConsentExposed === true ? [name] : [],
  );
}

/** A cluster with an MCP route and a web route on one host, and an MCP route on another. */
function sharedHost(): CompilerCluster {
  const cluster = startedCluster();
  cluster.put({
    'team-a/mcp': mcpSpec(HOST),
    'team-a/web': publicSpec(HOST),
    'team-a/apart': mcpSpec('https://mcp.example.com'),
  });
  return cluster;
}

describe('an MCP route that shares its host with a web route', () => {
  test('is reported, serves, and is the only one', () => {
    const cluster = sharedHost();
    expect(exposed(cluster)).toEqual(['team-a/mcp']);
    expect(cluster.verdicts.get('team-a/mcp')).toMatchObject({ isAccepted: true, problems: [] });
  });

  test('is reported again as soon as the web route comes or goes, without being published', () => {
    const cluster = sharedHost();
    const { routes, put } = cluster.put({
      'team-a/web': publicSpec('https://elsewhere.example.com'),
    });
    expect([...routes.keys()].sort()).toEqual(['team-a/mcp', 'team-a/web']);
    expect(put.map(({ key }) => key)).toEqual(['route/team-a/web']);
    expect(exposed(cluster)).toEqual([]);
    cluster.put({ 'team-a/web': publicSpec(HOST) });
    expect(exposed(cluster)).toEqual(['team-a/mcp']);
    cluster.delete('team-a/web');
    expect(exposed(cluster)).toEqual([]);
  });

  test('is not reported once there is an authenticateUrl', () => {
    const cluster = sharedHost();
    cluster.putSettings(settingsSpec({ authenticateUrl: 'https://sign-in.example.com' }));
    expect(exposed(cluster)).toEqual([]);
    cluster.putSettings(settingsSpec());
    expect(exposed(cluster)).toEqual(['team-a/mcp']);
  });

  test('is reported with an authenticateUrl too, while users connect its upstream', () => {
    const cluster = sharedHost();
    cluster.putSettings(settingsSpec({ authenticateUrl: 'https://sign-in.example.com' }));
    const mcp = { server: { upstreamOauth2: {} } };
    cluster.put({
      'team-a/mcp': { ...(mcpSpec(HOST) as object), to: 'https://up.example.com', mcp },
    });
    expect(exposed(cluster)).toEqual(['team-a/mcp']);
    cluster.put({ 'team-a/web': publicSpec('https://elsewhere.example.com') });
    expect(exposed(cluster)).toEqual([]);
    cluster.put({ 'team-a/web': publicSpec(HOST) });
    expect(exposed(cluster)).toEqual(['team-a/mcp']);
    cluster.put({ 'team-a/mcp': mcpSpec(HOST) });
    expect(exposed(cluster)).toEqual([]);
  });

  test.each([
    ['another port', publicSpec(`${HOST}:8443`)],
    ['a subdomain', publicSpec('https://web.app.example.com')],
    ['a wildcard, which does not serve the host', publicSpec('https://*.example.com')],
    ['a second MCP server', { ...(mcpSpec(HOST) as object), prefix: '/other' }],
  ])('is not reported for a route on %s', (_what, spec) => {
    const cluster = sharedHost();
    cluster.put({ 'team-a/web': spec });
    expect(exposed(cluster)).toEqual([]);
  });
});
