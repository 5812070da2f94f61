import { describe, expect, test } from '@jest/globals';

import { runInProcess } from '../support/command-line.ts';
import { freePort } from '../support/free-port.ts';
import { startHttpsServer } from '../support/https-server.ts';
import { openForAll } from '../support/open-for-all.ts';
import { TemporaryDirectory } from '../support/temporary-directory.ts';
import {
  startUpstreamOAuthWorld,
  type UpstreamOAuthWorld,
} from '../support/upstream-oauth/upstream-oauth-world.ts';

interface World extends AsyncDisposable {
  readonly upstream: UpstreamOAuthWorld;
  /** Runs the command with the flag for loopback. */
  doctor: (...argv: readonly string[]) => ReturnType<typeof runInProcess>;
  /** Writes a configuration with the route of the upstream. Returns its file. */
  configuration: (
    domains: readonly string[],
    server?: Readonly<Record<string, unknown>>,
  ) => Promise<string>;
}

/** A real authorization server with an MCP server, and a gateway in front of them. */
const world = openForAll<World>(async () => {
  const upstream = await startUpstreamOAuthWorld();
  const directory = await TemporaryDirectory.create();
  let files = 0;
  return {
    upstream,
    doctor: (...argv) => runInProcess(['doctor', ...argv, '--dev-allow-loopback']),
    configuration: (domains, server = { upstream_oauth2: {} }) => {
      const { url, server: mcp } = upstream;
      const plain = {
        mcp_allowed_as_metadata_domains: domains,
        identity_providers: { idp: { issuer: 'https://idp.example', client_id: 'gatehouse' } },
        routes: [
          {
            name: 'tickets',
            from: new URL(url).origin,
            to: mcp.origin,
            mcp: { server: { path: new URL(mcp.url).pathname, ...server } },
            policy: { allow: { and: [{ authenticated_user: true }] } },
          },
          {
            name: 'web',
            from: 'http://web.localhost:9',
            to: mcp.origin,
            allow_public_unauthenticated_access: true,
          },
        ],
      };
      files += 1;
      return directory.write(`gatehouse-${String(files)}.yaml`, JSON.stringify(plain));
    },
    async [Symbol.asyncDispose]() {
      await directory[Symbol.asyncDispose]();
      await upstream[Symbol.asyncDispose]();
    },
  };
});

describe('gatehouse doctor ROUTE', () => {
  test('walks discovery for the upstream, and registers nothing', async () => {
    const { upstream, doctor, configuration } = world();
    const { authorizationServer, server } = upstream;
    const file = await configuration(['localhost']);
    const { code, stdout } = await doctor('tickets', '-f', file);
    expect(stdout).toContain(
      `ok   POST ${server.url}\n     expected: status 401 with a Bearer challenge`,
    );
    expect(stdout).toContain(`resource:               ${server.url}\n`);
    expect(stdout).toContain(`authorization server:   ${authorizationServer.issuer}\n`);
    expect(stdout).toContain('registers at ');
    expect(stdout).toContain('scopes:                 read write offline_access\n');
    expect(stdout).toMatch(/\nConnecting could succeed\.\n$/);
    expect(code).toBe(0);
    expect(authorizationServer.hits('registration')).toBe(0);
  });

  test('names the entry that is missing, and goes on as if it were there', async () => {
    const { upstream, doctor, configuration } = world();
    const { code, stdout } = await doctor(
      'default/tickets',
      '-f',
      await configuration(['x.example']),
    );
    expect(code).toBe(1);
    expect(stdout).toContain('     missing:  localhost in mcpAllowedAsMetadataDomains\n');
    expect(stdout).toContain('mcp_allowed_as_metadata_domains): localhost\n');
    expect(stdout).toContain(`authorization server:   ${upstream.authorizationServer.issuer}\n`);
    expect(stdout).toContain('Connecting fails: upstream-auth-domain-not-allowed: ');
  });

  test('says what is wrong at the step where it shows', async () => {
    const { upstream, doctor, configuration } = world();
    const { server } = upstream;
    const file = await configuration(['localhost']);
    const { changeMetadata } = server;
    server.changeMetadata = (metadata) => ({ ...metadata, resource: 'https://other.example/mcp' });
    const { code, stdout } = await doctor('tickets', '-f', file);
    server.changeMetadata = changeMetadata;
    expect(code).toBe(1);
    expect(stdout).toMatch(
      /FAIL GET .*protected-resource.*\n.*\n.*status 200\n {5}wrong: .*other.example/,
    );
    expect(stdout).toContain('Connecting fails: upstream-auth-resource-mismatch: ');
  });

  test('with given credentials names the redirect URI to register', async () => {
    const { upstream, doctor, configuration } = world();
    const { authorizationServer } = upstream;
    const client = { client_id: 'registered-by-hand', client_secret: 'secret' };
    const auth_url = `${authorizationServer.issuer}/auth`;
    const token_url = `${authorizationServer.issuer}/token`;
    const callback = `${new URL(upstream.url).origin}/.gateway/mcp/client/oauth/callback`;
    const discovered = await doctor(
      'tickets',
      ...['-f', await configuration(['localhost'], { upstream_oauth2: client })],
    );
    expect(discovered.stdout).toContain(`redirect URI:           ${callback}; `);
    const given = { ...client, endpoint: { auth_url, token_url } };
    const { stdout } = await doctor(
      'tickets',
      ...['-f', await configuration([], { upstream_oauth2: given })],
    );
    expect(stdout).toContain(`redirect URI:           ${callback}; `);
    expect(stdout).not.toContain(`authorization server:   ${token_url}`);
  });

  test('says what to set for an upstream without metadata', async () => {
    const { doctor, configuration } = world();
    const file = await configuration(['localhost'], { path: '/elsewhere', upstream_oauth2: {} });
    const { code, stdout } = await doctor('tickets', '-f', file);
    expect(code).toBe(1);
    expect(stdout).toMatch(
      /Connecting fails: upstream-auth-not-found: .*\n.*authorizationServerUrl/,
    );
  });

  test('shows a terminal nothing that it acts on', async () => {
    const { upstream, doctor, configuration } = world();
    const { server } = upstream;
    const file = await configuration(['localhost']);
    const { changeMetadata } = server;
    // Parsers of URLs ignore what is at the end.
    server.changeMetadata = (metadata) => ({ ...metadata, resource: `${server.url}\u001b` });
    const { stdout } = await doctor('tickets', '-f', file);
    server.changeMetadata = changeMetadata;
    expect(stdout).toContain(`resource:               ${server.url}\\u001b\n`);
    expect(stdout.replaceAll('\n', '')).not.toMatch(/\p{Cc}/u);
  });

  test('without upstream OAuth walks the metadata of the gateway, as an MCP client does', async () => {
    const { upstream, doctor, configuration } = world();
    const { code, stdout } = await doctor('tickets', '-f', await configuration([], {}));
    expect(stdout).toContain('as an MCP client would ask it');
    expect(stdout).toContain(`authorization server:   ${new URL(upstream.url).origin}\n`);
    expect(code).toBe(0);
  });

  test.each([
    [['nothing', '-f'], 'there is no Route default/nothing'],
    [['web', '-f'], 'Route default/web is no MCP server'],
  ])('fails for %j', async (argv, message) => {
    const { doctor, configuration } = world();
    const { code, stderr } = await doctor(...argv, await configuration(['localhost']));
    expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringContaining(message) });
  });
});

