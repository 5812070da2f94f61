import { describe, expect, test } from '@jest/globals';
import { discoverAuthorizationServerMetadata } from '@modelcontextprotocol/sdk/client/auth.js';

import { aRoute as aRouteManifest, aSettings } from '../../support/resources.ts';
import { verifies } from '../../requirements/verifies.ts';
import {
  ISSUER,
  startAuthorizationServer,
  type Reply,
  type TestServer,
} from '../../support/authorization-server.ts';
import { fieldsOf } from '../../support/client-flow.ts';
import { compileOnce, type CompiledOnce } from '../../support/compile-once.ts';

const RESOURCE_METADATA = '/.well-known/oauth-protected-resource';
const SERVER_METADATA = '/.well-known/oauth-authorization-server';
const OPENID_CONFIGURATION = '/.well-known/openid-configuration';

describe('Authorization server metadata (RFC 8414)', () => {
  verifies(
    [
      'as.metadata',
      'as.metadata-members',
      'as.metadata-issuer',
      'as.iss',
      'as.pkce-advertised',
      'as.metadata-document-advertised',
    ],
    'authorization server metadata contain every endpoint, all on the issuer, and what they support',
    async () => {
      await using server = await startAuthorizationServer();
      const reply = await server.send(`${ISSUER}${SERVER_METADATA}`);
      expect(reply.status).toBe(200);
      const methods = ['none', 'client_secret_basic', 'client_secret_post', 'private_key_jwt'];
      expect(fieldsOf(reply)).toEqual({
        issuer: ISSUER,
        authorization_endpoint: `${ISSUER}/.gateway/mcp/authorize`,
        token_endpoint: `${ISSUER}/.gateway/mcp/token`,
        registration_endpoint: `${ISSUER}/.gateway/mcp/register`,
        revocation_endpoint: `${ISSUER}/.gateway/mcp/revoke`,
        response_types_supported: ['code'],
        response_modes_supported: ['query'],
        grant_types_supported: ['authorization_code', 'refresh_token'],
        token_endpoint_auth_methods_supported: methods,
        token_endpoint_auth_signing_alg_values_supported: expect.arrayContaining(['ES256']),
        revocation_endpoint_auth_methods_supported: methods,
        revocation_endpoint_auth_signing_alg_values_supported: expect.arrayContaining(['ES256']),
        code_challenge_methods_supported: ['S256'],
        authorization_response_iss_parameter_supported: true,
        client_id_metadata_document_supported: true,
      });
    },
  );

  verifies(
    'as.metadata-document-advertised',
    'authorization server metadata do not offer URL client IDs if no domain is allowed',
    async () => {
      await using server = await startAuthorizationServer({
        settings: { allowedClientIdDomains: [] },
      });
      const metadata = fieldsOf(await server.send(`${ISSUER}${SERVER_METADATA}`));
      expect(metadata).not.toHaveProperty('client_id_metadata_document_supported');
    },
  );

  for (const path of [SERVER_METADATA, OPENID_CONFIGURATION]) {
    verifies(
      'as.metadata',
      `authorization server metadata are at ${path}, with and without the path of an MCP route`,
      async () => {
        await using server = await startAuthorizationServer();
        const root = await server.send(`${ISSUER}${path}`);
        expect(fieldsOf(root)).toMatchObject({ issuer: ISSUER });
        expect(await server.send(`${ISSUER}${path}/mcp`)).toMatchObject({ body: root.body });
        expect(await server.send(`${ISSUER}${path}/elsewhere`)).toMatchObject({ status: 404 });
      },
    );
  }

  verifies(
    ['as.metadata', 'as.pkce-advertised'],
    'the OpenID configuration contains the members that OpenID clients require',
    async () => {
      await using server = await startAuthorizationServer();
      expect(fieldsOf(await server.send(`${ISSUER}${OPENID_CONFIGURATION}`))).toMatchObject({
        jwks_uri: `${ISSUER}/.gateway/jwks.json`,
        subject_types_supported: ['public'],
        id_token_signing_alg_values_supported: ['ES256'],
        code_challenge_methods_supported: ['S256'],
      });
    },
  );

  for (const path of [SERVER_METADATA, OPENID_CONFIGURATION]) {
    verifies(
      'as.metadata',
      `authorization server metadata at ${path} satisfy the official SDK`,
      async () => {
        await using server = await startAuthorizationServer();
        const metadata = await discoverAuthorizationServerMetadata(ISSUER, {
          fetchFn: async (url) => asResponse(await only(path, server, String(url))),
        });
        expect(metadata).toMatchObject({ issuer: ISSUER });
      },
    );
  }

  verifies(
    'as.metadata-members',
    'authorization server metadata contain no empty list and no scopes',
    async () => {
      await using server = await startAuthorizationServer();
      const metadata = fieldsOf(await server.send(`${ISSUER}${SERVER_METADATA}`));
      expect(Object.values(metadata)).not.toContainEqual([]);
      expect(metadata).not.toHaveProperty('scopes_supported');
    },
  );

  verifies(
    'as.metadata-issuer',
    'authorization server metadata take the issuer from the route, not from the request',
    async () => {
      await using server = await startAuthorizationServer();
      const reply = await server.send(`${ISSUER}${SERVER_METADATA}`, {
        headers: { host: 'MCP.example.com:443', 'x-forwarded-host': 'evil.example' },
      });
      expect(fieldsOf(reply)).toMatchObject({ issuer: ISSUER });
    },
  );
});

