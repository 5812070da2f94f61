import { describe, expect, test } from '@jest/globals';

import { verifies } from '../../requirements/verifies.ts';
import {
  aRoute,
  aWebRoute,
  ISSUER,
  RESOURCE,
  startAuthorizationServer,
} from '../../support/authorization-server.ts';
import { fieldsOf } from '../../support/client-flow.ts';

const RESOURCE_METADATA = '/.well-known/oauth-protected-resource';

const ROOT = aRoute({ path: { kind: 'prefix', value: '' } });
const MCP = aRoute({ name: 'tools/mcp' });

describe('Protected resource metadata (RFC 9728)', () => {
  verifies(
    'rs.metadata',
    'protected resource metadata describe the route, its authorization server and how to send a token',
    async () => {
      await using server = await startAuthorizationServer({ routes: [MCP] });
      const reply = await server.send(`${ISSUER}${RESOURCE_METADATA}/mcp`);
      expect(reply.status).toBe(200);
      expect(reply.headers['content-type']).toBe('application/json');
      expect(fieldsOf(reply)).toEqual({
        resource: RESOURCE,
        resource_name: 'tools/mcp',
        authorization_servers: [ISSUER],
        bearer_methods_supported: ['header'],
      });
    },
  );

  const PATHS: readonly (readonly [string, string])[] = [
    ['/', ISSUER],
    ['', ISSUER],
    ['/mcp', `${ISSUER}/mcp`],
    ['/mcp/', `${ISSUER}/mcp`],
    ['//mcp', `${ISSUER}/mcp`],
    ['/api/v2/mcp', `${ISSUER}/api/v2/mcp`],
    ['/a%2Fb/mcp', `${ISSUER}/a%2Fb/mcp`],
    ['/mcp?query=1', `${ISSUER}/mcp`],
  ];

  for (const [path, resource] of PATHS) {
    verifies(
      'rs.metadata',
      `protected resource metadata at ${JSON.stringify(path)} are about ${JSON.stringify(resource)}`,
      async () => {
        await using server = await startAuthorizationServer({ routes: [ROOT] });
        const reply = await server.send(`${ISSUER}${RESOURCE_METADATA}${path}`);
        expect(fieldsOf(reply)).toMatchObject({ resource });
      },
    );
  }

  verifies(
    'rs.metadata',
    'protected resource metadata at the root are about the only MCP route of the host',
    async () => {
      await using server = await startAuthorizationServer({ routes: [MCP] });
      const reply = await server.send(`${ISSUER}${RESOURCE_METADATA}`);
      expect(fieldsOf(reply)).toMatchObject({ resource: RESOURCE });
    },
  );

  verifies(
    'rs.metadata',
    'protected resource metadata at the root are absent if the host has several MCP routes',
    async () => {
      const other = aRoute({ path: { kind: 'prefix', value: '/other' } });
      await using server = await startAuthorizationServer({ routes: [MCP, other] });
      const reply = await server.send(`${ISSUER}${RESOURCE_METADATA}`);
      expect(reply.status).toBe(404);
      expect(fieldsOf(reply)).toEqual({
        error: 'not_found',
        request_id: reply.headers['x-request-id'],
      });
    },
  );

  const FOREIGN_PATHS: readonly (readonly [string, string])[] = [
    ['outside of every route', '/elsewhere'],
    ['of a web route', '/app'],
    ['that only begins like a route', '/mcp2'],
    ['with dot segments', '/mcp/../app'],
    ['with encoded dot segments', '/mcp/%2e%2e/app'],
    ['with characters that are not valid in a URL', '/mcp/"x'],
  ];

  for (const [what, path] of FOREIGN_PATHS) {
    verifies(
      'rs.metadata',
      `protected resource metadata are absent for a path ${what}`,
      async () => {
        const web = aWebRoute({ path: { kind: 'prefix', value: '/app' } });
        await using server = await startAuthorizationServer({ routes: [MCP, web] });
        const reply = await server.send(`${ISSUER}${RESOURCE_METADATA}${path}`);
        expect(reply.status).toBe(404);
        expect(reply.headers['content-type']).toBe('application/json');
      },
    );
  }

  test('protected resource metadata are absent for the paths of the gateway itself', async () => {
    await using server = await startAuthorizationServer({ routes: [ROOT] });
    const reply = await server.send(`${ISSUER}${RESOURCE_METADATA}/.gateway/mcp/token`);
    expect(reply.status).toBe(404);
  });

  verifies(
    'rs.metadata',
    'protected resource metadata of a wildcard route contain the host of the request',
    async () => {
      const wildcard = aRoute({ host: '*.example.com' });
      await using server = await startAuthorizationServer({ routes: [wildcard] });
      const reply = await server.send(`https://a.example.com${RESOURCE_METADATA}/mcp`);
      expect(fieldsOf(reply)).toMatchObject({
        resource: 'https://a.example.com/mcp',
        authorization_servers: ['https://a.example.com'],
      });
    },
  );
});

describe('The challenge of a protected resource', () => {
  const CALLED: readonly (readonly [string, string])[] = [
    ['/', ''],
    ['/mcp', '/mcp'],
    ['/mcp/', '/mcp'],
    ['/mcp/deeper', '/mcp/deeper'],
  ];

  for (const [path, inserted] of CALLED) {
    verifies(
      ['rs.challenge', 'rs.metadata'],
      `the challenge at ${JSON.stringify(path)} leads to metadata for the URL of the request`,
      async () => {
        await using server = await startAuthorizationServer({ routes: [ROOT] });
        const reply = await server.send(`${ISSUER}${path}`);
        expect(reply.status).toBe(401);
        const url = `${ISSUER}${RESOURCE_METADATA}${inserted}`;
        expect(reply.headers['www-authenticate']).toBe(`Bearer resource_metadata="${url}"`);
        expect(fieldsOf(await server.send(url))).toMatchObject({ resource: ISSUER + inserted });
      },
    );
  }

  verifies(
    'rs.challenge',
    'the challenge contains invalid_token only if the request had a token',
    async () => {
      await using server = await startAuthorizationServer();
      const headers = { authorization: 'Bearer gte_garbage' };
      const reply = await server.send(RESOURCE, { headers });
      expect(reply.status).toBe(401);
      expect(reply.headers['www-authenticate']).toBe(
        `Bearer error="invalid_token", resource_metadata="${ISSUER}${RESOURCE_METADATA}/mcp"`,
      );
    },
  );
});
