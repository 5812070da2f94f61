import { describe, expect } from '@jest/globals';

import { startGatewayWithUsers } from '../../support/gateway-with-users.ts';
import { emptyResult } from '../../support/mcp-route.ts';
import { openForAll } from '../../support/open-for-all.ts';
import { callMcp, signInClient } from '../../support/signed-in-client.ts';
import { startUpstream } from '../../support/upstream.ts';
import { verifies } from '../../requirements/verifies.ts';

const PING = { jsonrpc: '2.0', id: 1, method: 'ping' };

const upstream = openForAll(() =>
  startUpstream((message, response) => {
    message.resume();
    emptyResult(message, response);
  }),
);

describe('The path at the upstream', () => {
  interface Mapping {
    readonly prefix?: string;
    readonly path?: string;
    /** The path of `to`. */
    readonly to?: string;
    readonly serverPath?: string;
    readonly subPaths?: readonly string[];
    /** Requested paths, and the paths that arrive. */
    readonly paths: Readonly<Record<string, string>>;
  }

  const MAPPINGS: readonly Mapping[] = [
    { subPaths: ['/x/y/'], paths: { '/': '/', '/x/y/?q=%2F': '/x/y/?q=%2F' } },
    {
      serverPath: '/mcp',
      subPaths: ['/mcp/x', '/x', '/mcpx'],
      paths: {
        ...{ '/': '/mcp', '/mcp': '/mcp', '/mcp/': '/mcp/', '/mcp/x': '/mcp/x', '/x': '/mcp/x' },
        ...{ '/mcpx': '/mcp/mcpx', '/?a=b': '/mcp?a=b' },
      },
    },
    {
      serverPath: '/a/mcp/',
      subPaths: ['/a'],
      paths: { '/': '/a/mcp', '/a': '/a/mcp/a', '/a/mcp': '/a/mcp' },
    },
    { to: '/base', serverPath: '/mcp', paths: { '/': '/base/mcp', '/mcp': '/base/mcp' } },
    { to: '/base/', subPaths: ['/x'], paths: { '/': '/base', '/x': '/base/x' } },
    {
      prefix: '/files',
      serverPath: '/mcp',
      subPaths: ['/x'],
      paths: { '/files': '/mcp', '/files/': '/mcp/', '/files/mcp': '/mcp', '/files/x': '/mcp/x' },
    },
    { prefix: '/mcp', serverPath: '/mcp', paths: { '/mcp': '/mcp', '/mcp/mcp': '/mcp' } },
    { path: '/hook', to: '/v1', serverPath: '/mcp', paths: { '/hook': '/v1/mcp' } },
  ];

  for (const { prefix, path, to = '', serverPath, subPaths, paths } of MAPPINGS) {
    const route = JSON.stringify({ prefix, path, to, serverPath, subPaths });
    verifies(['mcp.path-appended', 'route.from-to'], `the path is mapped by ${route}`, async () => {
      await using mapped = await startGatewayWithUsers();
      const from = mapped.originOf('mapped');
      await mapped.configure({
        mapped: {
          ...{ from, to: upstream().origin + to, allowAnyAuthenticatedUser: true },
          ...(prefix !== undefined && { prefix }),
          ...(path !== undefined && { path }),
          mcp: {
            server: {
              ...(serverPath !== undefined && { path: serverPath }),
              ...(subPaths && { subPaths: subPaths.map((subPath) => ({ path: subPath })) }),
            },
          },
        },
      });
      const url = from + (prefix ?? path ?? '');
      const { accessToken, server } = await signInClient(url);
      // Clients see the public URL, and never the path of the server.
      expect(server.resource).toBe(url);
      const arrived: Record<string, string> = {};
      for (const asked of Object.keys(paths)) {
        const index = upstream().requests.length;
        expect((await callMcp(from + asked, accessToken, PING)).status).toBe(200);
        arrived[asked] = (await upstream().request(index)).message.url ?? '';
      }
      expect(arrived).toEqual(paths);
    });
  }
});