describe('The issuer of an authorization server', () => {
  const INSECURE: readonly (readonly [string, boolean, string])[] = [
    ['http://mcp.example.com', false, 'must be https'],
    ['http://mcp.example.com', true, 'must be https'],
    ['http://localhost:8080', false, 'must be https, unless --dev-allow-loopback is set'],
  ];

  for (const [from, devAllowLoopback, problem] of INSECURE) {
    const flag = devAllowLoopback ? 'with' : 'without';
    verifies(
      'as.https',
      `a route at ${from} is refused as an issuer ${flag} the development flag`,
      () => {
        const { problems, acceptedRoutes } = compileFrom(from, devAllowLoopback);
        expect(problems).toMatchObject([{ path: 'spec.from', message: problem }]);
        expect(acceptedRoutes).toEqual(new Set());
      },
    );
  }

  verifies(
    'as.https',
    'a route is accepted as an issuer on https, and on loopback with the development flag',
    () => {
      expect(compileFrom('https://mcp.example.com', false).problems).toEqual([]);
      expect(compileFrom('http://localhost:8080', true).problems).toEqual([]);
    },
  );

  function compileFrom(from: string, devAllowLoopback: boolean): CompiledOnce {
    const routes = [aRouteManifest({ from, mcp: { server: {} } })];
    const resources = { routes, settings: aSettings(), secrets: new Map() };
    return compileOnce(resources, { devAllowLoopback });
  }
});

describe('Well-known documents', () => {
  const paths = [RESOURCE_METADATA, SERVER_METADATA, OPENID_CONFIGURATION];

  for (const path of paths) {
    verifies(
      'as.cors',
      `${path} can be read by pages of any origin, and cached for minutes`,
      async () => {
        await using server = await startAuthorizationServer();
        const reply = await server.send(`${ISSUER}${path}`);
        expect(reply.headers['access-control-allow-origin']).toBe('*');
        expect(reply.headers['access-control-allow-credentials']).toBeUndefined();
        expect(reply.headers['cache-control']).toBe('public, max-age=300');
      },
    );
  }

  test.each(paths)('%s answers HEAD like GET, without a body', async (path) => {
    await using server = await startAuthorizationServer();
    const reply = await server.send(`${ISSUER}${path}`, { method: 'HEAD' });
    expect(reply).toMatchObject({ status: 200, body: '' });
  });

  test.each(paths)('%s refuses POST', async (path) => {
    await using server = await startAuthorizationServer();
    const reply = await server.send(`${ISSUER}${path}`, { method: 'POST' });
    expect(reply.status).toBe(405);
    expect(reply.headers.allow).toContain('GET');
  });
});

/** Returns the response of a server that has only the document at `path`. */
function only(path: string, server: TestServer, url: string): Promise<Reply> {
  return url.includes(path)
    ? server.send(url)
    : Promise.resolve({ status: 404, headers: {}, body: '' });
}

function asResponse({ status, body }: Reply): Response {
  return new Response(body, { status, headers: { 'content-type': 'application/json' } });
}