describe('gatehouse doctor URL', () => {
  test('names the entries that the gateway needs for an upstream', async () => {
    const { upstream, doctor } = world();
    const { code, stdout } = await doctor(upstream.server.url);
    expect(stdout).toContain('mcp_allowed_as_metadata_domains): localhost\n');
    expect(stdout).toMatch(/\nConnecting could succeed\.\n$/);
    expect(code).toBe(0);
  });

  test('of an MCP route walks the metadata of the gateway, without a list of domains', async () => {
    const { upstream, doctor, configuration } = world();
    const file = await configuration(['x.example']);
    const { code, stdout } = await doctor(upstream.url, '-f', file);
    expect(stdout).toContain(
      `Route default/tickets at ${upstream.url}, as an MCP client would ask it`,
    );
    expect(stdout).toContain(`resource:               ${upstream.url}\n`);
    expect(stdout).not.toContain('mcp_allowed_as_metadata_domains');
    expect(code).toBe(0);
  });

  test('fails where nothing asks for a token', async () => {
    const { upstream, doctor } = world();
    const { code, stdout } = await doctor(`${upstream.application.origin}/mcp`);
    expect(stdout).toContain('Connecting fails: ');
    expect(code).toBe(1);
  });

  test('says why a server cannot be reached', async () => {
    const { doctor } = world();
    await using server = await startHttpsServer(['localhost'], () => undefined);
    const untrusted = await doctor(server.url('localhost', '/mcp'));
    const absent = await doctor(`https://localhost:${String(await freePort())}/mcp`);
    expect(untrusted.stdout).toContain(
      'could not be fetched from (UNABLE_TO_VERIFY_LEAF_SIGNATURE)\n',
    );
    expect(absent.stdout).toContain('could not be fetched from (ECONNREFUSED)\n');
  });

  test('refuses private addresses unless the settings allow them', async () => {
    const { upstream } = world();
    const url = upstream.server.url.replace('http:', 'https:');
    const { code, stdout } = await runInProcess(['doctor', url]);
    expect(stdout).toContain('Missing: outboundAllowedCidrs');
    expect(code).toBe(1);
  });

  test.each([[['a', 'b']], [['://x']], [[]]])('refuses the arguments %j', async (argv) => {
    const { code } = await world().doctor(...argv);
    expect(code).toBe(2);
  });
});
